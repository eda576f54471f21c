"""Bounds and search by time: the notes' tables, answers of real brokers, laws, and a second statement."""

from __future__ import annotations

from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.search import (
    LOWER,
    UPPER,
    earliest_time,
    instant,
    max_offset,
    min_offset,
    search,
)
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.profile import Profile

RULES = {release: BrokerRules.of(Profile.of(broker=release)) for release in ("4.9.7", "5.0.0", "5.1.1", "5.1.4")}
NEAREST = RULES["4.9.7"]
BOUNDARY = RULES["5.1.4"]

#: 15 … 22 retained, as in the table of BQ-TIME-2, with a pair of equal times.
RETAINED = QueueLog(min=15, first=15, times=(100, 110, 120, 120, 130, 150, 160, 170))


def found(rules: BrokerRules, log: QueueLog, timestamp: int, boundary: str = LOWER) -> int:
    state = BrokerState(logs={("T", 0): log})
    after, result, _ = search(rules, state, "T", 0, timestamp, boundary)
    assert after is state
    assert isinstance(result, int)
    return result


@every(
    ("timestamp", "lower", "upper"),
    [
        (-1, 15, 15),
        (99, 15, 15),
        (100, 15, 15),
        (110, 16, 16),
        (120, 17, 18),
        (125, 19, 18),
        (170, 22, 22),
        (171, 23, 22),
        (10**14, 23, 22),
    ],
)
def test_boundaries_from_5_1_4(timestamp: int, lower: int, upper: int) -> None:
    assert found(BOUNDARY, RETAINED, timestamp) == lower
    assert found(BOUNDARY, RETAINED, timestamp, "") == lower
    assert found(BOUNDARY, RETAINED, timestamp, UPPER) == upper


@pytest.mark.parametrize("timestamp", [0, 100, 120, 125, 999])
def test_upper_is_ignored_before_5_1_4(timestamp: int) -> None:
    assert found(RULES["5.1.1"], RETAINED, timestamp, UPPER) == found(BOUNDARY, RETAINED, timestamp, LOWER)
    for release in ("4.9.7", "5.0.0"):
        assert found(RULES[release], RETAINED, timestamp, UPPER) == found(RULES[release], RETAINED, timestamp, LOWER)


@every(
    ("timestamp", "expected"),
    [(-1, 15), (99, 15), (104, 15), (105, 15), (106, 16), (125, 18), (126, 19), (140, 19), (141, 20), (10**14, 22)],
)
def test_the_nearest_message_up_to_5_1_0_and_the_older_of_two(timestamp: int, expected: int) -> None:
    assert found(NEAREST, RETAINED, timestamp) == expected
    assert found(RULES["5.0.0"], RETAINED, timestamp) == expected


@every(
    ("first", "times", "timestamp", "expected"),
    [
        # answered by brokers of 4.7.1, 4.9.7 and 5.0.0: which of several equal messages is hit
        (0, (0, 1, 1, 1, 1, 2, 7, 7, 7, 20, 21, 30), 1, 2),
        (0, (0, 1, 1, 1, 1, 2, 7, 7, 7, 20, 21, 30), 7, 8),
        (7, (0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5), 0, 12),
        (7, (0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5), 5, 15),
        (7, (0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5), 2, 13),
        (10, (0, 10, 10, 20, 35), 10, 12),
        (10, (0, 10, 10, 20, 35), 15, 12),
        (10, (0, 10, 10, 20, 35), 28, 14),
    ],
)
def test_the_nearest_of_equal_times_is_the_one_that_real_brokers_answer(
    first: int, times: tuple[int, ...], timestamp: int, expected: int
) -> None:
    assert found(NEAREST, QueueLog(first, first, times), timestamp) == expected


