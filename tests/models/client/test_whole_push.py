"""Groups of whole push consumers as their traffic shows them, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.whole_end import RULES_OF_ENDS
from rocketmq_conformance.models.client.whole_push import (
    WholePushModel,
    WholePushState,
    has_no_members,
    keeps_members,
    keeps_subscriptions,
    takes_resets,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholePushModel(Profile(), ORDINARY)
NOBODY = (-1, -1)


def after(*steps: Any) -> tuple[WholePushState, Any, Any]:
    """The state, the last answer and its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    return state, result, why


def test_one_member_pulls_every_queue_and_commits_what_it_was_given() -> None:
    _, seen, why = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0))
    assert seen == (((0, 12), (0, 12)), ((0, 0, 7, 5), (0, 1, 7, 5)), (12, 12))
    assert why.rules == ("WHOLE-FIRST", "WHOLE-COMMIT", "TIMER-PERSIST")


def test_a_queue_that_is_pulled_from_its_start_shows_why_it_begins_there() -> None:
    _, _, stored = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0))
    assert set(stored.beneath) == {"START-PUSH-1", "OFF-R-READ", "REB-ADD-1"}
    state, _, bound = after((MODEL.prepare, 1, "gone", NOTHING, TIMESTAMP), (MODEL.join, 0))
    assert bound.beneath == ("START-PUSH-1", "API-ADM-1", "START-TS-1", "REB-ADD-1", "PULL-NON-1")
    assert MODEL.look(state)[2].beneath == ()


def test_a_queue_that_is_not_pulled_from_its_start_shows_why_and_no_start() -> None:
    _, _, elsewhere = after((MODEL.prepare, 1, "empty", 7, LAST), (MODEL.join, 0))
    assert elsewhere.beneath == ("PULL-ILL-1",)
    prepared = MODEL.prepare, 1, "young", 7, LAST
    state, _, failing = after(prepared, (MODEL.fail, "PULL_MESSAGE", "SYSTEM_BUSY"), (MODEL.join, 0))
    assert failing.beneath == ()
    assert MODEL.mend(state)[2].beneath == ("PULL-RES-1",)
    assert MODEL.fail(state, "PULL_MESSAGE", "SYSTEM_ERROR")[2].beneath == ()


@pytest.mark.parametrize(
    ("clients", "first"),
    [
        # as strings, whatever numbers they begin with
        (("100-10.0.0.1@member-0", "99-10.0.0.1@member-1"), 0),
        (("99-10.0.0.1@member-0", "100-10.0.0.1@member-1"), 1),
        # in Java an emoji sorts before a full-width letter
        (("\uff21", "\U0001f600"), 1),
        # one that is not known counts by its name
        (("z", ""), 1),
    ],
)
def test_members_divide_queues_in_the_order_of_the_client_ids_that_were_seen(
    clients: tuple[str, str], first: int
) -> None:
    state, _, _ = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0))
    _, seen, _ = MODEL.join(MODEL.learn(state, (*clients, "")), 1)
    assert seen[0] == ((first, 12), (1 - first, 12))


def test_one_that_comes_back_under_another_id_has_another_place() -> None:
    state, _, _ = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1), (MODEL.leave, 0))
    places = [MODEL.join(MODEL.learn(state, (client, "8-x")), 0)[1][0] for client in ("7-x", "9-x")]
    assert places == [((0, 12), (1, 12)), ((1, 12), (0, 12))]


def test_a_second_member_takes_the_second_half_and_is_given_nothing_again() -> None:
    steps = (MODEL.prepare, 4, "young", 7, LAST), (MODEL.join, 1), (MODEL.join, 0)
    _, seen, why = after(*steps)
    assert seen == (((0, 12), (0, 12), (1, 12), (1, 12)), (), (12, 12, 12, 12))
    assert "WHOLE-SHARE" in why.rules


def test_a_member_without_a_queue_changes_nothing() -> None:
    _, seen, why = after((MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1))
    assert (seen, why.kind) == ((((0, 12),), (), (12,)), "nothing is new")


def test_who_is_sent_elsewhere_stores_that_even_where_nothing_is() -> None:
    _, seen, why = after((MODEL.prepare, 1, "empty", 7, LAST), (MODEL.join, 0))
    assert (seen, why.kind) == ((((0, 0),), (), (0,)), "sent elsewhere")


