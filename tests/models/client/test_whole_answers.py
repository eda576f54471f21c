"""Groups of whole push consumers that are answered in an unusual way about one thing alone, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.lone_answers import lone_reasons
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST, TIMESTAMP
from rocketmq_conformance.models.client.whole_answers import WholeAnswersModel, has_members, may_join
from rocketmq_conformance.models.client.whole_moves import (
    EMPTY,
    MAX,
    NO_BODY,
    NO_FIELD,
    NULL,
    QUERY,
    SEARCH,
    SILENT,
    STATUSES,
    TOO_LATE,
    TWICE,
    UNKNOWN,
)
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeAnswersModel(Profile(), ORDINARY)
OLD = WholeAnswersModel(Profile(client=Release.parse("4.9.8")), ORDINARY)
JOIN, ALL, LOOK, MEND = (MODEL.join, 0), (MODEL.send, EVERY), (MODEL.look,), (MODEL.mend,)
#: Two queues, of which the group has consumed the messages before 7.
TWO = (MODEL.prepare, 2, "young", 7, LAST)
#: Where queue 0 and 1 wait when member 0 has consumed everything, and one more message of both.
THERE, NEXT, NOBODY = (0, 12), (0, 13), (-1, -1)


def after(*steps: Any, state: WholePushState | None = None) -> tuple[WholePushState, Any, Any]:
    """The state, the answer and the reason in the end."""
    state, result, why = state or MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    return state, result, why


def shown(*steps: Any) -> Any:
    """What is seen in the end."""
    return after(*steps)[1]


@pytest.mark.parametrize("answer", [UNKNOWN, "TOPIC_NOT_EXIST", SILENT, NO_FIELD, NO_BODY, *STATUSES])
def test_a_queue_whose_pulls_fail_stays_where_it_is_and_the_other_one_goes_on(answer: str) -> None:
    failing = (TWO, JOIN, (MODEL.fail_pulls, 0, answer))
    assert shown(*failing, ALL) == ((NOBODY, NEXT), ((0, 1, 12, 1),), (12, 13))
    assert shown(*failing, ALL, MEND) == ((NEXT, NEXT), ((0, 0, 12, 1),), (13, 13))


@pytest.mark.parametrize(
    ("answer", "rules"),
    [
        (UNKNOWN, ("WHOLE-ANS-CODE", "WHOLE-ANS-ALONE")),
        (SILENT, ("WHOLE-ANS-ALONE",)),
        *((answer, ("WHOLE-ANS-FIELD", "WHOLE-ANS-ALONE")) for answer in (NO_FIELD, NO_BODY, STATUSES[0])),
    ],
)
def test_a_reason_says_in_which_way_a_pull_fails(answer: str, rules: tuple[str, ...]) -> None:
    _, _, why = after(TWO, JOIN, (MODEL.fail_pulls, 0, answer))
    assert (why.rules[: len(rules) + 1], why.kind) == ((*rules, "WHOLE-PULL"), f"PULL_MESSAGE fails: {answer}")
    # a queue that no member has concerns none
    assert after(TWO, (MODEL.fail_pulls, 0, answer))[2].rules == ("WHOLE-COMMIT",)


def test_what_was_not_answered_shows_when_it_is_again() -> None:
    pulls = (TWO, JOIN, (MODEL.fail_pulls, 0, NO_BODY))
    start = (TWO, (MODEL.fail_start, 0, QUERY, UNKNOWN), JOIN)
    field, code = ("WHOLE-ANS-FIELD", "WHOLE-ANS-ALONE"), ("WHOLE-ANS-CODE", "WHOLE-ANS-ALONE")
    for steps, rules, kind in (
        (pulls, field, "answered again: PULL_MESSAGE fails: no-body"),
        (start, code, "answered again: QUERY_CONSUMER_OFFSET fails: 9999"),
    ):
        _, _, why = after(*steps, MEND)
        assert (why.rules[:2], why.kind) == (rules, kind)
    # at 0 nothing shows that it was not sent there
    new = ((MODEL.prepare, 2, "young", NOTHING, LAST), (MODEL.fail_pulls, 0, NO_BODY), JOIN)
    assert after(*new, MEND)[2].kind == "messages are given"
    # a queue that no member has, and one that had begun before, do not wait
    for steps in ((TWO, (MODEL.fail_pulls, 0, NO_BODY)), (TWO, JOIN, (MODEL.fail_start, 0, QUERY, UNKNOWN))):
        assert "WHOLE-ANS-ALONE" not in after(*steps, MEND)[2].rules


@pytest.mark.parametrize("answer", [UNKNOWN, "PULL_NOT_FOUND", NO_FIELD])
def test_a_queue_whose_stored_offset_cannot_be_had_does_not_begin_and_the_other_one_does(answer: str) -> None:
    failing = (TWO, (MODEL.fail_start, 0, QUERY, answer), JOIN)
    assert shown(*failing) == ((NOBODY, THERE), ((0, 1, 7, 5),), (7, 12))
    assert shown(*failing, ALL, MEND) == ((NEXT, NEXT), ((0, 0, 7, 6),), (13, 13))
    why = after(*failing)[2]
    assert (why.rules[0], why.kind) == (
        "WHOLE-ANS-FIELD" if answer == NO_FIELD else "WHOLE-ANS-CODE",
        f"QUERY_CONSUMER_OFFSET fails: {answer}",
    )


def test_a_refusal_that_is_read_as_no_offset_begins_one_queue_anew() -> None:
    lost = ((THERE, THERE), ((0, 1, 7, 5),), (12, 12))
    assert shown(TWO, (MODEL.fail_start, 0, QUERY, "QUERY_NOT_FOUND"), JOIN) == lost
    _, seen, why = after(TWO, (OLD.fail_start, 0, QUERY, UNKNOWN), (OLD.join, 0), state=OLD.initial())
    assert (seen, why.rules[0]) == (lost, "WHOLE-MISTAKEN")


@pytest.mark.parametrize(("where", "request_"), [(LAST, MAX), (TIMESTAMP, SEARCH)])
def test_a_queue_does_not_begin_without_max_or_a_search(where: str, request_: str) -> None:
    anew = (MODEL.prepare, 2, "expired", NOTHING, where)
    _, (places, _, _), why = after(anew, (MODEL.fail_start, 0, request_, UNKNOWN), JOIN)
    assert (places[0], places[1][0], why.kind) == (NOBODY, 0, f"{request_} fails")
    assert why.rules[:3] == ("WHOLE-ANS-CODE", "WHOLE-ANS-ALONE", "WHOLE-UNREAD")
    # the broker says that a group begins at 0 where every message is still there
    young = (MODEL.prepare, 2, "young", NOTHING, where)
    assert shown(young, (MODEL.fail_start, 0, request_, UNKNOWN), JOIN)[0] == (THERE, THERE)


def test_commits_of_one_queue_are_lost_and_said_again() -> None:
    failing = (TWO, JOIN, (MODEL.fail_commits, 0, SILENT), ALL)
    assert shown(*failing) == ((NEXT, NEXT), ((0, 0, 12, 1), (0, 1, 12, 1)), (12, 13))
    assert shown(*failing, MEND)[2] == (13, 13)
    # who takes the queue is given again what was not stored
    assert shown(*failing, (MODEL.crash, 0), (MODEL.join, 1))[1] == ((1, 0, 12, 1),)
    assert after(*failing)[2].rules[0] == "WHOLE-ANS-ALONE"


@pytest.mark.parametrize(
    ("answer", "rule"),
    [(EMPTY, "WHOLE-ANS-LIST"), (NULL, "WHOLE-ANS-LIST"), (NO_FIELD, "WHOLE-ANS-FIELD"), (UNKNOWN, "WHOLE-ANS-CODE")],
)
def test_a_list_without_members_changes_nothing(answer: str, rule: str) -> None:
    _, seen, why = after(TWO, JOIN, (MODEL.fail_list, answer), ALL)
    assert (seen, why.rules[0]) == (((NEXT, NEXT), ((0, 0, 12, 1), (0, 1, 12, 1)), (13, 13)), rule)
    assert shown(TWO, (MODEL.fail_list, answer), JOIN)[0] == (NOBODY, NOBODY)


def test_who_has_its_queues_goes_on_without_the_route_and_no_other_one_joins() -> None:
    state, seen, why = after(TWO, JOIN, (MODEL.fail_route, "TOPIC_NOT_EXIST"), ALL)
    assert (seen[0], why.rules[0]) == ((NEXT, NEXT), "WHOLE-ANS-CODE")
    assert [has_members(state), may_join(state), may_join(after(JOIN)[0])] == [True, False, True]


@pytest.mark.parametrize(("how", "rule"), [(TWICE, "WHOLE-ANS-TWICE"), (TOO_LATE, "WHOLE-ANS-LATE")])
def test_a_message_is_given_once_however_often_the_answer_comes(how: str, rule: str) -> None:
    _, seen, why = after(TWO, JOIN, (MODEL.send_again, 0, how))
    assert seen == ((NEXT, THERE), ((0, 0, 12, 1),), (13, 12))
    assert rule in why.rules
    for nobody in (
        (TWO, (MODEL.send_again, 0, how)),
        (TWO, JOIN, (MODEL.fail_pulls, 0, UNKNOWN), (MODEL.send_again, 0, how)),
        (TWO, JOIN, (MODEL.send_again, 3, how)),
    ):
        _, seen, why = after(*nobody)
        assert (seen[1], rule in why.rules) == ((), False)


def test_what_fails_for_all_has_no_reason_more() -> None:
    why = Reason(("WHOLE-PULL",), "put off")
    assert lone_reasons(None, why) == (why,)
