"""Plays the suite ``rebalance-broker``: three real push consumers whose queues the broker assigns.

The consumers are those of the suite ``rebalance`` but for their setting ``clientRebalance``. Pop requests come out
of the same queue of the pull service as pull requests; a pop is recorded instead of sent. The time of a queue's last
pop can be set, like that of its last pull.

A client of 4.x has no such setting, and never pops: it rebalances itself.
"""

from __future__ import annotations

from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.aging import SLACK, Aging
from rocketmq_conformance.conformance.targets.java_client.group import Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.queue_names import POSITIONS, names
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.rows import set_each
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.rebalance import Leave, Persist, Refresh
from rocketmq_conformance.suites.rebalance_broker import (
    Consume,
    Join,
    Pop,
    Pull,
    Rebalance,
    Subscribe,
    Tick,
    Unsubscribe,
    Update,
)

Popped = tuple[str, int]


class AssignedConsumer(Consumer):
    """A push consumer whose client does not rebalance."""

    #: The latest pop request of each queue, and the time of its last pop, in ms of the case's clock; None when
    #: it was never popped and the class says so.
    pops: dict[Popped, Any]
    popped: dict[Popped, int | None]
    group: JavaRebalanceBroker

    def prepare(self, consumer: Any) -> None:
        """Leave the assignment to the broker."""
        if self.group.pops:
            consumer.setClientRebalance(False)
        self.pops, self.popped = {}, {}
        self._pop_aging = Aging(self.group.release)

    def rebalance(self, now: int) -> Result:
        """One round: (pulled, popped, pulls that begin, pops that begin, balanced)."""
        table = self.rebalancing.getPopProcessQueueTable() if self.group.pops else self.group.nothing
        if self._pop_aging.are_due(now):
            case_began = int(self.group.millis()) - now + SLACK
            popped_at = [self.popped[topic, number] for topic, _, number in names(table.keySet())]
            times = [None if popped is None else case_began + popped for popped in popped_at]
            set_each(table.values(), "setLastPopTimestamp", times)
            self._pop_aging.are_set(now)
        pulled, balanced = self.run_round(now)
        pulls, pops = [], []
        for one in self.instance.dispatched():
            if one.popped is None:
                queue = POSITIONS[one.queue]
                self.dispatch(queue, one.request, now)
                pulls.append((queue, one.start))
            else:
                topic, _, number = one.queue
                self.pops[topic, number] = one.request
                self.popped[topic, number] = now if one.popped else None  # 0 before 5.2.0: as if in 1970
                pops.append((topic, number, one.start))
        popped = sorted((topic, number) for topic, _, number in names(table.keySet()))
        return pulled, tuple(popped), tuple(sorted(pulls)), tuple(sorted(pops)), balanced

    def pop(self, topic: str, queue: int, now: int) -> Result:
        """One turn of the pop loop: does it send a request?"""
        request = self.pops.get((topic, queue))
        if request is None:
            return False
        if not request.getPopProcessQueue().isDropped():
            self.popped[topic, queue] = now
        asked = self.instance.remoting.pulls
        asked.clear()
        self.group.pop_message.invoke(self.inside, request)
        self.instance.timers.forget()
        return [(sent["topic"], int(sent["queueId"])) for sent in asked] == [(topic, queue)]


class JavaRebalanceBroker(JavaGroup[AssignedConsumer]):
    """The members of a group whose broker assigns queues."""

    member_class = AssignedConsumer

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        #: Does the release pop at all?
        self.pops = release.has("client.impl.consumer.PopRequest")
        self.nothing = jpype.JClass("java.util.HashMap")()
        if self.pops:
            inside = release.load("client.impl.consumer.DefaultMQPushConsumerImpl").class_
            request = release.load("client.impl.consumer.PopRequest").class_
            self.pop_message = inside.getDeclaredMethod("popMessage", request)
            self.pop_message.setAccessible(True)

    def pop(self, member: int, topic: str, queue: int) -> Result:
        """A member's pop loop comes to a queue."""
        who = self.members[member]
        return None if who is None else who.pop(topic, queue, self.now)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Rebalance: self.run_round,
            Join: self.start_member,
            Leave: self.leave,
            Persist: self.persist,
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Refresh: self.refresh,
            Pull: self.pull_queue,
            Pop: self.pop,
            Consume: self.consume,
            Update: self.update,
            Tick: self.tick,
        }


PART = JavaRebalanceBroker
