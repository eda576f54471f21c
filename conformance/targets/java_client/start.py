"""A real consumer's start positions: the base of the parts of ``start-push``, ``-lite-pull`` and ``-pull``.

Start positions are computed by the release's own rebalance implementation, of a consumer that was not started.
"""

from __future__ import annotations

from typing import Any, ClassVar

import jpype

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.consumer import JavaConsumer, failed, returning_errors
from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.fixtures import GROUP
from rocketmq_conformance.models.client.start import TIMESTAMP
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.values import start as operations

#: Stands for a position when Java raised an exception (``StartPositions.java``).
_RAISED = -(2**63)


class JavaStart(JavaConsumer):
    """A consumer of one kind, and its offset store."""

    #: The class of the consumer, and the field of its implementation.
    consumer_class: ClassVar[str]
    implementation: ClassVar[str]
    #: The time zone of the Java machine, which all consumers share; "" until one was set.
    zone: ClassVar[str] = ""

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
        #: Computes positions; None where Java has no compiler.
        self._positions: Any = None
        #: Its methods, bound once: that takes as long as many a call.
        self._position: Any = None
        self._position_from: Any = None

    def open_store(self, group: str) -> None:
        """An empty offset store of a group, which the consumer uses from now on."""
        super().open_store(group)
        if self._consumer is None:
            self._make_consumer()
        self.release.put(self._inside, "offsetStore", self.store)

    def _make_consumer(self) -> None:
        self._consumer = self.release.load(self.consumer_class)(GROUP)
        self._inside = self.release.get(self._consumer, self.implementation)
        self._rebalance = self.release.get(self._inside, "rebalanceImpl")
        self._rebalance.setmQClientFactory(self.factory)
        self._rebalance.setConsumerGroup(GROUP)
        self.release.put(self._inside, "mQClientFactory", self.factory)
        self._sets_where = hasattr(self._consumer, "setConsumeFromWhere")
        java = compiled("StartPositions")
        if java is not None:
            kinds = [failure.class_ for failure in self.failures]
            self._positions = java(self._consumer, self._rebalance, kinds, kinds[0])
            self._position, self._position_from = self._positions.position, self._positions.positionFrom

    def compute(self, queue: int, where: str, timestamp: str | None, zone: str, checked: bool) -> Result:
        """``computePullFromWhere``, or its variant that raises errors when it is ``checked``."""
        if JavaStart.zone != zone:
            self._time_zone.setDefault(self._time_zone.getTimeZone(zone))
            JavaStart.zone = zone
        timed = where == TIMESTAMP
        if self._positions is None:
            return self._computed(queue, where, timed, timestamp, checked)
        if self._sets_where:
            found = int(self._position_from(checked, self.queues[queue], self._where[where], timed, timestamp))
        else:
            found = int(self._position(checked, self.queues[queue]))
        if found < 0:
            self.settle()  # the connection may have been cut
            if found == _RAISED:
                kind, code, detail = str(self._positions.raised()).split(" ", 2)
                return failed(int(kind), int(code), detail)
        return found

    @returning_errors
    def _computed(self, queue: int, where: str, timed: bool, timestamp: str | None, checked: bool) -> Result:
        """The same, call by call."""
        if self._sets_where:
            self._consumer.setConsumeFromWhere(self._where[where])
            if timed:
                self._consumer.setConsumeTimestamp(timestamp)
        compute = self._rebalance.computePullFromWhereWithException if checked else self._rebalance.computePullFromWhere
        return int(compute(self.queues[queue]))

    def start(self, queue: int, where: str) -> Result:
        """The start offset."""
        return self.compute(queue, where, None, "UTC", False)

    def start_checked(self, queue: int, where: str) -> Result:
        """The same, with failures as errors."""
        return self.compute(queue, where, None, "UTC", True)

    def start_at_time(self, queue: int, timestamp: str | None, zone: str) -> Result:
        """The start offset by time."""
        return self.compute(queue, TIMESTAMP, timestamp, zone, False)

    def start_at_time_checked(self, queue: int, timestamp: str | None, zone: str) -> Result:
        """The same, with failures as errors."""
        return self.compute(queue, TIMESTAMP, timestamp, zone, True)

    def around(self) -> Methods:
        """The method that does each operation besides starting, by its class."""
        return {operations.Update: self.update, operations.Remove: self.remove, operations.Read: self.read}
