"""Plays the suite ``rebalance-orderly``: a group of real orderly consumers, stepped operation by operation."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client.orderly_consumer import (
    OrderlyConsumer,
    OrderlyGroup,
    OrderlyInstance,
)
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.rebalance import (
    Join,
    JoinLaterStrategy,
    Persist,
    Refresh,
    Subscribe,
    Unsubscribe,
    Update,
)
from rocketmq_conformance.suites.rebalance_orderly import (
    Consume,
    Finish,
    Leave,
    Pull,
    Rebalance,
    Receive,
    Renew,
    Take,
    Tick,
)


class JavaRebalanceOrderly(OrderlyGroup):
    """The operations of a group of orderly consumers."""

    member_class = OrderlyConsumer
    instance_class = OrderlyInstance

    def begin(self, case: Case) -> None:
        """Three new members."""
        for member in range(len(self.members)):
            self._vanish(member)
        super().begin(case)

    def close(self) -> None:
        """End slow listeners and their threads: the process would wait for them."""
        for member in range(len(self.members)):
            self._vanish(member)
        self.threads.shutdown()
        super().close()

    def start_member(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """Start a new member."""
        self._vanish(member)
        return super().start_member(member, twin, mode, where, strategy)

    def _vanish(self, member: int) -> None:
        who = self.members[member]
        if who is not None:
            who.vanish()

    # --- operations ---------------------------------------------------------------------------------------

    def tick(self, millis: int) -> Result:
        """Time passes, and tasks that are due by then run."""
        super().tick(millis)
        for who in self.members:
            if who is None:
                continue
            due, who.instance.due = who.instance.due, []
            for when, task in due:
                if when <= self.now:
                    task.run()
                else:
                    who.instance.due.append((when, task))
        return None

    def rebalance(self, member: int) -> Result:
        """A member rebalances."""
        return self._step(member, lambda who: who.rebalance(self.now))

    def renew(self, member: int) -> Result:
        """The lock timer runs."""
        return self._step(member, OrderlyConsumer.renew)

    def pull(self, member: int, queue: int) -> Result:
        """A member's pull loop comes to a queue."""
        return self._step(member, lambda who: who.pull(queue, self.now))

    def receive(self, member: int, queue: int, offset: int) -> Result:
        """A message arrives."""
        return self._step(member, lambda who: who.receive(queue, offset))

    def consume(self, member: int, queue: int, offset: int) -> Result:
        """A message arrives, and a fast listener runs."""
        return self._step(member, lambda who: who.consume_all(queue, offset))

    def take(self, member: int, queue: int, offset: int) -> Result:
        """A message arrives, and a slow listener starts."""
        return self._step(member, lambda who: who.take_first(queue, offset))

    def finish(self, member: int, queue: int) -> Result:
        """The slow listener finishes."""
        return self._step(member, lambda who: who.finish_first(queue))

    def _step(self, member: int, do: Callable[[OrderlyConsumer], Result]) -> Result:
        """A step of a member, whose locks are as old as the case's clock says."""
        who = self.members[member]
        if who is None:
            return None
        who.keep_ages(self.now)
        return do(who)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Rebalance: self.rebalance,
            Join: self.start_member,
            JoinLaterStrategy: self.start_member,
            Leave: self.leave,
            Renew: self.renew,
            Persist: self.persist,
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Refresh: self.refresh,
            Pull: self.pull,
            Receive: self.receive,
            Consume: self.consume,
            Take: self.take,
            Finish: self.finish,
            Update: self.update,
            Tick: self.tick,
        }


PART = JavaRebalanceOrderly
