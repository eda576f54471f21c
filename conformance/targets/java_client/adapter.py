"""The adapter of the real Java client: one release, its own classes, no threads of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from rocketmq_conformance.conformance.adapter import REAL, Case, Hello, Methods
from rocketmq_conformance.conformance.engine.scaled_clock import PacedClock
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.release import java_release
from rocketmq_conformance.models.outcome import Outcome, Result, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.allocation import SUITE
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.allocation import JavaAllocation
    from rocketmq_conformance.conformance.targets.java_client.consume import JavaConsumption
    from rocketmq_conformance.conformance.targets.java_client.consumer import JavaConsumer
    from rocketmq_conformance.conformance.targets.java_client.local_store import JavaLocalStore

#: First release with a lite pull consumer (S29).
_LITE_PULL = Release(4, 6, 0)
#: First release that gives up at once when a connection is cut under a waiting request.
_FAILS_FAST = Release(5, 1, 3)
#: Who plays a suite that is stepped by hand: the module, and the class. Modules are imported when they are needed: only
#: then must there be Java.
_STEPPED = {
    "rebalance": ("rebalance", "JavaGroup"),
    "rebalance-orderly": ("orderly", "JavaOrderlyGroup"),
    "rebalance-pull": ("lite", "JavaLiteGroup"),
    "rebalance-broker": ("assigned", "JavaAssignedGroup"),
    "rebalance-changed": ("changed", "JavaChangedGroup"),
    "rebalance-service": ("service", "JavaService"),
    "rebalance-plain": ("plain", "JavaPlainGroup"),
    "pull": ("pull", "JavaPulls"),
}
#: Suites of listeners.
_LISTENING = ("consume", "consume-orderly")


class Stepped(Protocol):
    """Plays a suite that is stepped by hand."""

    def begin(self, case: Case) -> None:
        """Begin a case."""
        ...

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name, for all cases."""
        ...

    def close(self) -> None:
        """Let threads end."""
        ...


