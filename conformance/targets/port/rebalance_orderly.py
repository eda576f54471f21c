"""The port's orderly consumers: a queue is consumed by the one member of the group that holds its broker lock."""

from __future__ import annotations

import json
from bisect import insort
from functools import lru_cache

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance import Rebalance
from rocketmq_conformance.conformance.targets.port.start import NoStartError
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_orderly as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY

#: The client's lease of a lock: how long it is relied on after the broker granted it (ms).
LOCK_EXPIRY = 30_000
#: Ms after which a lost queue is unlocked even when its listener is busy.
FORCE = 20_000

_LOCK = int(Request.LOCK_BATCH_MQ)
_UNLOCK = int(Request.UNLOCK_BATCH_MQ)
_SUCCESS = int(Response.SUCCESS)
_POSITIONS = {queue: at for at, queue in enumerate(ORDINARY.queues)}


class OrderlyQueue(OwnedQueue):
    """A queue that a consumer has locked."""

    __slots__ = ("confirmed", "corrected", "locked", "messages", "taking")

    def __init__(self, offset: int, now: int) -> None:
        super().__init__(offset, now)
        self.locked = True
        self.confirmed = now
        #: Was the start offset queried since the lock was granted?
        self.corrected = False
        #: Offsets of the messages that arrived, in order.
        self.messages: list[int] = []
        #: The offset of the message that a slow listener has.
        self.taking = -1


