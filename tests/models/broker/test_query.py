"""QUERY_CONSUMER_OFFSET: the notes' tables, and a second statement of the rules."""

from __future__ import annotations

from itertools import product

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile

NOT_FOUND = Err("QUERY_NOT_FOUND")
OLD = ("4.0.0", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0")
NEW = ("5.1.0", "5.1.4", "5.3.3", "5.5.0")
HEARS_SET_ZERO = ("5.0.0-ALPHA", "5.0.0", *NEW)

YOUNG = QueueLog(times=(1, 2, 3))
COLD = YOUNG._replace(hot=False)
EXPIRED = QueueLog(min=10, first=10, times=(5, 6))
GONE = QueueLog(min=3, first=3)
STALE = QueueLog(min=0, first=3)
ABSENT = None


def ask(
    release: str, log: QueueLog | None, stored: int | None = None, set_zero: bool | None = None, java: int = 17
) -> Expected:
    state = BrokerState(
        logs={} if log is None else {("T", 0): log},
        stored={} if stored is None else {("G", "T", 0): stored},
    )
    rules = BrokerRules.of(Profile.of(broker=release, java=java))
    after, result, _ = query_offset(rules, state, "G", "T", 0, set_zero)
    assert after is state
    return result


def test_a_stored_offset_is_answered_as_it_is() -> None:
    cases = product(
        [*OLD, *NEW], [ABSENT, YOUNG, COLD, EXPIRED, GONE, STALE], [0, 5, 9999, 2**53 + 1], [None, True, False]
    )
    offenders = [case for case in cases if ask(*case) != case[2]]
    assert not offenders, offenders[:5]


@every("release", OLD)
@every(
    ("log", "expected"),
    [(ABSENT, 0), (YOUNG, 0), (COLD, NOT_FOUND), (EXPIRED, NOT_FOUND), (GONE, NOT_FOUND), (STALE, 0)],
)
def test_without_a_stored_offset_brokers_up_to_5_0_0_take_an_empty_queue_for_new(
    release: str, log: QueueLog | None, expected: Expected
) -> None:
    assert ask(release, log) == expected
    assert ask(release, log, set_zero=True) == expected


@every("release", NEW)
@every(
    ("log", "expected"), [(ABSENT, NOT_FOUND), (YOUNG, 0), (EXPIRED, NOT_FOUND), (GONE, NOT_FOUND), (STALE, NOT_FOUND)]
)
def test_without_a_stored_offset_brokers_from_5_1_0_do_not(
    release: str, log: QueueLog | None, expected: Expected
) -> None:
    assert ask(release, log) == expected
    assert ask(release, log, set_zero=True) == expected


@pytest.mark.parametrize(("java", "expected"), [(8, NOT_FOUND), (11, NOT_FOUND), (13, NOT_FOUND), (14, 0), (17, 0)])
def test_residency_is_only_seen_before_java_14(java: int, expected: Expected) -> None:
    assert ask("5.1.4", COLD, java=java) == expected


def test_an_expired_entry_0_is_still_judged_by_the_memory_ratio() -> None:
    assert ask("4.9.7", STALE) == 0
    assert ask("4.9.7", STALE._replace(hot=False)) == NOT_FOUND


@every("release", [*OLD, *NEW])
@every("log", [ABSENT, YOUNG, EXPIRED, GONE])
def test_a_negative_stored_offset_counts_as_none(release: str, log: QueueLog | None) -> None:
    for set_zero in (None, True, False):
        assert ask(release, log, -7, set_zero) == ask(release, log, None, set_zero)


@every("release", [*OLD, *NEW])
def test_set_zero_if_not_found_is_honoured_from_5_0_0_alpha(release: str) -> None:
    expected = NOT_FOUND if release in HEARS_SET_ZERO else 0
    assert ask(release, YOUNG, set_zero=False) == expected


@every("release", [*OLD, *NEW])
def test_a_missing_queue_is_a_system_error(release: str) -> None:
    rules = BrokerRules.of(Profile.of(broker=release))
    state = BrokerState(stored={("G", "T", 0): 5})
    assert query_offset(rules, state, "G", "T", None)[1] == Err("SYSTEM_ERROR")


LOGS = st.builds(
    lambda first, count, moved, hot: QueueLog(first if moved else 0, first, tuple(range(count)), hot),
    st.sampled_from([0, 0, 3]),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)


@given(
    st.sampled_from([*OLD, *NEW]),
    st.sampled_from([8, 17]),
    LOGS,
    st.none() | st.integers(-2, 5),
    st.sampled_from([None, True, False]),
)
def test_a_second_statement_agrees(
    release: str, java: int, log: QueueLog, stored: int | None, set_zero: bool | None
) -> None:
    """BQ-QUERY-1's steps one by one, as the handler has them."""
    new = release in NEW
    entry_0 = log.max > 0 and log.min <= 0
    readable = entry_0 and log.first == 0
    on_disk = entry_0 and not log.hot
    in_memory = readable and (log.hot or java >= 14)
    expected: Expected
    if stored is not None and stored >= 0:
        expected = stored
    elif set_zero is False and release in HEARS_SET_ZERO:
        expected = NOT_FOUND
    elif log.min <= 0 and (in_memory if new else not on_disk):
        expected = 0
    else:
        expected = NOT_FOUND
    assert ask(release, log, stored, set_zero, java) == expected
