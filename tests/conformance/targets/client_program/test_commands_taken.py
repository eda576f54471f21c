"""Suites that ask programs for a kind of consumer, or a command: one that does not have it is not judged."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from brief_timing import BRIEF
from places import ROOT

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.api import judge
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.smoke import KINDS, kinds_of, look_at
from rocketmq_conformance.models.outcome import Unsupported
from rocketmq_conformance.reports.event import UNSUPPORTED, RunStarted, SuiteEnded
from rocketmq_conformance.suites import (
    allocation,
    whole_assign,
    whole_broadcast,
    whole_commit,
    whole_lite,
    whole_orderly,
    whole_pause,
    whole_push,
    whole_subscriptions,
)
from rocketmq_conformance.suites.declare.discovery import SUITES

COMMANDS: dict[str, Any] = {
    "assign": whole_assign,
    "commit": whole_commit,
    "pause": whole_pause,
    "subscribe": whole_subscriptions,
}


def program(behaviour: str) -> ClientProgram:
    return ClientProgram(f"{sys.executable} {ROOT / 'tests' / 'helpers' / 'program.py'} {behaviour}", timing=BRIEF)


def test_a_program_that_does_not_take_a_command_is_not_judged() -> None:
    for command, operations in COMMANDS.items():
        group = program("sits").case(operations.SUITE)
        try:
            outcome = group.do(operations.Join(0, (0,)) if command == "assign" else operations.Join(0))
        finally:
            group.close()
        assert isinstance(outcome, Unsupported)
        assert f'{{"takes": ["{command}"]}}' in outcome.reason
        assert program("sits").refuses_suite(operations.SUITE) == outcome.reason


def test_a_program_says_which_consumer_it_cannot_be() -> None:
    orderly = program("only-orderly")
    refused = {suite.name: orderly.refuses_suite(suite) for suite in (whole_push.SUITE, whole_lite.SUITE)}
    assert refused == {"whole-push": "it is only-orderly", "whole-lite": "it is only-orderly"}
    assert orderly.refuses_suite(whole_orderly.SUITE) == ""
    assert orderly.refuses_suite(allocation.SUITE) == ""
    group = orderly.case(whole_push.SUITE)
    try:
        assert group.do(whole_push.Join(0)) == group.do(whole_push.Look()) == Unsupported("it is only-orderly")
    finally:
        group.close()


def test_one_that_connects_as_one_kind_and_not_as_another_is_played_as_both() -> None:
    crashes = program("crashes-unless-orderly")
    with pytest.raises(CannotRunError, match="ended with exit code 1 before its first heartbeat"):
        crashes.refuses_suite(whole_push.SUITE)
    assert crashes.refuses_suite(whole_orderly.SUITE) == ""
    assert crashes.refuses_suite(whole_lite.SUITE) == ""


def test_smoke_looks_at_the_first_kind_that_a_program_can_be() -> None:
    found = look_at(program("only-orderly"), limit=0.2)
    assert (found.suite, found.seen[0].seen) == ("whole-orderly", True)
    with pytest.raises(CannotRunError, match=r"no consumer of whole-push or .* or whole-broadcast: it is only-none"):
        look_at(program("only-none"))


def test_smoke_looks_at_the_kind_of_the_chosen_suites() -> None:
    assert kinds_of(SUITES.values()) == KINDS
    chosen = [SUITES["whole-commit"], SUITES["whole-pause"], SUITES["allocation"]]
    assert [one.name for one in kinds_of(chosen)] == ["whole-push", "whole-lite"]
    found = look_at(program("sits"), limit=0.2, kinds=kinds_of([SUITES["whole-broadcast"]]))
    assert found.suite == "whole-broadcast"
    # it asks for no members, and commits nothing
    assert [one.what for one in found.seen if not one.seen] == [
        *("subscribed to the topic", "pulled 0 of 4 queues", "was given messages", "unregistered from its group"),
    ]


def test_what_a_program_cannot_be_is_left_out_or_unsupported_where_it_was_chosen() -> None:
    suites = [whole_broadcast.SUITE, whole_lite.SUITE, whole_orderly.SUITE]
    names = [suite.name for suite in suites]
    note = "whole-broadcast, whole-lite left out: it is only-orderly"
    for behaviour, named, played, refused, notes in (
        ("only-orderly", False, names[2:], [], [note]),
        ("only-orderly", True, names, names[:2], []),
        ("only-none", False, names, names, []),
    ):
        options = Options("program", 1, cases=1, steps=2, cover=False, examples=0, max_time=0.0)
        asked = suites if named else [allocation.SUITE, *suites]  # which a program never offers
        begun, *events = judge(program(behaviour), asked, options, named=named)
        assert isinstance(begun, RunStarted)
        assert begun.suites == played
        assert [one for one in begun.notes if "left out" in one] == notes
        ended = [one for one in events if isinstance(one, SuiteEnded)]
        assert [one.suite for one in ended if one.verdict == UNSUPPORTED] == refused
