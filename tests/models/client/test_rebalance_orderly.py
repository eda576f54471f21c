"""Orderly members: which locks they take, rely on and give back, and what their listeners may consume, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import Steps
from every import every

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING, Member
from rocketmq_conformance.models.client.process_queue import ProcessQueue
from rocketmq_conformance.models.client.rebalance_orderly import (
    LOCK_EXPIRY,
    STRANGER,
    RebalanceOrderlyModel,
    initial_state,
    lock_holders,
    relies_on_lock,
    relying_members,
)
from rocketmq_conformance.models.client.rebalance_orderly_round import rebalance_orderly_reason
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Releases that do something differently, and the newest before each.
RELEASES = ("4.0.0", "4.8.0", "4.9.4", "4.9.8", "5.0.0-PREVIEW", "5.1.4", "5.3.1", "5.5.0")
SECOND = 1_000


class Play(Steps):
    """A group that is stepped through; queue 0 is of the topic that member 1 owns when all are listed."""

    def __init__(self, client: str = "5.5.0") -> None:
        super().__init__(RebalanceOrderlyModel(Profile.of(client=client), ORDINARY), initial_state(ORDINARY))

    def do(self, name: str, *args: Any) -> Any:
        return super().do(name, *args) if hasattr(self.model, name) else self.of_group(name, *args)

    def round(self, member: int, fault: str = "answer", lock: str = "answer") -> Any:
        return self.do("rebalance", member, "answer", fault, "answer", lock)

    def alone(self, member: int) -> Any:
        """Only one member is listed, and rebalances."""
        self.do("list_members", (member,))
        return self.round(member)

    def pull(self, member: int, queue: int, fault: str = "answer", bound: str = "answer") -> Any:
        return self.do("pull", member, queue, fault, bound)

    def consume(self, member: int, queue: int, offset: int, lock: str = "answer") -> Any:
        return self.do("consume", member, queue, offset, lock)

    def take(self, member: int, queue: int, offset: int, lock: str = "answer") -> Any:
        return self.do("take", member, queue, offset, lock)

    def finish(self, member: int, queue: int, lock: str = "answer") -> Any:
        return self.do("finish", member, queue, lock)

    def renew(self, member: int, lock: str = "answer") -> Any:
        return self.do("renew", member, lock)

    def tick(self, seconds: int) -> None:
        self.do("tick", seconds * SECOND)

    def who(self, member: int) -> Member:
        who = self.state.group.members[member]
        assert who is not None
        return who

    def owned(self, member: int, queue: int) -> ProcessQueue:
        return self.who(member).table[queue]

    def holder(self, queue: int) -> str | None:
        return lock_holders(ORDINARY, self.state).get(queue)

    def lost(self, member: int, to: int) -> Any:
        """Another member is listed alone, and the first one rebalances."""
        self.do("list_members", (to,))
        return self.round(member)


def sent(commits: tuple[tuple[int, int], ...], queue: int = 0) -> list[int]:
    """The commits of one queue: those of other queues show the offsets that their start read into memory."""
    return [offset for of, offset in commits if of == queue]


# --- locking -----------------------------------------------------------------------------------------------------


@every("client", RELEASES)
def test_a_member_locks_the_queues_it_adds(client: str) -> None:
    play = Play(client)
    owned, begun, *_ = play.alone(0)
    assert owned == tuple(sorted(lock_holders(ORDINARY, play.state))) == (0, 1, 2, 3, 5, 6, 7, 8)
    assert [queue for queue, _ in begun] == list(owned)
    assert set(lock_holders(ORDINARY, play.state).values()) == {ORDINARY.clients[0]}
    assert play.kind == "locked"


@pytest.mark.parametrize(("client", "soon", "balanced"), [("4.9.8", False, None), ("5.0.0-PREVIEW", True, False)])
def test_a_refused_lock_leaves_the_queue_for_another_round(client: str, soon: bool, balanced: bool | None) -> None:
    play = Play(client)
    play.alone(0)
    play.do("list_members", (1,))
    assert play.round(1) == ((), (), None if balanced is None else False, soon, ())
    assert play.kind == "refused"
    assert play.holder(0) == ORDINARY.clients[0]


@pytest.mark.parametrize("fault", ["SYSTEM_ERROR", "silent", "cut"])
def test_a_lock_request_without_response_counts_as_refused(fault: str) -> None:
    play = Play()
    play.do("list_members", (0,))
    assert play.round(0, lock=fault)[0] == ()
    assert lock_holders(ORDINARY, play.state) == {}
    assert play.kind == "refused"


def test_a_lock_is_kept_when_the_queue_has_no_start() -> None:
    play = Play()
    play.do("list_members", (0,))
    owned, *_ = play.round(0, fault="SYSTEM_BUSY")
    assert owned == ()
    assert play.holder(0) == ORDINARY.clients[0]


@pytest.mark.parametrize(("client", "born"), [("4.9.4", False), ("4.9.5", True), ("5.0.0-PREVIEW", True)])
def test_a_new_queue_counts_as_locked_since_4_9_5(client: str, born: bool) -> None:
    play = Play(client)
    play.alone(0)
    assert play.owned(0, 0).locked is born
    assert (play.pull(0, 0) is not None) is born
    assert play.renew(0) == (0, 1, 2, 3, 5, 6, 7, 8)
    assert play.pull(0, 0) is not None


@pytest.mark.parametrize(("client", "locks"), [("4.9.8", True), ("5.3.1", True), ("5.3.2", False), ("5.5.0", False)])
def test_broadcasting_members_locked_their_queues_up_to_5_3_1(client: str, locks: bool) -> None:
    play = Play(client)
    for member in (0, 1):
        play.do("join", member, False, BROADCASTING, LAST, "AVG")
    assert play.round(0)[0] == (0, 1, 2, 5, 6, 7, 8)
    assert bool(lock_holders(ORDINARY, play.state)) is locks
    assert bool(play.round(1)[0]) is not locks
    assert ("REB-BC-LOCK" in play.rules) is locks
    assert play.renew(0) == (0, 1, 2, 5, 6, 7, 8)
    assert play.kind == "broadcasting"
    play.do("route", "T", 1)
    play.do("refresh", 0)
    assert play.round(0)[0] == (0, 2, 8)
    assert (play.holder(1) is not None) is locks
    play.do("leave", 0, "answer")
    assert play.kind == "broadcasting"
    assert (play.holder(0) is not None) is locks


def test_broadcasting_members_consume_without_a_lock() -> None:
    play = Play("4.9.4")
    play.do("join", 0, False, BROADCASTING, LAST, "AVG")
    play.round(0)
    play.tick(60)
    assert play.pull(0, 0) is None
    assert play.consume(0, 0, 4) == ((4,), 5)


# --- relying on it -----------------------------------------------------------------------------------------------


def test_a_lock_is_relied_on_for_30_s() -> None:
    queue = ProcessQueue(1, 0, 0)
    assert relies_on_lock(queue, LOCK_EXPIRY)
    assert not relies_on_lock(queue, LOCK_EXPIRY + 1)
    assert not relies_on_lock(queue._replace(locked=False), 0)


def test_the_timer_confirms_granted_locks_and_loses_the_rest() -> None:
    play = Play()
    play.alone(0)
    play.tick(20)
    assert play.renew(0) == (0, 1, 2, 3, 5, 6, 7, 8)
    assert play.kind == "all granted"
    assert play.owned(0, 0).confirmed == 20 * SECOND
    play.do("lock_elsewhere", 0, True)
    assert play.kind == "a stranger locks"
    play.tick(20)
    assert play.renew(0) == (1, 2, 3, 5, 6, 7, 8)
    assert play.kind == "some lost"
    assert play.owned(0, 0).confirmed == 20 * SECOND
    assert play.pull(0, 0) is None
    assert play.kind == "not locked"


def test_a_renewal_that_fails_changes_nothing() -> None:
    play = Play()
    play.alone(0)
    play.tick(20)
    before = play.state
    assert play.renew(0, "silent") == (0, 1, 2, 3, 5, 6, 7, 8)
    assert (play.kind, play.state) == ("failed", before)
    assert Play().renew(0) == ()


def test_a_listener_asks_for_a_lock_that_is_too_old() -> None:
    play = Play()
    play.alone(0)
    play.tick(40)
    assert play.consume(0, 0, 4, "SYSTEM_ERROR") == ((), 0)
    assert play.kind == "lock refused"
    assert play.consume(0, 0, 5) == ((4, 5), 6)
    assert play.kind == "locked again"
    assert play.owned(0, 0).confirmed == 40 * SECOND
    assert play.consume(0, 0, 0) == ((0,), 1)
    assert play.kind == "consumed"


def test_a_listener_stops_when_another_client_has_the_lock() -> None:
    play = Play()
    play.alone(0)
    play.do("lock_elsewhere", 0, False)
    assert play.kind == "a stranger is refused"
    play.do("forget_locks")
    play.do("lock_elsewhere", 0, False)
    assert play.holder(0) == STRANGER
    assert play.consume(0, 0, 4) == ((4,), 5)  # for up to 30 s nobody knows
    play.renew(0)
    assert play.consume(0, 0, 5) == ((), 5)
    play.tick(70)
    assert play.consume(0, 0, 11) == ((5, 11), 12)


# --- giving it back ----------------------------------------------------------------------------------------------


@every("client", RELEASES)
def test_a_lost_queue_is_sent_and_unlocked(client: str) -> None:
    play = Play(client)
    play.alone(0)
    play.renew(0)
    play.consume(0, 0, 4)
    assert sent(play.lost(0, 1)[4]) == [5] * (2 if client in ("5.3.1", "5.5.0") else 1)
    assert lock_holders(ORDINARY, play.state) == {}
    assert 0 not in play.who(0).memory
    assert play.kind == "unlocked"
    assert play.round(1)[0] == (0, 1, 2, 3, 5, 6, 7, 8)


def test_an_unlocking_that_is_lost_leaves_the_lock_to_expire() -> None:
    play = Play()
    play.alone(0)
    play.do("list_members", (1,))
    play.round(0, lock="silent")
    assert play.round(1)[0] == ()
    play.tick(60)
    assert play.round(1)[0] == ()
    play.tick(1)
    assert play.round(1)[0] == (0, 1, 2, 3, 5, 6, 7, 8)


@pytest.mark.parametrize("client", ["4.9.8", "5.1.4"])
def test_waiting_messages_put_the_unlocking_off(client: str) -> None:
    play = Play(client)
    play.alone(0)
    assert play.do("receive", 0, 0, 4) is True
    assert play.lost(0, 1)[0] == ()
    assert play.kind == "unlocked later"
    assert lock_holders(ORDINARY, play.state) == {0: ORDINARY.clients[0]}
    assert play.round(1)[0] == (1, 2, 3, 5, 6, 7, 8)
    play.tick(19)
    assert play.kind == "time passes"
    assert play.holder(0) == ORDINARY.clients[0]
    play.tick(1)
    assert play.kind == "unlocked at last"
    assert play.holder(0) is None


def test_an_unlocking_that_was_put_off_gives_a_new_lock_away() -> None:
    play = Play("5.1.4")
    play.alone(0)
    play.do("receive", 0, 0, 4)
    play.lost(0, 1)
    assert 0 in play.alone(0)[0]
    play.tick(20)
    assert play.holder(0) is None
    play.do("list_members", (1,))
    play.round(1)
    assert relying_members(play.state)[0] == (0, 1)


def test_waiting_messages_do_not_count_from_5_2_0() -> None:
    play = Play("5.2.0")
    play.alone(0)
    play.do("receive", 0, 0, 4)
    play.lost(0, 1)
    assert lock_holders(ORDINARY, play.state) == {}


@pytest.mark.parametrize("client", ["4.9.8", "5.1.4"])
def test_a_busy_listener_kept_the_queue_and_not_its_offset(client: str) -> None:
    play = Play(client)
    play.alone(0)
    play.consume(0, 0, 4)
    assert play.take(0, 0, 5) == 5
    assert play.lost(0, 1)[0] == (0,)
    assert play.kind == "kept for its listener"
    assert play.owned(0, 0).dropped
    assert 0 not in play.who(0).memory
    play.tick(60)
    assert play.round(0)[0] == (0,)
    assert play.finish(0, 0) == ((), -1)
    assert play.kind == "dropped"
    assert play.round(0)[0] == ()
    assert play.holder(0) is None


def test_a_busy_listener_keeps_the_queue_and_its_offset_for_20_s() -> None:
    play = Play("5.5.0")
    play.alone(0)
    play.consume(0, 0, 4)
    play.take(0, 0, 5)
    owned, begun, balanced, soon, commits = play.lost(0, 1)
    assert (owned, begun, balanced, soon, sent(commits)) == ((0,), (), True, False, [5])
    assert dict(play.who(0).memory)[0] == 5
    assert sent(play.do("persist", 0)) == [5]
    play.tick(20)
    assert play.round(0)[0] == (0,)
    play.tick(1)
    assert play.round(0) == ((), (), True, False, ((0, 5), (0, 5)))
    assert play.kind == "unlocked by force"
    assert 0 in play.round(1)[0]
    assert play.finish(0, 0) == ((), -1)


def test_a_kept_queue_that_comes_back_is_dead_until_its_pull_expires() -> None:
    play = Play("5.5.0")
    play.alone(0)
    play.take(0, 0, 5)
    play.lost(0, 1)
    owned, begun, balanced, *_ = play.alone(0)
    assert (0 in owned, balanced) == (True, False)
    assert 0 not in [queue for queue, _ in begun]
    assert play.pull(0, 0) is None
    assert play.take(0, 0, 4) is None
    assert play.kind == "a listener is busy"
    play.finish(0, 0)
    assert play.consume(0, 0, 4) == ((), 0)
    assert play.kind == "dropped"
    play.tick(121)
    assert 0 in [queue for queue, _ in play.round(0)[1]]


@pytest.mark.parametrize(("client", "renewed"), [("4.9.8", True), ("5.0.0-PREVIEW", False)])
def test_dropped_queues_were_renewed_before_5_0(client: str, renewed: bool) -> None:
    play = Play(client)
    play.alone(0)
    play.take(0, 0, 5)
    play.lost(0, 1)
    play.tick(50)
    play.renew(0)
    assert play.kind == ("all granted" if renewed else "nothing to lock")
    play.tick(50)
    play.do("lock_elsewhere", 0, False)
    assert play.holder(0) == (ORDINARY.clients[0] if renewed else STRANGER)
    if renewed:
        play.do("leave", 0, "answer")
        assert play.holder(0) is None


@pytest.mark.parametrize(("fault", "left"), [("answer", 0), ("silent", 8), ("SYSTEM_ERROR", 8)])
def test_a_shutdown_unlocks_and_sends(fault: str, left: int) -> None:
    play = Play()
    play.alone(0)
    play.consume(0, 0, 4)
    assert sent(play.do("leave", 0, fault)) == [5]
    assert play.kind == ("unlocks" if fault == "answer" else "unlocking fails")
    assert len(lock_holders(ORDINARY, play.state)) == left
    play.do("leave", 0, fault)
    assert play.kind == "no member"
    play.do("leave", 1, fault)
    assert play.kind == "nothing to unlock"


def test_a_member_that_begins_anew_unlocks_nothing_and_forgets_delayed_unlocks() -> None:
    play = Play("5.1.4")
    play.alone(0)
    play.do("receive", 0, 0, 4)
    play.lost(0, 1)
    play.do("join", 0, False, CLUSTERING, LAST, "AVG")
    play.tick(30)
    assert play.holder(0) == ORDINARY.clients[0]


def test_queues_of_a_topic_that_is_given_up_stay_locked() -> None:
    play = Play()
    play.alone(0)
    play.do("unsubscribe", 0, "T")
    assert play.round(0)[0] == (2, 3, 8)
    assert play.holder(0) == ORDINARY.clients[0]


# --- pulling and consuming ---------------------------------------------------------------------------------------


def test_the_first_pull_uses_the_offset_stored_at_that_time() -> None:
    play = Play()
    assert (0, 0) in play.alone(0)[1]
    play.do("commit_elsewhere", 0, 6)
    assert play.pull(0, 0) == (6, 6, True)
    assert play.kind == "start asked again"
    play.do("commit_elsewhere", 0, 12)
    assert play.pull(0, 0) == (6, 6, True)
    assert play.kind == "pulled, commits"


@pytest.mark.parametrize(
    ("client", "asked"), [("4.8.0", -1), ("4.9.0", -1), ("5.0.0-PREVIEW", -1), ("5.0.0-ALPHA", None), ("5.5.0", None)]
)
def test_a_first_pull_without_a_start(client: str, asked: int | None) -> None:
    play = Play(client)
    play.alone(0)
    play.renew(0)
    assert play.pull(0, 0, "silent") == (None if asked is None else (asked, 0, False))
    assert play.kind == ("no start" if asked is None else "from -1")
    assert play.pull(0, 0)[0] == (0 if asked is None else -1)


@pytest.mark.parametrize(("client", "asked"), [("4.8.0", -1), ("4.9.0", None), ("5.5.0", None)])
def test_a_first_pull_whose_bound_fails(client: str, asked: int | None) -> None:
    play = Play(client)
    play.alone(0)
    play.renew(0)
    assert play.pull(0, 5, "QUERY_NOT_FOUND", "SYSTEM_BUSY") == (None if asked is None else (asked, -1, False))


def test_an_unsubscribed_topic_is_not_pulled() -> None:
    play = Play()
    play.alone(0)
    play.do("unsubscribe", 0, "T")
    assert play.pull(0, 0) is None
    assert play.owned(0, 0).corrected


def test_results_may_lower_the_offset() -> None:
    play = Play()
    play.alone(0)
    assert play.consume(0, 0, 11) == ((11,), 12)
    assert play.consume(0, 0, 4) == ((4,), 5)


def test_messages_are_consumed_in_order_by_one_listener_at_a_time() -> None:
    play = Play()
    play.alone(0)
    play.do("receive", 0, 0, 11)
    assert play.take(0, 0, 4) == 4
    assert play.consume(0, 0, 0) == ((), 0)
    assert play.kind == "a listener is busy"
    assert play.take(0, 0, 0) is None
    assert play.finish(0, 0) == ((0, 11), 12)
    assert play.kind == "goes on"
    play.take(0, 0, 4)
    assert play.finish(0, 0) == ((), 5)
    assert play.kind == "done"
    assert play.finish(0, 0) == ((), 5)
    assert play.kind == "nothing taken"


def test_a_listener_that_goes_on_needs_the_lock_again() -> None:
    play = Play()
    play.alone(0)
    play.take(0, 0, 4)
    play.do("receive", 0, 0, 5)
    play.tick(40)
    assert play.finish(0, 0, "silent") == ((), 5)
    assert play.kind == "lock refused"
    assert play.consume(0, 0, 11) == ((5, 11), 12)


def test_a_slow_listener_needs_the_lock() -> None:
    play = Play()
    play.alone(0)
    play.tick(40)
    assert play.take(0, 0, 4, "silent") is None
    assert play.take(0, 0, 5) == 4


def test_what_is_not_owned_is_not_consumed() -> None:
    play = Play()
    assert play.do("receive", 0, 0, 4) is False
    assert play.consume(0, 0, 4) == ((), -1)
    assert play.kind == "not owned"
    assert play.take(0, 0, 4) is None
    assert play.pull(0, 0) is None


def test_a_missing_member_does_nothing() -> None:
    play = Play()
    play.do("leave", 0, "answer")
    assert [play.round(0), play.renew(0), play.pull(0, 0), play.do("receive", 0, 0, 4)] == [None] * 4
    assert [play.consume(0, 0, 4), play.take(0, 0, 4), play.finish(0, 0)] == [None] * 3
    assert play.kind == "no member"


# --- reasons -----------------------------------------------------------------------------------------------------


def test_a_round_that_changes_nothing_keeps_the_state() -> None:
    play = Play()
    play.alone(0)
    before = play.state
    play.round(0)
    assert play.state is before
    assert play.kind == "nothing to do"


def test_reasons_name_rules_that_exist() -> None:
    for met in range(1 << 7):
        why = rebalance_orderly_reason(met, 0, CLUSTERING, True, met % 2 == 0)
        assert set(why.rules) <= set(rulebook.RULES)
