"""Pulls: checks, filters, statuses, limits; every release that differs."""

from __future__ import annotations

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pull import (
    COMMIT,
    FOUND,
    MESSAGE_WAS_REMOVING,
    NO_MATCHED_MESSAGE,
    NO_MESSAGE_IN_QUEUE,
    OFFSET_OVERFLOW_BADLY,
    OFFSET_OVERFLOW_ONE,
    OFFSET_TOO_SMALL,
    RULES,
    SUSPEND,
    PullMessageRequest,
    PullResult,
    is_held,
    pull,
    response_code,
)
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.broker.subscription import (
    StoredEntry,
    TagCodes,
    passes_filter,
    tag_codes,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason

NEW = BrokerRules.of(Profile())
SMALL = StoredEntry(100)


def rules(broker: str) -> BrokerRules:
    return BrokerRules.of(Profile.of(broker=broker))


def world(log: QueueLog) -> BrokerState:
    return BrokerState(topics={"T": Topic.of(2)}, groups=frozenset({"G"}), logs={("T", 0): log})


def young(messages: int) -> QueueLog:
    return QueueLog(times=tuple(range(messages)))


def asked(
    log: QueueLog,
    offset: int = 0,
    most: int = 32,
    codes: TagCodes | Err = None,
    entries: list[StoredEntry] | None = None,
    broker: BrokerRules = NEW,
) -> tuple[PullResult | Err, Reason]:
    kept = [SMALL] * len(log.times) if entries is None else entries
    state = world(log)
    after, result, why = pull(broker, state, PullMessageRequest("G", "T", 0, offset, most), codes, kept)
    assert after == state
    assert isinstance(result, tuple | Err)
    return result, why  # type: ignore[return-value]


# --- checks ---------------------------------------------------------------------------------------------------


@every(
    ("request_", "codes", "error"),
    [
        (PullMessageRequest("X", "X", 9, 0), Err("SUBSCRIPTION_NOT_EXIST"), "SUBSCRIPTION_GROUP_NOT_EXIST"),
        (PullMessageRequest("G", "X", 9, 0), Err("SUBSCRIPTION_NOT_EXIST"), "TOPIC_NOT_EXIST"),
        (PullMessageRequest("G", "T", 2, 0), Err("SUBSCRIPTION_NOT_EXIST"), "INVALID_PARAMETER"),
        (PullMessageRequest("G", "T", -1, 0), None, "INVALID_PARAMETER"),
        (PullMessageRequest("G", "T", 1, 0), Err("SUBSCRIPTION_NOT_EXIST"), "SUBSCRIPTION_NOT_EXIST"),
        (PullMessageRequest("G", "T", 1, 0), Err("SUBSCRIPTION_NOT_LATEST"), "SUBSCRIPTION_NOT_LATEST"),
        (PullMessageRequest("G", "T", 1, 0), Err("SUBSCRIPTION_PARSE_FAILED"), "SUBSCRIPTION_PARSE_FAILED"),
        (PullMessageRequest("G", "T", 1, 0), Err("SYSTEM_ERROR"), "SYSTEM_ERROR"),
    ],
)
def test_checks_come_in_order_and_a_refused_pull_commits_nothing(
    request_: PullMessageRequest, codes: TagCodes | Err, error: str
) -> None:
    state = world(young(3))
    after, result, why = pull(NEW, state, request_._replace(commit=7), codes, [SMALL] * 3)
    assert result == Err(error)
    assert after is state
    assert why.rules[0] == "BQ-PULL-1"


@pytest.mark.parametrize(("broker", "error"), [("5.3.1", "SYSTEM_ERROR"), ("5.3.2", "INVALID_PARAMETER")])
def test_a_bad_queue_is_named_by_release(broker: str, error: str) -> None:
    assert pull(rules(broker), world(young(1)), PullMessageRequest("G", "T", 2, 0), None, [])[1] == Err(error)


# --- statuses -------------------------------------------------------------------------------------------------


@every(
    ("log", "offset", "expected", "code"),
    [
        (QueueLog(), 0, (NO_MESSAGE_IN_QUEUE, 0, 0, 0, ()), "PULL_NOT_FOUND"),
        (QueueLog(), 7, (NO_MESSAGE_IN_QUEUE, 0, 0, 0, ()), "PULL_OFFSET_MOVED"),
        (QueueLog(), -1, (NO_MESSAGE_IN_QUEUE, 0, 0, 0, ()), "PULL_OFFSET_MOVED"),
        (young(3), -1, (OFFSET_TOO_SMALL, 0, 0, 3, ()), "PULL_OFFSET_MOVED"),
        (QueueLog(min=4, first=4, times=(1, 2)), 3, (OFFSET_TOO_SMALL, 4, 4, 6, ()), "PULL_OFFSET_MOVED"),
        (young(3), 3, (OFFSET_OVERFLOW_ONE, 3, 0, 3, ()), "PULL_NOT_FOUND"),
        (QueueLog(min=12, first=12), 12, (OFFSET_OVERFLOW_ONE, 12, 12, 12, ()), "PULL_NOT_FOUND"),
        (young(3), 4, (OFFSET_OVERFLOW_BADLY, 3, 0, 3, ()), "PULL_OFFSET_MOVED"),
        (young(3), 0, (FOUND, 3, 0, 3, (0, 1, 2)), "SUCCESS"),
        (young(3), 2, (FOUND, 3, 0, 3, (2,)), "SUCCESS"),
        (QueueLog(min=4, first=4, times=(1, 2)), 4, (FOUND, 6, 4, 6, (4, 5)), "SUCCESS"),
        (QueueLog(min=0, first=12), 3, (MESSAGE_WAS_REMOVING, 12, 0, 12, ()), "PULL_RETRY_IMMEDIATELY"),
        (QueueLog(min=0, first=2, times=(1, 2)), 0, (FOUND, 4, 0, 4, (2, 3)), "SUCCESS"),
    ],
)
def test_the_status_follows_from_offset_and_bounds(log: QueueLog, offset: int, expected: PullResult, code: str) -> None:
    result, why = asked(log, offset)
    assert result == expected
    assert why.rules[0] == "BQ-PULL-STATUS"
    assert response_code(expected[0], offset) == code


@every(
    ("broker", "low", "following"),
    [("4.9.3", 0, 0), ("4.9.3", 4, 6), ("4.9.4", 0, 6), ("5.0.0-ALPHA", 0, 0), ("5.0.0", 0, 6), ("5.5.0", 4, 6)],
)
def test_old_brokers_send_a_pull_far_beyond_max_back_to_the_start(broker: str, low: int, following: int) -> None:
    log = QueueLog(min=low, first=low, times=(1,) * (6 - low))
    result, why = asked(log, 100, broker=rules(broker))
    assert result == (OFFSET_OVERFLOW_BADLY, following, low, 6, ())
    assert why.kind == f"beyond max, back to {'max' if following else '0'}"


def test_filtered_messages_are_passed_over() -> None:
    entries = [StoredEntry(1, tag) for tag in ("A", "B", None, "A", "B")]
    result, why = asked(young(5), codes=tag_codes("A"), entries=entries)
    assert result == (FOUND, 5, 0, 5, (0, 3))
    assert why.kind == "filtered, to the end"
    result, why = asked(young(5), offset=1, most=1, codes=tag_codes("A"), entries=entries)
    assert result == (FOUND, 4, 0, 5, (3,))
    assert why.kind == "filtered, batch full"
    result, why = asked(young(5), offset=4, codes=tag_codes("A"), entries=entries)
    assert result == (NO_MATCHED_MESSAGE, 5, 0, 5, ())
    assert response_code(NO_MATCHED_MESSAGE, 4) == "PULL_RETRY_IMMEDIATELY"
    assert why.kind == "none matched, to the end"


def test_the_old_start_of_a_queue_that_lost_messages_hides_no_mismatch() -> None:
    result, _ = asked(QueueLog(min=0, first=2, times=(1,)), codes=tag_codes("A"), entries=[StoredEntry(1, "B")])
    assert result == (NO_MATCHED_MESSAGE, 3, 0, 3, ())


# --- limits ---------------------------------------------------------------------------------------------------


@every(
    ("broker", "most", "found"),
    [
        ("5.5.0", 3, 3),
        ("5.5.0", 1, 1),
        ("5.5.0", 0, 1),
        ("4.2.0", 3, 3),
        ("4.1.0", 3, 2),
        ("4.1.0", 2, 1),
        ("4.1.0", 1, 1),
    ],
)
def test_a_pull_gets_as_many_as_it_asks_for(broker: str, most: int, found: int) -> None:
    result, why = asked(young(10), most=most, broker=rules(broker))
    assert result == (FOUND, found, 0, 10, tuple(range(found)))
    assert why.kind == "batch full"


def test_no_more_than_32_messages_at_once() -> None:
    result, _ = asked(young(50), most=1000)
    assert result == (FOUND, 32, 0, 50, tuple(range(32)))


def test_no_more_than_256_kib_but_always_one_message() -> None:
    large = [StoredEntry(128 * 1024)] * 3
    assert asked(young(3), entries=large)[0] == (FOUND, 2, 0, 3, (0, 1))
    huge = [StoredEntry(1024 * 1024)] * 3
    assert asked(young(3), entries=huge)[0] == (FOUND, 1, 0, 3, (0,))


@every(
    ("broker", "most", "looked_at"),
    [
        ("4.0.0", 850, 800),
        ("4.1.0", 850, 850),
        ("4.9.7", 32, 800),
        ("5.0.0-PREVIEW", 32, 800),
        ("5.0.0-ALPHA", 32, 16_001),
        ("5.0.0", 32, 16_001),
        ("5.0.0", 900, 18_001),
        ("5.1.0", 32, 801),
        ("5.3.2", 850, 851),
        ("5.3.3", 32, 800),
        ("5.5.0", 850, 850),
    ],
)
def test_a_pull_looks_at_so_many_entries(broker: str, most: int, looked_at: int) -> None:
    entries = [StoredEntry(1, "B")] * 20_000
    result, why = asked(young(20_000), 5, most, tag_codes("A"), entries, rules(broker))
    assert result == (NO_MATCHED_MESSAGE, 5 + looked_at, 0, 20_000, ())
    assert why.kind == "none matched, scan limit"


def test_lost_messages_count_as_looked_at() -> None:
    log = QueueLog(min=0, first=1000, times=(1,))
    assert asked(log)[0] == (MESSAGE_WAS_REMOVING, 800, 0, 1001, ())
    assert asked(log, 800)[0] == (FOUND, 1001, 0, 1001, (1000,))


def test_the_limit_ends_a_pull_that_found_something() -> None:
    entries = [StoredEntry(1, "A")] + [StoredEntry(1, "B")] * 1000
    result, why = asked(young(1001), codes=tag_codes("A"), entries=entries)
    assert result == (FOUND, 800, 0, 1001, (0,))
    assert why.kind == "filtered, scan limit"


# --- commit flag and holding ----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-1, 0, 3, 99])
def test_the_commit_flag_stores_the_offset_for_every_status(offset: int) -> None:
    state = world(young(3))
    plain = pull(NEW, state, PullMessageRequest("G", "T", 0, offset), None, [SMALL] * 3)
    after, result, why = pull(NEW, state, PullMessageRequest("G", "T", 0, offset, commit=-77), None, [SMALL] * 3)
    assert after.stored == {("G", "T", 0): -77}
    assert result == plain[1]
    assert why.kind == f"{plain[2].kind}, commit flag"
    assert why.rules[-1] == "BQ-PULL-8"
    assert after._replace(stored=state.stored) == state


def test_only_a_pull_that_finds_nothing_new_is_held_if_it_may_be() -> None:
    assert is_held("PULL_NOT_FOUND", SUSPEND | COMMIT)
    assert not is_held("PULL_NOT_FOUND", COMMIT)
    for code in ("SUCCESS", "PULL_OFFSET_MOVED", "PULL_RETRY_IMMEDIATELY", "TOPIC_NOT_EXIST"):
        assert not is_held(code, SUSPEND)


# --- laws -----------------------------------------------------------------------------------------------------

_LOG = st.builds(
    lambda first, lag, times: QueueLog(min=first - min(lag, first), first=first, times=tuple(times)),
    st.integers(0, 6),
    st.integers(0, 6),
    st.lists(st.just(0), max_size=8),
)


@given(
    log=_LOG,
    offset=st.integers(-2, 20),
    most=st.integers(1, 5),
    tags=st.lists(st.sampled_from(["A", "B", None]), min_size=8, max_size=8),
    wanted=st.sampled_from([None, "A", "A||B"]),
    broker=st.sampled_from(["4.1.0", "4.9.3", "4.9.7", "5.0.0", "5.5.0"]),
)
def test_pulling_on_reaches_max_and_finds_every_message_once(
    log: QueueLog, offset: int, most: int, tags: list[str | None], wanted: str | None, broker: str
) -> None:
    codes = tag_codes(wanted)
    assert not isinstance(codes, Err)
    entries = [StoredEntry(1, tag) for tag in tags[: len(log.times)]]
    seen: list[int] = []
    start = at = offset
    moves = 0
    for _ in range(40):
        result, _ = asked(log, at, most, codes, entries, rules(broker))
        assert not isinstance(result, Err)
        status, following, _, _, found = result
        code = response_code(status, at)
        if code == "PULL_NOT_FOUND":
            break
        if code == "PULL_OFFSET_MOVED":
            moves += 1
            start, seen = following, []
        else:
            assert following > at
            seen += found
        at = following
    assert at == log.max
    assert moves <= 1
    retained = enumerate(entries, log.first)
    assert seen == [
        place for place, entry in retained if place >= start and passes_filter(NEW, codes, StoredEntry(1, entry.tag))
    ]


def test_every_rule_has_a_source() -> None:
    assert {rule.id for rule in RULES} >= {"BQ-PULL-1", "BQ-PULL-3", "BQ-PULL-7", "BQ-PULL-8", "BQ-PULL-10"}
    assert all("@" in rule.source and rule.sentence.endswith(".") for rule in RULES)
