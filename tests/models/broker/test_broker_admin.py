"""The broker of an administrator's case: members that come, pull and go, by group and topic index."""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_admin import BrokerAdminModel, BrokerAdminState
from rocketmq_conformance.models.broker.configuration import SERVER_RESET
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

NEW, OLD = (BrokerAdminModel(Profile.of(broker=release)) for release in ("5.5.0", "4.9.7"))


def committed(model: BrokerAdminModel, state: BrokerAdminState, group: int, *offsets: int) -> BrokerAdminState:
    for queue, offset in enumerate(offsets):
        state, result, _ = model.commit(state, group, 0, queue, offset)
        assert result is None
    return state


def test_heartbeats_pulls_and_even_leaving_create_a_group() -> None:
    joined, _, why = NEW.join(BrokerAdminState(), 1, (0,))
    assert "G1" in joined.broker.groups
    assert (why.rules[-1], why.kind) == ("BQ-GROUP-LOOKUP", "first member, group created")
    left, _, why = NEW.leave(BrokerAdminState(), 1)
    assert "G1" in left.broker.groups
    assert why.kind == "unknown group, group created"
    pulled, result, why = NEW.pull(BrokerAdminState(), 1, 0, 0, 0, None)
    assert "G1" in pulled.broker.groups
    assert (result, why.kind) == (("PULL_NOT_FOUND", 0, ()), "NO_MESSAGE_IN_QUEUE, group created")
    assert NEW.join(joined, 1, (0,))[2].kind == "same again"
    assert NEW.leave(joined, 1)[2].kind == "last member"


def test_equal_reasons_are_one_object() -> None:
    assert NEW.leave(BrokerAdminState(), 1)[2] is NEW.leave(BrokerAdminState(), 2)[2]


def test_a_refused_pull_subscribes_to_nothing() -> None:
    after, result, _ = NEW.pull(BrokerAdminState(), 1, 2, 0, 0, 5)
    assert result == Err("TOPIC_NOT_EXIST")
    assert after.pulled == frozenset()
    assert after.broker.stored == {}


def test_the_old_way_asks_for_members() -> None:
    state = committed(OLD, BrokerAdminState(), 0, 3, 3)
    assert OLD.reset_to_max(state, 0, 0, -1, True)[1] == Err("CONSUMER_NOT_ONLINE")
    online, _, _ = OLD.join(state, 0, ())
    pairs = ((0, 0), (1, 0))
    assert OLD.reset_to_max(online, 0, 0, -1, True)[1] == (pairs, pairs)
    assert OLD.reset_to_max(OLD.leave(online, 0)[0], 0, 0, -1, True)[1] == Err("CONSUMER_NOT_ONLINE")


def test_who_asks_for_a_reset_decides_in_which_form_members_get_it() -> None:
    state, _, _ = OLD.join(committed(OLD, BrokerAdminState(), 0, 3, 3), 0, ())
    pairs = ((0, 0), (1, 0))
    for language, form in (("CPP", "list"), ("JAVA", "table"), ("GO", "table")):
        _, result, why = OLD.reset_from(state, 0, 0, language)
        assert (result, why.rules[-1]) == ((pairs, pairs, form), "BQ-RESET-CPP")
    assert OLD.reset_from(BrokerAdminState(), 0, 0, "CPP")[1] == Err("SYSTEM_ERROR")
    _, result, why = NEW.reset_from(BrokerAdminState(), 0, 0, "CPP")
    assert (result, "BQ-RESET-CPP" in why.rules) == ((pairs, None, None), False)


def test_a_property_turns_the_way_of_a_release() -> None:
    other = BrokerAdminModel(Profile.of(broker="5.1.4").configured({SERVER_RESET: "true"}))
    assert other.reset_to_max(BrokerAdminState(), 0, 0, -1, False)[1] == (((0, 0), (1, 0)), None)
    assert BrokerAdminModel(Profile().configured({SERVER_RESET: "false"})).reset_queue(BrokerAdminState(), 0, 0, 0, 0)[
        1
    ] == Err("SYSTEM_ERROR")


