"""Plays the suite ``timers``: real consumers, started by their own ``start``, whose timers come when the plan says so.

Everything that a client schedules is recorded (``recorded_timers``), with the times that the release gives it, and run
when it is due. What is sent meanwhile is seen where it would reach the network, and what is written on the disk.
Clients have neither threads nor sockets (``client_table``), and so the last part of a client's start that concerns
timers, ``startScheduledTask``, is called here, in its place: when the client's first consumer starts. The loop of
rebalance rounds does not run: the plan says when a round comes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from itertools import count
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Case, Methods
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.client_table import client_table
from rocketmq_conformance.conformance.targets.java_client.offset_folder import (
    FOLDER_PROPERTY,
    offset_folder,
    offsets_in,
)
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.recorded_timers import TimedRelease
from rocketmq_conformance.conformance.targets.java_client.recording_executor import no_threads
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.conformance.targets.offset_file_damage import FILE_NAME
from rocketmq_conformance.models.client.timers import (
    BEAT,
    COMMIT,
    FILE,
    LEAVE,
    LITE,
    LOCK,
    ORDERLY,
    PULL,
    PUSH,
    ROUTE,
    UNLOCK,
)
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import timers as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_GROUP, TOPIC

Event = tuple[str, tuple[Value, ...]]

#: The class of each kind of consumer.
_CLASSES = {
    PUSH: "DefaultMQPushConsumer",
    ORDERLY: "DefaultMQPushConsumer",
    PULL: "DefaultMQPullConsumer",
    LITE: "DefaultLitePullConsumer",
}
_LISTENERS = {PUSH: "MessageListenerConcurrently", ORDERLY: "MessageListenerOrderly"}
_FOLDERS = count()
#: The member of the groups that owns queue 0 of topic T.
_ADDRESS, _INSTANCE = ORDINARY.clients[1].split("@")


class _Watched(RemotingCalls):
    """A RemotingClient that notes what is sent by whom, in order."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.events: list[Event] = []

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Note a request that was answered."""
        answer = super().respond(address, code, ext, body, one_way)
        self._note(code, ext, body, one_way)
        return answer

    def _note(self, code: int, fields: dict[str, str], body: bytes, one_way: bool) -> None:
        if code == Request.GET_ROUTEINFO_BY_TOPIC:
            self._note_route(fields["topic"])
        elif code == Request.HEART_BEAT:
            beat = java_json.loads(body.decode())
            groups = sorted(str(consumer["groupName"]) for consumer in beat["consumerDataSet"])
            self.events.append((BEAT, tuple(groups)))
        elif code == Request.UPDATE_CONSUMER_OFFSET:
            if fields["topic"] == TOPIC and fields["queueId"] == "0":
                of = fields["consumerGroup"], int(fields["commitOffset"]), one_way
                self.events.append((COMMIT, of))
        elif code == Request.LOCK_BATCH_MQ:
            self.events.append((LOCK, (str(java_json.loads(body.decode())["consumerGroup"]),)))
        elif code == Request.UNLOCK_BATCH_MQ:
            self.events.append((UNLOCK, (str(java_json.loads(body.decode())["consumerGroup"]), one_way)))
        elif code == Request.UNREGISTER_CLIENT:
            self.events.append((LEAVE, (fields["consumerGroup"],)))

    def _note_route(self, topic: str) -> None:
        """Requests for routes that follow each other are one event."""
        if self.events and self.events[-1][0] == ROUTE:
            _, topics = self.events.pop()
            self.events.append((ROUTE, tuple(sorted((*map(str, topics), topic)))))
        else:
            self.events.append((ROUTE, (topic,)))


class JavaTimers(Part):
    """The consumers of a case."""

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        jvm.start()
        system = jpype.JClass("java.lang.System")
        before = system.getProperty(FOLDER_PROPERTY)
        self._root = jvm.folder() / f"timers-{next(_FOLDERS)}"
        system.setProperty(FOLDER_PROPERTY, str(self._root))
        try:
            self._release = TimedRelease(release.version)
            offset_folder(self._release)
        finally:
            system.setProperty(FOLDER_PROPERTY, str(before))
        self._timers = self._release.timers
        self._table = client_table(self._release)
        self._remoting = _Watched(self._release)
        self._table.remoting = self._remoting  # type: ignore[assignment]  # it notes more than heartbeats
        self._factory = self._release.load("client.impl.factory.MQClientInstance").class_
        self._queue = self._release.load("common.message.MessageQueue")(*ORDINARY.queues[0])
        self._consumers: list[Any] = [None, None]
        self._kinds = ["", ""]

    def begin(self, case: Case) -> None:
        """Begin a case: no consumers, no files, and the standard intervals."""
        # what consumers of the last case send at their end reaches no broker of this one
        self._remoting.exchange = _nobody
        self.close()
        shutil.rmtree(self._root, ignore_errors=True)
        self._remoting.exchange = case.exchange
        self._timers.forget()
        self._intervals: tuple[int, int, int] | None = None
        self._remoting.events.clear()

    def close(self) -> None:
        """End the consumers, whose threads would stay."""
        for consumer in range(2):
            self.shutdown(consumer)

    # --- what is seen -------------------------------------------------------------------------------------

    def _seen(self, do: Callable[[], Any]) -> tuple[Event, ...]:
        """Do something: what was sent and written meanwhile."""
        self._remoting.events.clear()
        do()
        events, self._remoting.events = self._remoting.events, []
        for file in self._written():
            at = [at for at, event in enumerate(events) if event[0] in (LEAVE,)]
            events.insert(at[0] if at else len(events), file)
        return tuple(events)

    def _written(self) -> list[Event]:
        """The files that were written since the last look."""
        written: list[Event] = []
        for file in sorted(self._root.rglob(FILE_NAME)):
            if file.stat().st_mtime:
                os.utime(file, (0, 0))
                written.append((FILE, (file.parent.name, offsets_in(file).get((TOPIC, 0), -1))))
        return written

    # --- operations ---------------------------------------------------------------------------------------

    def configure(self, persist: int, heartbeat: int, route: int) -> Result:
        """The intervals of the next consumers."""
        self._intervals = persist, heartbeat, route
        return None

    def start(self, consumer: int, kind: str, mode: str) -> Result:
        """``start``."""
        if self._consumers[consumer] is not None:
            return ()
        made = self._consumers[consumer] = self._made((GROUP, OTHER_GROUP)[consumer], kind, mode)
        self._kinds[consumer] = kind
        return self._seen(lambda: self._started(made))

    def start_lite(self, consumer: int, mode: str) -> Result:
        """``start`` of a lite pull consumer."""
        return self.start(consumer, LITE, mode)

    def _made(self, group: str, kind: str, mode: str) -> Any:
        """A consumer that is configured, with no setting but those of the plan."""
        release = self._release
        made = release.load(f"client.consumer.{_CLASSES[kind]}")(group)
        made.setNamesrvAddr("127.0.0.1:1")
        made.setMessageModel(getattr(release.load("remoting.protocol.heartbeat.MessageModel"), mode))
        made.setClientIP(_ADDRESS)
        made.setInstanceName(_INSTANCE)
        if hasattr(made, "setEnableStreamRequestType"):
            made.setEnableStreamRequestType(False)  # it would be a part of the client's id
        if self._intervals:
            persist, heartbeat, route = self._intervals
            made.setPersistConsumerOffsetInterval(persist)
            made.setHeartbeatBrokerInterval(heartbeat)
            # the name that releases before 4.9.0 spell otherwise
            named = "setPollNameServerInterval"
            (getattr(made, named) if hasattr(made, named) else made.setPollNameServerInteval)(route)
        if kind == PULL:
            topics = jpype.JClass("java.util.HashSet")()
            topics.add(TOPIC)
            made.setRegisterTopics(topics)
        else:
            made.subscribe(TOPIC, "*")
        if kind in _LISTENERS:
            listener = release.load(f"client.consumer.listener.{_LISTENERS[kind]}")
            made.registerMessageListener(jpype.JProxy(listener, dict={"consumeMessage": _never}))
        return made

    def _started(self, consumer: Any) -> None:
        known = list(self._table.clients())
        self._table.start(consumer)
        if not known:
            (client,) = self._table.clients()
            begins = self._factory.getDeclaredMethod("startScheduledTask")
            begins.setAccessible(True)
            begins.invoke(client)

    def rebalance(self) -> Result:
        """``doRebalance`` of every consumer that knows a route."""
        for consumer, kind in zip(self._consumers, self._kinds, strict=True):
            if consumer is None:
                continue
            inside = self._inside(consumer, kind)
            if not self._release.get(inside, "rebalanceImpl").getTopicSubscribeInfoTable().containsKey(TOPIC):
                continue
            if kind == LITE:
                # its pull tasks run when no plan of this suite says so
                self._release.get(inside, "scheduledThreadPoolExecutor").setThreadFactory(no_threads())
            inside.doRebalance()
        self._remoting.events.clear()
        return None

    def _inside(self, consumer: Any, kind: str) -> Any:
        name = _CLASSES[kind]
        return self._release.get(consumer, name[0].lower() + name[1:] + "Impl")

    def update(self, consumer: int, offset: int) -> Result:
        """``updateOffset`` of its store."""
        held = self._consumers[consumer]
        if held is None:
            return False
        inside = self._inside(held, self._kinds[consumer])
        if not self._release.get(inside, "rebalanceImpl").getProcessQueueTable().containsKey(self._queue):
            return False
        self._release.get(inside, "offsetStore").updateOffset(self._queue, offset, False)
        return True

    def elapse(self, elapses: int) -> Result:
        """The timers come."""
        began = self._timers.now
        until = began + elapses
        found: list[tuple[Any, ...]] = []
        while True:
            came: list[bool] = []
            events = self._seen(lambda came=came: came.append(self._timers.run_next(until)))  # type: ignore[misc]
            found.extend((self._timers.now - began, *event) for event in events)
            if not came[0]:
                break
        self._timers.now = until
        return tuple(sorted(found))

    def shutdown(self, consumer: int) -> Result:
        """``shutdown``."""
        ending, self._consumers[consumer] = self._consumers[consumer], None
        return () if ending is None else self._seen(ending.shutdown)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            operations.Configure: self.configure,
            operations.Start: self.start,
            operations.StartLite: self.start_lite,
            operations.Rebalance: self.rebalance,
            operations.Update: self.update,
            operations.Elapse: self.elapse,
            operations.Shutdown: self.shutdown,
        }


def _never(messages: Any, context: Any) -> Any:
    raise AssertionError("no messages are pulled")


def _nobody(*request: Any) -> Any:
    raise ConnectionError("the consumer is gone")


PART = JavaTimers
