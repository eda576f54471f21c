"""JSON and TOML of others: whatever is wrong with a text is a ValueError, and a sentence says what."""

from __future__ import annotations

import ast
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

from rocketmq_conformance.conformance.engine.documents import json_of, toml_of, what_is_wrong

#: Modules that read JSON by themselves, and whose it is.
THEIR_OWN = {
    "campaign/analysis/rebuild.py": "a column of the campaign's tables",
    "campaign/finish.py": "a column of the campaign's tables",
    "cli/list.py": "a made file",
    "cli/explain.py": "a kept text",
    "engine/documents.py": "any",
    "fakes/group_case.py": "the fake broker's",
    "proof/beliefs.py": "a made file",
    "proof/fake_broker.py": "the fake broker's",
    "release_axis/cache.py": "what its digest stands before",
    "targets/broker/requests.py": "the kit's own request",
    "targets/clause_steps.py": "a made file",
    "targets/client_program/host.py": "the kit's own commands",
    "targets/client_program/lines.py": "a made file",
    "targets/client_program/program.py": "a program's; it takes a RecursionError for no line",
    "targets/exec_client/lines.py": "a program's; it takes a RecursionError for no line",
    "targets/java_client/client_table.py": "the Java client's in this process",
    "targets/java_client/offset_folder.py": "the Java client's in this process",
    "targets/port/rebalance_broker.py": "the port is an implementation",
    "targets/port/rebalance_orderly.py": "the port is an implementation",
    "targets/port/routes.py": "the port is an implementation",
    "targets/port/transport.py": "the port is an implementation",
    "targets/port/whole_brokers.py": "the port is an implementation",
    "targets/port/whole_slaves.py": "the port is an implementation",
}


def modules() -> dict[str, str]:
    rooms = sorted((ROOT / "conformance").rglob("*.py"))
    names = {path.relative_to(ROOT / "conformance").as_posix(): path.read_text("utf-8") for path in rooms}
    return {name: text for name, text in names.items() if "mutants/" not in name and "skeletons/" not in name}


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "1" * 5000])
def test_what_is_too_deep_or_too_long_is_no_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|4300 digits"):
        json_of(text)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", '{"a": 1e999}'])
def test_a_number_of_json_is_finite(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no number of JSON|is too large for a number"):
        json_of(text)


@pytest.mark.parametrize("value", ["[" * 5000 + "]" * 5000, "1" * 5000])
def test_what_is_too_deep_or_too_long_is_no_toml(value: str) -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|4300 digits"):
        toml_of(f"a = {value}")


@given(st.text(max_size=40))
def test_any_text_is_read_or_is_a_value_error(text: str) -> None:
    for read in (json_of, toml_of):
        with suppress(ValueError):
            read(text)


def test_others_json_is_read_here_alone() -> None:
    reads = re.compile(r"(?<!java_)json\.loads?\(|tomllib\.loads?\(")
    assert {name for name, text in modules().items() if reads.search(text)} == set(THEIR_OWN)


def test_no_sentence_quotes_a_key_error() -> None:
    found = []
    for name, text in modules().items():
        for handler in ast.walk(ast.parse(text)):
            if not isinstance(handler, ast.ExceptHandler) or handler.name is None or handler.type is None:
                continue
            if not {"KeyError", "LookupError"} & {
                one.id for one in ast.walk(handler.type) if isinstance(one, ast.Name)
            }:
                continue
            for node in ast.walk(handler):
                shown = node.value if isinstance(node, ast.FormattedValue) else None
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and node.args:
                    shown = node.args[0]
                if isinstance(shown, ast.Name) and shown.id == handler.name:
                    found.append(f"{name}:{node.lineno}")
    assert found == []
    assert what_is_wrong(KeyError("seed")) == "'seed' is missing"
