"""Where messages go that are sent back: the decision, by release and by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.delay_level import (
    DEFAULT_LEVELS,
    SHORT_LEVELS,
    effective_level,
    parse_levels,
)
from rocketmq_conformance.models.broker.send_back import (
    BackRequest,
    Decided,
    Filing,
    KeptMessage,
    RetrySettings,
    send_back,
    send_copy,
)
from rocketmq_conformance.models.broker.state import READ, WRITE, BrokerState, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

RULES = {
    release: BrokerRules.of(Profile.of(broker=release))
    for release in ("4.8.0", "4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.7", "5.0.0", "5.1.0", "5.5.0")
}
STATE = BrokerState(topics={"T": Topic.of(2)}, groups=frozenset({"G"}))
SENT = KeptMessage("T", 0, {"TAGS": "a"}, "id 0")
#: The message after it waited at level 3.
AGAIN = KeptMessage(
    "%RETRY%G",
    1,
    {
        "TAGS": "a",
        "RETRY_TOPIC": "T",
        "WAIT": "false",
        "ORIGIN_MESSAGE_ID": "id 0",
        "DELAY": "3",
        "REAL_TOPIC": "%RETRY%G",
        "REAL_QID": "0",
    },
    "id 1",
)
FAILED = Err("SYSTEM_ERROR")
DEFAULT = RetrySettings()


def back(
    release: str,
    found: KeptMessage | None = SENT,
    level: int = 0,
    most: int | None = 16,
    origin: str | None = "T",
    settings: RetrySettings = DEFAULT,
    state: BrokerState = STATE,
    names_limit: bool = True,
) -> Decided:
    asked = BackRequest("G", level, most, origin)
    return send_back(RULES[release], state, settings, found, asked, 18, names_limit=names_limit)


def filing(decided: Decided) -> Filing:
    assert isinstance(decided[1], Filing)
    return decided[1]


def test_levels_are_times() -> None:
    assert parse_levels(DEFAULT_LEVELS)[:5] == (1_000, 5_000, 10_000, 30_000, 60_000)
    assert parse_levels(DEFAULT_LEVELS)[-1] == 7_200_000
    assert parse_levels(SHORT_LEVELS) == (1_000, *[0] * 17)
    assert [effective_level(level, 18) for level in (-1, 0, 1, 18, 19)] == [0, 0, 1, 18, 18]


def test_a_message_comes_again_with_its_first_topic_and_id() -> None:
    for release in RULES:
        state, decided, why = back(release)
        assert isinstance(decided, Filing)
        assert decided.stored(0) == AGAIN._replace(id="")
        assert state.topics == {**STATE.topics, "%RETRY%G": Topic.of(1)}
        assert why.kind == "level by times, retry topic made"


def test_a_copy_keeps_what_it_brought_and_waits_longer() -> None:
    again = filing(back("5.5.0", AGAIN)).stored(0)
    assert (again.times, again.properties) == (2, {**AGAIN.properties, "DELAY": "4"})


@pytest.mark.parametrize(("asked", "level"), [(0, 3), (5, 5), (18, 18), (19, 18), (2**31 - 1, 18)])
def test_a_level_is_named_or_counted_and_has_an_end(asked: int, level: int) -> None:
    again = filing(back("4.9.7", level=asked))
    assert (again.level, again.properties["DELAY"]) == (level, str(level))


def test_a_group_without_retry_queues_drops() -> None:
    for queues in (0, -1):
        assert back("5.5.0", None, settings=RetrySettings(queues))[:2] == (STATE, None)


def test_a_retry_topic_has_the_queues_that_it_was_made_with() -> None:
    made = back("5.5.0", None, settings=RetrySettings(3))[0]
    assert made.topics["%RETRY%G"] == Topic.of(3)
    after = back("5.5.0", settings=RetrySettings(5), state=made)
    assert after[0] == made
    assert filing(after).queues == 5


def test_an_unknown_group_is_made_if_it_may_be() -> None:
    nobody = STATE._replace(groups=frozenset())
    state, decided, why = back("4.9.7", state=nobody)
    assert state.groups == {"G"}
    assert isinstance(decided, Filing)
    assert "BQ-GROUP-LOOKUP" in why.rules
    asked = BackRequest("G", 0, 16, "T")
    rules = replace(RULES["4.9.7"], creates_groups=False)
    refused = send_back(rules, nobody, RetrySettings(), SENT, asked, 18)
    assert refused[:2] == (nobody, Err("SUBSCRIPTION_GROUP_NOT_EXIST"))


def test_refusals_come_in_order() -> None:
    closed = STATE._replace(topics={**STATE.topics, "%RETRY%G": Topic(1, 1, READ)})
    assert back("4.9.7", None, state=closed)[1] == Err("NO_PERMISSION")
    assert back("4.9.7", SENT, level=-1, state=closed)[1] == Err("NO_PERMISSION")
    assert back("4.9.7", None)[1] == FAILED
    gone = STATE._replace(topics={})
    assert back("4.9.7", state=gone)[2].kind == "level by times, topic gone, retry topic made"


def test_one_release_wants_the_topic_in_which_the_message_lies() -> None:
    fenced = {release for release in RULES if back(release, AGAIN, origin="T")[1] == FAILED}
    assert fenced == {"5.0.0"}
    assert isinstance(back("5.0.0", AGAIN, origin="%RETRY%G")[1], Filing)
    assert isinstance(back("5.0.0", AGAIN, origin=None)[1], Filing)


def test_the_limit_is_the_requests_else_the_groups() -> None:
    failing = {release for release in RULES if back(release, most=None)[1] == FAILED}
    assert failing == {"4.8.0", "4.9.0"}
    group = RetrySettings(1, 0)
    for release in RULES:
        assert filing(back(release, settings=group)).topic == "%RETRY%G"
        old = back(release, most=None, settings=group, names_limit=False)
        assert filing(old).topic == "%DLQ%G"
        assert "BQ-BACK-MOST" in old[2].rules
    assert filing(back("5.5.0", most=None, settings=group)).topic == "%DLQ%G"


@pytest.mark.parametrize(("times", "most", "level"), [(0, 0, 0), (1, 1, 3), (1, -1, 0), (0, 16, -1)])
def test_too_many_times_or_a_negative_level_is_death(times: int, most: int, level: int) -> None:
    state, decided, _ = back("5.5.0", SENT._replace(times=times), level, most)
    assert isinstance(decided, Filing)
    assert (decided.topic, decided.queues, decided.level, decided.times) == ("%DLQ%G", 1, 0, times + 1)
    assert state.topics["%DLQ%G"] == Topic.of(1)


def test_dead_letters_by_release() -> None:
    first = {"TAGS": "a", "RETRY_TOPIC": "T", "WAIT": "false"}
    named = {**first, "ORIGIN_MESSAGE_ID": "id 0"}
    for release, perm, properties, level in (
        ("4.8.0", WRITE, first, 3),
        ("4.9.0", WRITE, named, 3),
        ("4.9.1", WRITE, named, 3),
        ("4.9.2", READ | WRITE, {**named, "DELAY": "0"}, 0),
        ("5.5.0", READ | WRITE, {**named, "DELAY": "0"}, 0),
    ):
        state, decided, _ = back(release, level=-1)
        assert isinstance(decided, Filing)
        assert state.topics["%DLQ%G"] == Topic(1, 1, perm)
        assert decided.stored(0).properties == properties
        waited = filing(back(release, AGAIN, level=-1))
        assert waited.level == level
        real = {"REAL_TOPIC": "%DLQ%G"} if level else {"REAL_TOPIC": "%RETRY%G"}
        assert waited.stored(0).properties == {**AGAIN.properties, "DELAY": str(level), **real}


def test_a_dead_letter_topic_that_is_there_stays() -> None:
    opened = STATE._replace(topics={**STATE.topics, "%DLQ%G": Topic(2, 2, READ)})
    assert back("4.9.1", level=-1, state=opened)[0].topics["%DLQ%G"] == Topic(2, 2, READ)


def test_a_dead_letter_needs_a_topic_for_its_metric() -> None:
    failing = {release for release in RULES if back(release, level=-1, origin=None)[1] == FAILED}
    assert failing == {"5.1.0", "5.5.0"}


def copy(
    release: str, times: int = 1, most: int | None = 3, delay: str = "", names_limit: bool = True, limit: int = 16
) -> Decided:
    properties = {"RETRY_TOPIC": "T"} | ({"DELAY": delay} if delay else {})
    sent = KeptMessage("%RETRY%G", times, properties)
    return send_copy(RULES[release], STATE, RetrySettings(1, limit), "G", sent, most, 18, names_limit=names_limit)


def test_a_copy_waits_and_is_not_counted() -> None:
    for release in RULES:
        state, decided, why = copy(release, delay="4")
        assert isinstance(decided, Filing)
        assert state.topics["%RETRY%G"] == Topic.of(1)
        assert (decided.topic, decided.level, decided.times) == ("%RETRY%G", 4, 1)
        assert "BQ-BACK-TOPIC" in why.rules
        assert filing(copy(release)).stored(0).properties == {"RETRY_TOPIC": "T"}
        assert filing(copy(release, delay="99")).properties["DELAY"] == "18"
        again = KeptMessage("%RETRY%G", 1, {})
        assert send_copy(RULES[release], state, DEFAULT, "G", again, 3, 18)[2].kind == "at once"


def test_a_copy_is_a_dead_letter_at_the_limit_or_beyond() -> None:
    for release in ("4.8.0", "4.9.7"):
        assert filing(copy(release, 3)).topic == "%DLQ%G"
        assert filing(copy(release, 3, delay="5")).level == 5
    for release in ("5.0.0", "5.5.0"):
        assert filing(copy(release, 3)).topic == "%RETRY%G"
        dead = filing(copy(release, 4, delay="5"))
        assert (dead.topic, dead.level, dead.properties["DELAY"]) == ("%DLQ%G", 0, "-1")


def test_the_limit_of_a_copy() -> None:
    failing = {release for release in RULES if copy(release, most=None)[1] == FAILED}
    assert failing == {"4.8.0", "4.9.0", "4.9.1", "4.9.2"}
    assert filing(copy("5.5.0", 2, None, limit=1)).topic == "%DLQ%G"
    assert filing(copy("4.8.0", 2, None, names_limit=False, limit=1)).topic == "%DLQ%G"
    assert filing(copy("4.8.0", 2, 0, names_limit=False, limit=3)).topic == "%RETRY%G"


def test_a_copy_of_an_unknown_group_makes_the_group() -> None:
    sent = KeptMessage("%RETRY%N", 0, {})
    state, _, why = send_copy(RULES["5.5.0"], STATE, RetrySettings(), "N", sent, 16, 18)
    assert state.groups == {"G", "N"}
    assert "BQ-GROUP-LOOKUP" in why.rules


def test_a_copy_of_a_group_that_holds_a_lock_is_a_dead_letter() -> None:
    message = KeptMessage("%RETRY%G", 1, {"RETRY_TOPIC": "T", "DELAY": "3"})
    for release, dies in (("4.9.7", False), ("5.1.0", False), ("5.1.1", True), ("5.5.0", True)):
        rules = BrokerRules.of(Profile.of(broker=release))
        _, found, why = send_copy(rules, STATE, DEFAULT, "G", message, 16, 18, locked=True)
        assert isinstance(found, Filing)
        assert found.topic == ("%DLQ%G" if dies else "%RETRY%G")
        assert ("BQ-COPY-LOCKED" in why.rules) is dies
        assert (found.level, found.properties["DELAY"]) == ((0, "-1") if dies else (3, "3"))
    _, found, _ = send_copy(RULES["5.5.0"], STATE, DEFAULT, "G", message, 16, 18)
    assert isinstance(found, Filing)
    assert found.topic == "%RETRY%G"


def test_a_broker_that_may_not_be_written_takes_nothing_back() -> None:
    for release in RULES:
        rules = replace(RULES[release], writeable=False)
        state, result, why = send_back(rules, STATE, DEFAULT, SENT, BackRequest("G", 0, 16, "T"), 18)
        assert (state, result, why.rules) == (STATE, Err("NO_PERMISSION"), ("BQ-BACK-BROKER",))


def test_a_copy_of_an_unknown_group_is_refused_where_none_is_made() -> None:
    rules = replace(RULES["5.5.0"], creates_groups=False)
    unknown = STATE._replace(groups=frozenset())
    message = KeptMessage("%RETRY%G", 1, {"RETRY_TOPIC": "T"})
    state, result, _ = send_copy(rules, unknown, DEFAULT, "G", message, 16, 18)
    assert result == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    assert state.topics == {**STATE.topics, "%RETRY%G": Topic.of(1)}
    assert send_copy(rules, state, DEFAULT, "G", message, 16, 18)[:2] == (state, result)
    own = KeptMessage("%RETRY%CID_RMQ_SYS_G", 1, {"RETRY_TOPIC": "T"})
    state, result, _ = send_copy(rules, unknown, DEFAULT, "CID_RMQ_SYS_G", own, 16, 18)
    assert isinstance(result, Filing)
    assert state.groups == {"CID_RMQ_SYS_G"}
