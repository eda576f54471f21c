"""Events of divergences: what differs, by name, and how binding that is."""

from __future__ import annotations

import noticing_cases

from rocketmq_conformance.conformance.engine.divergence import divergence_event
from rocketmq_conformance.conformance.engine.shrink import Shrunk
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.reports.event import DivergenceFound
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
