"""The real rebalance of consumers that leave it to the broker who gets which queue, stepped by hand.

The consumers are those of the suite ``rebalance`` but for their setting ``clientRebalance``. Requests to pop come out
of the same queue of the pull service as requests to pull; a pop is cut where it would reach the network. When a queue
was popped last can be set as when it was pulled last can.

A client of 4.x has no such setting, and pops nothing: it rebalances itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.rebalance import SLACK, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.outcome import Result

Popped = tuple[str, int]


class AssignedConsumer(Consumer):
    """A push consumer whose client does not rebalance."""

    #: Requests to pop by queue, the latest of each, and when it was popped last, in ms of the case's clock; None when
    #: it was never popped and the class says so.
    pops: dict[Popped, Any]
    popped: dict[Popped, int | None]

    def prepare(self, consumer: Any) -> None:
        """Leave the assignment to the broker."""
        assert isinstance(self.group, JavaAssignedGroup)
        if self.group.pops:
            consumer.setClientRebalance(False)
        self.pops, self.popped = {}, {}

    def rebalance(self, now: int) -> Result:
        """One round: (pulled, popped, pulls that begin, pops that begin, balanced)."""
        self.set_pull_ages(now)
        assert isinstance(self.group, JavaAssignedGroup)
        table = self.rebalancing.getPopProcessQueueTable() if self.group.pops else self.group.nothing
        machine = self.group.millis()
        for entry in table.entrySet() if self.group.release.pace is None else ():
            popped_at = self.popped[name(entry.getKey())]
            if popped_at is not None:
                entry.getValue().setLastPopTimestamp(machine - (now - popped_at) + SLACK)
        balanced = self.rebalancing.doRebalance(self.orderly)
        pulls, pops = [], []
        for request in self.instance.dispatched():
            if hasattr(request, "getPopProcessQueue"):
                named = name(request.getMessageQueue())
                born = int(request.getPopProcessQueue().getLastPopTimestamp())  # 0 before 5.2.0: as if in 1970
                self.pops[named], self.popped[named] = request, now if born else None
                pops.append((*named, int(request.getInitMode())))
            else:
                queue = self.group.position(request.getMessageQueue())
                self.begun(queue, request, now)
                pulls.append((queue, int(request.getNextOffset())))
        even = None if balanced is None else bool(balanced)
        pulled = sorted(self.group.position(queue) for queue in self.table.keySet())
        popped = sorted(name(queue) for queue in table.keySet())
        return tuple(pulled), tuple(popped), tuple(sorted(pulls)), tuple(sorted(pops)), even

    def pop(self, topic: str, queue: int, now: int) -> Result:
        """One turn of the loop of pops: does it ask?"""
        request = self.pops.get((topic, queue))
        if request is None:
            return False
        if not request.getPopProcessQueue().isDropped():
            self.popped[topic, queue] = now
        asked = self.instance.remoting.pulls
        asked.clear()
        assert isinstance(self.group, JavaAssignedGroup)
        self.group.pop_message.invoke(self.inside, request)
        self.instance.timers.tasks.clear()
        return [(sent["topic"], int(sent["queueId"])) for sent in asked] == [(topic, queue)]


class JavaAssignedGroup(JavaGroup):
    """The members of a group whose broker assigns queues."""

    consumer = AssignedConsumer

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        #: Does the release pop at all?
        self.pops = release.has("client.impl.consumer.PopRequest")
        self.nothing = jpype.JClass("java.util.HashMap")()
        if self.pops:
            inside = release.load("client.impl.consumer.DefaultMQPushConsumerImpl").class_
            request = release.load("client.impl.consumer.PopRequest").class_
            self.pop_message = inside.getDeclaredMethod("popMessage", request)
            self.pop_message.setAccessible(True)

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name; a member that is not there does nothing."""

        def pop(member: int, topic: str, queue: int) -> Result:
            who = self.members[member]
            return who.pop(topic, queue, self.now) if isinstance(who, AssignedConsumer) else None

        return super().calls() | {"pop": pop}


def name(queue: Any) -> Popped:
    """Topic and id of a Java queue."""
    return str(queue.getTopic()), int(queue.getQueueId())
