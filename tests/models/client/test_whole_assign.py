"""A whole lite pull consumer that assigns queues, pauses and seeks, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_assign import WholeAssignModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeAssignModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
SEND, LOOK = (MODEL.send, EVERY), (MODEL.look,)
#: It has two of three queues, of which the first four messages have expired, and has consumed everything.
STORED = MODEL.prepare, 3, "expired", 7, LAST
BOTH = STORED, (MODEL.start, 0, (0, 1))
PAUSED = *BOTH, (MODEL.pause, 0, (0,))


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer without its locks and what was polled, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    assert result[-1] == result[1]
    return result[:3], why.kind


def test_it_pulls_what_it_assigned_and_nothing_else() -> None:
    polled = ((0, 0, 7, 5), (0, 1, 7, 5))
    assert seen(*BOTH) == ((((0, 12), (0, 12), NOBODY), polled, (12, 12, 7)), "assigned, and messages are polled")
    assert seen(*BOTH, SEND)[0] == (((0, 13), (0, 13), NOBODY), ((0, 0, 12, 1), (0, 1, 12, 1)), (13, 13, 7))
    assert seen(*BOTH, SEND)[1] == "messages are polled"
    assert seen(*BOTH, LOOK)[1] == "not assigned"
    assert seen(*BOTH, (MODEL.start, 0, (2,))) == seen(*BOTH, LOOK)
    assert seen(STORED, (MODEL.start, 0, (0, 1, 2)), LOOK)[1] == "nothing is new"


def test_an_assignment_forgets_what_it_does_not_name_and_begins_it_again_at_what_is_stored() -> None:
    other = *BOTH, (MODEL.assign, 0, (1, 2))
    assert seen(*other) == (
        ((NOBODY, (0, 12), (0, 12)), ((0, 2, 7, 5),), (12, 12, 12)),
        "assigned, and messages are polled",
    )
    again = *other, SEND, (MODEL.assign, 0, (0, 1))
    assert seen(*again)[0] == (((0, 13), (0, 13), NOBODY), ((0, 0, 12, 1),), (13, 13, 13))
    # where nothing is stored, what arrived meanwhile is skipped
    nothing = (MODEL.prepare, 2, "expired", NOTHING, LAST), (MODEL.start, 0, (0,)), (MODEL.assign, 0, (1,)), SEND
    assert seen(*nothing, (MODEL.assign, 0, (0, 1)))[0] == (((0, 13), (0, 13)), (), (-1, 13))


def test_a_paused_queue_keeps_its_place_and_others_go_on() -> None:
    assert seen(*PAUSED) == (((NOBODY, (0, 12), NOBODY), (), (12, 12, 7)), "paused or resumed")
    assert seen(*PAUSED, SEND)[0] == ((NOBODY, (0, 13), NOBODY), ((0, 1, 12, 1),), (12, 13, 7))
    assert seen(*PAUSED, SEND, LOOK)[1] == "messages wait"
    resumed = *PAUSED, SEND, (MODEL.resume, 0, (0, 1))
    assert seen(*resumed) == (
        (((0, 13), (0, 13), NOBODY), ((0, 0, 12, 1),), (13, 13, 7)),
        "paused or resumed, and messages are polled",
    )
    assert seen(*BOTH, (MODEL.pause, 0, (2,)), SEND) == seen(*BOTH, SEND)


def test_a_seek_waits_for_the_end_of_a_pause() -> None:
    sought = *PAUSED, (MODEL.seek, 0, 0, 9), (MODEL.seek, 0, 0, 10)
    assert seen(*sought) == (((NOBODY, (0, 12), NOBODY), (), (12, 12, 7)), "a seek waits, or waited")
    assert seen(*sought, (MODEL.resume, 0, (1,)))[1] == "paused or resumed"
    assert seen(*sought, (MODEL.resume, 0, (0,)))[0][1] == ((0, 0, 10, 2),)
    # an end is stored from then on, and not before
    end = *PAUSED, SEND, (MODEL.seek_to_end, 0, 0)
    assert seen(*end)[0][2] == (12, 13, 7)
    assert seen(*end, SEND, (MODEL.resume, 0, (0,)))[0] == (((0, 14), (0, 14), NOBODY), ((0, 0, 13, 1),), (14, 14, 7))
    # an assignment forgets the pause and the seek
    anew = *sought, (MODEL.assign, 0, (1,)), (MODEL.assign, 0, (0, 1))
    assert seen(*anew)[0] == (((0, 12), (0, 12), NOBODY), (), (12, 12, 7))


def test_the_begin_is_min_and_the_end_is_max() -> None:
    begin = *BOTH, (MODEL.seek_to_begin, 0, 0)
    assert seen(*begin)[0][1:] == (((0, 0, 4, 8),), (12, 12, 7))
    assert seen(*begin)[1] == "sought a bound, and messages are polled"
    assert seen(*BOTH, (MODEL.seek_to_end, 0, 2)) == (
        (((0, 12), (0, 12), NOBODY), (), (12, 12, 7)),
        "sought a bound",
    )
    assert seen(*BOTH, (MODEL.seek, 0, 0, 99))[1] == "sought"


def test_nothing_happens_without_it() -> None:
    for does in (MODEL.assign, MODEL.pause, MODEL.resume):
        assert seen(STORED, (does, 0, (0,)))[1] == "nobody is there"
    for end in (MODEL.leave, MODEL.crash):
        assert seen(*BOTH, (end, 0), (MODEL.seek_to_begin, 0, 0))[0] == ((NOBODY,) * 3, (), (12, 12, 7))
