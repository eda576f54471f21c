"""Plays the suite ``pushed-reset``: a real consumer whose client is given the requests of a broker.

Requests are given to the client's own processor, with bodies as brokers write them. The consumer was never started: no
timers and no sockets. A reset runs in a thread of its own, as it does in a client, and stands still where it would
sleep or wait for a listener (``stepped_classes``): the plan lets time pass. What it did so far is looked at after
every step.

A listener that is busy holds the lock of its process queue: a real one of an orderly consumer. The pull loops come to
all queues all the time: the time of the last pull is always that of the case's clock.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import jpype

from rocketmq_conformance.conformance.adapter import AdapterError, Answered, Case, Exchange, Methods
from rocketmq_conformance.conformance.remoting.client_requests import (
    offsets_of,
    reset_body,
    reset_body_for_cpp,
    running_info,
)
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client.broker_questions import BrokerQuestions
from rocketmq_conformance.conformance.targets.java_client.group import Consumer
from rocketmq_conformance.conformance.targets.java_client.orderly_consumer import (
    ConsumeLock,
    OrderlyConsumer,
    OrderlyInstance,
)
from rocketmq_conformance.conformance.targets.java_client.queue_names import POSITIONS
from rocketmq_conformance.conformance.targets.java_client.rebalance_orderly import JavaRebalanceOrderly
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.reset_thread import LOOK, PATIENCE, ResetThread
from rocketmq_conformance.conformance.targets.java_client.stepped_classes import SteppedRelease
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.pushed_reset_stages import (
    COMMITS,
    COMMITTED,
    CONSUMED,
    CONSUMES,
    CPP,
    LITE,
    MEMBER,
    NO_BODY,
    ORDERLY,
    PULL,
    PUSH,
)
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY
from rocketmq_conformance.suites.pushed_reset import (
    Elapse,
    Finish,
    Persist,
    Pull,
    Reset,
    ResetQueue,
    RunningInfo,
    Start,
    StartLite,
    StartTwice,
    Status,
    Take,
    Update,
)

#: A time of the case's clock begins here: ms since the epoch.
EPOCH = 1_704_067_200_000


class _SteppedLock(ConsumeLock):
    """A listener's lock for which resets wait by the clock of the case."""

    def __init__(self, kind: Any, part: JavaPushedReset) -> None:
        super().__init__(kind)
        self._part = part

    def tryLock(self, *time: Any) -> bool:  # noqa: N802
        """A reset, or a round, tries to take it."""
        if super().tryLock():
            return True
        if time:
            span, unit = time
            self._part.wait(int(unit.toMillis(span)), self)
        return super().tryLock()


class _Orderly(OrderlyConsumer):
    """An orderly consumer that goes by the case's clock."""

    group: JavaPushedReset

    def ages(self, now: int) -> None:
        """Process queues read the case's clock."""

    def prepare(self, consumer: Any) -> None:
        """No listener has a lock yet."""
        #: The locks of the process queues, by queue.
        self.locks: dict[int, _SteppedLock] = {}

    def dispatch(self, queue: int, request: Any, now: int) -> None:
        """A pull request begins, of a new process queue."""
        Consumer.dispatch(self, queue, request, now)
        lock = self.locks[queue] = _SteppedLock(self.group.lock_kind, self.group)
        self.group.release.put(request.getProcessQueue(), self.group.consume_lock, lock.proxy)

    def _turn(self, owned: Any, queue: int) -> None:
        """Run a consume request, which fails when a reset emptied its process queue: its thread then ends."""
        with suppress(jpype.JClass("java.util.NoSuchElementException")):
            super()._turn(owned, queue)


class _Push(Consumer):
    """A push consumer that goes by the case's clock."""

    def ages(self, now: int) -> None:
        """Process queues read the case's clock."""


