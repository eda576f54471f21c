"""No call has so many positional arguments that a reader cannot tell them apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from places import ROOT

#: Positional arguments from which on a call is unreadable.
TOO_MANY = 10
#: Functions that take any number of them, and tuples of the hot loop, with the reason.
REASONS = {
    "Values": "values of one kind",
    "_log": "store times of the messages of one queue",
    "_MESSAGE.pack": "the fields of a binary record, in its order",
    "struct.pack": "the instructions of a method, in their order",
    "ConsumeState": "a state of the hot loop: keywords make a step slower (docs/decisions/0002)",
    "ConsumeOrderlyState": "a state of the hot loop: keywords make a step slower (docs/decisions/0002)",
}


def long_calls(source: str) -> Iterator[tuple[int, str]]:
    """Line and function of every call with too many positional arguments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and len(node.args) >= TOO_MANY:
            yield node.lineno, ast.unparse(node.func)


def test_no_call_has_ten_positional_arguments() -> None:
    found, excused = [], set()
    for room in ("models", "suites", "conformance", "reports"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for line, function in long_calls(path.read_text(encoding="utf-8")):
                excused.add(function)
                if function not in REASONS:
                    found.append(f"{path.relative_to(ROOT)}:{line} {function}")
    assert found == []
    assert set(REASONS) <= excused, "a reason for a call that is gone"


def test_the_check_counts() -> None:
    assert list(long_calls("make(1, 2, 3, 4, 5, 6, 7, 8, 9)")) == []
    assert list(long_calls("made.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, key=11)")) == [(1, "made.of")]
