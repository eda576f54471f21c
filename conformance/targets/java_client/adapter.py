"""The adapter of the real Java client: one release, its own classes, no threads of its own.

The part of each suite is in the module that bears the suite's name, and is made when the suite is played first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import REAL, AdapterError, Case, Hello
from rocketmq_conformance.conformance.engine.scaled_clock import PacedClock
from rocketmq_conformance.conformance.targets.discovery import part_of
from rocketmq_conformance.conformance.targets.java_client.part import Calls, Part
from rocketmq_conformance.conformance.targets.java_client.release import java_release
from rocketmq_conformance.models.outcome import Outcome, Result, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.measured_time import TICK
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Suite

_SIDES = (Side.PURE.value, Side.CLIENT.value)
#: First release that gives up at once when a connection is cut under a waiting request.
_FAILS_FAST = Release(5, 1, 3)


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
        #: Parts that were made, and what each of them plays, by suite.
        self._parts: dict[str, tuple[Part, Calls]] = {}
        #: The calls of the last reset's part, and the one that lets time pass.
        self._calls: Calls = {}
        self._tick: Callable[..., Result] | None = None

    def hello(self) -> Hello:
        """A client of this release."""
        reasons = {name: self._refuses(suite) for name, suite in SUITES.items() if suite.side.value in _SIDES}
        unsupported = {name: reason for name, reason in reasons.items() if reason}
        name = "java-client" if self.via == "call" else "java-client via tcp"
        hello = Hello(name, self.version, client=self.version, unsupported=unsupported, sides=_SIDES)
        return replace(hello, clock=REAL, pace=self._clock.pace) if self._clock else hello

    def _refuses(self, suite: Suite) -> str:
        """Why a suite cannot be played, or ""."""
        part = _part(suite)
        if part is None:
            return f"java-client has no part that plays {suite.name}"
        if self.release.release < part.since:
            return f"client {self.version} has no {part.lacking}"
        if self.via == "tcp" and not part.over_sockets:
            return "it is stepped by hand, without sockets: judge it without via=tcp"
        return ""

    def reset(self, case: Case) -> None:
        """Begin a case on the part that plays the suite."""
        part, self._calls = self._played(case.suite)
        self._tick = next((call for operation, call in self._calls.items() if operation.spec.name == TICK), None)
        part.begin(case)
        if self._clock:
            self._clock.begin()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        if self.via == "tcp" and not self._long_waits.isdisjoint(operation.args):
            faults = " or ".join(sorted(self._long_waits))
            return Unsupported(f"the client waits 5 s when the broker plays {faults}: judge that without via=tcp")
        call = self._calls.get(type(operation))
        if call is None:
            return Unsupported(f"client {self.version} has no {operation.spec.name}")
        if self._clock and self._tick:
            passed = self._tick(self._clock.passed())  # what timers would have done by now is done
            if call == self._tick:
                return outcome_of(passed)
        return outcome_of(call(*_without_faults(type(operation), operation.args)))

    def calls(self, suite: Suite) -> Sequence[Callable[..., Result]] | None:
        """One callable per operation, for the case of the last reset."""
        if self.via != "call":
            return None
        _, calls = self._played(suite)
        return [_dropping_faults(operation, calls) for operation in suite.operations]

    def close(self) -> None:
        """Close connections, and let services end; the Java machine itself ends with the process."""
        for part, _ in self._parts.values():
            part.close()

    def _played(self, suite: Suite) -> tuple[Part, Calls]:
        if suite.name not in self._parts:
            made = _part(suite)
            if made is None:
                raise AdapterError(f"java-client has no part that plays {suite.name}: judge another suite.")
            part = made(self.release, self.via)
            self._parts[suite.name] = part, part.calls()
        return self._parts[suite.name]


def _part(suite: Suite) -> type[Part] | None:
    part: type[Part] | None = part_of(__package__, suite.name)
    return part


def _without_faults(operation: type[Operation], args: tuple[object, ...]) -> list[object]:
    """Arguments without those that are for the scripted broker."""
    return [value for (name, _), value in zip(operation.spec.domains, args, strict=True) if not name.endswith("fault")]


def _dropping_faults(
    operation: type[Operation], calls: Mapping[type[Operation], Callable[..., Result]]
) -> Callable[..., Result]:
    call = calls.get(operation, _not_played)
    if not any(name.endswith("fault") for name, _ in operation.spec.domains):
        return call
    return lambda *args: call(*_without_faults(operation, args))


def _not_played(*args: object) -> Result:
    raise AdapterError("The Java client was asked for an operation that it does not have.")