def test_messages_wait_for_a_member() -> None:
    _, seen, why = after((MODEL.prepare, 2, "gone", NOTHING, LAST), (MODEL.send, 1))
    assert (seen, why.kind) == (((NOBODY, NOBODY), (), (-1, -1)), "without its owner")
    _, seen, why = after((MODEL.prepare, 2, "gone", NOTHING, FIRST), (MODEL.send, EVERY), (MODEL.join, 2))
    assert seen == (((2, 13), (2, 13)), ((2, 0, 12, 1), (2, 1, 12, 1)), (13, 13))
    assert why.kind == "sent elsewhere"


def test_who_is_sent_on_to_where_nothing_has_expired_stores_that() -> None:
    """A broker of 4.x whose messages all expired reports 0 as min after a restart, and sends no pull elsewhere."""
    old = WholePushModel(Profile.of("4.9.8", "4.9.7"), ORDINARY)
    for stored in (NOTHING, 99):
        state = old.prepare(old.initial(), 1, "gone", stored, LAST)[0]
        state, seen, _ = old.join(state, 0)
        assert seen == (((0, 12),), (), (12,))
        assert old.send(state, 0)[1] == (((0, 13),), ((0, 0, 12, 1),), (13,))


def test_leaving_and_crashing_leave_the_queues_to_the_others() -> None:
    both = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1)
    for end in (MODEL.leave, MODEL.crash):
        _, seen, _ = after(*both, (end, 0))
        assert seen[:3] == (((1, 12), (1, 12)), (), (12, 12))


def test_who_is_told_an_offset_begins_there() -> None:
    joined = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0)
    _, seen, why = after(*joined, (MODEL.reset, 3))
    assert (seen, why.kind) == ((((0, 12), (0, 12)), ((0, 0, 3, 9),), (12, 12)), "told an offset")
    _, seen, why = after(joined[0], (MODEL.reset, 3))
    assert (seen, why.kind) == (((NOBODY, NOBODY), (), (7, 7)), "without its owner")


def test_one_that_is_frozen_is_late_and_loses_nothing() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0)
    assert after(*steps, (MODEL.freeze, 0))[1] == after(*steps, (MODEL.send, EVERY))[1]


def test_what_is_repeated_changes_nothing() -> None:
    begun, seen, _ = after((MODEL.join, 0), (MODEL.prepare, 1, "gone", 2, FIRST))
    assert seen is None
    assert begun.setting.queues == 4
    _, once, _ = after((MODEL.join, 0), (MODEL.look,))
    for again in ((MODEL.join, 0), (MODEL.leave, 1), (MODEL.crash, 2), (MODEL.send, 9)):
        assert after((MODEL.join, 0), again)[1][:3] == once


@pytest.mark.parametrize(("shape", "end"), [("empty", 0), ("gone", 12)])
def test_one_that_finds_nothing_commits_where_it_waits(shape: str, end: int) -> None:
    begun = (MODEL.prepare, 1, shape, NOTHING, LAST), (MODEL.join, 0)
    _, seen, why = after(*begun)
    assert (seen, why.kind) == ((((0, end),), (), (end,)), "nothing is new")
    assert why.rules == ("WHOLE-FIRST", "WHOLE-COMMIT")
    assert "PULL-NON-1" in why.beneath
    _, seen, why = after(*begun, (MODEL.look,))
    assert (why.rules, why.beneath) == (("WHOLE-FIRST",), ())


def test_what_one_that_finds_nothing_would_commit_is_lost_while_commits_fail() -> None:
    steps = (MODEL.prepare, 1, "gone", NOTHING, LAST), failing(COMMIT), (MODEL.join, 0)
    _, seen, why = after(*steps)
    assert (seen[2], fired(why)) == ((-1,), ("WHOLE-COMMIT", "WHOLE-LOST"))
    assert after(*steps, (MODEL.mend,))[1][2] == (12,)
    # who comes next begins at the end again
    _, seen, _ = after(*steps, (MODEL.crash, 0), (MODEL.send, 0), (MODEL.join, 1))
    assert seen == (((1, 13),), (), (-1,))


