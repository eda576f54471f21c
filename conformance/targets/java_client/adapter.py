"""The adapter of the real Java client: drives the classes of one release in this process, without client threads.

The part of each suite is in the module that bears the suite's name, and is made when the suite is played first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rocketmq_conformance.conformance.adapter import REAL, AdapterError, Case, Hello, Methods
from rocketmq_conformance.conformance.engine.scaled_clock import ScaledClock
from rocketmq_conformance.conformance.targets.discovery import not_played, part_of
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.release import java_release, published_version
from rocketmq_conformance.conformance.targets.maven import is_snapshot
from rocketmq_conformance.models.outcome import Answer, Ok, Outcome, Result, Unsupported, outcome_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY

_SIDES = (Side.PURE.value, Side.CLIENT.value)
#: First release that gives up at once when a connection is cut under a waiting request.
_FAILS_FAST = Release(5, 1, 3)


class JavaClient:
    """Drives the classes of one client release."""

    def __init__(
        self, version: str, via: str = "call", pace: float | None = None, before: tuple[Path, ...] = ()
    ) -> None:
        """ValueError when the version or the pace is none; CannotRunError when it cannot be loaded here.

        Classes in the folders and jars ``before`` are loaded instead of the release's own: those of a build.
        With a ``pace`` its clock is the machine's, and its timers are so many times faster than standard.
        """
        self.version = published_version(version)
        self.via = via
        self._before = before
        self.release = java_release(self.version, pace, before)
        #: The clock by which the adapter runs the client's timers.
        self._clock = None if pace is None else ScaledClock(pace)
        self._long_waits = {"silent"} if self.release.release >= _FAILS_FAST else {"silent", "cut"}
        #: Parts made so far, and their methods, by suite.
        self._parts: dict[str, tuple[Part, Methods]] = {}
        #: The methods of the current part, and the operation that lets time pass.
        self._methods: Methods = {}
        self._tick: Callable[..., Result] | None = None

    def hello(self) -> Hello:
        """A client of this release."""
        unsupported = not_played(__package__, "java-client", _SIDES)
        for name in SUITES:
            part = _part(SUITES[name].family)
            if part is not None and (reason := self._refuses(part)):
                unsupported[name] = reason
        name = "java-client" if self.via == "call" else "java-client via tcp"
        version = f"{self.version} with {', '.join(map(str, self._before))}" if self._before else self.version
        if is_snapshot(self.version):
            version = f"{version}, by the nearest published release {self.release.release}"
        client = str(self.release.release) if is_snapshot(self.version) else self.version
        hello = Hello(name, version, client=client, unsupported=unsupported, sides=_SIDES, quirks=True)
        return replace(hello, clock=REAL, pace=self._clock.pace) if self._clock else hello

    def _refuses(self, part: type[Part]) -> str:
        """Why a part cannot play its suite, or ""."""
        if self.release.release < part.since:
            return f"client {self.version} has no {part.lacking}"
        if self.via == "tcp" and not part.over_sockets:
            return "it is stepped by hand, without sockets: judge it without via=tcp"
        return ""

    def reset(self, case: Case) -> None:
        """Begin a case on the part that plays the suite."""
        suite = case.suite
        part, self._methods = self._played(suite)
        self._tick = None if suite.clock is None else self._methods.get(suite.operations[suite.clock])
        part.begin(case)
        if self._clock:
            self._clock.begin()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        method = self._methods.get(type(operation))
        if method is None:
            return self._lacks(type(operation))
        if self._clock and self._tick:
            passed = self._tick(self._clock.passed())  # timers that are due run first
            if operation.spec.duration:
                return outcome_of(passed)
        return outcome_of(method(*operation.args))

    def pass_time(self, millis: int) -> Outcome:
        """Advance the clock, and run what timers would run then."""
        return Ok() if self._tick is None else outcome_of(self._tick(millis))

    def refuses_fault(self, fault: str) -> str:
        """Over sockets the client waits long for a response that never comes."""
        if self.via != "tcp" or fault not in self._long_waits:
            return ""
        faults = " or ".join(sorted(self._long_waits))
        return f"the client waits 5 s when the broker plays {faults}: judge that without via=tcp"

    def calls(self, suite: Suite) -> Methods | None:
        """The method that does each operation, for the case of the last reset."""
        return self._played(suite)[1] if self.via == "call" else None

    def plays_whole(self, suite: Suite) -> bool:
        """Are the steps of a case done in one call of Java?"""
        return self._played(suite)[0].plays_whole()

    def play_case(self, case: Case, rows: Sequence[Row], reached: Callable[[int], None]) -> Sequence[Answer]:
        """Begin a case and do its steps; those that the release does not have are unsupported."""
        self.reset(case)
        suite, (part, methods) = case.suite, self._played(case.suite)
        lacking = {at for at in {at for at, _ in rows} if suite.operations[at] not in methods}
        if not lacking:
            return part.play_whole(suite, rows, reached)
        places = [place for place, (at, _) in enumerate(rows) if at not in lacking]
        done = iter(part.play_whole(suite, [rows[place] for place in places], lambda at: reached(places[at])))
        return [self._lacks(suite.operations[at]) if at in lacking else next(done) for at, _ in rows]

    def close(self) -> None:
        """Close connections, and let services end; the Java machine itself ends with the process."""
        for part, _ in self._parts.values():
            part.close()

    def _lacks(self, operation: type[Operation]) -> Unsupported:
        return Unsupported(f"client {self.version} has no {operation.spec.name}")

    def _played(self, suite: Suite) -> tuple[Part, Methods]:
        if suite.name not in self._parts:
            made = _part(suite.family)
            if made is None:
                raise AdapterError(f"java-client does not play {suite.name}: judge another suite.")
            # a part that plays on the ordinary topology alone takes none
            more = () if suite.topology is ORDINARY else (suite.topology,)
            part = made(self.release, self.via, *more)
            self._parts[suite.name] = part, part.calls()
        return self._parts[suite.name]


def _part(suite: str) -> type[Part] | None:
    part: type[Part] | None = part_of(__package__, suite)
    return part
