"""Connections of groups, the subscriptions that groups hold, and pulls that rely on them."""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_members import BrokerMembersModel, BrokerMembersState, show
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer

OLD, NEW = (BrokerMembersModel(Profile.of(broker=release)) for release in ("4.9.7", "5.5.0"))
START = BrokerMembersState()
Subscribed = tuple[tuple[int, str], ...]


def beat(
    state: BrokerMembersState,
    connection: int,
    subscribed: Subscribed = ((0, "A"),),
    version: int = 0,
    groups: tuple[int, ...] = (0,),
    broadcasting: bool = False,
    kind: int = 0,
    model: BrokerMembersModel = NEW,
) -> BrokerMembersState:
    """The state after a heartbeat over a connection, by the client of its number."""
    return model.beat(state, connection, connection, groups, subscribed, version, broadcasting, kind)[0]


def sent(*tags: str) -> BrokerMembersState:
    state = START
    for tag in tags:
        state = NEW.send(state, 0, tag)[0]
    return state


def pulled(state: BrokerMembersState, version: int = 0, group: int = 0, model: BrokerMembersModel = NEW) -> object:
    return model.pull(state, group, 0, 0, version)[1]


def test_connections_show_what_the_group_holds_and_how_it_consumed_last() -> None:
    assert NEW.connections(START, 0)[1] == Err("CONSUMER_NOT_ONLINE")
    state = beat(beat(START, 1, ((0, "A || Aa"), (1, "*")), 2), 0, ((0, "*"),), 1, kind=1)
    assert NEW.connections(state, 0)[1] == (
        ("C0", "C1"),
        "CONSUME_ACTIVELY",
        "CLUSTERING",
        "CONSUME_FROM_FIRST_OFFSET",
        (("T0", "A || Aa", 2, "TAG", ("A", "Aa")),),
    )
    empty = beat(START, 0, (), broadcasting=True)
    assert NEW.connections(empty, 0)[1:] == (
        (("C0",), "CONSUME_PASSIVELY", "BROADCASTING", "CONSUME_FROM_LAST_OFFSET", ()),
        NEW.connections(empty, 0)[2],
    )
    assert NEW.connections(empty, 0)[2].kind == "no subscriptions"


def test_a_connection_counts_what_it_is_notified_of() -> None:
    state = beat(beat(START, 0), 1)
    state, found, _ = NEW.notices(state, 0)
    assert found == ((0, 2),)
    assert NEW.notices(state, 0)[1] == ()
    assert NEW.notices(NEW.close(state, 0)[0], 1)[1] == ((0, 2),)
    assert NEW.notices(NEW.close(state, 1)[0], 1)[1] == ()
    assert NEW.notices(NEW.leave(state, 1, 0)[0], 0)[1] == ((0, 1),)


def test_a_quiet_group_is_notified_of_closed_connections_only() -> None:
    quiet = NEW.set_group(START, 0, True, True, False)[0]
    state, _, why = NEW.beat(quiet, 0, 0, (0,), (), 0, False, 0)
    assert why.rules == ("BQ-HB-QUIET",)
    state = beat(state, 1, ())
    left, _, why = NEW.leave(state, 1, 0)
    assert why.rules == ("BQ-HB-6", "BQ-HB-QUIET")
    assert left.notices == {}
    assert NEW.notices(NEW.close(state, 1)[0], 0)[1] == ((0, 1),)


def test_a_heartbeat_may_name_two_groups_and_creates_them() -> None:
    state, _, why = NEW.beat(START, 0, 0, (0, 1), (), 0, False, 0)
    assert "BQ-GROUP-LOOKUP" in why.rules
    assert state.broker.groups == {"G0", "G1"}
    assert NEW.notices(state, 0)[1] == ((0, 1), (1, 1))
    assert NEW.listed(state, 1)[1] == ("C0",)
    assert NEW.listed(NEW.close(state, 0)[0], 1)[1] == Err("SYSTEM_ERROR")
    assert "BQ-GROUP-LOOKUP" in NEW.leave(START, 0, 1)[2].rules
    uncreating = BrokerMembersModel(Profile().configured({"autoCreateSubscriptionGroup": "false"}))
    assert uncreating.beat(START, 0, 0, (1,), (), 0, False, 0)[0].members == {}


def test_a_pull_goes_by_the_registered_subscription() -> None:
    state = sent("A", "Aa", "BB", "")
    assert pulled(state) == Err("SUBSCRIPTION_NOT_EXIST")
    assert pulled(state, group=1) == Err("SUBSCRIPTION_NOT_EXIST")
    assert "BQ-GROUP-LOOKUP" in NEW.pull(state, 1, 0, 0, 0)[2].rules
    assert pulled(beat(state, 0, ((1, "*"),))) == Err("SUBSCRIPTION_NOT_EXIST")
    one = beat(state, 0, ((0, "A"),), 1)
    assert pulled(one, 1) == ("SUCCESS", 4, (0,))
    assert pulled(one, -1) == ("SUCCESS", 4, (0,))
    assert pulled(one, 2) == Err("SUBSCRIPTION_NOT_LATEST")
    assert NEW.pull(one, 0, 1, 0, 0)[1] == Err("TOPIC_NOT_EXIST")
    assert NEW.send(one, 1, "A")[1] == Err("TOPIC_NOT_EXIST")
    created = NEW.create_topic(one, 1, 1)[0]
    assert NEW.pull(created, 0, 1, 0, 0)[1] == Err("SUBSCRIPTION_NOT_EXIST")


