"""Queues that a broker assigns: modes, strategies, shares, and the routes that all of it rests on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.models.broker.assignment import (
    BROADCASTING,
    CLUSTERING,
    NO_MODES,
    POP,
    PULL,
    AssignmentRequest,
    Mode,
    assign,
    known_queues,
    mode_of,
    set_mode,
)
from rocketmq_conformance.models.broker.broker_assignment import (
    CLIENTS,
    GROUPS,
    ILLEGAL_GROUP,
    ROUTES,
    TOPICS,
    BrokerAssignmentModel,
    BrokerAssignmentState,
    readable_queues,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_assignment import SUITE

NEW = BrokerRules.of(Profile())
UNBALANCED = BrokerRules.of(Profile().configured({"serverLoadBalancerEnable": "false"}))
OLD = BrokerRules.of(Profile.of(broker="5.0.0-PREVIEW"))
FOUR: tuple[Queue, ...] = tuple(("T", "b", number) for number in range(4))
TWO: tuple[Queue, ...] = (("T", "c", 0), ("T", "b", 0))
THREE = ("one", "two", "three")


def asked(
    client: str | None = "one", model: str | None = CLUSTERING, strategy: str | None = "AVG"
) -> AssignmentRequest:
    return AssignmentRequest("T", "G", client, model, strategy)


def numbers(result: Expected) -> list[int]:
    assert isinstance(result, tuple)
    return [each[1] for each in result]  # type: ignore[index,misc]


def share(
    rules: BrokerRules, client: str | None, number: int, queues: tuple[Queue, ...], members: Sequence[str]
) -> str:
    """Brokers and queues that a member pops, and why, in one line."""
    result, why = assign(rules, asked(client), Mode(POP, number), queues, tuple(members), "b")
    if result is None:
        return f"none: {why.kind}"
    assert isinstance(result, tuple)
    return " ".join(f"{each[0]}{each[1]}" for each in result) + f": {why.kind}"  # type: ignore[index]


# --- no list, or an empty one -----------------------------------------------------------------------------------


@every(
    ("question", "queues", "members", "kind"),
    [
        (asked(), None, THREE, "no route, cluster"),
        (asked(model=BROADCASTING), None, THREE, "no route, broadcasting"),
        (asked(), FOUR, None, "nobody registered"),
        (asked(strategy="CONSISTENT_HASH"), FOUR, THREE, "unknown strategy"),
        (asked(strategy=None), FOUR, THREE, "unknown strategy"),
        (asked(client=None), FOUR, THREE, "no client id"),
        (asked(client=""), FOUR, THREE, "no client id"),
        (asked(), (), THREE, "no readable queue"),
    ],
)
def test_without_route_or_members_there_is_no_list(
    question: AssignmentRequest, queues: tuple[Queue, ...] | None, members: tuple[str, ...] | None, kind: str
) -> None:
    result, why = assign(NEW, question, Mode(), queues, members, "b")
    assert (result, why.kind) == (None, kind)


def test_a_stranger_gets_nothing_and_a_request_without_model_fails() -> None:
    result, why = assign(NEW, asked("four"), Mode(), FOUR, THREE, "b")
    assert (result, why.kind) == ((), "not registered")
    result, why = assign(NEW, asked(model=None), Mode(), FOUR, THREE, "b")
    assert (result, why.kind) == (Err("SYSTEM_ERROR"), "no message model")


# --- everything -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [PULL, POP])
def test_who_broadcasts_gets_every_queue_registered_or_not(mode: str) -> None:
    for members in (None, ("two",)):
        result, why = assign(NEW, asked(model=BROADCASTING, strategy="NONE"), Mode(mode, 1), TWO, members, "b")
        assert (result, why.kind) == ((("b", 0, mode), ("c", 0, mode)), f"broadcasting, {mode}")


@pytest.mark.parametrize("mode", [PULL, POP])
def test_a_broker_that_does_not_balance_gives_a_cluster_everything(mode: str) -> None:
    result, why = assign(UNBALANCED, asked(), Mode(mode, 1), TWO, None, "b")
    assert (result, why.kind) == ((("b", 0, mode), ("c", 0, mode)), f"switched off, {mode}")
    assert assign(UNBALANCED, asked(), Mode(), None, None, "b")[0] is None


# --- pulled -----------------------------------------------------------------------------------------------------


def test_pulled_queues_are_those_of_the_strategy_over_sorted_lists() -> None:
    shuffled = (FOUR[2], FOUR[0], FOUR[3], FOUR[1])
    # sorted: one, three, two
    assert numbers(assign(NEW, asked("one"), Mode(), shuffled, THREE, "b")[0]) == [0, 1]
    assert numbers(assign(NEW, asked("two"), Mode(), shuffled, THREE, "b")[0]) == [3]
    assert numbers(assign(NEW, asked("two", strategy="AVG_BY_CIRCLE"), Mode(), shuffled, THREE, "b")[0]) == [2]
    result, why = assign(NEW, asked("two"), Mode(), TWO, THREE, "b")
    assert (result, why.kind) == ((), "more members than queues")


def test_a_light_message_queue_is_on_the_broker_that_is_asked() -> None:
    question = AssignmentRequest("%LMQ%L", "G", "one", CLUSTERING, "AVG")
    result, why = assign(NEW, question, Mode(), None, THREE, "b")
    assert (result, why.rules[1]) == ((("b", 0, PULL),), "BQ-ASSIGN-2-LMQ")
    assert assign(NEW, question._replace(client="two"), Mode(), None, THREE, "b")[1].kind == "more members than queues"
    before = BrokerRules.of(Profile.of(broker="5.3.0"))
    assert assign(before, question, Mode(), None, THREE, "b")[0] is None
    assert assign(NEW, question._replace(model=BROADCASTING), Mode(), None, THREE, "b")[0] is None


# --- popped -----------------------------------------------------------------------------------------------------


def test_without_a_share_every_member_pops_all_queues_of_every_broker() -> None:
    for number in (0, -1):
        assert share(NEW, "stranger", number, (*TWO, *FOUR), THREE) == "b-1 c-1: no share"
    assert share(NEW, "one", 0, (), THREE) == ": no readable queue"


def test_a_share_as_large_as_the_group_is_everything_from_alpha_on() -> None:
    assert share(NEW, "one", 2, FOUR, THREE) == "b-1: a share as large as the group"
    assert share(OLD, "one", 2, FOUR, THREE) == "b0 b1 b2 b3: own queues and others'"
    assert share(OLD, "one", 5, FOUR, THREE) == "b0 b1 b2 b3: a share beyond the group"
    assert not BrokerRules.of(Profile.of(broker="5.0.0-PREVIEW")).large_share_is_all
    assert BrokerRules.of(Profile.of(broker="5.0.0-ALPHA")).large_share_is_all


def test_a_smaller_share_adds_the_queues_of_those_behind_in_a_circle() -> None:
    assert share(NEW, "one", 1, FOUR, THREE) == "b0 b1 b2: own queues and others'"
    assert share(NEW, "two", 1, FOUR, THREE) == "b0 b1 b3: own queues and others'"
    assert share(NEW, "four", 1, FOUR, THREE) == ": stranger"
    assert share(NEW, None, 1, FOUR, THREE) == "none: no client id"
    assert share(NEW, "one", 1, FOUR, ("one", "one", "two")) == "b0 b1: an id twice"


def test_more_members_than_queues_get_one_queue_by_their_place() -> None:
    assert share(NEW, "one", 1, TWO, THREE) == "b0: one queue by place"
    assert share(NEW, "three", 1, TWO, THREE) == "c0: one queue by place"
    assert share(NEW, "two", 1, TWO, THREE) == "b0: one queue by place"
    assert share(NEW, "four", 1, TWO, THREE) == ": stranger"
    assert share(NEW, "", 1, TWO, THREE) == "none: no client id"
    assert share(NEW, "one", 1, (), THREE) == "none: no readable queue"


def test_a_blank_id_pops_nothing_from_5_0_0_on() -> None:
    members = (" ", "one", "two")
    assert share(NEW, " ", 1, TWO, members) == "none: blank client id"
    assert share(OLD, " ", 1, TWO, members) == "b0: one queue by place"
    assert share(NEW, " ", 1, FOUR, members) == "b0 b1 b2: own queues and others'"


@given(
    st.sets(st.text("abcd", min_size=1, max_size=3), min_size=1, max_size=6),
    st.integers(1, 8),
    st.sampled_from(["AVG", "AVG_BY_CIRCLE"]),
    st.integers(-1, 7),
    st.sampled_from([PULL, POP]),
)
def test_a_group_always_covers_all_queues(members: set[str], count: int, strategy: str, number: int, mode: str) -> None:
    """Every queue has a member, and exactly one where queues are pulled."""
    queues: tuple[Queue, ...] = tuple(("T", "b", each) for each in range(count))
    given_: list[int] = []
    for member in members:
        result, _ = assign(NEW, asked(member, strategy=strategy), Mode(mode, number), queues, tuple(members), "b")
        given_ += numbers(result)
    assert {*given_} in ({*range(count)}, {-1})
    if mode == PULL:
        assert len(given_) == count


# --- routes and modes -------------------------------------------------------------------------------------------


def test_a_broker_before_5_0_0_knows_routes_of_its_own_topics_only() -> None:
    assert [known_queues(OLD, FOUR, own) for own in (True, False)] == [FOUR, None]
    assert [known_queues(NEW, FOUR, own) for own in (True, False)] == [FOUR, FOUR]
    assert known_queues(NEW, None, True) is None


def test_a_mode_is_of_one_topic_and_one_group_and_may_change() -> None:
    assert mode_of(NO_MODES, "T", "G") == Mode(PULL, 0)
    assert mode_of(NO_MODES, "T", "G", Mode(POP, 1)) == Mode(POP, 1)
    assert mode_of(NO_MODES, "%RETRY%G", "G", Mode(POP, 1)) == Mode(PULL, 0)
    modes, result, why = set_mode(NEW, NO_MODES, "T", "G", POP, 3)
    assert (result, why.kind) == (None, "set")
    assert (mode_of(modes, "T", "G"), mode_of(modes, "U", "G"), mode_of(modes, "T", "H")) == ((POP, 3), Mode(), Mode())
    modes, _, why = set_mode(NEW, modes, "T", "G", PULL, None)
    assert (mode_of(modes, "T", "G"), why.kind) == (Mode(PULL, 0), "set anew")
    modes, _, why = set_mode(NEW, modes, "T", "G", None, 2)
    assert (mode_of(modes, "T", "G"), why.kind) == (Mode(PULL, 2), "mode not sent")
    assert NO_MODES == {}


def test_what_may_not_have_a_mode_is_refused() -> None:
    assert set_mode(NEW, NO_MODES, "%RETRY%G", "G", POP, 0, "topic")[1] == Err("NO_PERMISSION")
    assert set_mode(NEW, NO_MODES, "T", "G", POP, 0, "topic")[1] == Err("TOPIC_NOT_EXIST")
    assert set_mode(NEW, NO_MODES, "T", "G", POP, 0, "group")[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    before = BrokerRules.of(Profile.of(broker="5.3.2"))
    for lacking in ("topic", "group"):
        modes, result, _ = set_mode(before, NO_MODES, "T", "G", POP, 0, lacking)
        assert (result, mode_of(modes, "T", "G")) == (None, Mode(POP, 0))


# --- a case -----------------------------------------------------------------------------------------------------


def test_the_layout_has_a_topic_of_each_kind() -> None:
    counts = {topic: None if readable_queues(topic) is None else len(readable_queues(topic) or ()) for topic in TOPICS}
    assert counts == {"T0": 4, "T1": 5, "T2": 1, "T3": 0, "T4": None, "%RETRY%G0": 1, "%RETRY%G1": None, "%LMQ%L": None}
    assert set(ROUTES) <= set(TOPICS)
    assert len(GROUPS) == ILLEGAL_GROUP + 1


def test_members_come_over_connections_of_their_own() -> None:
    model = BrokerAssignmentModel(Profile())
    state = BrokerAssignmentState()
    for connection, client in ((0, 0), (1, 1), (2, 0)):
        state, result, _ = model.register(state, connection, client, 0)
        assert result is None
    # c10, c2, c2: the second place of c2 has no owner
    assert numbers(model.ask(state, 0, 0, CLIENTS[1], CLUSTERING, "AVG")[1]) == [0, 1]
    assert numbers(model.ask(state, 0, 0, CLIENTS[0], CLUSTERING, "AVG")[1]) == [2]
    state = model.unregister(state, 2, 0)[0]
    assert numbers(model.ask(state, 0, 0, CLIENTS[0], CLUSTERING, "AVG")[1]) == [2, 3]
    assert model.ask(state, 0, 1, CLIENTS[0], CLUSTERING, "AVG")[1] is None


def test_topics_and_groups_that_a_broker_lacks_have_no_mode() -> None:
    model = BrokerAssignmentModel(Profile())
    assert model.set_mode(BrokerAssignmentState(), 1, 0, POP, 0)[1] == Err("TOPIC_NOT_EXIST")
    state, _, why = model.make_topic(BrokerAssignmentState(), 1)
    assert why.kind == "new topic"
    assert model.make_topic(state, 1)[2].kind == "same again"
    assert model.set_mode(state, 1, 0, POP, 0)[1] is None
    assert model.set_mode(state, 1, ILLEGAL_GROUP, POP, 0)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")


def test_an_old_release_has_neither_question_nor_mode() -> None:
    names = [SUITE.operations[at].spec.name for at in SUITE.offered(Profile.of(broker="4.9.7"))]
    assert names == ["make_topic", "register", "unregister"]
    assert len(SUITE.offered(Profile.of(broker="5.0.0-PREVIEW"))) == len(SUITE.operations)


@pytest.mark.parametrize("release", ["5.0.0-PREVIEW", "5.0.0", "5.3.1", "5.5.0"])
def test_covering_plans_reach_every_kind(release: str) -> None:
    profile = Profile.of(broker=release)
    bound = SUITE.bind(profile)
    kinds = set()
    for case in covering_plans.cases(SUITE, profile):
        state = bound.initial
        for at, args in case.rows:
            state, _, why = bound.by_position[at](state, *args)
            kinds.add(why.kind)
        assert "members" in SUITE.show(state)
    assert kinds >= {
        *("no route, broadcasting", "no route, cluster", "nobody registered", "unknown strategy", "no client id"),
        *("no message model", "broadcasting, PULL", "broadcasting, POP", "queues", "more members than queues"),
        *("not registered", "no share", "own queues and others'", "an id twice", "one queue by place", "stranger"),
        *("set", "set anew", "retry topic", "mode not sent", "last member", "other id"),
    }
    if release == "5.5.0":
        assert kinds >= {"unknown topic", "unknown group"}
    if release != "5.0.0-PREVIEW":
        assert kinds >= {"a share as large as the group", "blank client id", "no readable queue"}
