"""Properties of brokers that switch rules: the answers by hand."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker import aged_store, filed_store
from rocketmq_conformance.models.broker.broker_admin import BrokerAdminModel, BrokerAdminState
from rocketmq_conformance.models.broker.broker_assignment import (
    TOPICS,
    BrokerAssignmentModel,
    BrokerAssignmentState,
)
from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.broker_topics import BrokerTopicsModel
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile


def admin(release: str = "5.5.0", **properties: str) -> BrokerAdminModel:
    return BrokerAdminModel(Profile.of(broker=release).configured(properties))


def test_a_profile_has_what_is_off_the_default_of_its_release() -> None:
    old = Profile.of(broker="5.1.4").configured({"useServerSideResetOffset": "false", "lockInStrictMode": "true"})
    assert old.configuration == (("lockInStrictMode", "true"),)
    assert (old.setting("useServerSideResetOffset"), old.setting("lockInStrictMode")) == ("false", "true")
    assert Profile.of(broker="4.9.7").configured({"lockInStrictMode": "true"}).configuration == ()
    assert Profile.of(broker="9.9.9").configured({"lockInStrictMode": "true"}).judged().configuration
    assert str(old).endswith("java 17, lockInStrictMode=true")


def test_values_are_checked() -> None:
    permission, share = SETTINGS["brokerPermission"], SETTINGS["defaultPopShareQueueNum"]
    assert [permission.allows(value) for value in ("6", "8", "")] == [True, False, False]
    assert [share.allows(value) for value in ("-1", "12", "x", "-", "\u0663")] == [True, True, False, False, False]


@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_without_automatic_groups_a_look_up_creates_none(release: str) -> None:
    model, state = admin(release, autoCreateSubscriptionGroup="false"), BrokerAdminState()
    after, refused, _ = model.pull(state, 1, 0, 0, 0, None)
    assert refused == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    after, _, _ = model.leave(after, 1)
    after, _, _ = model.join(after, 1, (0,))
    assert after.broker.groups == {"G0"}
    assert ("G1" in after.members) is (release == "4.9.7")
    after, _, _ = model.delete_group(after, 0, "")
    assert after.broker.groups == frozenset()


def test_without_automatic_groups_modes_are_set_for_known_groups() -> None:
    model = BrokerAssignmentModel(Profile().configured({"autoCreateSubscriptionGroup": "false"}))
    state = BrokerAssignmentState()
    assert model.set_mode(state, 0, 0, "POP", 1)[1] is None
    assert model.set_mode(state, 0, 1, "POP", 1)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    after, _, _ = model.register(state, 0, 0, 1)
    assert (after.topics, dict(after.members)) == (state.topics, {})


@pytest.mark.parametrize("release", ["5.3.1", "5.3.2", "5.5.0"])
def test_a_queue_in_rocksdb_has_no_empty_range(release: str) -> None:
    model = BrokerTopicsModel(Profile.of(broker=release).configured({"storeType": "defaultRocksDB"}))
    state, _, _ = model.send(BrokerAdminState(), 0, 0, 2)
    asked = ((1, 0), (1, -1), (1, 1), (2, 0))
    answers = [model.pull_most(state, 0, 0, 0, offset, most, None)[1] for offset, most in asked]
    found, refused = ("SUCCESS", 2, (1,)), Err("SYSTEM_ERROR")
    first = {"5.3.1": [found, found], "5.3.2": [("PULL_NOT_FOUND", 0, ()), refused], "5.5.0": [refused, refused]}
    assert answers == [*first[release], found, ("PULL_NOT_FOUND", 2, ())]


def test_with_tables_of_the_second_kind_every_light_message_queue_is_a_topic() -> None:
    for release, properties, result in (
        ("5.5.0", {}, Err("TOPIC_NOT_EXIST")),
        ("5.5.0", {"configManagerVersion": "v2"}, None),
        ("5.3.1", {"configManagerVersion": "v2"}, None),  # it looks for no topic
    ):
        model = BrokerAssignmentModel(Profile.of(broker=release).configured(properties))
        light = next(at for at, name in enumerate(TOPICS) if name.startswith("%LMQ%"))
        assert model.set_mode(BrokerAssignmentState(), light, 0, "POP", 1)[1] == result


def test_a_broker_that_may_not_be_read_refuses_pulls_and_looks_no_group_up() -> None:
    for permission in ("0", "2", "3"):
        after, result, why = admin(brokerPermission=permission).pull(BrokerAdminState(), 1, 0, 0, 0, None)
        assert (after, result, why.rules) == (BrokerAdminState(), Err("NO_PERMISSION"), ("BQ-PULL-BROKER",))
    result = admin(brokerPermission="4").pull(BrokerAdminState(), 0, 0, 0, 0, None)[1]
    assert result == ("PULL_NOT_FOUND", 0, ())


@pytest.mark.parametrize(("release", "answer"), [("5.3.2", None), ("5.3.3", Err("SYSTEM_ERROR"))])
def test_without_a_timer_wheel_the_deletion_of_a_topic_fails_when_it_is_done(release: str, answer: Err | None) -> None:
    model = BrokerOffsetsModel(Profile.of(broker=release).configured({"timerWheelEnable": "false"}))
    after, result, why = model.delete_topic(initial_state(), 0)
    assert (after.topics, result) == ({}, answer)
    assert ("BQ-TOPIC-TIMER" in why.rules) is (answer is not None)
    assert model.delete_topic(after, 2)[1] == answer


@pytest.mark.parametrize(("release", "offset"), [("4.9.7", Err("QUERY_NOT_FOUND")), ("5.5.0", 0)])
def test_a_ratio_of_nothing_has_every_message_on_disk(release: str, offset: Err | int) -> None:
    model = admin(release, accessMessageInMemoryMaxRatio="0")
    sent = tuple((at, 1000 + at) for at in range(20))
    state, _, _ = model.send_timed(BrokerAdminState(), sent, 0, 0, 20, False)
    state, pulled, _ = model.pull(state, 0, 0, 0, 0, None)
    assert pulled == ("SUCCESS", 8, tuple(range(8)))
    assert model.query(state, 0, 0, 0, None)[1] == offset
    warm = admin(release, accessMessageInMemoryMaxRatio="1")
    state, _, _ = warm.send_timed(BrokerAdminState(), sent, 0, 0, 20, False)
    assert warm.query(state, 0, 0, 0, None)[1] == 0


def test_a_broker_that_keeps_nothing_in_files_begins_without_the_stores_of_the_kit() -> None:
    files, nothing = (
        BrokerRules.of(Profile().configured(properties)) for properties in ({}, {"storeType": "defaultRocksDB"})
    )
    assert aged_store.aged_broker(files).topics
    assert not aged_store.aged_broker(nothing).topics
    assert filed_store.filed_broker(files).topics
