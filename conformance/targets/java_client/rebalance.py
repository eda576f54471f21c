"""Plays the suite ``rebalance``: three real push consumers, stepped operation by operation."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.group import Consumer, JavaGroup
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.rebalance import (
    Consume,
    Finish,
    Join,
    JoinLaterStrategy,
    Leave,
    Persist,
    Pull,
    Rebalance,
    Refresh,
    Restart,
    Subscribe,
    Take,
    Tick,
    Unsubscribe,
    Update,
)


class JavaRebalance(JavaGroup[Consumer]):
    """A group of push consumers with concurrent listeners."""

    member_class = Consumer

    def take(self, member: int, queue: int) -> Result:
        """A slow listener takes messages."""
        who = self.members[member]
        return None if who is None else who.take(queue)

    def finish(self, member: int, queue: int, offset: int) -> Result:
        """The slow listener finishes."""
        who = self.members[member]
        return None if who is None else who.finish(queue, offset)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Rebalance: self.run_round,
            Join: self.start_member,
            JoinLaterStrategy: self.start_member,
            Restart: self.restart,
            Leave: self.leave,
            Persist: self.persist,
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Refresh: self.refresh,
            Pull: self.pull_queue,
            Consume: self.consume,
            Take: self.take,
            Finish: self.finish,
            Update: self.update,
            Tick: self.tick,
        }


PART = JavaRebalance
