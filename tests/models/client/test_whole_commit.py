"""Groups of whole lite pull consumers that commit on demand alone, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_commit import WholeCommitModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeCommitModel(Profile(), ORDINARY)
ALONE = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0)
BOTH = *ALONE, (MODEL.join, 1)
COMMIT, SEND = (MODEL.commit, 0), (MODEL.send, EVERY)


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def stored(*steps: Any) -> tuple[tuple[int, ...], str]:
    """The stored offsets in the end."""
    answer, kind = seen(*steps)
    return answer[2], kind


def test_what_was_polled_is_stored_once_that_is_asked_for() -> None:
    assert stored(*ALONE) == ((7, 7), "polled, and not stored")
    assert stored(*ALONE, (MODEL.look,)) == ((7, 7), "nothing is new")
    assert stored(*ALONE, COMMIT) == ((12, 12), "committed")
    assert stored(*ALONE, COMMIT, COMMIT) == ((12, 12), "nothing new to commit")
    assert stored(*ALONE, COMMIT, SEND) == ((12, 12), "polled, and not stored")
    assert stored(*ALONE, COMMIT, SEND, COMMIT) == ((13, 13), "committed")


def test_nothing_is_stored_of_a_queue_of_which_nothing_was_polled() -> None:
    empty = (MODEL.prepare, 2, "expired", NOTHING, LAST), (MODEL.join, 0)
    assert stored(*empty, COMMIT) == ((-1, -1), "nothing new to commit")
    assert stored(*empty, (MODEL.send, 0), COMMIT) == ((13, -1), "committed")


def test_each_member_commits_its_own_queues() -> None:
    assert stored(*BOTH, COMMIT) == ((12, 7), "committed")
    assert stored(*BOTH, COMMIT, (MODEL.commit, 1)) == ((12, 12), "committed")
    assert stored(*BOTH, (MODEL.commit, 2)) == ((7, 7), "nothing is new")


def test_what_was_not_committed_is_given_to_whoever_has_the_queue_next() -> None:
    again = ((1, 1, 7, 5),)
    assert seen(*BOTH) == (
        (((0, 12), (1, 12)), again, (7, 7), (-1, -1), again),
        "queues change hands, and messages are polled",
    )
    for end in (MODEL.leave, MODEL.crash):
        assert seen(*BOTH, (end, 0))[0][1] == ((1, 0, 7, 5),)
        assert seen(*BOTH, COMMIT, (end, 0))[0][1] == ()


def test_it_is_lost_where_nothing_is_stored_and_consumers_begin_at_max() -> None:
    steps = (MODEL.prepare, 2, "expired", NOTHING, LAST), (MODEL.join, 0), SEND, (MODEL.join, 1)
    assert seen(*steps)[0][:3] == (((0, 13), (1, 13)), (), (-1, -1))


def test_who_seeks_commits_from_there() -> None:
    assert stored(*ALONE, COMMIT, (MODEL.seek, 0, 0, 9)) == ((12, 12), "sought, and messages are polled")
    assert stored(*ALONE, (MODEL.seek, 0, 1, 12), COMMIT) == ((12, 12), "committed")
    assert stored(*ALONE, COMMIT, (MODEL.seek, 0, 0, 12)) == ((12, 12), "sought")
    assert stored(*ALONE, (MODEL.seek, 0, 0, 99)) == ((7, 7), "sought")


def test_who_is_sent_elsewhere_stores_nothing() -> None:
    beyond = MODEL.prepare, 1, "young", 99, LAST
    assert stored(beyond, (MODEL.join, 0)) == ((99,), "sent elsewhere")
    assert stored(beyond, (MODEL.join, 0), COMMIT) == ((99,), "nothing new to commit")


def test_nothing_happens_without_members() -> None:
    assert seen((MODEL.look,)) == (
        (((-1, -1),) * 4, (), (-1,) * 4, (-1,) * 4, ()),
        "no member is there",
    )
    assert seen((MODEL.prepare, 1, "empty", NOTHING, FIRST), (MODEL.commit, 0))[1] == "no member is there"