class RebalanceOrderly(Rebalance):
    """The members of a group of orderly consumers."""

    #: Was a lock refused in the current round?
    missed = False

    def rebalance(self, consumer: Consumer) -> Result:
        """One round: (table, pull requests that begin, is it balanced?, is another round wanted?)."""
        self.missed = False
        result = super().rebalance(consumer)
        assert isinstance(result, tuple)
        return (*result, self.wants_round())

    def wants_round(self) -> bool:
        """Is another round wanted, a second later?"""
        return self.missed

    # --- locks ----------------------------------------------------------------------------------------------

    def lock(self, consumer: Consumer, queue: int) -> bool:
        """Lock a queue: is it granted?"""
        granted = self.ask_locks(consumer, (queue,))
        if granted is None or not self.is_granted(queue, granted):
            return False
        owned = consumer.table.get(queue)
        if isinstance(owned, OrderlyQueue):
            self.confirm(owned)
        return True

    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        """Is the queue among those that the broker granted?"""
        return queue in granted

    def confirm(self, owned: OrderlyQueue) -> None:
        """The broker granted the lock."""
        owned.locked = True
        owned.confirmed = self.now

    def ask_locks(self, consumer: Consumer, queues: tuple[int, ...]) -> frozenset[int] | None:
        """The queues that the broker grants; None without a response."""
        try:
            code, _, _, body = self.transport.ask(
                ORDINARY.queues[queues[0]].topic, BROKER, _LOCK, {}, body=lock_text(self.owner(consumer), queues)
            )
        except (NoRouteError, OSError):
            return None
        return positions(body) if code == _SUCCESS else None

    def owner(self, consumer: Consumer) -> str:
        """The client id in lock requests."""
        return consumer.client

    def unlock(self, consumer: Consumer, queues: tuple[int, ...], one_way: bool) -> bool:
        """Unlock queues: did the broker confirm it?"""
        body = lock_text(self.owner(consumer), queues)
        try:
            code, *_ = self.transport.ask(ORDINARY.queues[queues[0]].topic, BROKER, _UNLOCK, {}, one_way, body)
        except (NoRouteError, OSError):
            return False
        return code == _SUCCESS

    def renew_locks(self, consumer: Consumer) -> Result:
        """The lock timer renews all locks: the queues that count as locked then."""
        queues = () if consumer.broadcasts else self.queues_to_renew(consumer)
        if queues:
            granted = self.ask_locks(consumer, queues)
            if granted is not None:
                for queue in queues:
                    self.apply_renewal(orderly(consumer.table[queue]), self.is_granted(queue, granted))
            else:
                self.renewal_failed(consumer)
        return tuple(sorted([queue for queue, owned in consumer.table.items() if orderly(owned).locked]))

    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        """The queues whose locks are renewed."""
        return tuple([queue for queue, owned in consumer.table.items() if not owned.dropped])

    def apply_renewal(self, owned: OrderlyQueue, granted: bool) -> None:
        """Handle the broker's response for one lock."""
        if granted:
            self.confirm(owned)
        else:
            self.mark_lost(owned)

    def mark_lost(self, owned: OrderlyQueue) -> None:
        """The lock was lost to another client."""
        owned.locked = False

    def renewal_failed(self, consumer: Consumer) -> None:
        """The renewal timed out: rely on the locks until their lease ends."""

    def is_locked(self, owned: OrderlyQueue) -> bool:
        """Is the queue locked, and its lease not over?"""
        return owned.locked and not self.has_expired(owned)

    def has_expired(self, owned: OrderlyQueue) -> bool:
        """Is the lease over?"""
        return self.now - owned.confirmed > LOCK_EXPIRY

    # --- gaining and losing queues ------------------------------------------------------------------------

    def gain_all(self, consumer: Consumer, queues: list[int], new_pulls: list[tuple[int, int]]) -> None:
        """Lock the queues of a topic that are missing, by one request, and begin those that the broker grants."""
        if not self.needs_lock(consumer):
            return super().gain_all(consumer, queues, new_pulls)
        granted = self.ask_locks(consumer, tuple(queues))
        for queue in queues:
            if granted is not None and self.is_granted(queue, granted):
                self.gain(consumer, queue, new_pulls)
            else:
                self.missed = True
                self.not_locked(consumer, queue, new_pulls)
        return None

    def needs_lock(self, consumer: Consumer) -> bool:
        """Broadcasting consumers share nothing."""
        return not consumer.broadcasts

    def not_locked(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        """A queue locked by another client is left for a later round."""

    def new_queue(self, offset: int) -> OwnedQueue:
        """A new process queue."""
        return OrderlyQueue(offset, self.now)

    def lose(self, consumer: Consumer, queue: int) -> None:
        """Drop a queue, and unlock it once no listener has it."""
        if consumer.broadcasts:
            return super().lose(consumer, queue)
        owned = orderly(consumer.table[queue])
        self.drop(owned)
        consumer.store.persist(queue)
        if self.is_busy(consumer, queue, owned) and not self.is_forced(owned):
            return self.keep(consumer, queue)
        self.hand_over(consumer, queue)
        del consumer.table[queue]
        return self.give_back(consumer, queue)

    def is_busy(self, consumer: Consumer, queue: int, owned: OrderlyQueue) -> bool:
        """Does a listener work on a message of the process queue?"""
        return consumer.taken.get(queue) is owned

    def is_forced(self, owned: OrderlyQueue) -> bool:
        """Is it time to unlock even while the listener is busy?"""
        return self.now - owned.confirmed > FORCE

    def keep(self, consumer: Consumer, queue: int) -> None:
        """Keep the queue while its listener is busy; a later round tries again."""

    def give_back(self, consumer: Consumer, queue: int) -> None:
        """Unlock a lost queue for its next owner."""
        self.unlock(consumer, (queue,), True)

    def leave(self, member: int) -> Result:
        """A member shuts down: unlock, then send offsets."""
        consumer = self.members[member]
        if consumer is not None and not consumer.broadcasts:
            self.unlock_all(consumer)
        return super().leave(member)

    def unlock_all(self, consumer: Consumer) -> None:
        """Unlock all queues."""
        queues = self.queues_to_renew(consumer)
        if queues:
            self.unlock(consumer, queues, False)

    # --- pulling and consuming ----------------------------------------------------------------------------

    def pull(self, consumer: Consumer, queue: int) -> Result:
        """One turn of the pull loop: (offset that it asks for, offset to commit, is it to be committed?)."""
        request = consumer.requests.get(queue)
        if request is None or request.dropped:
            return None
        owned = orderly(request)
        owned.pulled = self.now
        if not self.may_pull(owned):
            return None
        if not owned.corrected:
            try:
                owned.offset = self.corrected(consumer, queue, owned)
            except NoStartError:
                return self.not_corrected(owned)
            owned.corrected = True
        return self.asked(consumer, queue, owned.offset) if ORDINARY.queues[queue].topic in consumer.topics else None

    def may_pull(self, owned: OrderlyQueue) -> bool:
        """May the queue be pulled? Not without its lock."""
        return owned.locked

    def corrected(self, consumer: Consumer, queue: int, owned: OrderlyQueue) -> int:
        """The start offset once the lock is held, as the previous owner may have committed meanwhile; NoStartError."""
        return self.beginning(consumer, queue)

    def not_corrected(self, owned: OrderlyQueue) -> Result:
        """Without a start the pull is put off."""
        return None

    def receive(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """A message arrives: is there a process queue?"""
        owned = consumer.table.get(queue)
        if owned is None:
            return False
        messages = orderly(owned).messages
        if offset not in messages:
            insort(messages, offset)
        return True

    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        """The process queue that a listener may consume now; an expired lock is requested again."""
        if queue in consumer.taken:
            return None
        owned = consumer.table.get(queue)
        if owned is None or owned.dropped:
            return None
        mine = orderly(owned)
        if consumer.broadcasts or self.is_locked(mine) or self.lock(consumer, queue):
            return mine
        return None

    def consume_all(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """A message arrives, and a listener runs: (offsets consumed, the offset in memory afterwards)."""
        self.receive(consumer, queue, offset)
        return self.consume_available(consumer, queue)

    def consume_available(self, consumer: Consumer, queue: int) -> Result:
        """Consume the available messages, in order."""
        owned = self.queue_to_consume(consumer, queue)
        consumed: tuple[int, ...] = ()
        if owned is not None and owned.messages:
            consumed = tuple(owned.messages)
            owned.messages.clear()
            for offset in consumed:
                self.consumed(consumer, queue, offset)
        return consumed, self.remembered(consumer, queue)

    def consumed(self, consumer: Consumer, queue: int, offset: int) -> None:
        """The message at an offset is consumed: update the offset in memory."""
        consumer.store.update(queue, offset + 1, False)

    def take_first(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """A message arrives, and a slow listener starts: the offset of its message."""
        self.receive(consumer, queue, offset)
        owned = self.queue_to_consume(consumer, queue)
        if owned is None:
            return None
        owned.taking = owned.messages.pop(0)
        consumer.taken[queue] = owned
        return owned.taking

    def finish_first(self, consumer: Consumer, queue: int) -> Result:
        """The slow listener finishes its message, and goes on with the others."""
        taken = consumer.taken.pop(queue, None)
        if taken is None:
            return (), self.remembered(consumer, queue)
        if not self.is_late(taken):
            self.consumed(consumer, queue, orderly(taken).taking)
            return self.consume_available(consumer, queue)
        return (), self.remembered(consumer, queue)

    def is_late(self, taken: OwnedQueue) -> bool:
        """Was the queue lost while the listener was busy?"""
        return taken.dropped

    # --- operations ---------------------------------------------------------------------------------------

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: none(self.rebalance),
            operations.Leave: self.leave,
            operations.Renew: none(self.renew_locks),
            operations.Pull: one(self.pull),
            operations.Receive: two(self.receive),
            operations.Consume: two(self.consume_all),
            operations.Take: two(self.take_first),
            operations.Finish: one(self.finish_first),
            operations.Tick: self.tick,
            group.Join: self.join,
            group.JoinLaterStrategy: self.join,
            group.Persist: none(self.persist),
            group.Subscribe: one(self.subscribe),
            group.Unsubscribe: one(self.unsubscribe),
            group.Refresh: none(self.refresh),
            group.Update: two(self.update),
        }


def orderly(owned: OwnedQueue) -> OrderlyQueue:
    """A process queue as what it is here, an orderly one."""
    assert isinstance(owned, OrderlyQueue)
    return owned


@lru_cache(maxsize=1024)
def lock_text(client: str, queues: tuple[int, ...]) -> bytes:
    """The body of a request to lock or unlock."""
    named = [ORDINARY.queues[queue] for queue in queues]
    return json.dumps(
        {
            "clientId": client,
            "consumerGroup": GROUP,
            "mqSet": [{"brokerName": broker, "queueId": number, "topic": topic} for topic, broker, number in named],
            "onlyThisBroker": False,
        }
    ).encode()


@lru_cache(maxsize=1024)
def positions(body: bytes) -> frozenset[int]:
    """The queues that are granted, by their position in the layout."""
    granted = json.loads(body)["lockOKMQSet"] if body else ()
    return frozenset([_POSITIONS[one["topic"], one["brokerName"], one["queueId"]] for one in granted])  # type: ignore[index]


PART = RebalanceOrderly