# --- requests that fail -----------------------------------------------------------------------------------------

QUERY, PULL, COMMIT = "QUERY_CONSUMER_OFFSET", "PULL_MESSAGE", "UPDATE_CONSUMER_OFFSET"
BEAT, ROUTE = "HEART_BEAT", "GET_ROUTEINFO_BY_TOPIC"
LIST, BOUND = "GET_CONSUMER_LIST_BY_GROUP", "GET_MAX_OFFSET"
OLD = WholePushModel(Profile.of("4.9.8", "4.9.8"), ORDINARY)
FAILING = "requests fail"


def fired(why: Reason) -> tuple[str, ...]:
    """The rules but for the one that every pull makes fire, and those that say when something happens."""
    return tuple(rule for rule in why.rules if rule != "WHOLE-FIRST" and not rule.startswith(("TIMER-", "REB-SVC-")))


def failing(request: str, code: str = "SYSTEM_ERROR") -> tuple[Any, str, str]:
    return MODEL.fail, request, code


def test_who_cannot_pull_waits_nowhere_and_goes_on_once_it_can() -> None:
    steps = (MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), failing(PULL)
    _, seen, why = after(*steps)
    assert (seen, fired(why), why.kind) == (((NOBODY,), (), (12,)), ("WHOLE-PULL",), FAILING)
    _, seen, _ = after(*steps, (MODEL.send, 0))
    assert seen == ((NOBODY,), (), (12,))
    _, seen, why = after(*steps, (MODEL.send, 0), (MODEL.mend,))
    assert (seen, why.kind) == ((((0, 13),), ((0, 0, 12, 1),), (13,)), "messages are given")


def test_another_failure_takes_the_place_of_the_first() -> None:
    _, seen, why = after((MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), failing(PULL), failing(COMMIT))
    assert seen == (((0, 12),), (), (12,))
    assert why.kind == "nothing is new"


def test_what_cannot_be_read_is_not_begun() -> None:
    steps = (MODEL.prepare, 1, "young", 7, LAST), failing(QUERY), (MODEL.join, 0)
    _, seen, why = after(*steps)
    assert (seen, fired(why), why.kind) == (((NOBODY,), (), (7,)), ("WHOLE-UNREAD",), FAILING)
    _, seen, _ = after(*steps, (MODEL.mend,))
    assert seen == (((0, 12),), ((0, 0, 7, 5),), (12,))


def test_an_old_client_and_one_that_is_told_not_found_begin_by_mistake() -> None:
    steps = (OLD.prepare, 1, "young", 7, LAST), (OLD.fail, QUERY, "SYSTEM_BUSY"), (OLD.join, 0)
    begun, seen, why = after(*steps)
    assert (seen, fired(why)) == ((((0, 12),), (), (12,)), ("WHOLE-MISTAKEN", "WHOLE-COMMIT"))
    _, seen, why = OLD.send(begun, 0)
    assert seen == (((0, 13),), ((0, 0, 12, 1),), (13,))
    _, seen, why = after(steps[0], failing(QUERY, "QUERY_NOT_FOUND"), (MODEL.join, 0))
    assert (seen, fired(why)) == ((((0, 12),), (), (12,)), ("WHOLE-MISTAKEN", "WHOLE-COMMIT"))


def test_a_queue_that_one_let_go_and_nobody_can_take_is_pulled_by_nobody() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), failing(QUERY), (MODEL.join, 1)
    _, seen, why = after(*steps)
    assert (seen, fired(why)) == ((((0, 12), NOBODY), (), (12, 12)), ("WHOLE-SHARE", "WHOLE-UNREAD"))
    _, seen, _ = after(*steps, (MODEL.send, 1), (MODEL.mend,))
    assert seen == (((0, 12), (1, 13)), ((1, 1, 12, 1),), (12, 13))


def test_without_a_list_nobody_takes_what_another_one_left() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1), failing(LIST)
    _, seen, why = after(*steps, (MODEL.leave, 0))
    assert seen[:3] == ((NOBODY, (1, 12)), (), (12, 12))
    assert (fired(why), why.kind) == (("WHOLE-LIST", "REB-PERSIST-1"), FAILING)
    _, seen, _ = after(*steps, (MODEL.leave, 0), (MODEL.mend,))
    assert seen == (((1, 12), (1, 12)), (), (12, 12))


