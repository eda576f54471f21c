"""A right program with fast timers of its own conforms, whatever falls between two of its timers."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from places import ROOT

from rocketmq_conformance import run
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.targets.broker.ports import free_port
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.outcome import Err, Ok, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, HOLDS, NOT_REACHED, RulesJudged, SuiteEnded
from rocketmq_conformance.suites import whole_lite, whole_push
from rocketmq_conformance.suites.declare.operation import Operation

pytestmark = pytest.mark.paced

PACE = 20
COMMAND, ODD = (f"{sys.executable} {ROOT / 'tests' / 'helpers' / name}_consumer.py {PACE}" for name in ("paced", "odd"))


@pytest.mark.parametrize(
    "suite",
    [
        *("whole-push", "whole-pause", "whole-subscriptions", "whole-lite", "whole-commit", "whole-orderly"),
        *("whole-broadcast", "whole-files", "whole-assign"),
    ],
)
def test_a_right_consumer_conforms(suite: str, tmp_path: Path) -> None:
    assert verdicts(f"client?pace={PACE}:{COMMAND}", suite, 12, tmp_path) == [CONFORMS]


@pytest.mark.parametrize(
    ("suite", "tier", "ids", "verdict"),
    [
        *((f"whole-{of}", "seeded", "backwards", CONFORMS) for of in ("push", "allocation", "orderly")),
        # a file is that of a client id, or of an instance name
        ("whole-broadcast", "cover", "backwards", CONFORMS),
        ("whole-broadcast", "cover", "file-by-name", CONFORMS),
        ("whole-push", "seeded", "ignored", DIVERGES),
    ],
)
def test_the_client_ids_that_are_seen_decide_and_not_instance_names(
    suite: str, tier: str, ids: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDS", ids)
    assert verdicts(f"client?pace={PACE}:{COMMAND}", suite, 8, tmp_path, tier) == [verdict]


@pytest.mark.parametrize("suite", ["whole-subscriptions", "whole-commit", "whole-assign"])
def test_so_it_does_through_a_broker_that_runs(suite: str, tmp_path: Path) -> None:
    port = free_port()
    with FakeBroker(Profile(), port=port, properties={"namesrvAddr": f"127.0.0.1:{port}"}) as behind:
        address = f"client?pace={PACE}&through=broker:{behind.address}:{COMMAND}"
        assert verdicts(address, suite, 6, tmp_path) == [CONFORMS]


def verdicts(address: str, suite: str, cases: int, out: Path, tier: str = "seeded") -> list[str]:
    """The verdict of a suite that is run alone."""
    events = run(address, suites=[suite], cases=cases, seed=2, tiers=[tier], out=out)
    return [event.verdict for event in events if isinstance(event, SuiteEnded)]


def values(*operations: Operation, command: str = COMMAND) -> list[Value]:
    """What the operations of one case of whole-push answer."""
    program = ClientProgram(command, PACE)
    group = program.case(whole_push.SUITE)
    found = []
    try:
        for operation in operations:
            outcome = group.do(operation)
            assert isinstance(outcome, Ok)
            found.append(outcome.value)
    finally:
        group.close()
        program.close()
    return found


@pytest.mark.parametrize("request_", ["PULL_MESSAGE", "QUERY_CONSUMER_OFFSET", "GET_CONSUMER_LIST_BY_GROUP"])
def test_where_a_member_was_sent_while_commits_failed_is_not_stored_once_something_else_fails(request_: str) -> None:
    found = values(
        whole_push.Prepare(1, "empty", 7, "CONSUME_FROM_FIRST_OFFSET"),
        whole_push.Fail("UPDATE_CONSUMER_OFFSET", "SYSTEM_ERROR"),
        whole_push.Join(0),
        whole_push.Fail(request_, "SYSTEM_ERROR"),
        whole_push.Look(),
    )
    assert [value[2] if isinstance(value, tuple) else None for value in found] == [None, *[(7,)] * 4]


def test_heartbeats_fail_once_a_member_pulls_where_it_was_sent_while_commits_failed() -> None:
    *_, found = values(
        whole_push.Prepare(1, "empty", 7, "CONSUME_FROM_FIRST_OFFSET"),
        whole_push.Fail("UPDATE_CONSUMER_OFFSET", "SYSTEM_ERROR"),
        whole_push.Join(0),
        whole_push.Fail("HEART_BEAT", "SYSTEM_ERROR"),
    )
    assert found == (((0, 0),), (), (0,))


@pytest.mark.parametrize("command", [COMMAND, f"{ODD} goes-on"])
@pytest.mark.parametrize("fails", ["UPDATE_CONSUMER_OFFSET", "GET_CONSUMER_LIST_BY_GROUP"])
def test_who_is_sent_elsewhere_in_vain_may_pull_on_there(command: str, fails: str) -> None:
    steps = (
        whole_push.Prepare(1, "expired", 2, "CONSUME_FROM_LAST_OFFSET"),
        whole_push.Fail("PULL_MESSAGE", "SYSTEM_ERROR"),
        whole_push.Join(0),
        whole_push.Fail(fails, "SYSTEM_ERROR"),
        whole_push.Send(0),
        whole_push.Mend(),
    )
    # a step in which the kit waits for what such a client does not do takes longer than all of these do
    program = ClientProgram(command, PACE, timing=replace(Timing.of(PACE), margin=60.0))
    group, began = program.case(whole_push.SUITE), time.monotonic()
    judge = Judge(whole_push.SUITE, Profile(), quirks=False)
    try:
        judged = judge.judge(
            [whole_push.SUITE.row(step) for step in steps], lambda row: group.do(whole_push.SUITE.operation(row))
        )
    finally:
        group.close()
        program.close()
    assert (judged.verdict, len(judged.steps)) == (CONFORMS, len(steps)), judged.steps[-1]
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("end", ["closes", "stays"])
def test_who_gives_a_pull_up_before_its_time_is_up_is_seen_to_pull_again(end: str) -> None:
    found = values(
        whole_push.Prepare(2, "gone", -1, "CONSUME_FROM_LAST_OFFSET"),
        whole_push.Join(0),
        *[whole_push.Look(), whole_push.Send(0)] * 3,
        command=f"{ODD} {end} 1.2",
    )
    ends = 12, 12, 13, 13, 14, 14, 15
    places = [value[0] if isinstance(value, tuple) else None for value in found[1:]]
    assert places == [((0, end), (0, 12)) for end in ends]
    brought = [value[1] if isinstance(value, tuple) else None for value in found[3::2]]
    assert brought == [((0, 0, end - 1, 1),) for end in ends[2::2]]


def test_who_does_not_listen_to_notifications_is_not_said_to_do_so(tmp_path: Path) -> None:
    # its next round comes before a look that waits for it is over
    address = f"client?pace={PACE}:{ODD} deaf"
    events = list(run(address, suites=["whole-push"], cases=8, seed=2, tiers=["seeded"], out=tmp_path))
    assert [event.verdict for event in events if isinstance(event, SuiteEnded)] == [CONFORMS]
    results = {one.rule: one.result for event in events if isinstance(event, RulesJudged) for one in event.rules}
    assert (results["WHOLE-SHARE"], results["REB-SVC-WAKE"]) == (HOLDS, NOT_REACHED)


def test_what_standard_timers_would_show_in_time_decides_nothing() -> None:
    # it commits after 14 s, and offsets are due within 12 s at this pace, within 40 s at the standard one
    program = ClientProgram(f"{COMMAND} 280", PACE)
    group = program.case(whole_lite.SUITE)
    try:
        group.do(whole_push.Prepare(1, "expired", -1, "CONSUME_FROM_FIRST_OFFSET"))
        late = group.do(whole_lite.Join(0))
    finally:
        group.close()
        program.close()
    assert isinstance(late, Err)
    assert (late.code, late.definite) == ("LATE", False)


def test_what_arrives_while_a_member_is_frozen_that_would_give_its_pulls_up_is_pulled_once() -> None:
    found = values(
        whole_push.Prepare(1, "empty", 0, "CONSUME_FROM_FIRST_OFFSET"),
        whole_push.Join(0),
        *[whole_push.Crash(1), whole_push.Freeze(0)] * 6,
    )
    brought = [value[1] if isinstance(value, tuple) else None for value in found]
    assert brought[3::2] == [((0, 0, offset, 1),) for offset in range(6)]
