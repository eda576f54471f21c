"""The real rebalance of orderly consumers, and their real listener service, stepped by hand.

The listener service is the release's own (``ConsumeMessageOrderlyService``). Its timers are recorded, and what they
would do is done when the plan says so. A slow listener is a thread that waits inside of the real consume request, so
that it really has what it has; only the lock that a rebalance would wait a second for is one that says at once whether
it can be had.

What the classes read from the clock of the machine, the age of a lock and that of a pull, is set before every step to
what the case's clock says (see ``rebalance``). A lock whose time changed in the step was confirmed in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.rebalance import SLACK, Consumer, Instance, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.fixtures import CLIENTS
from rocketmq_conformance.models.outcome import Result

#: Ms within which what is to be done later counts as done at once.
SOON = 1_000
#: Ms after which a client asks for another round when it was refused a lock.
ANOTHER_ROUND = 500
#: Which class puts an unlocking off, as the task to be done says.
_UNLOCKING = "RebalancePushImpl"
#: Seconds that a listener waits for the plan to go on.
PATIENCE = 60.0
#: Listeners that can be slow at once: of every member, with two queues each, and some to spare.
_THREADS = 3 * len(CLIENTS)


class Schedule:
    """An executor that remembers what it is told to do, and when."""

    def __init__(self) -> None:
        #: (ms, task) that are due once.
        self.later: list[tuple[int, Any]] = []
        #: (ms between, task) that are due again and again.
        self.periodic: list[tuple[int, Any]] = []
        self.proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.ScheduledExecutorService"), inst=self)

    def schedule(self, task: Any, delay: Any, unit: Any) -> None:
        """Do a task after some ms."""
        self.later.append((int(delay), task))

    def scheduleAtFixedRate(self, task: Any, first: Any, period: Any, unit: Any) -> None:  # noqa: N802 - Java's name
        """Do a task every so many ms."""
        self.periodic.append((int(period), task))

    def take(self) -> list[tuple[int, Any]]:
        """What is to be done later; it is forgotten."""
        taken, self.later = self.later, []
        return taken

    def shutdown(self) -> None:
        """Nothing to stop."""

    def shutdownNow(self) -> Any:  # noqa: N802
        """Nothing to stop."""
        return jpype.JClass("java.util.ArrayList")()

    def awaitTermination(self, *time: Any) -> bool:  # noqa: N802
        """Nothing runs."""
        return True

    def isShutdown(self) -> bool:  # noqa: N802
        return False


class ConsumeLock:
    """The lock that a listener holds while it works, and that a rebalance tries to get: it never waits."""

    def __init__(self, kind: Any) -> None:
        self.held = 0
        self.lock_proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.locks.Lock"), inst=self)
        both = jpype.JClass("java.util.concurrent.locks.ReadWriteLock")
        self.proxy = jpype.JProxy(both, inst=self) if kind == both.class_ else self.lock_proxy

    def lock(self) -> None:
        """A listener begins."""
        self.held += 1

    def unlock(self) -> None:
        """Whoever had it is done."""
        self.held -= 1

    def tryLock(self, *time: Any) -> bool:  # noqa: N802
        """A rebalance asks."""
        if self.held:
            return False
        self.held += 1
        return True

    def readLock(self) -> Any:  # noqa: N802
        return self.lock_proxy

    def writeLock(self) -> Any:  # noqa: N802
        return self.lock_proxy


class OrderlyInstance(Instance):
    """A client instance whose own timers are recorded too."""

    def __init__(self, release: JavaRelease, client: str) -> None:
        super().__init__(release, client)
        self.schedule = Schedule()
        release.put(self.factory, "scheduledExecutorService", self.schedule.proxy)
        #: (when, task) of the case's clock.
        self.due: list[tuple[int, Any]] = []

    def forget(self) -> None:
        """Be as a new instance."""
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


class OrderlyConsumer(Consumer):
    """A push consumer with an orderly listener."""

    orderly = True

    def __init__(
        self, group: JavaOrderlyGroup, instance: OrderlyInstance, mode: str, where: str, strategy: str, now: int
    ) -> None:
        super().__init__(group, instance, mode, where, strategy, now)
        release = group.release
        self.ordered = group
        self.schedule = Schedule()
        self._success = release.load("client.consumer.listener.ConsumeOrderlyStatus").SUCCESS
        listener = jpype.JProxy(release.load("client.consumer.listener.MessageListenerOrderly"), inst=self)
        self.service = release.load("client.impl.consumer.ConsumeMessageOrderlyService")(self.inside, listener)
        release.put(self.service, "scheduledExecutorService", self.schedule.proxy)
        release.put(self.inside, "consumeMessageService", self.service)
        release.put(self.inside, "consumeOrderly", True)
        self.service.start()
        #: When each lock was confirmed, by queue, in ms of the case's clock, and what its process queue was told.
        self.confirmed: dict[int, tuple[Any, int, int]] = {}
        self.turns: dict[int, _Turn] = {}
        self.consumed: list[int] = []

    # --- time ---------------------------------------------------------------------------------------------

    def set_ages(self, now: int) -> None:
        """Make locks as old as the case's clock says, unless that is the machine's."""
        if self.group.release.pace is not None:
            return
        machine = int(self.group.millis())
        for queue, (owned, confirmed, _) in self.confirmed.items():
            told = machine - (now - confirmed) + SLACK
            owned.setLastLockTimestamp(told)
            self.confirmed[queue] = owned, confirmed, told

    def see_confirmed(self, now: int) -> None:
        """Locks that the step confirmed."""
        for queue, (owned, _, told) in self.confirmed.items():
            if int(owned.getLastLockTimestamp()) != told:
                self.confirmed[queue] = owned, now, told

    # --- what threads would do ----------------------------------------------------------------------------

    def begun(self, queue: int, request: Any, now: int) -> None:
        """A pull request begins, of a new process queue."""
        super().begun(queue, request, now)
        owned = request.getProcessQueue()
        self.ordered.release.put(owned, self.ordered.consume_lock, ConsumeLock(self.ordered.lock_kind).proxy)
        self.confirmed[queue] = owned, now, 0

    def rebalance(self, now: int) -> Result:
        """One round: (table, dispatched, balanced, asks for another soon)."""
        said = super().rebalance(now)
        assert isinstance(said, tuple)
        again = False
        assert isinstance(self.instance, OrderlyInstance)
        for millis, task in self.instance.schedule.take():
            if millis == ANOTHER_ROUND and _UNLOCKING not in str(task.getClass().getName()):
                again = True
            else:
                self.instance.due.append((now + int(millis * (self.group.release.pace or 1)), task))
        return (*said, again)

    def renew(self) -> Result:
        """The timer of locks: the queues that count as locked then."""
        for _, task in self.schedule.periodic:
            task.run()
        return tuple(
            sorted(
                self.group.position(entry.getKey()) for entry in self.table.entrySet() if entry.getValue().isLocked()
            )
        )

    def receive(self, queue: int, offset: int) -> Result:
        """A message arrives."""
        owned = self.table.get(self.group.queues[queue])
        if owned is None:
            return False
        owned.putMessage(self.ordered.message(queue, offset))
        return True

    def held(self, queue: int) -> int:
        """The offset in memory."""
        return int(self.store.readOffset(self.group.queues[queue], self.group.memory))

    def consume_all(self, queue: int, offset: int) -> Result:
        """A message arrives, and a listener that is not slow has its turn."""
        self.receive(queue, offset)
        self.consumed = []
        owned = self.table.get(self.group.queues[queue])
        if owned is not None and queue not in self.turns:  # else its thread would wait for the slow one
            self._turn(owned, queue)
        return tuple(self.consumed), self.held(queue)

    def take_first(self, queue: int, offset: int) -> Result:
        """A message arrives, and a slow listener has its turn."""
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

        turn.done = self.ordered.threads.submit(work)
        turn.settled.wait(PATIENCE)
        if turn.offset is None:
            self._end(queue)
        return turn.offset

    def finish_first(self, queue: int) -> Result:
        """The slow listener is done, and goes on."""
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
        """A consume request, and those that follow it soon."""
        again = True
        while again:
            self.ordered.consume_request(self.service, owned, self.group.queues[queue]).run()
            again = False
            for _, task in self.schedule.take():  # asks for the lock
                task.run()
                again = any(millis <= SOON for millis, _ in self.schedule.take())

    def consumeMessage(self, messages: Any, context: Any) -> Any:  # noqa: N802
        """The listener."""
        queue = self.group.position(context.getMessageQueue())
        turn = self.turns.get(queue)
        for message in messages:
            offset = int(message.getQueueOffset())
            if turn is not None and turn.offset is None:
                turn.offset = offset
                turn.settled.set()
                turn.go.wait(PATIENCE)
            else:
                self.consumed.append(offset)
        return self._success

    def leave(self) -> None:
        """A shutdown, as far as locks, queues and offsets are concerned."""
        if self.ordered.shuts_down_at_once:
            self.service.shutdown()
        else:
            self.service.shutdown(0)
        super().leave()
        self.vanish()

    def vanish(self) -> None:
        """Be gone: nothing that still runs has an effect."""
        self.rebalancing.destroy()
        for queue in list(self.turns):
            self._end(queue)


class JavaOrderlyGroup(JavaGroup):
    """The members of a group of orderly consumers."""

    consumer = OrderlyConsumer  # type: ignore[assignment]
    instance = OrderlyInstance

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
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
        self._list = jpype.JClass("java.util.ArrayList")
        self._body = jpype.JArray(jpype.JByte)(1)

    def consume_request(self, service: Any, owned: Any, queue: Any) -> Any:
        """What a listener's thread is given to do."""
        return self._consume_request.newInstance(service, owned, queue)

    def message(self, queue: int, offset: int) -> Any:
        """A pulled message, in a list."""
        named = self.queues[queue]
        message = self._message()
        message.setTopic(named.getTopic())
        message.setQueueId(named.getQueueId())
        message.setQueueOffset(offset)
        message.setBody(self._body)
        messages = self._list()
        messages.add(message)
        return messages

    def begin(self, case: Case) -> None:
        """Three new members."""
        for member in range(len(self.members)):
            self._vanish(member)
        super().begin(case)

    def close(self) -> None:
        """Let slow listeners go, and their threads end: a process waits for them."""
        for member in range(len(self.members)):
            self._vanish(member)
        self.threads.shutdown()

    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """A member begins anew."""
        self._vanish(member)
        return super().join(member, twin, mode, where, strategy)

    def _vanish(self, member: int) -> None:
        who = self.members[member]
        if isinstance(who, OrderlyConsumer):
            who.vanish()

    def tick(self, millis: int) -> Result:
        """Time passes, and what is due by then is done."""
        super().tick(millis)
        for who in self.members:
            if who is None:
                continue
            assert isinstance(who.instance, OrderlyInstance)
            due, who.instance.due = who.instance.due, []
            for when, task in due:
                if when <= self.now:
                    task.run()
                else:
                    who.instance.due.append((when, task))
        return None

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name; a member that is not there does nothing."""

        def of(do: Callable[..., Result]) -> Callable[..., Result]:
            def call(member: int, *args: Any) -> Result:
                who = self.members[member]
                if not isinstance(who, OrderlyConsumer):
                    return None
                who.set_ages(self.now)
                result = do(who, *args)
                who.see_confirmed(self.now)
                return result

            return call

        group = super().calls()
        return group | {
            "rebalance": of(lambda who, *faults: who.rebalance(self.now)),
            "leave": lambda member, fault: group["leave"](member),
            "renew": of(lambda who, fault: who.renew()),
            "pull": of(lambda who, queue, *faults: who.pull(queue, self.now)),
            "receive": of(OrderlyConsumer.receive),
            "consume": of(lambda who, queue, offset, fault: who.consume_all(queue, offset)),
            "take": of(lambda who, queue, offset, fault: who.take_first(queue, offset)),
            "finish": of(lambda who, queue, fault: who.finish_first(queue)),
        }