def test_what_is_not_committed_is_given_again_where_the_queue_goes() -> None:
    steps = (MODEL.prepare, 1, "young", 7, LAST), failing(COMMIT), (MODEL.join, 0)
    _, seen, why = after(*steps)
    assert (seen, fired(why), why.kind) == ((((0, 12),), ((0, 0, 7, 5),), (7,)), ("WHOLE-LOST",), FAILING)
    _, seen, _ = after(*steps, (MODEL.leave, 0), (MODEL.join, 1))
    assert seen == (((1, 12),), ((1, 0, 7, 5),), (7,))


def test_what_was_not_committed_is_committed_again_once_nothing_else_is_new() -> None:
    steps = (MODEL.prepare, 1, "young", 7, LAST), failing(COMMIT), (MODEL.join, 0)
    for move in ((MODEL.mend,), failing(BOUND)):
        _, seen, why = after(*steps, move)
        assert seen == (((0, 12),), (), (12,))
        assert ("WHOLE-REPEAT" in why.rules, why.kind, why.beneath) == (True, FAILING, ("OFF-R-PALL",))
    for more in ([(MODEL.silence, COMMIT)], [(MODEL.leave, 0), (MODEL.mend,)]):
        assert "WHOLE-REPEAT" not in after(*steps, *more)[2].rules


def test_a_reset_that_is_not_committed_leads_back_to_what_is_stored() -> None:
    _, seen, why = after((MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), failing(COMMIT), (MODEL.reset, 3))
    assert (seen, fired(why)) == ((((0, 12),), (), (12,)), ("WHOLE-RESET", "WHOLE-LOST"))


def test_where_a_new_group_begins_cannot_be_asked() -> None:
    steps = (MODEL.prepare, 1, "expired", NOTHING, LAST), failing(BOUND), (MODEL.join, 0)
    _, seen, why = after(*steps)
    assert (seen, fired(why)) == (((NOBODY,), (), (-1,)), ("WHOLE-UNREAD",))
    _, seen, _ = after(*steps, (MODEL.send, 0), (MODEL.mend,))
    assert seen == (((0, 13),), (), (13,))


#: (model, ConsumeFromWhere, what fails, who has the queue then, what is stored): the group has 2, and min is 4.
ELSEWHERE = [
    # sent away again and again, as nothing is stored
    (MODEL, LAST, COMMIT, NOBODY, 2),
    # the other offset is stored, and the queue is not taken again
    (MODEL, LAST, LIST, NOBODY, 4),
    (MODEL, LAST, QUERY, NOBODY, 4),
    # begun by mistake at the end, or where it was sent away from
    (OLD, LAST, QUERY, (0, 12), 12),
    (OLD, FIRST, QUERY, NOBODY, 4),
]


@pytest.mark.parametrize(("model", "where", "fails", "place", "stored"), ELSEWHERE)
def test_who_is_sent_elsewhere_needs_requests_to_begin_anew(
    model: WholePushModel, where: str, fails: str, place: tuple[int, int], stored: int
) -> None:
    joined = (model.prepare, 1, "expired", 2, where), (model.fail, PULL, "SYSTEM_ERROR"), (model.join, 0)
    begun, seen, why = after(*joined, (model.fail, fails, "SYSTEM_ERROR"))
    assert (seen, why.kind) == (((place,), (), (stored,)), "sent elsewhere in vain")
    _, seen, _ = model.look(begun)
    assert seen == ((place,), (), (stored,))
    _, seen, _ = model.mend(begun)
    first = 12 if place == (0, 12) else 4
    given = ((0, 0, 4, 8),) if first == 4 else ()
    assert seen == (((0, 12),), given, (12,))


