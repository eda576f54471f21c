"""Finds members of Java classes in source files, and hashes what they say: comments and white space aside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from textwrap import dedent
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.provenance.named import Named

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

TYPES = frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"})
METHODS = frozenset({"method_declaration"})
CONSTRUCTORS = frozenset({"constructor_declaration", "compact_constructor_declaration"})
FIELDS = frozenset({"field_declaration", "constant_declaration"})
COMMENTS = frozenset({"line_comment", "block_comment"})
#: Literals are one token each: the white space in them counts.
_LITERALS = frozenset({"string_literal", "character_literal"})


class Member:
    """The declarations of one member, or of a class: with all overloads, in the order of the file."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes

    @property
    def digest(self) -> str:
        """64 bits (hex) of the tokens."""
        return blake2b("\n".join(map(_tokens, self._nodes)).encode(), digest_size=8).hexdigest()

    @property
    def text(self) -> str:
        """The declarations as they are written, comments and all."""
        return "\n\n".join(dedent(" " * node.start_point[1] + text_of(node)) for node in self._nodes)

    @property
    def decides(self) -> bool:
        """Does any of it have a body or a value? A method of an interface has none."""
        return any(node.type not in METHODS or node.child_by_field_name("body") for node in self._nodes)


class JavaSource:
    """The source files of one release, by their paths."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """CannotRunError with a sentence when the package that reads Java is not installed."""
        self._parser = parser()
        self._files = files
        self._paths: dict[str, list[str]] = {}
        for path in sorted(files):
            self._paths.setdefault(path.rpartition("/")[2].removesuffix(".java"), []).append(path)
        self._types: dict[str, tuple[Node, ...]] = {}

    def member(self, named: Named) -> Member | None:
        """A member of a class, or of the nearest one that the class extends; None when there is none."""
        if not named.member:
            nodes = self._declared(named.type)
            return Member(nodes) if nodes else None
        found: list[Node] = []
        for node in self._declared(named.type):
            found += self._inherited(node, named.type, named.member)
        return Member(tuple(found)) if found else None

    def _inherited(self, node: Node, name: str, member: str) -> tuple[Node, ...]:
        """Declarations of a member in a class, else in the classes that it extends."""
        seen: set[str] = set()
        while True:
            found = tuple(_members(node, member))
            base = _base(node)
            if found or member == "<init>" or not base or base in seen:
                return found
            seen.add(base)
            above = self._declared(base) or self._declared(f"{name.rpartition('.')[0]}.{base}")
            if not above:
                return ()
            node, name = above[0], base

    def _declared(self, name: str) -> tuple[Node, ...]:
        """The declarations of a class: several when packages have classes of the same name."""
        found = self._types.get(name)
        if found is None:
            outer, _, inner = name.rpartition(".")
            if outer:
                found = tuple(node for above in self._declared(outer) for node in _inner(above, inner))
            else:
                roots = (self._parser.parse(self._files[path]).root_node for path in self._paths.get(name, ()))
                found = tuple(node for root in roots for node in root.children if _is_type(node, name))
            self._types[name] = found
        return found


def _inner(node: Node, name: str) -> Iterator[Node]:
    return (member for member in body_of(node) if _is_type(member, name))


def _members(node: Node, name: str) -> Iterator[Node]:
    for member in body_of(node):
        if member.type in FIELDS:
            if any(_named(part, name) for part in member.children_by_field_name("declarator")):
                yield member
        elif member.type in CONSTRUCTORS:
            if name == "<init>":
                yield member
        elif (member.type in METHODS or member.type == "enum_constant") and _named(member, name):
            yield member


def body_of(node: Node) -> Iterator[Node]:
    """What a class declares; an enum's methods stand one level deeper."""
    body = node.child_by_field_name("body")
    for member in body.children if body else ():
        if member.type == "enum_body_declarations":
            yield from member.children
        else:
            yield member


def _base(node: Node) -> str:
    """The simple name of the class that a class extends; "" for none."""
    above = node.child_by_field_name("superclass")
    return text_of(above).removeprefix("extends").partition("<")[0].strip().rpartition(".")[2] if above else ""


def _is_type(node: Node, name: str) -> bool:
    return node.type in TYPES and _named(node, name)


def _named(node: Node, name: str) -> bool:
    found = node.child_by_field_name("name")
    return found is not None and text_of(found) == name


def _tokens(node: Node) -> str:
    return " ".join(_leaves(node))


def _leaves(node: Node) -> Iterator[str]:
    if node.type in COMMENTS:
        return
    if not node.children or node.type in _LITERALS:
        yield text_of(node)
        return
    for child in node.children:
        yield from _leaves(child)


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@cache
def parser() -> Parser:
    try:
        import tree_sitter_java
        from tree_sitter import Language, Parser
    except ModuleNotFoundError as error:
        raise CannotRunError(
            f"Java sources are read with the package {error.name}: pip install 'rocketmq-conformance[provenance]'."
        ) from error
    return Parser(Language(tree_sitter_java.language()))