def test_an_old_min_that_did_not_follow_changes_which_equal_message_is_hit() -> None:
    times = (5, 5, 5, 5)
    assert found(NEAREST, QueueLog(min=6, first=6, times=times), 5) == 7
    assert found(NEAREST, QueueLog(min=0, first=6, times=times), 5) == 7
    assert found(NEAREST, QueueLog(min=0, first=3, times=times), 5) == 3
    assert found(NEAREST, QueueLog(min=0, first=6, times=times), 4) == 6
    assert found(NEAREST, QueueLog(min=0, first=6, times=times), 6) == 9


@pytest.mark.parametrize("timestamp", [-1, 0, 10**14])
def test_an_empty_queue(timestamp: int) -> None:
    for rules in RULES.values():
        assert found(rules, QueueLog(), timestamp) == 0
    gone, stale = QueueLog(min=3, first=3), QueueLog(min=0, first=3)
    assert found(RULES["5.0.0"], gone, timestamp) == 3
    assert found(BOUNDARY, gone, timestamp) == 3
    assert found(BOUNDARY, gone, timestamp, UPPER) == 3
    assert found(NEAREST, stale, timestamp) == 0
    assert found(NEAREST, gone, timestamp) == 0


#: 650 messages 10 ms apart, whose files were changed at 3, 6 and 7 s.
LONG = QueueLog(times=tuple(range(0, 6500, 10)), written=(3000, 6000, 7000))


@every(
    ("changes", "timestamp", "expected"),
    [
        # answered by brokers of 4.0.0, 4.9.7, 5.0.0 and 5.1.0, in files of 300 entries
        ({}, 2990, 299),
        ({}, 2996, 299),  # 300 is nearer, and in the second file
        ({}, 3000, 299),
        ({}, 3001, 300),
        ({}, 6000, 599),
        ({}, 6001, 600),
        ({}, 10**14, 649),
        ({"written": (9000, 9000, 9000)}, 5000, 299),
        ({"written": (9000, 9000, 9000)}, 9001, 649),
        ({"written": (1, 1, 1)}, 500, 600),
        ({"written": (4000, 2000, 7000)}, 3500, 299),
        ({"written": (4000, 2000, 7000)}, 4500, 600),
        ({"first": 150, "min": 150, "times": LONG.times[150:]}, 0, 150),
        ({"first": 150, "min": 150, "times": LONG.times[150:]}, 3001, 300),
    ],
)
def test_up_to_5_1_0_a_search_looks_at_one_file(changes: dict[str, Any], timestamp: int, expected: int) -> None:
    log = LONG._replace(**changes)
    for release in ("4.9.7", "5.0.0"):
        assert found(RULES[release], log, timestamp) == found(RULES[release], log, timestamp, UPPER) == expected


@given(st.integers(-20, 7000), st.sampled_from([(), (0, 0, 0), (9000, 9000, 9000), (4000, 2000, 7000)]))
def test_from_5_1_1_files_make_no_difference(timestamp: int, written: tuple[int, ...]) -> None:
    for release in ("5.1.1", "5.1.4"):
        for boundary in (LOWER, UPPER):
            whole = found(RULES[release], LONG._replace(written=()), timestamp, boundary)
            assert found(RULES[release], LONG._replace(written=written), timestamp, boundary) == whole


LOGS = st.builds(
    lambda first, gaps: QueueLog(
        min=first, first=first, times=tuple(sum(gaps[: at + 1], 1000) for at in range(len(gaps)))
    ),
    st.sampled_from([0, 7]),
    st.lists(st.sampled_from([0, 0, 1, 2, 10]), max_size=8),
)
TIMES = st.integers(990, 1070)


@given(LOGS, TIMES)
def test_a_second_statement_of_the_boundaries(log: QueueLog, timestamp: int) -> None:
    offsets = range(log.first, log.max)
    not_older = [offset for offset in offsets if log.times[offset - log.first] >= timestamp]
    not_newer = [offset for offset in offsets if log.times[offset - log.first] <= timestamp]
    assert found(BOUNDARY, log, timestamp, LOWER) == min(not_older, default=log.max)
    assert found(BOUNDARY, log, timestamp, UPPER) == max(not_newer, default=log.min)