@pytest.mark.parametrize(("fails", "stored"), [(COMMIT, 2), (LIST, 12), (QUERY, 12)])
def test_a_client_that_does_not_begin_anew_is_given_what_is_where_it_was_sent(fails: str, stored: int) -> None:
    mended = WholePushModel(Profile().mended(), ORDINARY)
    joined = (mended.prepare, 1, "expired", 2, LAST), (mended.fail, PULL, "SYSTEM_ERROR"), (mended.join, 0)
    begun, seen, why = after(*joined, (mended.fail, fails, "SYSTEM_ERROR"))
    assert (seen, why.quirk) == ((((0, 12),), ((0, 0, 4, 8),), (stored,)), False)
    assert mended.mend(begun)[1] == (((0, 12),), (), (12,))


# --- a topic that gains and loses queues ------------------------------------------------------------------------


def test_queues_that_a_topic_gains_are_shared() -> None:
    steps = (MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1)
    _, seen, why = after(*steps, (MODEL.resize, 2))
    assert (seen, why.kind) == ((((0, 12), (1, 0)), (), (12, 0)), "the route changes")
    assert {"REB-ROUTE-1", "WHOLE-SHARE"} <= set(why.rules)
    _, seen, _ = after(*steps, (MODEL.resize, 2), (MODEL.send, EVERY))
    assert seen == (((0, 13), (1, 1)), ((0, 0, 12, 1), (1, 1, 0, 1)), (13, 1))


def test_queues_that_a_topic_loses_are_let_go_and_taken_again_where_they_were() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.send, 1), (MODEL.resize, 1)
    _, seen, why = after(*steps)
    assert (seen, why.kind) == ((((0, 12),), (), (12,)), "the route changes")
    # there is no queue 1 to send to
    _, seen, _ = after(*steps, (MODEL.send, EVERY), (MODEL.send, 1))
    assert seen == (((0, 13),), (), (13,))
    _, seen, _ = after(*steps, (MODEL.resize, 2), (MODEL.send, 1))
    assert seen == (((0, 12), (0, 14)), ((0, 1, 13, 1),), (12, 14))


def test_without_a_list_what_a_topic_lost_is_kept_and_not_pulled() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), failing(LIST), (MODEL.resize, 1)
    _, seen, why = after(*steps)
    assert seen == (((0, 12),), (), (12,))
    assert fired(why) == ("REB-ROUTE-1", "WHOLE-LIST", "WHOLE-PULL")
    _, seen, _ = after(*steps, (MODEL.resize, 2))
    assert seen == (((0, 12), (0, 12)), (), (12, 12))


def test_queues_of_a_topic_without_any_are_kept() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.silence, COMMIT), (MODEL.join, 0), (MODEL.resize, 0)
    _, seen, why = after(*steps)
    assert (seen, why.kind) == (((), (), ()), FAILING)
    _, seen, _ = after(*steps, (MODEL.resize, 2))
    assert seen == (((0, 12), (0, 12)), (), (7, 7))
    # a member that begins then takes none
    _, seen, _ = after(*steps[:1], (MODEL.resize, 0), (MODEL.join, 0))
    assert seen == ((), (), ())


def test_a_size_that_nobody_sees_or_that_is_the_same_changes_nothing() -> None:
    _, seen, why = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.resize, 1))
    assert (seen, why.kind) == (((NOBODY,), (), (7,)), "without its owner")
    _, seen, why = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.resize, 2))
    assert why.kind == "messages are given" if seen[1] else "nothing is new"


# --- answers that do not come, or come late -----------------------------------------------------------------------


def test_a_pull_that_is_not_answered_is_sent_again_once_others_are() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.silence, PULL), (MODEL.send, EVERY)
    _, seen, why = after(*steps)
    assert (seen, fired(why)) == (((NOBODY, NOBODY), (), (12, 12)), ("WHOLE-PULL",))
    for end in ((MODEL.mend,), (MODEL.silence, COMMIT)):
        _, seen, why = after(*steps, end)
        assert seen[:2] == (((0, 13), (0, 13)), ((0, 0, 12, 1), (0, 1, 12, 1)))
        assert (fired(why)[0], why.kind) == ("WHOLE-SILENT", FAILING)