class _Pull(Consumer):
    """A pull consumer; its application pulls nothing."""

    consumer_class = "client.consumer.DefaultMQPullConsumer"
    implementation = "defaultMQPullConsumerImpl"
    topics: ClassVar[dict[str, tuple[str, ...]]] = {"CLUSTERING": ()}


class _LitePull(Consumer):
    """A lite pull consumer that does not rebalance."""

    consumer_class = "client.consumer.DefaultLitePullConsumer"
    implementation = "defaultLitePullConsumerImpl"
    topics: ClassVar[dict[str, tuple[str, ...]]] = {"CLUSTERING": ()}


_KINDS: dict[str, type[Consumer]] = {PUSH: _Push, ORDERLY: _Orderly, PULL: _Pull, LITE: _LitePull}


class JavaPushedReset(JavaRebalanceOrderly):
    """One consumer, and the resets that it was sent."""

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self.stepped = SteppedRelease(release.version, self.wait)
        super().__init__(self.stepped, via)
        self.client = OrderlyInstance(self.stepped, ORDINARY.clients[MEMBER])
        self.questions = BrokerQuestions(self.stepped)
        service = self.stepped.load("client.impl.consumer.ConsumeMessageService")
        self.service = jpype.JProxy(service, dict={"getCorePoolSize": lambda: 20})
        self.consumer: Consumer | None = None
        self.running: list[ResetThread] = []
        #: Pull requests that the step began, by the ms since it began.
        self._pulls: dict[int, list[tuple[int, int]]] = {}
        self._step_began = 0
        #: By queue: the offset of the message that a listener is busy with, and the lock that it holds.
        self._busy: dict[int, tuple[int, _SteppedLock | None]] = {}

    def begin(self, case: Case) -> None:
        """A new push consumer."""
        self._abandon()
        self._case = case
        self._set_clock(0)
        self.start(PUSH)

    def close(self) -> None:
        """End what still runs."""
        self._abandon()
        self.threads.shutdown()

    def _leave(self) -> None:
        """The client reaches no broker any more: the one of the case may be that of another suite's case by now."""
        self.client.remoting.exchange = _nobody

    def _abandon(self) -> None:
        """End resets and listeners of a consumer that is gone: what they do has no effect."""
        self._leave()

        def ended() -> bool:
            for running in self.running:
                running.go_on()
            return all(running.ended for running in self.running)

        if not wait_until(ended, PATIENCE, LOOK):
            raise AdapterError(f"A reset did not end within {PATIENCE:g} s.")
        self.running.clear()
        if isinstance(self.consumer, _Orderly):
            self.consumer.vanish()
        self.consumer = None

    # --- time ---------------------------------------------------------------------------------------------

    def _set_clock(self, now: int) -> None:
        self.now = now
        self.stepped.clock.set(EPOCH + now)
        if isinstance(self.consumer, (_Push, _Orderly)):
            for owned in self.consumer.table.values():
                owned.setLastPullTimestamp(EPOCH + now)

    def wait(self, millis: int, lock: ConsumeLock | None = None) -> None:
        """A reset waits: for so long, or until a listener's lock is free."""
        waiting = [running for running in self.running if running.is_current()]
        if not waiting:
            raise AdapterError("Something of the client sleeps that is no reset: the kit does not know that release.")
        waiting[0].wait_until(self.now + int(millis), lock)

    def _settle(self) -> None:
        """Wait until every reset ended, waits, or is behind one that waits."""
        if not wait_until(self._is_settled, PATIENCE, LOOK):
            raise AdapterError(f"A reset did not come to a wait within {PATIENCE:g} s.")
        failed = [running.error for running in self.running if running.error is not None]
        self.running = [running for running in self.running if not running.ended]
        client_raised = jpype.JClass("java.lang.Exception")
        for error in failed:
            if not isinstance(error, client_raised):
                raise error

    def _is_settled(self) -> bool:
        moving = [running for running in self.running if not running.ended and not running.waits]
        if not moving:
            return True
        # one that is queued waits for the client, which another one has
        client = self.client.factory
        return any(running.waits for running in self.running) and all(running.waits_for(client) for running in moving)

    def _pulls_begun(self) -> tuple[tuple[int, int], ...]:
        """The pull requests that were dispatched since the last look."""
        begun = []
        for one in self.client.dispatched() if self.consumer else ():
            queue = POSITIONS[one.queue]
            self.consumer.dispatch(queue, one.request, self.now)  # type: ignore[union-attr]  # there is one
            begun.append((queue, one.start))
        self.client.schedule.take()
        return tuple(sorted(begun))

    def _wake(self, running: ResetThread) -> None:
        """A reset goes on until it ends or waits again."""
        running.go_on()
        self._settle()
        self._note_pulls()

    def _note_pulls(self) -> None:
        """Note the pull requests that were dispatched since the last look."""
        begun = self._pulls_begun()
        if begun:
            self._pulls.setdefault(self.now - self._step_began, []).extend(begun)

    def _noted(self) -> Value:
        """The pull requests that the step began, by ms."""
        noted, self._pulls = self._pulls, {}
        return tuple((millis, tuple(sorted(begun))) for millis, begun in noted.items())

    # --- operations ---------------------------------------------------------------------------------------

    def start(self, kind: str, exchange: Exchange | None = None) -> Result:
        """Another consumer."""
        self._abandon()
        assert self._case is not None
        self._busy.clear()
        self.client.remoting.exchange = exchange or self._case.exchange
        self.client.forget()
        made = _KINDS[kind]
        self.consumer = made(self, self.client, "CLUSTERING", "CONSUME_FROM_FIRST_OFFSET", "AVG", self.now)
        if kind in {PULL, LITE}:
            return ()
        if kind == PUSH:  # it was never started, and has no service that says how many threads it has
            self.stepped.put(self.consumer.inside, "consumeMessageService", self.service)
        self.consumer.inside.doRebalance()
        return self._pulls_begun()

    def start_twice(self, queue: int, meanwhile: str) -> Result:
        """A push consumer; a second round runs while an answer is on its way to the first."""
        assert self._case is not None
        exchange, topic, number = self._case.exchange, self.queues[queue].getTopic(), ORDINARY.queues[queue].id
        asked = {"topic": str(topic), "queueId": str(number)}
        waits = [True]

        def late(address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
            answer = exchange(address, code, ext, body, one_way)
            if waits and code == Request.QUERY_CONSUMER_OFFSET and asked.items() <= ext.items():
                waits.clear()
                if meanwhile == COMMITS:
                    fields = {**asked, "consumerGroup": GROUP, "commitOffset": str(COMMITTED)}
                    exchange(address, int(Request.UPDATE_CONSUMER_OFFSET), fields, b"", True)
                assert self.consumer is not None
                self.consumer.inside.doRebalance()
                if meanwhile == CONSUMES:
                    mine = self.queues[queue]
                    begun = max(int(self.consumer.store.readOffset(mine, self.memory)), 0)
                    self.consumer.inside.updateConsumeOffset(mine, begun + CONSUMED)
            return answer

        begun = self.start(PUSH, late)
        assert isinstance(begun, tuple)
        return (begun,)

    def start_lite(self) -> Result:
        """A lite pull consumer."""
        return self.start(LITE)

    def update_offset(self, queue: int, offset: int) -> Result:
        """The application sets an offset."""
        assert self.consumer is not None
        self.consumer.inside.updateConsumeOffset(self.queues[queue], offset)
        return None

    def reset_queue(self, queue: int, offset: int, topic: str, body: str) -> Result:
        """A reset of one queue."""
        return self.reset(GROUP, (queue,), offset, topic, body)

    def reset(self, group: str, queues: tuple[int, ...], offset: int, topic: str, body: str) -> Result:
        """A reset, in a thread of its own."""
        named = [(ORDINARY.queues[queue], offset + at) for at, queue in enumerate(queues)]
        written = b"" if body == NO_BODY else reset_body_for_cpp(named) if body == CPP else reset_body(named)
        fields = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
        client, code = self.client.factory, Request.RESET_CONSUMER_CLIENT_OFFSET
        self._step_began = self.now
        running = ResetThread(lambda: self.questions.ask(client, code, fields, written), self._leave)
        self.running.append(running)
        running.start()
        self._settle()
        self._note_pulls()
        return (self._noted(),)

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        self._step_began, until = self.now, self.now + elapses
        while due := [
            (running.due, at) for at, running in enumerate(self.running) if running.waits and running.due <= until
        ]:
            when, at = min(due)
            self._set_clock(when)
            self._wake(self.running[at])
        self._set_clock(until)
        return (self._noted(),)

    def take_message(self, queue: int, offset: int) -> Result:
        """A listener takes a message."""
        assert self.consumer is not None
        owned = self.consumer.table.get(self.queues[queue])
        if owned is None or owned.isDropped() or queue in self._busy:
            return False
        lock = None
        if isinstance(self.consumer, _Orderly):
            if self.consumer.take_first(queue, offset) is None:
                return False
            lock = self.consumer.locks[queue]
        else:
            self.consumer.take(queue)
        self._busy[queue] = offset, lock
        return True

    def finish_message(self, queue: int) -> Result:
        """The listener is done."""
        assert self.consumer is not None
        busy = self._busy.pop(queue, None)
        self._step_began = self.now
        if busy is not None:
            offset, lock = busy
            if isinstance(self.consumer, _Orderly):
                self.consumer.finish_first(queue)
                for running in [waits for waits in self.running if waits.lock is lock]:
                    self._wake(running)
            else:
                self.consumer.finish(queue, offset + 1)
        held = int(self.consumer.store.readOffset(self.queues[queue], self.memory))
        return held, self._noted()

    def pull_queue_once(self, queue: int) -> Result:
        """The pull loop comes to a queue: the offset that it asks for; what the pull carries is not compared."""
        assert self.consumer is not None
        asked = self.consumer.pull(queue, self.now)
        return asked[0] if isinstance(asked, tuple) else asked

    def persist_offsets(self) -> Result:
        """The timer that persists offsets runs."""
        assert self.consumer is not None
        self.consumer.inside.persistConsumerOffset()
        return None

    def status(self, group: str, topic: str) -> Result:
        """A broker asks for the state of a consumer."""
        fields = {"topic": topic, "group": group}
        answer = self.questions.ask(self.client.factory, Request.GET_CONSUMER_STATUS_FROM_CLIENT, fields)
        if int(answer.getCode()):
            return Err("CLIENT", detail=str(answer.getRemark()))
        offsets = offsets_of(bytes(answer.getBody()), "messageQueueTable")
        return tuple(sorted((ORDINARY.queues.index(queue), offset) for queue, offset in offsets.items()))

    def running_info(self, group: str) -> Result:
        """A broker asks for the running information of a consumer."""
        answered = self.questions.running_info(self.client.factory, group)
        if answered is None:
            return Err("CLIENT")
        _, queues = running_info(answered)
        shown = ("commitOffset", "locked", "droped")
        return tuple(sorted([(ORDINARY.queues.index(queue), *map(of.get, shown)) for queue, of in queues.items()]))

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Start: self.start,
            StartLite: self.start_lite,
            StartTwice: self.start_twice,
            Update: self.update_offset,
            ResetQueue: self.reset_queue,
            Reset: self.reset,
            Elapse: self.elapse,
            Take: self.take_message,
            Finish: self.finish_message,
            Pull: self.pull_queue_once,
            Persist: self.persist_offsets,
            Status: self.status,
            RunningInfo: self.running_info,
        }


def _nobody(*request: Any) -> Any:
    raise ConnectionError("the consumer is gone")


PART = JavaPushedReset
