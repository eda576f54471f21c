"""A real orderly push consumer with its own listener service, stepped by operations: for ``rebalance-orderly``.

The listener service is the release's own (``ConsumeMessageOrderlyService``). Its timers are recorded, and the
plan decides when they run. A slow listener is a thread that waits inside of the real consume request, so that it holds
what a real one holds; only the lock that a rebalance would wait a second for is replaced by one that answers at once.

The classes compare times of locks and pulls with the clock of the machine, so both are made as old as the case's clock
says, whenever that has moved (``aging``). A lock whose time has changed since was confirmed meanwhile.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.aging import SLACK, Aging
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.queue_names import positions
from rocketmq_conformance.conformance.targets.java_client.recording_executor import RecordingExecutor
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.rows import rows, set_each
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Delay up to which a scheduled task counts as run at once (ms).
IMMEDIATE = 1_000
#: Delay after which a client requests another round when it was refused a lock (ms).
ANOTHER_ROUND = 500
#: The name of the class of tasks that delay an unlock.
_UNLOCKING = "RebalancePushImpl"
#: Listeners that can be slow at once: of every member, with two queues each, and some to spare.
_THREADS = 3 * len(ORDINARY.clients)
#: How long a slow listener waits for the plan to go on (s).
PATIENCE = 60.0


class ConsumeLock:
    """The lock that a listener holds while it works, and that a rebalance tries to take; taking it never waits.

    ``ConsumeLock.java`` is the same, where Java has a compiler.
    """

    def __init__(self, kind: Any) -> None:
        self.held = 0
        self.lock_proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.locks.Lock"), inst=self)
        both = jpype.JClass("java.util.concurrent.locks.ReadWriteLock")
        self.proxy = jpype.JProxy(both, inst=self) if kind == both.class_ else self.lock_proxy

    def lock(self) -> None:
        """A listener begins."""
        self.held += 1

    def unlock(self) -> None:
        """The listener finishes."""
        self.held -= 1

    def tryLock(self, *time: Any) -> bool:  # noqa: N802
        """A rebalance tries to take it."""
        if self.held:
            return False
        self.held += 1
        return True

    def readLock(self) -> Any:  # noqa: N802
        return self.lock_proxy

    def writeLock(self) -> Any:  # noqa: N802
        return self.lock_proxy


def consume_lock(kind: Any) -> Any:
    """A new one for Java, of the kind that the release has."""
    java = compiled("ConsumeLock")
    return ConsumeLock(kind).proxy if java is None else java()


class OrderlyInstance(ClientInstance):
    """A client instance whose own timers are recorded too."""

    def __init__(self, release: JavaRelease, client: str) -> None:
        super().__init__(release, client)
        self.schedule = RecordingExecutor()
        release.put(self.factory, "scheduledExecutorService", self.schedule.proxy)
        #: (when, task) of the case's clock.
        self.due: list[tuple[int, Any]] = []

    def forget(self) -> None:
        """Reset to the state of a new instance."""
        super().forget()
        self.schedule.take()
        self.due.clear()


class _Turn:
    """A slow listener's work on a queue."""

    def __init__(self) -> None:
        self.offset: int | None = None
        #: Set when the listener has the message, or will not get one.
        self.settled = threading.Event()
        #: Set when the plan says that the listener is done.
        self.go = threading.Event()
        self.done: Future[None] | None = None