@given(LOGS, TIMES)
def test_a_second_statement_of_the_nearest(log: QueueLog, timestamp: int) -> None:
    result = found(NEAREST, log, timestamp)
    if not log.times:
        assert result == 0
        return
    distance = {offset: abs(log.times[offset - log.first] - timestamp) for offset in range(log.first, log.max)}
    least = min(distance.values())
    assert distance[result] == least
    # of two different times equally near, the older one
    oldest = min(log.times[offset - log.first] for offset, far in distance.items() if far == least)
    assert log.times[result - log.first] == oldest


@given(LOGS, TIMES, TIMES, st.sampled_from(["5.0.0", "5.1.1", "5.1.4"]), st.sampled_from([LOWER, UPPER]))
def test_a_later_time_never_leads_back_to_an_older_time(
    log: QueueLog, one: int, other: int, release: str, boundary: str
) -> None:
    early, late = sorted((one, other))
    results = [found(RULES[release], log, timestamp, boundary) for timestamp in (early, late)]
    assert all(log.min <= result <= log.max for result in results)
    if release == "5.0.0":  # of equal times any one is answered, so only the times are in order
        results = [log.times[result - log.first] if log.times else 0 for result in results]
    assert results[0] <= results[1]


@given(LOGS, TIMES)
def test_lower_and_upper_enclose_a_time(log: QueueLog, timestamp: int) -> None:
    lower, upper = (found(BOUNDARY, log, timestamp, boundary) for boundary in (LOWER, UPPER))
    if timestamp in log.times:
        assert lower <= upper
        assert log.times[lower - log.first] == log.times[upper - log.first] == timestamp
    elif log.times and log.times[0] < timestamp:
        assert lower == upper + 1


@every(
    ("log", "lowest", "highest", "earliest"),
    [
        (None, 0, 0, -1),
        (QueueLog(times=(5, 6)), 0, 2, 5),
        (QueueLog(min=10, first=10, times=(7,)), 10, 11, 7),
        (QueueLog(min=3, first=3), 3, 3, -1),
        (QueueLog(min=0, first=3), 0, 3, -1),
        (QueueLog(min=0, first=3, times=(9,)), 0, 4, -1),
    ],
)
def test_bounds(log: QueueLog | None, lowest: Expected, highest: Expected, earliest: Expected) -> None:
    state = BrokerState(logs={} if log is None else {("T", 0): log})
    assert min_offset(state, "T", 0)[1] == lowest
    assert max_offset(state, "T", 0)[1] == highest
    assert earliest_time(state, "T", 0)[1] == earliest


def test_every_kind_of_min_has_its_rule() -> None:
    kinds = {
        QueueLog(): ("BQ-STORE-MIN",),
        QueueLog(times=(1,)): ("BQ-STORE-MIN",),
        QueueLog(min=2, first=2, times=(1,)): ("BQ-STORE-MIN", "BQ-MIN-1"),
        QueueLog(min=2, first=2): ("BQ-STORE-MIN", "BQ-MIN-3"),
        QueueLog(min=0, first=2): ("BQ-STORE-MIN", "BQ-MIN-2"),
    }
    for log, rules in kinds.items():
        assert min_offset(BrokerState(logs={("T", 0): log}), "T", 0)[2].rules == rules


def test_a_time_near_a_message() -> None:
    log = QueueLog(min=3, first=3, times=(100, 200, 300))
    assert instant(log, 0, -1, origin=7) == 99
    assert instant(log, 1, 0, origin=7) == 200
    assert instant(log, -1, 5, origin=7) == 305
    assert instant(log, 9, 0, origin=7) == 300
    assert instant(QueueLog(), 0, 5, origin=7) == 12