class JavaClient:
    """Drives the classes of one client release."""

    def __init__(self, version: str, via: str = "call", pace: float | None = None) -> None:
        """ValueError when the version or the pace is none; CannotRunError when it cannot be loaded here.

        With a ``pace`` its clock is the machine's, and its timers are so many times faster than standard.
        """
        Release.parse(version)
        self.version = version
        self.via = via
        self.release = java_release(version, pace)
        #: By which the adapter does what timers of the client would do.
        self._clock = None if pace is None else PacedClock(pace)
        self._long_waits = {"silent"} if self.release.release >= _FAILS_FAST else {"silent", "cut"}
        self._allocation: JavaAllocation | None = None
        self._consumer: JavaConsumer | None = None
        self._local: JavaLocalStore | None = None
        #: Who plays suites that are stepped by hand, and how, by suite.
        self._stepped: dict[str, tuple[Stepped, dict[str, Callable[..., Result]]]] = {}
        #: Consumers with a listener, by suite.
        self._listening: dict[str, JavaConsumption] = {}
        self._calls: dict[str, Callable[..., Result]] = {}
        #: The operation that lets time pass.
        self._tick = ""

    def hello(self) -> Hello:
        """A client of this release."""
        unsupported = {}
        if self.release.release < _LITE_PULL:
            for name in ("start-lite-pull", "rebalance-pull"):
                unsupported[name] = f"client {self.version} has no lite pull consumer"
        if self.via == "tcp":
            for name in _STEPPED:
                unsupported[name] = "a rebalance is stepped by hand, without sockets: judge it without via=tcp"
            unsupported["pull"] = "pulls are stepped by hand, without sockets: judge them without via=tcp"
            for suite in _LISTENING:
                unsupported[suite] = "consumption is stepped by hand, without sockets: judge it without via=tcp"
        name = "java-client" if self.via == "call" else "java-client via tcp"
        said = Hello(name, self.version, client=self.version, unsupported=unsupported, sides=("pure", "client"))
        return replace(said, clock=REAL, pace=self._clock.pace) if self._clock else said

    def reset(self, case: Case) -> None:
        """Begin a case on the part that plays the suite."""
        at = case.suite.clock
        self._tick = "" if at is None else case.suite.operations[at].spec.name
        match case.suite.name:
            case "allocation":
                self._calls = self._allocation_calls()
            case "local-store":
                self._calls = self._local_calls(case)
            case name if name in _LISTENING:
                self._calls = self._listener_calls(case)
            case name if name in _STEPPED:
                self._calls = self._stepped_calls(case)
            case _:
                self._calls = self._consumer_calls(case)
        if self._clock:
            self._clock.begin()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        call = self._calls.get(operation.spec.name)
        if call is None:
            return Unsupported(f"client {self.version} has no {operation.spec.name}")
        if self._clock and self._tick:
            passed = self._calls[self._tick](self._clock.passed())  # what timers would have done by now is done
            if operation.spec.duration:
                return outcome_of(passed)
        return outcome_of(call(*operation.args))

    def pass_time(self, millis: int) -> Outcome:
        """Turn the clock, and do what timers would do then."""
        return outcome_of(self._calls[self._tick](millis))

    def refuses_fault(self, fault: str) -> str:
        """Over sockets the client waits long for an answer that never comes."""
        if self.via != "tcp" or fault not in self._long_waits:
            return ""
        faults = " or ".join(sorted(self._long_waits))
        return f"the client waits 5 s when the broker plays {faults}: judge that without via=tcp"

    def calls(self, suite: Suite) -> Methods | None:
        """The method that does each operation, for the case of the last reset."""
        if self.via != "call":
            return None

        def named(name: str) -> Callable[..., Result]:
            return lambda *args: self._calls[name](*args)

        return {operation: named(operation.spec.name) for operation in suite.operations}

    def close(self) -> None:
        """Close connections, and let services end; the machine itself ends with the process."""
        if self._consumer is not None:
            self._consumer.close()
        for part, _ in self._stepped.values():
            part.close()

    def strategies(self) -> Methods:
        """The method that does each operation of the allocation suite that the release has."""
        calls = self._allocation_calls()
        return {operation: calls[operation.spec.name] for operation in SUITE.operations if operation.spec.name in calls}

    def _allocation_calls(self) -> dict[str, Callable[..., Result]]:
        if self._allocation is None:
            from rocketmq_conformance.conformance.targets.java_client.allocation import JavaAllocation

            self._allocation = JavaAllocation(self.release)
            self._strategies = self._allocation.calls()
        return self._strategies

    def _consumer_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._consumer is None:
            from rocketmq_conformance.conformance.targets.java_client.consumer import JavaConsumer

            self._consumer = JavaConsumer(self.release, self.via)
            self._operations = self._consumer.calls()
        self._consumer.begin(case)
        return self._operations

    def _local_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._local is None:
            from rocketmq_conformance.conformance.targets.java_client.local_store import JavaLocalStore

            self._local = JavaLocalStore(self.release, jvm.folder() / "offsets")
        self._local.begin()
        return self._local.calls()

    def _listener_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        name = case.suite.name
        if name not in self._listening:
            from rocketmq_conformance.conformance.targets.java_client.consume import JavaConcurrently
            from rocketmq_conformance.conformance.targets.java_client.consume_orderly import JavaOrderly

            made = JavaConcurrently if name == "consume" else JavaOrderly
            self._listening[name] = made(self.release)
        self._listening[name].start(case)
        return self._listening[name].calls()

    def _stepped_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        name = case.suite.name
        if name not in self._stepped:
            module, kind = _STEPPED[name]
            made: Stepped = getattr(import_module(f"{__package__}.{module}"), kind)(self.release)
            self._stepped[name] = made, made.calls()
        part, calls = self._stepped[name]
        part.begin(case)
        return calls
