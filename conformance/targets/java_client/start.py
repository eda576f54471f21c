"""A real consumer's start positions: the base of the parts of ``start-push``, ``-lite-pull`` and ``-pull``.

Start positions are computed by the release's own rebalance implementation, of a consumer that was not started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Methods
from rocketmq_conformance.conformance.targets.java_client.consumer import JavaConsumer, failed, returning_errors
from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.steps import Calls, Steps
from rocketmq_conformance.models.client.start import TIMESTAMP
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.declare.topologies import GROUP
from rocketmq_conformance.suites.values import start as operations

#: Makes the calls of a step from the arguments of its operation.
MakeCalls = Callable[..., Calls]


class JavaStart(JavaConsumer):
    """A consumer of one kind, and its offset store."""

    #: The class of the consumer, and the field of its implementation.
    consumer_class: ClassVar[str]
    implementation: ClassVar[str]
    #: What starts, by the operation.
    starts: ClassVar[Mapping[type[Operation], MakeCalls]]

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        where = release.load("common.consumer.ConsumeFromWhere")
        self._where = {str(one.name()): one for one in where.values()}
        self._time_zone = jpype.JClass("java.util.TimeZone")
        self._consumer: Any = None
        self._inside: Any = None
        self._rebalance: Any = None
        #: Can the consumer be set where to begin? Plain pull consumers and the first lite pull consumers cannot.
        self._sets_where = False
        #: Does the calls of steps; None where Java has no compiler.
        self._steps: Steps | None = None

    def open_store(self, group: str) -> None:
        """An empty offset store of a group, which the consumer uses from now on."""
        if self._consumer is None:
            self._make_consumer()
        if self._steps is not None:
            self.store = self._steps.open(group)
            return
        super().open_store(group)
        self.release.put(self._inside, "offsetStore", self.store)

    def _make_consumer(self) -> None:
        self._consumer = self.release.load(self.consumer_class)(GROUP)
        self._inside = self.release.get(self._consumer, self.implementation)
        self._rebalance = self.release.get(self._inside, "rebalanceImpl")
        self._rebalance.setmQClientFactory(self.factory)
        self._rebalance.setConsumerGroup(GROUP)
        self.release.put(self._inside, "mQClientFactory", self.factory)
        self._sets_where = hasattr(self._consumer, "setConsumeFromWhere")
        java = compiled("Steps")
        if java is not None:
            self._steps = Steps(java, self._inside, self.factory, self.store_class, self.failures, failed)

    # --- steps --------------------------------------------------------------------------------------------

    def position(self, queue: int, where: str, timestamp: str | None, zone: str, checked: bool) -> Calls:
        """``computePullFromWhere``, or its variant that raises errors when it is ``checked``."""
        calls: list[tuple[Any, ...]] = []
        if where == TIMESTAMP:
            calls.append((self._time_zone, "setDefault", self._time_zone.getTimeZone(zone)))
        if self._sets_where:
            calls.append((self._consumer, "setConsumeFromWhere", self._where[where]))
            if where == TIMESTAMP:
                calls.append((self._consumer, "setConsumeTimestamp", timestamp))
        method = "computePullFromWhereWithException" if checked else "computePullFromWhere"
        return (*calls, (self._rebalance, method, self.queues[queue]))

    def start(self, queue: int, where: str) -> Calls:
        """The start offset."""
        return self.position(queue, where, None, "UTC", False)

    def start_checked(self, queue: int, where: str) -> Calls:
        """The same, with failures as errors."""
        return self.position(queue, where, None, "UTC", True)

    def start_at_time(self, queue: int, timestamp: str | None, zone: str) -> Calls:
        """The start offset by time."""
        return self.position(queue, TIMESTAMP, timestamp, zone, False)

    def start_at_time_checked(self, queue: int, timestamp: str | None, zone: str) -> Calls:
        """The same, with failures as errors."""
        return self.position(queue, TIMESTAMP, timestamp, zone, True)

    def update(self, queue: int, offset: int, increase_only: bool) -> Calls:
        """``updateOffset``."""
        return ((None, "updateOffset", self.queues[queue], offset, increase_only),)

    def remove(self, queue: int) -> Calls:
        """``removeOffset``."""
        return ((None, "removeOffset", self.queues[queue]),)

    def read(self, queue: int, kind: str) -> Calls:
        """``readOffset``."""
        return ((None, "readOffset", self.queues[queue], self.types[kind]),)

    # --- doing them ---------------------------------------------------------------------------------------

    @returning_errors
    def step(self, make: MakeCalls, *args: Any) -> Result:
        """Do a step: the calls that a method of this class, or of a subclass, makes of these arguments."""
        if self._steps is not None:
            return self._steps.one((make, args), lambda: make(self, *args))
        answer: Any = None
        for target, method, *given in make(self, *args):
            answer = getattr(self.store if target is None else target, method)(*given)
        return None if answer is None else int(answer)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {operation: partial(self.step, make) for operation, make in self._operations().items()}

    def plays_whole(self) -> bool:
        """Where Java has a compiler, and no socket is between."""
        return self.via == "call" and compiled("Steps") is not None

    def play_whole(self, suite: Suite, rows: Sequence[Row], reached: Callable[[int], None]) -> list[Result]:
        """Do the steps of the case that began last in one call of Java."""
        steps, remoting = self._steps, self._remoting
        assert steps is not None
        assert remoting is not None
        exchange = remoting.exchange
        assert exchange is not None

        def reach_and_exchange(*request: Any) -> Answered:
            reached(steps.position)
            return exchange(*request)

        remoting.exchange = reach_and_exchange
        try:
            return steps.all(rows, lambda row: self._calls_of(suite.for_implementation(row)))
        finally:
            remoting.exchange = exchange

    def _calls_of(self, operation: Operation) -> Calls:
        return self._operations()[type(operation)](self, *operation.args)

    def _operations(self) -> dict[type[Operation], MakeCalls]:
        return {
            **self.starts,
            operations.Update: JavaStart.update,
            operations.Remove: JavaStart.remove,
            operations.Read: JavaStart.read,
        }