def test_the_hashes_of_the_client_count() -> None:
    state = sent("A", "Aa", "BB", "")
    expected = {
        "*": (0, 1, 2, 3),
        "A": (0,),
        "A || Aa": (0, 1, 2),
        "A as Aa": (1, 2),
        "A as nothing": (),
        "A by class": (0, 1, 2, 3),
    }
    for name, found in expected.items():
        answer: Answer[BrokerMembersState] = NEW.pull(beat(state, 0, ((0, name),)), 0, 0, 0, 0)
        assert answer[1] == ("SUCCESS" if found else "PULL_RETRY_IMMEDIATELY", 4, found), name
        assert ("BQ-PULL-HASHES" in answer[2].rules) == (name not in {"*", "A", "A || Aa"}), name


def test_a_pull_goes_by_what_was_compiled_of_an_expression() -> None:
    answering = BrokerMembersModel(Profile().configured({"enablePropertyFilter": "true"}))

    def found(state: BrokerMembersState, version: int = 0, model: BrokerMembersModel = answering) -> object:
        return pulled(state, version, model=model)

    state = sent("A", "BB", "")
    none = beat(state, 0, ((0, "broken SQL"),), 1)
    assert found(none, 1) == Err("FILTER_DATA_NOT_EXIST")
    assert found(beat(state, 0, ((0, "no SQL"),), 1), 1) == Err("FILTER_DATA_NOT_EXIST")
    assert found(beat(state, 0, ((0, "SQL by class"),), 1), 1) == ("SUCCESS", 3, (0, 1, 2))
    mended = answering.pull(beat(none, 0, ((0, "A by SQL"),), 1), 0, 0, 0, 1)
    assert (mended[1], mended[2].kind) == (
        ("SUCCESS", 3, (0,)),
        "filtered, to the end by SQL, another expression, kept",
    )
    one = beat(state, 0, ((0, "A by SQL"),), 1)
    assert found(one, 1) == ("SUCCESS", 3, (0,))
    assert found(one, 1, NEW) == Err("SYSTEM_ERROR")
    assert answering.pull(one, 0, 0, 0, 1)[2].kind == "filtered, to the end by SQL, as subscribed, kept"
    # all members leave, and one comes back that subscribes otherwise, but not later
    gone = answering.close(one, 0)[0]
    back = beat(gone, 1, ((0, "not A by SQL"),), 0)
    assert found(back, 0) == ("SUCCESS", 3, (0,))
    assert found(beat(back, 1, ((0, "not A by SQL"),), 2), 2) == ("SUCCESS", 3, (1,))
    # one whose subscription is newer than what was compiled of it
    broken = beat(beat(back, 1, ((0, "broken SQL"),), 3), 1, ((0, "A by SQL"),), 2)
    assert found(broken, 3) == Err("FILTER_DATA_NOT_LATEST")
    assert found(broken, 2) == ("SUCCESS", 3, (0,))


def test_a_group_that_may_not_broadcast_may_pull_otherwise() -> None:
    state = NEW.set_group(sent("A"), 0, True, False, True)[0]
    assert pulled(beat(state, 0)) == ("SUCCESS", 1, (0,))
    forbidden = beat(state, 0, ((1, "*"),), broadcasting=True)
    for model in (OLD, NEW):
        assert pulled(forbidden, model=model) == Err("NO_PERMISSION")
    assert NEW.pull(forbidden, 0, 0, 0, 0)[2].rules == ("BQ-PULL-1", "BQ-PULL-BROADCAST")


def test_subscriptions_outlive_their_topic_and_their_group() -> None:
    state = beat(NEW.set_group(sent("A"), 0, False, True, True)[0], 0)
    assert pulled(state) == Err("NO_PERMISSION")
    state = NEW.delete_group(state, 0, "cleanOffset")[0]
    assert state.broker.groups == frozenset()
    assert pulled(state) == ("SUCCESS", 1, (0,))
    state = NEW.delete_topic(state, 0)[0]
    assert pulled(state) == Err("TOPIC_NOT_EXIST")
    assert pulled(NEW.create_topic(state, 0, 1)[0]) == ("PULL_NOT_FOUND", 0, ())


def test_a_broker_that_may_not_be_read_creates_no_group() -> None:
    model = BrokerMembersModel(Profile().configured({"brokerPermission": "2"}))
    after, result, _ = model.pull(START, 1, 0, 0, 0)
    assert (after.broker.groups, result) == (START.broker.groups, Err("NO_PERMISSION"))


def test_a_state_is_shown_in_one_line() -> None:
    state = beat(beat(sent("A"), 0), 1, groups=(1,), broadcasting=True)
    assert show(state) == (
        "members {'G0': \"{0: 'C0'} {'T0': 'A, version 0'}\", "
        "'G1': \"{1: 'C1'} broadcasting {'T0': 'A, version 0'}\"}, "
        "messages {'T0': ['A']}, notices {'0 of G0': 1}, known groups ['G0', 'G1']"
    )
