"""Plays the suite ``rebalance-pull``: three real lite pull consumers, stepped operation by operation.

The consumers are never started. Their pull tasks are the release's own (``PullTaskImpl``), and so is the executor that
they are handed to, but it gets no threads: each task runs when the plan says so, and its own rescheduling is
dropped, as the plan decides when it runs next. Pulls are answered where they would reach the network, with messages
written by the release's own codec. ``poll`` is only called when it need not wait for a message.

The only time compared with the clock of the machine is that of a process queue's last pull. No rule of a lite pull
consumer depends on it, so all of them are made as old as the case is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import itemgetter
from typing import ClassVar

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Methods
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.queue_names import POSITIONS, positions
from rocketmq_conformance.conformance.targets.java_client.recording_executor import no_threads
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL, JavaRelease
from rocketmq_conformance.conformance.targets.java_client.rows import rows
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.rebalance import Tick
from rocketmq_conformance.suites.rebalance_pull import (
    Commit,
    Join,
    Leave,
    Persist,
    Poll,
    Pull,
    Rebalance,
    Refresh,
    Restart,
    Subscribe,
    Unsubscribe,
    Update,
)

#: Codes of the two requests that pull: the second is that of lite pull consumers.
_PULLS = (11, 361)
#: Timeout of a poll that need not wait (ms).
_PATIENCE = 60_000


class LitePullNetwork(RemotingCalls, ABC):
    """A RemotingClient whose pulls are answered by a subclass, with the release's own messages."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.release = release
        #: The offset of the last pull.
        self.asked: int | None = None
        self._encoded: dict[tuple[str, int, int, str, int], bytes] = {}

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Answer pulls."""
        if code not in _PULLS:
            return super().respond(address, code, ext, body, one_way)
        return self.answer_pull(ext)

    @abstractmethod
    def answer_pull(self, ext: dict[str, str]) -> Answered:
        """Answer a pull."""

    def message(self, topic: str, number: int, offset: int, tag: str = "", size: int = 1) -> bytes:
        """The bytes of the message at an offset, with a tag and a body of so many bytes."""
        key = topic, number, offset, tag, size
        if key not in self._encoded:
            message = self.release.load("common.message.MessageExt")()
            message.setTopic(topic)
            message.setQueueId(number)
            message.setQueueOffset(offset)
            message.setBody(b"x" * size)
            if tag:
                message.setTags(tag)
            host = jpype.JClass("java.net.InetSocketAddress")("127.0.0.1", 1)
            message.setBornHost(host)
            message.setStoreHost(host)
            self._encoded[key] = bytes(self.release.load("common.message.MessageDecoder").encode(message, False))
        return self._encoded[key]


class _Remoting(LitePullNetwork):
    """A RemotingClient whose pulls find a message each, or none."""

    #: Are there messages?
    found = False

    def answer_pull(self, ext: dict[str, str]) -> Answered:
        """Answer a pull, with a message if there are any."""
        offset = self.asked = int(ext["queueOffset"])
        following = offset + self.found
        header = {"nextBeginOffset": following, "minOffset": 0, "maxOffset": following, "suggestWhichBrokerId": 0}
        fields = {name: str(value) for name, value in header.items()}
        if not self.found:
            return int(Response.PULL_NOT_FOUND), "", fields, b""
        return int(Response.SUCCESS), "", fields, self.message(ext["topic"], int(ext["queueId"]), offset)


class LitePullInstance(ClientInstance):
    """A client instance whose pulls are answered."""

    network = _Remoting
    remoting: _Remoting


class LitePullConsumer(Consumer):
    """A lite pull consumer."""

    consumer_class = "client.consumer.DefaultLitePullConsumer"
    implementation = "defaultLitePullConsumerImpl"
    topics: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(("CLUSTERING", "BROADCASTING"), (TOPIC, OTHER_TOPIC))
    instance: LitePullInstance

    def __init__(
        self, group: JavaRebalancePull, instance: ClientInstance, mode: str, where: str, strategy: str, now: int
    ) -> None:
        super().__init__(group, instance, mode, where, strategy, now)
        self.executor = group.executor
        group.release.put(self.inside, "scheduledThreadPoolExecutor", self.executor)
        self.inside.getDefaultLitePullConsumer().setAutoCommit(False)
        self._tasks = group.release.get(self.inside, "taskTable")
        self._requests = group.release.get(self.inside, "consumeRequestCache")

    def rebalance(self, now: int) -> Result:
        """One round: (owned, queues with a pull task, balanced)."""
        owned, balanced = self.run_round(now)
        return owned, tuple(sorted(positions(self._tasks.keySet()))), balanced

    def ages(self, now: int) -> list[int]:
        """All queues are as old as the case."""
        return [now] * len(ORDINARY.queues)

    def pull_all(self, found: bool) -> Result:
        """Run every pull task once."""
        remoting = self.instance.remoting
        remoting.found = found
        asked = []
        tasks = zip(positions(self._tasks.keySet()), self._tasks.values().toArray(), strict=True)
        for queue, task in sorted(tasks, key=itemgetter(0)):
            remoting.asked = None
            task.run()
            asked.append((queue, -1 if remoting.asked is None else remoting.asked))
        self.executor.getQueue().clear()
        return tuple(asked)

    def poll(self, messages: int) -> Result:
        """Poll so many times, as long as there are messages."""
        polled: list[tuple[int, int]] = []
        while len(polled) < messages:
            waiting = rows(self._requests, "getProcessQueue.isDropped")
            if not waiting:
                break
            messages_found = self.inside.poll(_PATIENCE if ("false",) in waiting else 0)
            for topic, queue, offset in rows(messages_found, "getTopic", "getQueueId", "getQueueOffset"):
                polled.append((POSITIONS[topic, BROKER, int(queue)], int(offset)))
        return tuple(polled)

    def commit(self) -> Result:
        """Commit the polled messages."""
        if hasattr(self.inside, "commitSync"):
            self.inside.commitSync()
        else:
            self.inside.commitAll()
        return None

    def leave(self) -> None:
        """A shutdown, as far as queues and offsets are concerned."""
        self.inside.persistConsumerOffset()
        self.instance.factory.unregisterConsumer(GROUP)


class JavaRebalancePull(JavaGroup[LitePullConsumer]):
    """A group of lite pull consumers."""

    since = LITE_PULL
    lacking = "lite pull consumer"
    member_class = LitePullConsumer
    instance_class = LitePullInstance

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        factory = no_threads()
        self.executor = jpype.JClass("java.util.concurrent.ScheduledThreadPoolExecutor")(1, factory)

    def pull(self, member: int, found: bool) -> Result:
        """Every pull task of a member runs once."""
        who = self.members[member]
        return None if who is None else who.pull_all(found)

    def poll(self, member: int, messages: int) -> Result:
        """An application polls."""
        who = self.members[member]
        return None if who is None else who.poll(messages)

    def commit(self, member: int) -> Result:
        """An application commits the messages that it polled."""
        who = self.members[member]
        return None if who is None else who.commit()

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Rebalance: self.run_round,
            Join: self.start_member,
            Restart: self.restart,
            Leave: self.leave,
            Persist: self.persist,
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Refresh: self.refresh,
            Pull: self.pull,
            Poll: self.poll,
            Commit: self.commit,
            Update: self.update,
            Tick: self.tick,
        }


PART = JavaRebalancePull
