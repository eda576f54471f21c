"""What consumers have that set nothing, and the port that their requests go to."""

from __future__ import annotations

import pytest
from by_hand import Steps, assert_known

from rocketmq_conformance.models.client.defaults import (
    _PORT,
    _THREADS,
    _UNKNOWN,
    _WAITS,
    _WHY,
    DEFAULTS,
    KINDS,
    LITE,
    PULL,
    PUSH,
    DefaultsModel,
    defaults,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.defaults import SUITE

#: The first releases that have a setting, or its value of today, with the value before.
CHANGED = (
    (PUSH, "consumeThreadMax", "4.5.0", 64, "4.5.1", 20),
    (PUSH, "vipChannelEnabled", "4.5.0", True, "4.5.1", False),
    (PUSH, "pullThresholdSizeForQueue", "4.1.0", None, "4.2.0", 100),
    (PUSH, "pullThresholdForTopic", "4.1.0", None, "4.2.0", -1),
    (PUSH, "awaitTerminationMillisWhenShutdown", "4.7.0", None, "4.7.1", 0),
    (PUSH, "mqClientApiTimeout", "4.9.1", None, "4.9.2", 3_000),
    (PUSH, "mqClientApiTimeout", "5.0.0-PREVIEW", None, "5.0.0-ALPHA", 3_000),
    (PUSH, "pullTimeDelayMillsWhenException", "4.5.2", None, "4.6.0", 1_000),
    (PUSH, "clientRebalance", "4.9.8", None, "5.0.0-PREVIEW", True),
    (PUSH, "pullBatchSizeInBytes", "5.0.0-PREVIEW", None, "5.0.0-ALPHA", 262_144),
    (PUSH, "useHeartbeatV2", "5.1.2", None, "5.1.3", False),
    (PUSH, "enableStreamRequestType", "4.9.3", None, "4.9.4", False),
    (PULL, "enableStreamRequestType", "4.9.3", None, "4.9.4", True),
    (PULL, "enableRebalance", "5.3.1", None, "5.3.2", True),
    (LITE, "consumeFromWhere", "4.6.0", None, "4.6.1", "CONSUME_FROM_LAST_OFFSET"),
)


class Play(Steps):
    """Consumers of a release."""

    def __init__(self, client: str = "5.5.0") -> None:
        super().__init__(DefaultsModel(Profile.of(client=client)), None)


@pytest.mark.parametrize(("kind", "setting", "old", "before", "new", "after"), CHANGED)
def test_a_default_changes_at_its_release(
    kind: str, setting: str, old: str, before: object, new: str, after: object
) -> None:
    assert Play(old).model.leave_unset(kind, None, setting)[1] == before
    assert Play(new).model.leave_unset(kind, None, setting)[1] == after


@pytest.mark.parametrize("client", ["4.0.0", "4.9.8", "5.5.0"])
def test_what_never_changed(client: str) -> None:
    push, pull = (defaults(Profile.of(client=client), kind) for kind in (PUSH, PULL))
    names = ("pullBatchSize", "consumeMessageBatchMaxSize", "pullThresholdForQueue", "consumeConcurrentlyMaxSpan")
    assert [push[name] for name in names] == [32, 1, 1_000, 2_000]
    assert [push[name] for name in ("pullInterval", "consumeTimeout", "maxReconsumeTimes")] == [0, 15, -1]
    assert (pull["brokerSuspendMaxTimeMillis"], pull["maxReconsumeTimes"]) == (20_000, 16)
    assert push["persistConsumerOffsetInterval"] == pull["persistConsumerOffsetInterval"] == 5_000


def test_a_lite_pull_consumer_asks_for_ten_and_commits_by_itself() -> None:
    lite = defaults(Profile.of(client="4.6.0"), LITE)
    names = ("pullBatchSize", "pullThreadNums", "autoCommit", "autoCommitIntervalMillis", "pullThresholdForAll")
    assert [lite[name] for name in names] == [10, 20, True, 5_000, 10_000]


def test_listeners_have_the_threads_of_the_release() -> None:
    assert Play("4.5.0").do("count_threads", "orderly") == (20, 64)
    assert Play("4.5.1").do("count_threads", "concurrent") == (20, 20)


@pytest.mark.parametrize(
    ("client", "request_", "channel", "port"),
    [
        ("4.5.0", "QUERY_CONSUMER_OFFSET", "unset", 10909),
        ("4.5.1", "QUERY_CONSUMER_OFFSET", "unset", 10911),
        ("5.5.0", "LOCK_BATCH_MQ", "on", 10909),
        ("5.5.0", "UNLOCK_BATCH_MQ", "on", 10909),
        ("5.5.0", "UNLOCK_BATCH_MQ, one way", "on", 10911),
        ("4.0.0", "PULL_MESSAGE", "unset", 10911),
        ("4.0.0", "GET_MAX_OFFSET", "off", 10911),
        ("4.0.0", "CHECK_CLIENT_CONFIG", "on", None),
        ("4.1.0", "CHECK_CLIENT_CONFIG", "on", 10909),
        ("4.9.8", "QUERY_ASSIGNMENT", "on", None),
        ("5.5.0", "QUERY_ASSIGNMENT", "on", 10909),
    ],
)
def test_the_vip_channel_is_two_ports_below(client: str, request_: str, channel: str, port: int | None) -> None:
    assert Play(client).do("ask_port", request_, channel, 10911) == port


@pytest.mark.parametrize("client", ["4.0.0", "5.5.0"])
def test_a_consumer_waits_five_seconds_for_an_offset(client: str) -> None:
    requests = ("QUERY_CONSUMER_OFFSET", "UPDATE_CONSUMER_OFFSET", "GET_MAX_OFFSET", "GET_CONSUMER_LIST_BY_GROUP")
    play = Play(client)
    assert [play.do("wait_for", one) for one in (*requests, "LOCK_BATCH_MQ")] == [5_000, 5_000, 6_000, 3_000, 1_000]


def test_every_reason_names_known_rules() -> None:
    settings = [why for both in _WHY.values() for why in both.values()]
    for why in (*_PORT.values(), *_THREADS.values(), _UNKNOWN, *_WAITS.values(), *settings):
        assert_known(why)


def test_every_kind_has_its_settings_and_there_is_no_state() -> None:
    assert set(DEFAULTS) == set(KINDS)
    assert SUITE.show(None) == "no state"
