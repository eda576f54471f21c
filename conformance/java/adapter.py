"""The adapter of the real Java client: one release, its own classes, no threads of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import REAL, Case, Hello
from rocketmq_conformance.conformance.java import jvm
from rocketmq_conformance.conformance.java.release import java_release
from rocketmq_conformance.conformance.paced import PacedClock
from rocketmq_conformance.models.outcome import Outcome, Result, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.elapsed import TICK
from rocketmq_conformance.suites.operation import Operation
from rocketmq_conformance.suites.suite import Suite

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.java.allocation import JavaAllocation
    from rocketmq_conformance.conformance.java.assigned import JavaAssignedGroup
    from rocketmq_conformance.conformance.java.changed import JavaChangedGroup
    from rocketmq_conformance.conformance.java.consume import JavaConsumption
    from rocketmq_conformance.conformance.java.consumer import JavaConsumer
    from rocketmq_conformance.conformance.java.lite import JavaLiteGroup
    from rocketmq_conformance.conformance.java.local_store import JavaLocalStore
    from rocketmq_conformance.conformance.java.orderly import JavaOrderlyGroup
    from rocketmq_conformance.conformance.java.plain import JavaPlainGroup
    from rocketmq_conformance.conformance.java.pull import JavaPulls
    from rocketmq_conformance.conformance.java.rebalance import JavaGroup
    from rocketmq_conformance.conformance.java.service import JavaService

#: First release with a lite pull consumer (S29).
_LITE_PULL = Release(4, 6, 0)
#: First release that gives up at once when a connection is cut under a waiting request.
_FAILS_FAST = Release(5, 1, 3)
#: Suites of groups.
_STEPPED_GROUPS = (
    "rebalance", "rebalance-orderly", "rebalance-pull", "rebalance-broker", "rebalance-changed", "rebalance-service",
    "rebalance-plain",
)  # fmt: skip
#: Suites of listeners.
_LISTENING = ("consume", "consume-orderly")


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
        self._group: JavaGroup | None = None
        self._pulls: JavaPulls | None = None
        #: Consumers with a listener, by suite.
        self._listening: dict[str, JavaConsumption] = {}
        self._orderly: JavaOrderlyGroup | None = None
        self._lite: JavaLiteGroup | None = None
        self._assigned: JavaAssignedGroup | None = None
        self._changed: JavaChangedGroup | None = None
        self._service: JavaService | None = None
        self._plain: JavaPlainGroup | None = None
        self._calls: dict[str, Callable[..., Result]] = {}

    def hello(self) -> Hello:
        """A client of this release."""
        unsupported = {}
        if self.release.release < _LITE_PULL:
            for name in ("start-lite-pull", "rebalance-pull"):
                unsupported[name] = f"client {self.version} has no lite pull consumer"
        if self.via == "tcp":
            for name in _STEPPED_GROUPS:
                unsupported[name] = "a rebalance is stepped by hand, without sockets: judge it without via=tcp"
            unsupported["pull"] = "pulls are stepped by hand, without sockets: judge them without via=tcp"
            for suite in _LISTENING:
                unsupported[suite] = "consumption is stepped by hand, without sockets: judge it without via=tcp"
        name = "java-client" if self.via == "call" else "java-client via tcp"
        said = Hello(name, self.version, client=self.version, unsupported=unsupported, sides=("pure", "client"))
        return replace(said, clock=REAL, pace=self._clock.pace) if self._clock else said

    def reset(self, case: Case) -> None:
        """Begin a case on the part that plays the suite."""
        match case.suite.name:
            case "allocation":
                self._calls = self._allocation_calls()
            case "local-store":
                self._calls = self._local_calls(case)
            case "rebalance":
                self._calls = self._group_calls(case)
            case "pull":
                self._calls = self._pull_calls(case)
            case name if name in _LISTENING:
                self._calls = self._listener_calls(case)
            case "rebalance-orderly":
                self._calls = self._orderly_calls(case)
            case "rebalance-pull":
                self._calls = self._lite_calls(case)
            case "rebalance-broker":
                self._calls = self._assigned_calls(case)
            case "rebalance-changed":
                self._calls = self._changed_calls(case)
            case "rebalance-service":
                self._calls = self._service_calls(case)
            case "rebalance-plain":
                self._calls = self._plain_calls(case)
            case _:
                self._calls = self._consumer_calls(case)
        if self._clock:
            self._clock.begin()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        if self.via == "tcp" and not self._long_waits.isdisjoint(operation.args):
            faults = " or ".join(sorted(self._long_waits))
            return Unsupported(f"the client waits 5 s when the broker plays {faults}: judge that without via=tcp")
        call = self._calls.get(operation.form.name)
        if call is None:
            return Unsupported(f"client {self.version} has no {operation.form.name}")
        if self._clock and TICK in self._calls:
            passed = self._calls[TICK](self._clock.passed())  # what timers would have done by now is done
            if operation.form.name == TICK:
                return outcome_of(passed)
        return outcome_of(call(*operation.args))

    def calls(self, suite: Suite) -> Sequence[Callable[..., Result]] | None:
        """One callable per operation, for the case of the last reset."""
        if self.via != "call":
            return None

        def named(name: str) -> Callable[..., Result]:
            return lambda *args: self._calls[name](*args)

        return [named(op.form.name) for op in suite.operations]

    def close(self) -> None:
        """Close connections, and let services end; the machine itself ends with the process."""
        if self._consumer is not None:
            self._consumer.close()
        if self._service is not None:
            self._service.close()

    def strategies(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation of the allocation suite that the release has, by name."""
        return self._allocation_calls()

    def _allocation_calls(self) -> dict[str, Callable[..., Result]]:
        if self._allocation is None:
            from rocketmq_conformance.conformance.java.allocation import JavaAllocation

            self._allocation = JavaAllocation(self.release)
            self._strategies = self._allocation.calls()
        return self._strategies

    def _consumer_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._consumer is None:
            from rocketmq_conformance.conformance.java.consumer import JavaConsumer

            self._consumer = JavaConsumer(self.release, self.via)
            self._operations = self._consumer.calls()
        self._consumer.begin(case)
        return self._operations

    def _local_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._local is None:
            from rocketmq_conformance.conformance.java.local_store import JavaLocalStore

            self._local = JavaLocalStore(self.release, jvm.folder() / "offsets")
        self._local.begin()
        return self._local.calls()

    def _listener_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        name = case.suite.name
        if name not in self._listening:
            from rocketmq_conformance.conformance.java.consume import JavaConcurrently
            from rocketmq_conformance.conformance.java.consume_orderly import JavaOrderly

            made = JavaConcurrently if name == "consume" else JavaOrderly
            self._listening[name] = made(self.release)
        self._listening[name].start(case)
        return self._listening[name].calls()

    def _group_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._group is None:
            from rocketmq_conformance.conformance.java.rebalance import JavaGroup

            self._group = JavaGroup(self.release)
            self._turns = self._group.calls()
        self._group.begin(case)
        return self._turns

    def _pull_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._pulls is None:
            from rocketmq_conformance.conformance.java.pull import JavaPulls

            self._pulls = JavaPulls(self.release)
            self._loop = self._pulls.calls()
        self._pulls.begin(case)
        return self._loop

    def _orderly_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._orderly is None:
            from rocketmq_conformance.conformance.java.orderly import JavaOrderlyGroup

            self._orderly = JavaOrderlyGroup(self.release)
            self._ordered = self._orderly.calls()
        self._orderly.begin(case)
        return self._ordered

    def _lite_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._lite is None:
            from rocketmq_conformance.conformance.java.lite import JavaLiteGroup

            self._lite = JavaLiteGroup(self.release)
            self._lites = self._lite.calls()
        self._lite.begin(case)
        return self._lites

    def _assigned_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._assigned is None:
            from rocketmq_conformance.conformance.java.assigned import JavaAssignedGroup

            self._assigned = JavaAssignedGroup(self.release)
            self._by_broker = self._assigned.calls()
        self._assigned.begin(case)
        return self._by_broker

    def _changed_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._changed is None:
            from rocketmq_conformance.conformance.java.changed import JavaChangedGroup

            self._changed = JavaChangedGroup(self.release)
            self._telling = self._changed.calls()
        self._changed.begin(case)
        return self._telling

    def _service_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._service is None:
            from rocketmq_conformance.conformance.java.service import JavaService

            self._service = JavaService(self.version)
            self._timed = self._service.calls()
        self._service.begin(case)
        return self._timed

    def _plain_calls(self, case: Case) -> dict[str, Callable[..., Result]]:
        if self._plain is None:
            from rocketmq_conformance.conformance.java.plain import JavaPlainGroup

            self._plain = JavaPlainGroup(self.release)
            self._plainly = self._plain.calls()
        self._plain.begin(case)
        return self._plainly
