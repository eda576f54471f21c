"""Groups of whole push consumers of which one is suspended, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_end import NOT_ENDED
from rocketmq_conformance.models.client.whole_pause import WholePauseModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholePauseModel(Profile(), ORDINARY)
JOIN, BOTH = (MODEL.join, 0), ((MODEL.join, 0), (MODEL.join, 1))
SUSPEND, RESUME, SEND = (MODEL.pause, 0, True), (MODEL.pause, 0, False), (MODEL.send, EVERY)
NO_PULLS = ((-1, -1),) * 4
ONE_EACH = tuple((0, queue, 12, 1) for queue in range(4))


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def owners(*steps: Any) -> tuple[list[int], str]:
    """Who pulls each queue in the end."""
    answer, kind = seen(*steps)
    return [owner for owner, _ in answer[0]], kind


def test_one_that_is_suspended_pulls_nothing_and_has_what_waits_when_it_is_resumed() -> None:
    assert seen(JOIN, SUSPEND) == ((NO_PULLS, (), (12,) * 4, False), "suspended")
    assert seen(JOIN, SUSPEND, (MODEL.look,)) == ((NO_PULLS, (), (12,) * 4, False), "nothing waits")
    assert seen(JOIN, SUSPEND, SEND) == ((NO_PULLS, (), (12,) * 4, False), "messages wait")
    assert seen(JOIN, SUSPEND, SEND, RESUME) == (
        (((0, 13),) * 4, ONE_EACH, (13,) * 4, None),
        "resumed, and given what waited",
    )
    assert seen(JOIN, SUSPEND, RESUME) == ((((0, 12),) * 4, (), (12,) * 4, None), "resumed")


def test_it_keeps_its_queues_and_others_go_on() -> None:
    places = ((-1, -1), (-1, -1), (1, 13), (1, 13))
    given = ((1, 2, 12, 1), (1, 3, 12, 1))
    assert seen(*BOTH, SUSPEND, SEND) == ((places, given, (12, 12, 13, 13), False), "messages are given")


def test_the_queues_of_one_that_goes_wait_until_it_is_resumed() -> None:
    for gone in (MODEL.leave, MODEL.crash):
        kind = "the queues of a member that is gone wait"
        assert owners(*BOTH, SUSPEND, (gone, 1)) == ([-1] * 4, kind)
        assert owners(*BOTH, SUSPEND, (gone, 1), SEND) == ([-1] * 4, kind)
        answer, kind = seen(*BOTH, SUSPEND, (gone, 1), SEND, RESUME)
        assert (answer, kind) == ((((0, 13),) * 4, ONE_EACH, (13,) * 4, None), "resumed, and takes them")


def test_what_arrives_in_a_queue_in_which_nothing_was_found_is_not_skipped() -> None:
    nothing_stored = (MODEL.prepare, 4, "expired", NOTHING, LAST)
    answer, kind = seen(nothing_stored, *BOTH, SUSPEND, (MODEL.crash, 1), SEND, RESUME)
    assert (answer, kind) == ((((0, 13),) * 4, ONE_EACH, (13,) * 4, None), "resumed, and takes them")


def test_one_that_is_suspended_may_go_and_others_take_its_queues() -> None:
    for gone in (MODEL.leave, MODEL.crash):
        assert owners(*BOTH, SUSPEND, (gone, 0), SEND) == ([1] * 4, "messages are given")


def test_while_one_is_suspended_no_member_joins_and_of_two_others_none_leaves() -> None:
    assert owners(JOIN, SUSPEND, (MODEL.join, 1), RESUME) == ([0] * 4, "resumed")
    three = (*BOTH, (MODEL.join, 2), SUSPEND)
    assert owners(*three, (MODEL.crash, 1)) == ([-1, -1, 1, 2], "nothing waits")
    left, kind = seen(*three, (MODEL.leave, 2))
    assert ([owner for owner, _ in left[0]], left[3:], kind) == ([-1, -1, 1, 2], (*NOT_ENDED, False), "nothing waits")


def test_one_at_a_time_is_suspended_and_only_one_that_runs() -> None:
    assert owners(SUSPEND) == ([-1] * 4, "without its owner")
    assert owners(*BOTH, SUSPEND, (MODEL.pause, 1, True)) == ([-1, -1, 1, 1], "nothing waits")
    assert owners(JOIN, RESUME)[0] == [0] * 4
    assert owners(JOIN, SUSPEND, SUSPEND, RESUME) == ([0] * 4, "resumed")
