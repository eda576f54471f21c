"""The suites of start positions: whole cases against a second statement, and what ordinary runs reach."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from every import every

from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.suites import start_lite_pull, start_pull, start_push
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, RETRY_TOPIC

#: Releases of clients in their order: each begins to do something differently.
CLIENTS = (
    "4.0.0",
    "4.6.1",
    "4.8.0",
    "4.9.0",
    "4.9.1",
    "4.9.8",
    "5.0.0-PREVIEW",
    "5.0.0-ALPHA",
    "5.0.0",
    "5.1.0",
    "5.5.0",
)
PUSH, LITE, PULL = start_push.SUITE, start_lite_pull.SUITE, start_pull.SUITE
THROWN = Err("CLIENT")

#: The first 4.x and 5.x whose checked variant throws, by consumer and by what happened; what is missing never does.
THROWS: dict[tuple[str, str], tuple[str | None, str]] = {
    ("push", "unreadable"): (None, "5.0.0-ALPHA"),
    ("push", "max"): ("4.9.0", "5.0.0-PREVIEW"),
    ("push", "search"): ("4.9.0", "5.0.0-PREVIEW"),
    ("push", "retry max"): ("4.9.0", "5.0.0-PREVIEW"),
    ("push", "negative"): (None, "5.0.0-ALPHA"),
    ("lite", "max"): ("4.9.1", "5.0.0-ALPHA"),
    ("lite", "search"): ("4.9.0", "5.0.0-PREVIEW"),
    ("lite", "retry max"): ("4.9.0", "5.0.0-PREVIEW"),
}
#: What a new group needs to know, by setting and by whether it is the retry topic; the deprecated ones are as LAST.
NEEDS = {
    (LAST, False): "max",
    (LAST, True): "zero",
    (FIRST, False): "zero",
    (FIRST, True): "zero",
    (TIMESTAMP, False): "search",
    (TIMESTAMP, True): "retry max",
}


def throws(client: str, kind: str, what: str) -> bool:
    since = THROWS.get((kind, what), (None, None))[client >= "5"]
    return since is not None and CLIENTS.index(client) >= CLIENTS.index(since)


@cache
def model(client: str) -> StartModel:
    return StartModel(Profile.of(client), ORDINARY)


def naive(client: str, kind: str, state: RemoteStore, step: dict[str, Any], checked: bool) -> Expected:
    """The start by the two tables. The broker is 5.5.0: its search walks to the first message that is not older."""
    queue = ORDINARY.queues[step["queue"]]
    read = STORE if kind == "push" else MEMORY_THEN_STORE
    offset = model(client).store.read(state, step["queue"], read, step["fault"])[1]
    assert isinstance(offset, int)
    if offset >= 0:
        return offset
    if offset < -1:
        return THROWN if checked and throws(client, kind, "unreadable") else -1
    where = step.get("where", TIMESTAMP)
    needs = NEEDS[where if where in (FIRST, TIMESTAMP) else LAST, queue.topic == RETRY_TOPIC]
    if needs == "zero":
        return 0
    moment = parse_timestamp(step["timestamp"], step["zone"]) if needs == "search" else None
    if needs == "search" and moment is None:
        return Err("RUNTIME")
    log = state.broker.logs.get((queue.topic, queue.id))
    if log is None or step["bound_fault"] not in ("answer", "negative"):
        return THROWN if checked and throws(client, kind, needs) else -1
    if step["bound_fault"] == "negative":
        refused = throws(client, kind, "negative")
        return -3 if not refused else THROWN if checked else -1
    return log.first + sum(1 for time in log.times if moment is None or time < moment)


@every(
    ("suite", "kind", "client"),
    [(PUSH, "push", client) for client in CLIENTS] + [(LITE, "lite", client) for client in CLIENTS[1:]],
)
def test_a_second_statement_agrees_on_every_step_of_whole_cases(suite: Suite, kind: str, client: str) -> None:
    profile = Profile.of(client)
    bound, plans = suite.bind(profile), sampler(suite, profile)
    compared = 0
    for case in range(40):
        state = bound.initial
        for at, args in plans.case(11, case, suite.steps):
            spec = suite.operations[at].spec
            before = state
            state, expected, _ = bound.by_position[at](before, *args)
            if spec.name.startswith("start"):
                step = dict(zip([name for name, _ in spec.domains], args, strict=True))
                again = naive(client, kind, before, step, spec.name.endswith("checked"))
                assert expected == again, (case, str(suite.operation((at, args))))
                compared += 1
    assert compared > 300


def reasons(suite: Suite, client: str, cases: int = 80) -> Counter[tuple[tuple[str, ...], str]]:
    """How often each reason was given in seeded cases."""
    profile = Profile.of(client)
    bound, plans = suite.bind(profile), sampler(suite, profile)
    found: Counter[tuple[tuple[str, ...], str]] = Counter()
    for case in range(cases):
        state = bound.initial
        for at, args in plans.case(1, case, suite.steps):
            state, _, why = bound.by_position[at](state, *args)
            found[why.rules, why.kind] += 1
    return found


@pytest.mark.parametrize("suite", [PUSH, LITE, PULL], ids=lambda suite: suite.name)
def test_a_suite_reaches_no_rule_that_is_unknown(suite: Suite) -> None:
    clients = ("4.6.0", "4.9.0", "5.5.0")
    reached = {rule for client in clients for rules, _ in reasons(suite, client) for rule in rules}
    assert reached <= set(RULES)


@pytest.mark.parametrize(("suite", "least"), [(PUSH, 15), (LITE, 13)])
@pytest.mark.parametrize("client", ["4.9.8", "5.5.0"])
def test_an_ordinary_run_meets_every_way_to_start_several_times(suite: Suite, least: int, client: str) -> None:
    starts = {why: times for why, times in reasons(suite, client).items() if why[0][0].startswith("START-")}
    assert len(starts) >= least
    assert min(starts.values()) >= 3, starts


@pytest.mark.parametrize("suite", [PUSH, LITE, PULL], ids=lambda suite: suite.name)
def test_every_operation_is_drawn_from_a_table(suite: Suite) -> None:
    assert [op.spec.name for op in suite.operations if op.spec.rows() is None] == []


@every(
    ("suite", "client", "names"),
    [
        (PUSH, "4.8.0", {"start", "start_at_time"}),
        (PUSH, "4.9.0", {"start", "start_at_time", "start_checked", "start_at_time_checked"}),
        (LITE, "4.5.2", set[str]()),
        (LITE, "4.6.0", {"start"}),
        (LITE, "4.6.1", {"start", "start_at_time"}),
        (LITE, "5.5.0", {"start", "start_at_time", "start_checked", "start_at_time_checked"}),
        (PULL, "4.8.0", {"start"}),
        (PULL, "5.5.0", {"start", "start_checked"}),
    ],
)
def test_a_client_gets_only_operations_that_it_has(suite: Suite, client: str, names: set[str]) -> None:
    offered = {suite.operations[at].spec.name for at in suite.offered(Profile.of(client))}
    assert {name for name in offered if name.startswith("start")} == names


@pytest.mark.parametrize("suite", [PUSH, LITE, PULL], ids=lambda suite: suite.name)
def test_the_state_is_shown_with_memory_bounds_and_stored_offsets(suite: Suite) -> None:
    model = StartModel(Profile(), ORDINARY)
    state = model.shape(suite.bind(Profile()).initial, 0, "expired")[0]
    state = model.store.update(model.store.commit_elsewhere(state, 0, 9)[0], 1, 5, False)[0]
    shown = suite.show(state)
    assert "memory {1: 5}" in shown
    assert "'T/0': '4..12'" in shown
    assert "stored {'T/0': 9}" in shown
