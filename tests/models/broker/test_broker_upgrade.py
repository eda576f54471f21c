"""Releases that take turns on one store: what is kept, and what each says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_upgrade import BrokerUpgradeModel, UpgradedBroker
from rocketmq_conformance.models.broker.configuration import LIGHT
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: A release that takes min back to 0 where nothing is left, before one that moves it to max.
PROFILE = replace(Profile.of(broker="5.5.0"), upgraded_from=Release.parse("4.9.7"))
MODEL = BrokerUpgradeModel(PROFILE)
EXPIRED, KEPT = 1, 0


def after(*hows: str) -> UpgradedBroker:
    """The initial broker after so many changes."""
    state = MODEL.initial()
    for how in hows:
        state = MODEL.change(state, None, how)[0]
    return state


@pytest.mark.parametrize(("how", "kinds"), [(STOP, ["taken back", "upgraded"]), (KILL, ["taken back", "upgraded"])])
def test_releases_take_turns(how: str, kinds: list[str]) -> None:
    first, second = MODEL.initial(), after(how)
    answers = [MODEL.change(first, None, how), MODEL.change(second, None, how)]
    assert [(answer[1], answer[2].kind) for answer in answers] == [(None, kind) for kind in kinds]
    assert [state.newer for state in (first, second, after(how, how))] == [True, False, True]


def test_min_is_what_the_running_release_makes_of_it() -> None:
    answers = [MODEL.min(state, None, AGED_TOPIC, EXPIRED)[1] for state in (MODEL.initial(), after(STOP))]
    assert answers == [aged_store.QUEUES[EXPIRED].max, 0]


def test_what_a_new_group_is_answered_changes_with_the_release() -> None:
    queue = 2  # nothing expired
    answers = [MODEL.query(state, None, 0, AGED_TOPIC, queue, None)[1] for state in (MODEL.initial(), after(STOP))]
    assert answers == [0, 0]
    cold = MODEL.memory(after(STOP), None, False)[0]
    assert MODEL.query(cold, None, 0, AGED_TOPIC, queue, None)[1] == Err("QUERY_NOT_FOUND")
    warm = MODEL.change(cold, None, STOP)[0]
    assert MODEL.query(warm, None, 0, AGED_TOPIC, queue, None)[1] == 0


def test_light_message_queues_have_a_file_for_stored_offsets_of_their_own() -> None:
    model = BrokerUpgradeModel(PROFILE.configured({LIGHT: "true"}))
    state = model.initial()
    unknown = Err("QUERY_NOT_FOUND")
    assert model.query_kept(state, None, KEPT, False)[1] == unknown
    state = model.commit(state, None, 0, AGED_TOPIC, KEPT, 14)[0]
    for _ in range(2):
        state, _, why = model.change(state, None, STOP)
        assert "BQ-COM-LMQ" in why.rules
        assert model.query_kept(state, None, KEPT, False)[1] == aged_store.STORED[KEPT]
        assert model.query(state, None, 0, AGED_TOPIC, KEPT, False)[1] == unknown
        state = model.change(state, None, STOP)[0]
        assert model.query_kept(state, None, KEPT, False)[1] == unknown
        assert model.query(state, None, 0, AGED_TOPIC, KEPT, False)[1] == 14


def test_what_a_killed_broker_had_not_written_is_not_in_its_file_either() -> None:
    model = BrokerUpgradeModel(PROFILE.configured({LIGHT: "true"}))
    state = model.commit(model.initial(), None, 0, AGED_TOPIC, KEPT, 14)[0]
    state = model.change(model.change(state, None, KILL)[0], None, KILL)[0]
    answers = {model.query(state, seen, 0, AGED_TOPIC, KEPT, False)[1] for seen in (14, Err("QUERY_NOT_FOUND"))}
    assert answers == {14, Err("QUERY_NOT_FOUND")}


@pytest.mark.parametrize(("how", "known"), [(STOP, {7}), (KILL, {7, Err("QUERY_NOT_FOUND"), 0})])
def test_offsets_go_along_as_far_as_they_were_on_disk(how: str, known: set[Result]) -> None:
    state = MODEL.commit(MODEL.initial(), None, 0, AGED_TOPIC, EXPIRED, 7)[0]
    changed = MODEL.change(state, None, how)[0]
    possible = {MODEL.query(changed, offset, 0, AGED_TOPIC, EXPIRED, None)[1] for offset in known}
    assert 7 in possible
    assert possible <= known
    saved = MODEL.change(MODEL.save(state, None)[0], None, how)[0]
    assert MODEL.query(saved, None, 0, AGED_TOPIC, EXPIRED, None)[1] == 7
    assert MODEL.query_kept(saved, None, KEPT, None)[1] == aged_store.STORED[KEPT]


def test_topics_groups_and_messages_go_along() -> None:
    state = MODEL.create_topic(MODEL.initial(), None, 0, 2)[0]
    state = MODEL.create_group(state, None, 0)[0]
    state = MODEL.send(state, ((0, 5), (1, 6)), 0, 0, 2, False)[0]
    changed = MODEL.change(state, None, STOP)[0]
    assert MODEL.max(changed, None, 0, 0)[1] == 2
    assert MODEL.earliest(changed, None, 0, 0)[1] == 5
    assert MODEL.search(changed, None, 0, 0, -1, 0, "")[1] == 1
    gone = MODEL.delete_group(MODEL.delete_topic(changed, None, 0)[0], None, 0, "")[0]
    assert not gone.broker.possible[0].topics.get("T0")


def test_a_profile_without_an_upgrade_has_its_release_twice() -> None:
    model = BrokerUpgradeModel(Profile())
    assert model.change(model.initial(), None, STOP)[2].kind == "the same release"
