"""Events of divergences: what differs, by name, and how binding that is."""

from __future__ import annotations

import noticing_cases

from rocketmq_conformance.conformance.engine.divergence import divergence_event
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.shrink import Shrunk
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DivergenceFound
from rocketmq_conformance.suites.broker_concurrent import AtOnce, LockBeside
from rocketmq_conformance.suites.declare.discovery import SUITES


def found_in(mutant: str) -> DivergenceFound:
    """The divergence of the case that notices a mutant."""
    case = noticing_cases.kept()[mutant].case
    judged = noticing_cases.play(MUTANTS[mutant], case)
    return divergence_event(SUITES[case.suite], 0, "0", Shrunk(judged, 0), len(judged.steps), "", [])


def test_what_agrees_is_no_part_of_what_differs() -> None:
    found = found_in("whole-listener-commits-held")
    names = [name for name, _, _ in found.parts]
    assert names
    assert all(name.startswith(("stored, queue", "retry, stored")) for name in names), names
    assert "places: [queue" in found.expected


def test_commits_that_are_awaited_break_a_should() -> None:
    found = found_in("whole-push-commits-awaited")
    assert found.parts == [["commits", "one way", "awaited"]]
    assert [(rule["id"], rule["level"]) for rule in found.rules[:1]] == [("REB-PERSIST-1", "SHOULD")]


def test_requests_at_the_same_time_are_told_apart_by_who_when_and_what_should_have_been_answered() -> None:
    suite = SUITES["broker-concurrent"]
    asked = [LockBeside(0, (0,)), LockBeside(1, (0,)), AtOnce()]
    observed = (0, "lock queue 0", 0, 2, (0,)), (1, "lock queue 0", 1, 3, (0,))
    rows = [suite.row(one) for one in asked]
    judged = Judge(suite, Profile()).judge(rows, lambda row: Ok(observed if row == rows[-1] else None))
    assert divergence_event(suite, 0, "0", Shrunk(judged, 0), 3, "", []).history == [
        ["one", "lock queue 0", "0", "2", "(0,)", ""],
        ["two", "lock queue 0", "1", "3", "(0,)", "none"],
    ]
