"""The port's whole orderly consumers whose listeners can be told to fail or to hold what they are given."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.given_in_order import GivenInOrder
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyQueue, RebalanceOrderly, orderly
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_orderly import WholeOrderly
from rocketmq_conformance.conformance.targets.port.whole_push import NOT_ENDED, Line, with_end
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_orderly
from rocketmq_conformance.suites import whole_orderly_listener as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Ms from one turn of a member to the next: a little more than a queue is kept for a listener.
_ROUND = 21_000


class WholeOrderlyListener(WholeOrderly):
    """The members that run; each has one listener at a time in each queue."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: What each member's listener does.
        self.listeners = [SUCCEEDS for _ in ORDINARY.members]
        self.in_order_given = GivenInOrder()

    def begin_case(self, case: Case) -> None:
        """Begin a case: nobody runs."""
        self.in_order_given = GivenInOrder()
        super().begin_case(case)

    def start(self, member: int) -> None:
        """Start a member, whose listener succeeds."""
        self.listeners[member] = SUCCEEDS
        super().start(member)

    # --- turns ----------------------------------------------------------------------------------------------

    def turns(self) -> None:
        """Time passes, and every member takes a turn."""
        self.now += _ROUND
        super().turns()

    def turn(self, consumer: Consumer, line: Line) -> None:
        """What an orderly consumer does, and the runs that were put off."""
        super().turn(consumer, line)
        for queue in list(consumer.table):
            self.consume_available(consumer, queue)
        self.persist(consumer)

    def is_forgotten(self, owned: OwnedQueue) -> bool:
        """Never: brokers answer pulls after a while, and they are asked again."""
        return False

    # --- messages -------------------------------------------------------------------------------------------

    def consume_available(self, consumer: Consumer, queue: int) -> Result:
        """A run: the listener is given one message after the other, as long as it succeeds."""
        owned = self.queue_to_consume(consumer, queue)
        while owned is not None and owned.messages:
            offset = owned.messages.pop(0)
            how = self.listened(consumer, queue, offset)
            if how == HOLDS:
                self.hold(consumer, queue, owned, offset)
                break
            if how == FAILS:
                self.put_back(owned, offset)
                break
            self.consumed(consumer, queue, offset)
        return None

    def listened(self, consumer: Consumer, queue: int, offset: int) -> str:
        """The listener is given a message: what it does with it."""
        member = ORDINARY.members.index(consumer.client)
        self.in_order_given.add(member, ORDINARY.queues[queue].id, offset)
        return self.listeners[member]

    def hold(self, consumer: Consumer, queue: int, owned: OrderlyQueue, offset: int) -> None:
        """The listener does not return: no other run of the queue begins."""
        owned.taking = offset
        consumer.taken[queue] = owned

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """A pull found nothing: what the listener holds, or failed, is not consumed yet."""
        if not orderly(owned).messages and consumer.taken.get(queue) is not owned:
            super().found_nothing(consumer, queue, owned, following)

    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        """What failed is given again a second later, before what follows it."""
        owned.messages.insert(0, offset)

    def consumed(self, consumer: Consumer, queue: int, offset: int) -> None:
        """The message at an offset is consumed: update the offset in memory."""
        RebalanceOrderly.consumed(self, consumer, queue, offset)

    def returned(self, consumer: Consumer, queue: int, owned: OrderlyQueue, how: str) -> None:
        """A listener that held a message returns: what it says of a queue that was lost is discarded."""
        if self.is_late(owned):
            return
        if how == FAILS:
            self.put_back(owned, owned.taking)
        else:
            self.consumed(consumer, queue, owned.taking)

    # --- operations -----------------------------------------------------------------------------------------

    def may_move(self) -> bool:
        """May queues change hands? Not while a listener holds a message of one whose lock is lost."""
        taken = (orderly(owned) for consumer in filter(None, self.members) for owned in consumer.taken.values())
        return all(owned.locked or owned.dropped for owned in taken)

    def join_group(self, member: int) -> Result:
        """A member starts, unless it runs."""
        return super().join_group(member) if self.may_move() else self.look()

    def crash(self, member: int) -> Result:
        """A member ends without a word, if it runs."""
        return super().crash(member) if self.may_move() else self.look()

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs and its listener does not hold."""
        if (self.members[member] is not None and self.listeners[member] == HOLDS) or not self.may_move():
            return with_end(self.look(), NOT_ENDED)
        return super().leave_group(member)

    def listen(self, member: int, listener: str) -> Result:
        """A member's listener does this from now on, and ends so what it holds."""
        consumer, self._line = self.members[member], self._lines[member] or self._line
        if consumer is not None:
            self.listeners[member] = listener
            if listener != HOLDS:
                while consumer.taken:
                    queue, owned = consumer.taken.popitem()
                    self.returned(consumer, queue, orderly(owned), listener)
        return self.look()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, the holders of locks, and what listeners were given, also once more."""
        everyone = {name: at for at, name in enumerate(ORDINARY.members)}
        seen = self.world.observed(running, self.world.take_brought())
        shown = (*seen, self.world.locks(everyone), *self.in_order_given.shown(seen[0], True))
        self.in_order_given.begin_step()
        return shown

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Prepare: methods[group.Prepare],
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Crash: methods[group.Crash],
            operations.Send: methods[group.Send],
            operations.Look: methods[group.Look],
            operations.Listen: self.listen,
            operations.TakeLocks: methods[whole_orderly.TakeLocks],
            operations.ExpireLocks: methods[whole_orderly.ExpireLocks],
        }


PART = WholeOrderlyListener