def test_times_count_from_a_message_of_the_first_queue() -> None:
    sent, _, _ = NEW.send_timed(BrokerAdminState(), ((0, 50), (1, 60)), 0, 0, 2, False)
    assert NEW.reset_by_time(sent, 0, 0, 0, 1, False)[1] == (((0, 1), (1, 0)), None)
    assert NEW.reset_by_time(sent, 0, 0, -1, 1, False)[1] == (((0, 2), (1, 0)), None)


def test_a_source_that_subscribes_elsewhere_is_passed_over_unless_offline() -> None:
    for model, pulls in ((NEW, True), (OLD, False)):
        state = committed(model, BrokerAdminState(), 0, 4)
        elsewhere, _, _ = model.join(state, 0, (1,))
        assert model.clone(elsewhere, 0, 1, 0, False)[2].kind == "not subscribed"
        assert model.clone(elsewhere, 0, 1, 0, True)[2].kind == "to a group without offsets"
        assert model.clone(model.join(state, 0, (0, 1))[0], 0, 1, 0, False)[0].broker.stored["G1", "T0", 0] == 4
        assert model.clone(model.join(state, 0, ())[0], 0, 1, 0, False)[0].broker.stored["G1", "T0", 0] == 4
        assert model.clone(state, 0, 1, 0, False)[0].broker.stored["G1", "T0", 0] == 4
        assert model.clone(state, 0, 1, None, True)[2].kind == "no topic"
        pulled, _, _ = model.pull(elsewhere, 0, 0, 0, 0, None)
        assert (model.clone(pulled, 0, 1, 0, False)[2].kind == "to a group without offsets") is pulls


def test_topics_and_groups_come_and_go_beside_the_members() -> None:
    state, _, _ = NEW.join(BrokerAdminState(), 0, (0,))
    for after in (
        NEW.create_topic(state, 1, 2)[0],
        NEW.delete_topic(state, 0)[0],
        NEW.create_group(state, 1)[0],
        NEW.delete_group(state, 0, "cleanOffset")[0],
    ):
        assert after.members is state.members
        assert after.broker != state.broker
    assert NEW.max(state, 0, 0)[1] == 0
    assert NEW.query(state, 0, 0, 0, None)[1] == Err("QUERY_NOT_FOUND")


def test_correction_offsets_are_those_of_the_groups_that_are_not_left_out() -> None:
    joined = NEW.join(NEW.join(BrokerAdminState(), 0, (0,))[0], 1, (0,))[0]
    state = committed(NEW, committed(NEW, joined, 0, 3), 1, 7)
    after, result, _ = NEW.correction(state, 0, (0,), 1)
    assert result == ((0, 7),)
    assert [key[0] for key in after.broker.stored] == ["G1"]


def test_a_pull_subscribes_by_an_expression_that_can_be_read_even_when_it_is_refused() -> None:
    for expression, kind, refused, subscribed in (
        ("A", "TAG", False, True),
        ("A", "SQL92", True, True),
        ("||", "TAG", True, False),
    ):
        after, result, why = NEW.pull_by(BrokerAdminState(), 1, 0, expression, kind)
        assert isinstance(result, Err) is refused
        assert refused or result == "PULL_NOT_FOUND"
        assert why.kind.endswith("group created")
        assert (("G1", "T0") in after.pulled) is subscribed
        assert after.broker == NEW.pull_by(after, 1, 0, expression, kind)[0].broker


def test_statistics_name_topics_by_their_index() -> None:
    state = committed(NEW, BrokerAdminState(), 0, 3, 4)
    after, found, why = NEW.stats(state, 0, 0)
    assert after is state
    assert [(topic, queue, offset) for topic, queue, _, offset, *_ in found] == [(0, 0, 3), (0, 1, 4)]
    assert NEW.stats(state, 0, None)[1] == found
    assert NEW.stats(state, 1, None)[1] == ()
    assert why.rules[0] == "BQ-STATS-GROUP"
