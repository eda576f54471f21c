"""The proof of damaged offset files: what is expected, and that real consumers are asked."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.proof import whole_files
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.models.profile import Profile


@pytest.mark.parametrize(
    ("found", "given", "rule"),
    [
        ("file older", (13, 14), "WHOLE-FILE"),
        ("file lost", (14,), "WHOLE-FILE-BACKUP"),
        ("both lost", (), "WHOLE-FILE-BACKUP"),
        ("both cut", whole_files.REFUSED, "WHOLE-FILE-REFUSED"),
    ],
)
def test_what_is_expected_of_a_consumer_that_finds_its_files_so(found: str, given: object, rule: str) -> None:
    expected, why = whole_files.expected(Profile(), found)
    assert (expected, why.rules, why.kind) == (given, (rule,), found)


@pytest.mark.java
def test_a_consumer_that_does_otherwise_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    # the files are as they were, whatever it is to find
    monkeypatch.setattr(whole_files, "become", lambda *_: None)
    tally = Tally("scripted", "4.9.8")
    whole_files.prove_files(tally, quick_release("4.9.8"), "WHOLE-FILE-REFUSED")
    assert (tally.cases, tally.differences) == (2, 2)