def test_late_answers_count_like_others() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.delay, QUERY)
    _, _, why = after(*steps)
    assert why.kind == "without its owner"
    late, seen, why = after(*steps, (MODEL.join, 0))
    assert seen == after(steps[0], (MODEL.join, 0))[1]
    assert ("WHOLE-LATE" in why.rules, why.kind) == (True, "answers are late")
    _, _, why = after(*steps, (MODEL.join, 0), (MODEL.mend,), (MODEL.look,))
    assert "WHOLE-LATE" not in why.rules
    assert (keeps_members(late), has_no_members(late)) == (True, False)


def test_who_lost_its_connection_begins_with_the_next_heartbeat() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.fail, LIST, "cut")
    assert has_no_members(after(*steps)[0])
    begun, seen, why = after(*steps, (MODEL.join, 0), (MODEL.join, 1))
    assert (seen, fired(why)) == (((NOBODY, NOBODY), (), (7, 7)), ("WHOLE-LIST",))
    assert not keeps_members(begun)
    _, seen, why = MODEL.mend(begun)
    assert seen == (((0, 12), (1, 12)), ((0, 0, 7, 5), (1, 1, 7, 5)), (12, 12))
    assert why.rules[0] == "WHOLE-CUT"
    _, _, why = after(*steps, (MODEL.mend,))
    assert why.kind == "without its owner"


@pytest.mark.parametrize("fails", [BEAT, ROUTE])
def test_a_member_that_is_not_known_gets_nothing_and_one_that_is_goes_on(fails: str) -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), failing(fails)
    assert after(*steps)[2].kind == "without its owner"
    begun, seen, why = after(*steps, (MODEL.join, 0))
    assert (seen, fired(why), why.kind) == (((NOBODY, NOBODY), (), (7, 7)), ("WHOLE-UNHEARD",), FAILING)
    assert not keeps_members(begun)
    begun, seen, _ = MODEL.mend(begun)
    assert seen == (((0, 12), (0, 12)), ((0, 0, 7, 5), (0, 1, 7, 5)), (12, 12))
    begun = MODEL.fail(begun, fails, "no-field")[0]
    begun, seen, _ = MODEL.join(begun, 1)
    assert seen == (((0, 12), (0, 12)), (), (12, 12))
    _, seen, _ = MODEL.mend(begun)
    assert seen == (((0, 12), (1, 12)), (), (12, 12))


# --- when it happens --------------------------------------------------------------------------------------------


def times(why: Reason) -> set[str]:
    return {rule for rule in why.rules if rule.startswith(("TIMER-", "REB-SVC-"))} - {*RULES_OF_ENDS}


def test_a_step_names_what_it_waits_for() -> None:
    begun, _, why = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0))
    assert times(why) == {"TIMER-PERSIST"}
    assert times(MODEL.resize(begun, 1)[2]) == {"TIMER-ROUTE"}
    assert times(MODEL.crash(begun, 1)[2]) == set()
    assert times(MODEL.crash(begun, 0)[2]) == set()
    both, _, why = MODEL.join(begun, 1)
    assert times(why) == {"REB-SVC-WAKE"}
    for end in (MODEL.leave, MODEL.crash):
        assert times(end(both, 0)[2]) == {"REB-SVC-WAKE"}
    failing_list = MODEL.fail(begun, LIST, "SYSTEM_ERROR")[0]
    assert times(MODEL.mend(failing_list)[2]) == {"REB-SVC-1"}
    assert times(MODEL.mend(MODEL.fail(begun, PULL, "SYSTEM_ERROR")[0])[2]) == set()
    nobody = MODEL.fail(MODEL.initial(), LIST, "SYSTEM_ERROR")[0]
    assert times(MODEL.mend(nobody)[2]) == set()


def test_queues_change_only_while_heartbeats_are_taken() -> None:
    state = MODEL.initial()
    assert keeps_subscriptions(state)
    assert takes_resets(state)
    state = MODEL.join(state, 0)[0]
    failing = MODEL.fail(state, "HEART_BEAT", "SYSTEM_ERROR")[0]
    assert (keeps_subscriptions(failing), takes_resets(failing)) == (True, False)
    failing = MODEL.fail(MODEL.join(state, 1)[0], "HEART_BEAT", "SYSTEM_ERROR")[0]
    assert (keeps_subscriptions(failing), takes_resets(failing)) == (False, False)
    assert takes_resets(MODEL.mend(failing)[0])
    assert takes_resets("the state of another suite")
