"""The one-way rule: models imports nothing of ours, suites imports models, reports imports reports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rocketmq_conformance
from rocketmq_conformance import conformance, models, reports, suites

ROOMS = {"models": models, "suites": suites, "conformance": conformance, "reports": reports}
MAY_IMPORT = {
    "models": {"models"},
    "suites": {"models", "suites"},
    "conformance": set(ROOMS),
    "reports": {"reports"},
}


def imported_rooms(source: str) -> set[str]:
    """The rooms that a module imports from."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == rocketmq_conformance.__name__ and len(parts) > 1 and parts[1] in ROOMS:
                found.add(parts[1])
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    modules = list(Path(ROOMS[room].__path__[0]).rglob("*.py"))
    assert modules
    for module in modules:
        assert imported_rooms(module.read_text(encoding="utf-8")) <= MAY_IMPORT[room], module.name


def test_the_check_sees_a_forbidden_import() -> None:
    assert imported_rooms("from rocketmq_conformance import reports") == {"reports"}
    assert imported_rooms("import rocketmq_conformance.conformance.cli.main") == {"conformance"}


def test_models_do_no_input_output() -> None:
    forbidden = {"os", "sys", "socket", "subprocess", "random", "time", "secrets", "pathlib", "threading", "requests"}
    for module in Path(models.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not forbidden & {name.split(".")[0] for name in names}, module.name