class OrderlyGroup(JavaGroup["OrderlyConsumer"]):
    """What the orderly consumers of a group share."""

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        self.threads = ThreadPoolExecutor(_THREADS)
        process_queue = release.load("client.impl.consumer.ProcessQueue")()
        self.consume_lock = "consumeLock" if release.has_field(process_queue, "consumeLock") else "lockConsume"
        self.lock_kind = process_queue.getClass().getDeclaredField(self.consume_lock).getType()
        service = release.load("client.impl.consumer.ConsumeMessageOrderlyService")
        self.shuts_down_at_once = any(
            method.getName() == "shutdown" and method.getParameterCount() == 0 for method in service.class_.getMethods()
        )
        request = release.load("client.impl.consumer.ConsumeMessageOrderlyService$ConsumeRequest")
        self._consume_request = request.class_.getDeclaredConstructors()[0]
        self._consume_request.setAccessible(True)
        self._message = release.load("common.message.MessageExt")
        self._list_of = jpype.JClass("java.util.List").of
        self._body = jpype.JArray(jpype.JByte)(1)

    def consume_request(self, service: Any, owned: Any, queue: Any) -> Any:
        """A task for a listener's thread."""
        return self._consume_request.newInstance(service, owned, queue)

    def message(self, queue: int, offset: int) -> Any:
        """A pulled message, in a list."""
        message = self._message()
        message.setTopic(ORDINARY.queues[queue].topic)
        message.setQueueId(ORDINARY.queues[queue].id)
        message.setQueueOffset(offset)
        message.setBody(self._body)
        return self._list_of(message)


