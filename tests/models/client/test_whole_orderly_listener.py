"""Groups of whole orderly consumers whose listeners fail or hold, as they are seen from outside, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, NOTHING, SUCCEEDS
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_orderly_listener import (
    WholeOrderlyListenerModel,
    is_between,
    may_move,
)
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

NEW = WholeOrderlyListenerModel(Profile(), ORDINARY)
OLD = WholeOrderlyListenerModel(Profile.of(client="5.1.4"), ORDINARY)
NOBODY = (-1, -1)


class Play:
    """A case of two queues, whose messages up to 12 are consumed."""

    def __init__(self, model: WholeOrderlyListenerModel, queues: int = 2) -> None:
        self.model = model
        self.state: WholePushState = model.prepare(model.initial(), queues, "young", 12, LAST)[0]
        self.kind = ""
        self.rules: tuple[str, ...] = ()

    def do(self, name: str, *arguments: Any) -> Any:
        """The answer to an operation."""
        self.state, seen, why = getattr(self.model, name)(self.state, *arguments)
        self.kind, self.rules = why.kind, why.rules
        assert len(set(why.rules)) == len(why.rules)
        return seen

    def all(self, *steps: tuple[Any, ...]) -> Play:
        """The case after these operations."""
        for name, *arguments in steps:
            self.do(name, *arguments)
        return self


def given(seen: Any) -> tuple[Any, Any]:
    """What listeners were given, and once more."""
    return seen[4], seen[5]


def held(model: WholeOrderlyListenerModel, queues: int = 2) -> Play:
    """A member holds the first of two messages in each queue."""
    return Play(model, queues).all(("join", 0), ("listen", 0, HOLDS), ("send", EVERY), ("send", EVERY))


def test_a_pull_that_finds_nothing_commits_nothing_of_what_is_held() -> None:
    play = held(NEW, 1)
    assert "PULL-NON-1" not in play.rules
    assert play.do("look")[:3] == (((0, 14),), (), (12,))
    assert "PULL-NON-1" in play.rules
    assert play.do("listen", 0, SUCCEEDS)[2] == (14,)


def test_a_listener_that_succeeds_is_given_everything_in_order() -> None:
    play = Play(NEW, 1).all(("join", 0))
    run = (0, 0, 12, 1)
    assert play.do("send", 0) == (((0, 13),), (run,), (13,), (0,), (run,), ())
    assert (play.kind, play.rules[0]) == ("the same queues", "CONS-ORDER-1")


def test_what_fails_is_given_again_and_holds_up_what_follows() -> None:
    play = Play(NEW, 1).all(("join", 0), ("listen", 0, FAILS))
    first = (0, 0, 12, 1)
    assert play.do("send", 0) == (((0, 13),), (first,), (12,), (0,), (first,), (first,))
    assert play.rules[0] == "CONS-2-SUSPEND"
    assert play.do("send", 0) == (((0, 14),), ((0, 0, 13, 1),), (12,), (0,), (), (first,))
    seen = play.do("listen", 0, SUCCEEDS)
    assert (seen[2], given(seen)) == ((14,), (((0, 0, 13, 1),), (first,)))
    assert "CONS-2-SUSPEND" in play.rules


def test_what_failed_is_given_once_more_to_be_held() -> None:
    play = Play(NEW, 1).all(("join", 0), ("listen", 0, FAILS), ("send", 0))
    first = (0, 0, 12, 1)
    assert given(play.do("listen", 0, HOLDS)) == ((), (first,))
    assert given(play.do("look")) == ((), ())
    assert given(play.do("listen", 0, FAILS)) == ((), (first,))


def test_a_listener_that_holds_has_one_message_of_each_queue() -> None:
    play = held(NEW)
    seen = play.do("send", EVERY)
    assert (seen[0], seen[2], given(seen)) == (((0, 15), (0, 15)), (12, 12), ((), ()))
    assert play.rules[0] == "CONS-2"
    seen = play.do("listen", 0, SUCCEEDS)
    assert (seen[2], given(seen)) == ((15, 15), (((0, 0, 13, 2), (0, 1, 13, 2)), ()))
    assert play.kind == "a listener returns"
    alone = Play(NEW, 1).all(("join", 0), ("listen", 0, HOLDS), ("send", 0))
    assert alone.do("listen", 0, SUCCEEDS)[2] == (13,)


def test_who_is_not_there_does_not_listen() -> None:
    assert given(Play(NEW).do("listen", 0, FAILS)) == ((), ())


def test_from_5_2_0_a_held_queue_is_unlocked_by_force() -> None:
    play = held(NEW)
    seen = play.do("join", 1)
    assert (seen[0], seen[3], given(seen)) == (((0, 14), (1, 14)), (0, 1), (((1, 1, 12, 2),), ()))
    assert (play.kind, may_move(play.state)) == ("held, and lost", True)
    seen = play.do("listen", 0, FAILS)
    assert (seen[2], given(seen)) == ((12, 14), ((), ((0, 0, 12, 1),)))
    assert play.kind == "waits for a listener, or is late"


def test_up_to_5_1_4_a_held_queue_stays_locked_until_the_listener_returns() -> None:
    play = held(OLD)
    seen = play.do("join", 1)
    assert (seen[0], seen[3], given(seen)) == (((0, 14), NOBODY), (0, 0), ((), ()))
    assert (play.kind, is_between(play.state)) == ("held, and lost", True)
    for step in (("join", 2), ("leave", 1), ("crash", 1), ("take_locks",), ("expire_locks",)):
        seen = play.do(*step)
        assert (seen[0], seen[-3], tuple(play.state.group.members)) == (
            ((0, 14), NOBODY),
            (0, 0),
            ("member-0", "member-1"),
        )
    seen = play.do("send", EVERY)
    assert (seen[0], seen[1]) == (((0, 15), NOBODY), ((0, 0, 14, 1),))
    seen = play.do("listen", 0, SUCCEEDS)
    assert (seen[0], seen[2], seen[3]) == (((0, 15), (1, 15)), (15, 15), (0, 1))
    assert given(seen) == (((0, 0, 13, 2), (1, 1, 12, 3)), ())
    assert not is_between(play.state)


def test_what_fails_goes_with_its_queue_in_every_release() -> None:
    for model in (NEW, OLD):
        play = Play(model).all(("join", 0), ("listen", 0, FAILS), ("send", EVERY))
        seen = play.do("join", 1)
        assert (seen[2], given(seen)) == ((12, 13), (((1, 1, 12, 1),), ((0, 0, 12, 1),)))


def test_a_queue_that_comes_back_waits_for_the_listener_that_still_holds_its_message() -> None:
    play = held(NEW).all(("join", 1), ("leave", 1))
    seen = play.do("send", EVERY)
    assert (seen[0], seen[2], given(seen)) == (((0, 15), (0, 15)), (12, 14), ((), ()))
    assert (play.kind, play.rules[0]) == ("waits for a listener, or is late", "CONS-2")
    seen = play.do("listen", 0, SUCCEEDS)
    assert (seen[2], given(seen)) == ((15, 15), (((0, 0, 13, 2), (0, 1, 14, 1)), ()))


def test_a_held_queue_without_its_lock_goes_on_when_it_is_granted_again() -> None:
    play = held(NEW, 1)
    seen = play.do("take_locks")
    assert (seen[0], seen[3], given(seen)) == ((NOBODY,), (-2,), ((), ()))
    assert may_move(play.state) is False
    assert play.do("listen", 0, SUCCEEDS)[2:5] == ((13,), (-2,), ())
    assert play.kind == "locks are lost, or granted again"
    seen = play.do("expire_locks")
    assert (seen[2], given(seen)) == ((14,), (((0, 0, 13, 1),), ()))


def test_a_failing_queue_without_its_lock_is_left_alone() -> None:
    play = Play(NEW, 1).all(("join", 0), ("listen", 0, FAILS), ("send", 0))
    assert given(play.do("take_locks")) == ((), ())
    assert given(play.do("listen", 0, HOLDS)) == ((), ())
    assert given(play.do("expire_locks")) == (((0, 0, 12, 1),), ())


def test_who_holds_is_not_shut_down_and_leaves_its_locks_behind_in_a_crash() -> None:
    play = held(NEW)
    assert play.do("leave", 0)[0] == ((0, 14), (0, 14))
    assert play.do("crash", 0)[3] == (0, 0)
    assert given(play.do("join", 1)) == ((), ())
    seen = play.do("expire_locks")
    assert (seen[2], given(seen)) == ((14, 14), (((1, 0, 12, 2), (1, 1, 12, 2)), ()))
    assert play.do("leave", 1)[-3] == (-1, -1)
    assert play.kind == "unlocked at the end"


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([("look",)], "nobody is there"),
        ([("join", 0)], "the same queues"),
        ([("join", 0), ("join", 1)], "queues change hands"),
        ([("prepare", 1, "gone", NOTHING, FIRST), ("join", 0)], "sent elsewhere"),
    ],
)
def test_what_happens_besides(steps: list[tuple[Any, ...]], kind: str) -> None:
    assert Play(NEW).all(*steps).kind == kind


def test_a_minute_confirms_the_locks_of_members_alone() -> None:
    play = Play(NEW)
    assert play.do("expire_locks")[3] == (-1, -1)
    assert play.kind == "nobody is there"
    assert play.all(("join", 0)).do("expire_locks")[3] == (0, 0)
    assert play.rules == ("REB-LOCK-3",)


def test_a_listener_that_holds_leaves_the_offset_where_its_member_was_sent() -> None:
    play = Play(NEW, 2).all(
        ("prepare", 2, "gone", 7, LAST), ("send", EVERY), ("take_locks",), ("join", 1), ("listen", 1, HOLDS)
    )
    stored = play.do("expire_locks")[2]
    assert (stored, play.kind) == ((12, 12), "sent elsewhere")
