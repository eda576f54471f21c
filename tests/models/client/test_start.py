"""Start positions: the table of the notes, errors by release, laws, and a second statement."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.client.initial_broker import SHAPES, initial_broker, log_of_shape, reshaped
from rocketmq_conformance.models.client.plan_words import BOUND_FAULTS, FAULTS
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import DEPRECATED, FIRST, LAST, NO_START, NO_TIME, TIMESTAMP, StartModel
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE, ORDINARY

#: Queue 0 of an ordinary topic, and the group's retry topic.
PLAIN, RETRY = 0, 3
#: On the fifth message of every queue in UTC.
AT_FOUR = "20240310073000"

RELEASES = ("4.0.0", "4.8.0", "4.9.0", "4.9.1", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.0", "5.5.0")
MODELS = {release: StartModel(Profile.of(release), ORDINARY) for release in (*RELEASES, "4.6.0", "4.6.1")}
NEWEST = MODELS["5.5.0"]


def not_found(release: str) -> str:
    """How a broker must answer so that this client reads -1."""
    return "PULL_NOT_FOUND" if release == "5.0.0-ALPHA" else "QUERY_NOT_FOUND"


def begun(stored: int | None = None, memory: dict[int, int] | None = None, shape: str = "young") -> RemoteStore:
    """Every routed queue in one shape; ``stored`` for queue 0 and the retry topic."""
    broker = initial_broker(ORDINARY)
    for queue in range(LOST_QUEUE):
        broker = reshaped(broker, ORDINARY.places[queue], shape)
    if stored is not None:
        keys = [("G", ORDINARY.queues[queue].topic, ORDINARY.queues[queue].id) for queue in (PLAIN, RETRY)]
        broker = broker._replace(stored=dict.fromkeys(keys, stored))
    return RemoteStore(memory=memory or {}, broker=broker)


def push(release: str, state: RemoteStore, queue: int = PLAIN, where: str = LAST, **more: Any) -> Expected:
    return decide("push", release, state, queue, where, **more)[1]


def lite(release: str, state: RemoteStore, queue: int = PLAIN, where: str = LAST, **more: Any) -> Expected:
    return decide("lite_pull", release, state, queue, where, **more)[1]


def decide(
    kind: str,
    release: str,
    state: RemoteStore,
    queue: int = PLAIN,
    where: str = LAST,
    *,
    text: str | None = AT_FOUR,
    zone: str = "UTC",
    checked: bool = False,
    fault: str = "answer",
    bound_fault: str = "answer",
) -> tuple[RemoteStore, Expected, Reason]:
    return getattr(MODELS[release], kind)(state, queue, where, text, zone, checked, fault, bound_fault)


# --- the table --------------------------------------------------------------------------------------------


def test_a_stored_offset_always_wins() -> None:
    offenders = []
    for stored in (0, 3, 12, 100):
        state = begun(stored)
        for case in product(RELEASES, [state], (PLAIN, RETRY), (LAST, FIRST, TIMESTAMP, *DEPRECATED)):
            starts = push(*case), push(*case, bound_fault="silent", text="yesterday")
            if starts != (stored, stored):
                offenders.append((case[0], *case[2:], stored, starts))
    assert not offenders, offenders[:5]


@every(
    ("where", "ordinary", "retry"),
    [(LAST, 12, 0), (FIRST, 0, 0), (TIMESTAMP, 4, 12), *((where, 12, 0) for where in DEPRECATED)],
)
def test_without_a_stored_offset_the_consumer_decides(where: str, ordinary: int, retry: int) -> None:
    offenders = []
    for release, checked in product(RELEASES, (False, True)):
        how = {"fault": not_found(release), "checked": checked}
        kinds = (push, lite) if release != "4.0.0" and where not in DEPRECATED else (push,)
        for kind, (queue, start) in product(kinds, ((PLAIN, ordinary), (RETRY, retry))):
            if kind(release, begun(), queue, where, **how) != start:
                offenders.append((release, checked, kind, queue))
    assert not offenders, offenders[:5]


def test_first_is_0_even_when_the_head_has_expired() -> None:
    assert push("5.5.0", begun(shape="expired"), where=FIRST) == 0
    assert push("5.5.0", begun(shape="expired"), where=LAST) == 12
    assert push("5.5.0", begun(shape="expired"), where=TIMESTAMP, text="19700101000000") == 4


def test_a_young_queue_has_a_stored_0_for_every_client_but_one() -> None:
    starts = {release: push(release, begun()) for release in ("4.9.8", "5.0.0", "5.1.0", "5.5.0")}
    assert starts == {"4.9.8": 0, "5.0.0": 12, "5.1.0": 0, "5.5.0": 0}


def test_an_empty_queue_has_none_on_a_new_broker_and_0_on_an_old_one() -> None:
    for broker, where in (("5.1.0", FIRST), ("5.0.0", LAST)):
        model = StartModel(Profile.of("5.5.0", broker), ORDINARY)
        _, start, why = model.push(begun(shape="empty"), PLAIN, where, None, "UTC", False, "answer", "answer")
        assert (start, why.kind) == (0, "no offset, first: 0" if broker == "5.1.0" else "stored 0")


@every(
    ("text", "zone", "start"),
    [
        ("20240101003000", "UTC", 1),
        ("20240101003001", "UTC", 2),
        ("20240101003000", "Asia/Shanghai", 0),
        ("20240101083000", "Asia/Shanghai", 1),
        ("20240101060000", "Asia/Kolkata", 1),
        ("20231231193000", "America/New_York", 1),
        ("20240101113000", "Australia/Lord_Howe", 1),
        ("20240701003000", "UTC", 7),
        ("20240630203000", "America/New_York", 7),
        ("20240701110000", "Australia/Lord_Howe", 7),
        ("20231301003000", "UTC", 1),
        ("19700101000000", "UTC", 0),
        ("20380119031408", "UTC", 12),
    ],
)
def test_the_timestamp_is_read_in_the_zone_of_the_process(text: str, zone: str, start: int) -> None:
    for kind in ("push", "lite_pull"):
        found = decide(kind, "5.5.0", begun(), 0, TIMESTAMP, text=text, zone=zone, fault="QUERY_NOT_FOUND")[1]
        assert found == start


@every(
    ("text", "start"),
    [
        ("20240310013000", 2),
        ("20240310020000", 3),
        ("20240310023000", 4),
        ("20240310030000", 3),
        ("20240310033000", 4),
        ("20241103003000", 8),
        ("20241103010000", 9),
        ("20241103013000", 10),
        ("20241103020000", 11),
    ],
)
def test_the_clocks_of_new_york_change_among_the_messages(text: str, start: int) -> None:
    how = {"text": text, "zone": "America/New_York", "fault": "QUERY_NOT_FOUND"}
    assert push("5.5.0", begun(), PLAIN, TIMESTAMP, **how) == start


def test_a_timestamp_that_is_no_time_is_a_runtime_exception_where_it_is_needed() -> None:
    offenders = []
    for release, checked, text in product(RELEASES, (False, True), ("yesterday", "", None)):
        how: dict[str, Any] = {"text": text, "fault": not_found(release), "checked": checked}
        starts = (
            push(release, begun(), PLAIN, TIMESTAMP, **how),
            push(release, begun(), RETRY, TIMESTAMP, **how),
            push(release, begun(), PLAIN, TIMESTAMP, **how, bound_fault="silent"),
        )
        if starts != (NO_TIME, 12, NO_TIME):
            offenders.append((release, checked, text, starts))
    assert not offenders, offenders[:5]


# --- errors -----------------------------------------------------------------------------------------------

BEFORE_5 = ("4.0.0", "4.8.0", "4.9.0", "4.9.1", "4.9.8", "5.0.0-PREVIEW")
FROM_5 = ("5.0.0-ALPHA", "5.0.0", "5.1.0", "5.5.0")


@every("release", RELEASES)
@every("fault", ["silent", "cut", "no-field"])
def test_an_unreadable_offset_is_no_start_and_since_5_an_exception(release: str, fault: str) -> None:
    assert push(release, begun(3), fault=fault) == -1
    assert push(release, begun(3), fault=fault, checked=True) == (NO_START if release in FROM_5 else -1)
    if release != "4.0.0":
        assert lite(release, begun(3), fault=fault, checked=True) == -1


@every("release", RELEASES)
def test_a_busy_broker_is_a_new_group_before_5(release: str) -> None:
    assert push(release, begun(3), fault="SYSTEM_BUSY") == (12 if release in BEFORE_5 else -1)


def test_failing_bounds_are_reported_by_the_checked_variant_only() -> None:
    failing = [fault for fault in BOUND_FAULTS if fault not in ("answer", "negative")]
    asked = [(LAST, PLAIN), (TIMESTAMP, PLAIN), (TIMESTAMP, RETRY)]
    offenders = []
    for release, bound_fault, (where, queue) in product(RELEASES, failing, asked):
        how = {"fault": not_found(release), "bound_fault": bound_fault}
        starts = (
            push(release, begun(), queue, where, **how),
            push(release, begun(), queue, where, **how, checked=True),
            push(release, begun(), queue, FIRST, **how, checked=True),
        )
        if starts != (-1, NO_START, 0):
            offenders.append((release, bound_fault, where, queue, starts))
    assert not offenders, offenders[:5]


@pytest.mark.parametrize(
    ("release", "last"),
    [("4.9.0", -1), ("5.0.0-PREVIEW", -1), ("4.9.1", NO_START), ("5.0.0-ALPHA", NO_START), ("5.5.0", NO_START)],
)
def test_old_lite_pull_swallows_a_failing_max_for_last(release: str, last: Expected) -> None:
    how = {"fault": not_found(release), "bound_fault": "SYSTEM_BUSY", "checked": True}
    assert lite(release, begun(), **how) == last
    assert lite(release, begun(), PLAIN, TIMESTAMP, **how) == NO_START
    assert lite(release, begun(), RETRY, TIMESTAMP, **how) == NO_START
    assert lite(release, begun(), **{**how, "checked": False}) == -1


@every("release", RELEASES)
@every("where", [LAST, TIMESTAMP])
def test_a_negative_bound_is_refused_by_push_since_5_only(release: str, where: str) -> None:
    how = {"fault": not_found(release), "bound_fault": "negative"}
    new = release in FROM_5
    assert push(release, begun(), PLAIN, where, **how) == (-1 if new else -3)
    assert push(release, begun(), PLAIN, where, **how, checked=True) == (NO_START if new else -3)
    if release != "4.0.0":
        assert lite(release, begun(), PLAIN, where, **how, checked=True) == -3


def test_a_queue_without_broker_has_no_start() -> None:
    assert push("5.5.0", begun(), LOST_QUEUE, checked=True) == NO_START
    assert lite("5.5.0", begun(), LOST_QUEUE, checked=True) == -1
    # the one way past the query: memory says that there is no offset
    for bound_fault in ("answer", "negative"):
        how = {"checked": True, "bound_fault": bound_fault}
        assert lite("5.5.0", begun(memory={LOST_QUEUE: -1}), LOST_QUEUE, **how) == NO_START


# --- lite pull and pull -----------------------------------------------------------------------------------


def test_lite_pull_looks_in_memory_first_and_push_in_the_store() -> None:
    state = begun(stored=5, memory={PLAIN: 8})
    assert lite("5.5.0", state) == 8
    assert push("5.5.0", state) == 5


def test_a_start_refreshes_memory() -> None:
    after, start, _ = decide("push", "5.5.0", begun(stored=5, memory={PLAIN: 8}))
    assert (start, dict(after.memory)) == (5, {PLAIN: 5})
    after, start, _ = decide("lite_pull", "5.5.0", begun(stored=5))
    assert (start, dict(after.memory)) == (5, {PLAIN: 5})


def test_a_start_without_stored_offset_leaves_memory_alone() -> None:
    before = begun()
    assert decide("push", "5.5.0", before, fault="QUERY_NOT_FOUND")[0] is before
    assert decide("lite_pull", "5.5.0", before, fault="QUERY_NOT_FOUND")[0] is before


def test_the_first_lite_pull_always_starts_at_0() -> None:
    assert lite("4.6.0", begun(stored=5, memory={PLAIN: 8})) == 0
    assert lite("4.6.1", begun(stored=5, memory={PLAIN: 8})) == 8


def test_pull_starts_at_0_without_a_request() -> None:
    before = begun(stored=5, memory={PLAIN: 8})
    cases = product(RELEASES, FAULTS)
    offenders = [case for case in cases if MODELS[case[0]].pull(before, PLAIN, case[1])[:2] != (before, 0)]
    assert not offenders, offenders[:5]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_changes_one_queue_and_nothing_else(shape: str) -> None:
    before = begun(stored=5, memory={PLAIN: 8})
    after, result, why = NEWEST.shape(before, 1, shape)
    assert result is None
    assert shape in why.kind
    assert after.broker.logs[ORDINARY.queues[1].topic, 1] == log_of_shape(shape)
    assert after._replace(broker=before.broker) == before
    changed = {key for key, log in after.broker.logs.items() if log != before.broker.logs[key]}
    assert changed <= {(ORDINARY.queues[1].topic, 1)}
    assert after.broker.stored == before.broker.stored


# --- a second statement -----------------------------------------------------------------------------------


def naive(kind: str, release: str, stored: int | str, queue: int, where: str, bound: int | str, checked: bool) -> Any:
    """The decision as a table: ``stored`` an offset, "none" or "unknown"; ``bound`` an offset or "fails"."""
    push, old = kind == "push", release in BEFORE_5
    if isinstance(stored, int):
        return stored
    if stored == "unknown":
        return "CLIENT" if push and checked and not old else -1
    if queue == RETRY and where != TIMESTAMP:
        return 0
    if where == FIRST:
        return 0
    if bound == "fails":
        if not checked:
            return -1
        swallows = not push and where == LAST and release in ("4.9.0", "5.0.0-PREVIEW")
        return -1 if swallows else "CLIENT"
    assert isinstance(bound, int)
    if bound < 0 and push and not old:
        return "CLIENT" if checked else -1
    return bound


@given(
    kind=st.sampled_from(["push", "lite_pull"]),
    release=st.sampled_from([release for release in RELEASES if release not in ("4.0.0", "4.8.0")]),
    stored=st.one_of(st.integers(0, 2**53 + 1), st.sampled_from(["none", "unknown"])),
    queue=st.sampled_from([PLAIN, RETRY]),
    where=st.sampled_from([LAST, FIRST, TIMESTAMP]),
    bound=st.sampled_from(["max", "negative", "fails"]),
    checked=st.booleans(),
)
def test_starts_agree_with_the_second_statement(
    kind: str, release: str, stored: int | str, queue: int, where: str, bound: str, checked: bool
) -> None:
    searched = where == TIMESTAMP and queue == PLAIN
    answers: dict[str, int | str] = {"max": 4 if searched else 12, "negative": -3, "fails": "fails"}
    expected = naive(kind, release, stored, queue, where, answers[bound], checked)
    _, start, _ = decide(
        kind,
        release,
        begun(stored if isinstance(stored, int) else None),
        queue,
        where,
        checked=checked,
        fault={"none": not_found(release), "unknown": "silent"}.get(str(stored), "answer"),
        bound_fault={"max": "answer", "fails": "SYSTEM_BUSY"}.get(bound, bound),
    )
    assert start == (Err("CLIENT") if expected == "CLIENT" else expected)


@given(hour=st.integers(0, 24 * 366), zone=st.sampled_from(["UTC", "Asia/Kolkata", "America/New_York"]))
def test_later_timestamps_never_start_earlier(hour: int, zone: str) -> None:
    def start(hours: int) -> Expected:
        text = f"202401010000{hours * 3600:02}"
        return push("5.5.0", begun(), PLAIN, TIMESTAMP, text=text, zone=zone, fault="QUERY_NOT_FOUND")

    # a day, because an hour can be skipped or had twice
    earlier, later = start(hour), start(hour + 24)
    assert isinstance(earlier, int)
    assert isinstance(later, int)
    assert earlier <= later <= earlier + 4