class OrderlyConsumer(Consumer):
    """A push consumer with an orderly listener."""

    orderly = True
    group: OrderlyGroup
    instance: OrderlyInstance

    def __init__(
        self, group: OrderlyGroup, instance: ClientInstance, mode: str, where: str, strategy: str, now: int
    ) -> None:
        super().__init__(group, instance, mode, where, strategy, now)
        release = group.release
        self.schedule = RecordingExecutor()
        self._success = release.load("client.consumer.listener.ConsumeOrderlyStatus").SUCCESS
        listener = jpype.JProxy(release.load("client.consumer.listener.MessageListenerOrderly"), inst=self)
        self.service = release.load("client.impl.consumer.ConsumeMessageOrderlyService")(self.inside, listener)
        release.put(self.service, "scheduledExecutorService", self.schedule.proxy)
        release.put(self.inside, "consumeMessageService", self.service)
        release.put(self.inside, "consumeOrderly", True)
        self.service.start()
        #: Process queues by queue; and in the same order, when their locks were confirmed (ms of the case's clock), and
        #: the times (ms of the machine) that were set in them for that.
        self._owned = jpype.JClass("java.util.LinkedHashMap")()
        self._confirmed: dict[int, int] = {}
        self._stamps: dict[int, int] = {}
        self._lock_aging = Aging(release)
        self.turns: dict[int, _Turn] = {}
        self.consumed: list[int] = []

    # --- time ---------------------------------------------------------------------------------------------

    def keep_ages(self, now: int) -> None:
        """Before a step: make locks as old as the case's clock says."""
        if not self._lock_aging.are_due(now):
            return
        if self._confirmed:
            self._see_confirmed(now)
            case_began = int(self.group.millis()) - now + SLACK
            self._stamps = {queue: case_began + confirmed for queue, confirmed in self._confirmed.items()}
            set_each(self._owned.values(), "setLastLockTimestamp", [*self._stamps.values()])
        self._lock_aging.are_set(now)

    def _see_confirmed(self, now: int) -> None:
        """Note which locks were confirmed since their ages were set: the case's clock has stood still."""
        then = self._lock_aging.since
        stamps = rows(self._owned.values(), "getLastLockTimestamp")
        for (queue, before), (after,) in zip(self._stamps.items(), stamps, strict=True):
            if int(after) != before:
                self._confirmed[queue] = now if then is None else then

    # --- work of the threads ------------------------------------------------------------------------------

    def dispatch(self, queue: int, request: Any, now: int) -> None:
        """A pull request begins, of a new process queue."""
        super().dispatch(queue, request, now)
        owned = request.getProcessQueue()
        self.group.release.put(owned, self.group.consume_lock, consume_lock(self.group.lock_kind))
        self._owned.put(queue, owned)
        self._confirmed[queue], self._stamps[queue] = now, 0

    def rebalance(self, now: int) -> Result:
        """One round: (table, dispatched, balanced, asks for another round)."""
        result = super().rebalance(now)
        assert isinstance(result, tuple)
        again = False
        for millis, task in self.instance.schedule.take():
            if millis == ANOTHER_ROUND and _UNLOCKING not in str(task.getClass().getName()):
                again = True
            else:
                self.instance.due.append((now + int(millis * (self.group.release.pace or 1)), task))
        return (*result, again)

    def renew(self) -> Result:
        """The lock timer runs: the queues that count as locked then."""
        for _, task in self.schedule.periodic:
            task.run()
        locked = rows(self.table.values(), "isLocked")
        queues = zip(positions(self.table.keySet()), locked, strict=True)
        return tuple(sorted(queue for queue, (holds,) in queues if holds == "true"))

    def receive(self, queue: int, offset: int) -> Result:
        """A message arrives."""
        owned = self.table.get(self.group.queues[queue])
        if owned is None:
            return False
        owned.putMessage(self.group.message(queue, offset))
        return True

    def held(self, queue: int) -> int:
        """The offset in memory."""
        return int(self.store.readOffset(self.group.queues[queue], self.group.memory))

    def consume_all(self, queue: int, offset: int) -> Result:
        """A message arrives, and a fast listener runs."""
        self.receive(queue, offset)
        self.consumed = []
        owned = self.table.get(self.group.queues[queue])
        if owned is not None and queue not in self.turns:  # else its thread would wait for the slow one
            self._turn(owned, queue)
        return tuple(self.consumed), self.held(queue)

    def take_first(self, queue: int, offset: int) -> Result:
        """A message arrives, and a slow listener starts."""
        self.receive(queue, offset)
        owned = self.table.get(self.group.queues[queue])
        if owned is None or queue in self.turns:
            return None
        turn = self.turns[queue] = _Turn()

        def work() -> None:
            try:
                self._turn(owned, queue)
            finally:
                turn.settled.set()

        turn.done = self.group.threads.submit(work)
        turn.settled.wait(PATIENCE)
        if turn.offset is None:
            self._end(queue)
        return turn.offset

    def finish_first(self, queue: int) -> Result:
        """The slow listener finishes its message, and goes on."""
        self.consumed = []
        if queue in self.turns:
            self._end(queue)
        return tuple(self.consumed), self.held(queue)

    def _end(self, queue: int) -> None:
        turn = self.turns[queue]
        turn.go.set()
        assert turn.done is not None
        turn.done.result(PATIENCE)
        del self.turns[queue]

    def _turn(self, owned: Any, queue: int) -> None:
        """Run a consume request, and those that follow it at once."""
        runs_again = True
        while runs_again:
            self.group.consume_request(self.service, owned, self.group.queues[queue]).run()
            runs_again = False
            for _, task in self.schedule.take():  # requests the lock
                task.run()
                runs_again = any(millis <= IMMEDIATE for millis, _ in self.schedule.take())

    def consumeMessage(self, messages: Any, context: Any) -> Any:  # noqa: N802
        """The listener."""
        queue = self.group.position(context.getMessageQueue())
        turn = self.turns.get(queue)
        for (text,) in rows(messages, "getQueueOffset"):
            offset = int(text)
            if turn is not None and turn.offset is None:
                turn.offset = offset
                turn.settled.set()
                turn.go.wait(PATIENCE)
            else:
                self.consumed.append(offset)
        return self._success

    def leave(self) -> None:
        """A shutdown, as far as locks, queues and offsets are concerned."""
        if self.group.shuts_down_at_once:
            self.service.shutdown()
        else:
            self.service.shutdown(0)
        super().leave()
        self.vanish()

    def vanish(self) -> None:
        """Discard the consumer: nothing of it that still runs has an effect."""
        self.rebalancing.destroy()
        for queue in list(self.turns):
            self._end(queue)
