"""Members of Java classes, found in source files."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.provenance import java_source
from rocketmq_conformance.conformance.provenance.java_source import JavaSource, Member
from rocketmq_conformance.conformance.provenance.named import Named

CLASS = b"""package a;
/** A comment with a brace { and a method void run() {} */
public class A<T> extends Base<T> {
    private static final int LIMIT = 5, OTHER = 6;
    A() { }
    A(int n) { this(); }
    void run() { if ('}' == c) { say("} \\" // no comment"); } }
    void run(int n) { run(); /* twice */ }
    class Inner { void run() { new Runnable() { public void run() { } }; } }
    interface Asked { void answer(); }
    enum Kind { ONE, TWO; void name(int n) { } }
}
"""
BASE = b"class Base<T> { void above() { } void run() { } }"
RUNS = """void run() { if ('}' == c) { say("} \\" // no comment"); } }

void run(int n) { run(); /* twice */ }"""


def source(text: bytes = CLASS) -> JavaSource:
    return JavaSource({"a/A.java": text, "b/Base.java": BASE})


def found(type_: str, member: str, text: bytes = CLASS) -> Member:
    member_found = source(text).member(Named(type_, member))
    assert member_found is not None
    return member_found


@pytest.mark.parametrize(
    ("type_", "member", "text"),
    [
        ("A", "run", RUNS),
        ("A", "<init>", "A() { }\n\nA(int n) { this(); }"),
        ("A", "OTHER", "private static final int LIMIT = 5, OTHER = 6;"),
        ("A", "above", "void above() { }"),
        ("A.Inner", "run", "void run() { new Runnable() { public void run() { } }; }"),
        ("A.Kind", "name", "void name(int n) { }"),
        ("A.Kind", "TWO", "TWO"),
        ("Base", "", BASE.decode()),
    ],
)  # fmt: skip
def test_a_member_with_its_overloads(type_: str, member: str, text: str) -> None:
    assert found(type_, member).text == text


@pytest.mark.parametrize(
    ("type_", "member"), [("A", "walk"), ("B", "run"), ("Inner", "run"), ("A.None", ""), ("B", "")]
)
def test_what_is_not_there(type_: str, member: str) -> None:
    assert source().member(Named(type_, member)) is None


def test_comments_and_white_space_do_not_count() -> None:
    other = CLASS.replace(b"/* twice */", b"// once\n").replace(b"if ('}'", b"if(\n  '}'")
    assert found("A", "run", other).digest == found("A", "run").digest


@pytest.mark.parametrize(("old", "new"), [(b"// no comment", b"//  no comment"), (b"'}' == c", b"'{' == c")])
def test_anything_in_a_literal_counts(old: bytes, new: bytes) -> None:
    assert found("A", "run", CLASS.replace(old, new)).digest != found("A", "run").digest


def test_a_method_of_an_interface_decides_nothing() -> None:
    assert found("A", "run").decides
    assert not found("A.Asked", "answer").decides


def test_classes_of_one_name_in_two_packages_count_together() -> None:
    both = JavaSource(
        {"a/A.java": b"class A { int m() { return 1; } }", "b/A.java": b"class A { int m() { return 2; } }"}
    )
    member = both.member(Named("A", "m"))
    assert member is not None
    assert member.text == "int m() { return 1; }\n\nint m() { return 2; }"


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    real = builtins.__import__

    def refuse(name: str, *args: Any) -> Any:
        if name.startswith("tree_sitter"):
            raise ModuleNotFoundError(name=name)
        return real(name, *args)

    java_source.parser.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    yield
    java_source.parser.cache_clear()


@pytest.mark.usefixtures("no_package")
def test_without_the_package_it_says_what_to_install() -> None:
    with pytest.raises(CannotRunError, match=r"pip install 'rocketmq-conformance\[provenance\]'"):
        JavaSource({})
