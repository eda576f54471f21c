"""The adapter of the bundled port; finds the part that plays a suite by the suite's name."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import REAL, AdapterError, Case, Hello, Methods
from rocketmq_conformance.conformance.engine.scaled_clock import ScaledClock
from rocketmq_conformance.conformance.targets import port
from rocketmq_conformance.conformance.targets.discovery import not_played, part_of
from rocketmq_conformance.conformance.targets.port.part import Part
from rocketmq_conformance.conformance.targets.port.transport import Calls, Sockets, Transport
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.outcome import Outcome, Unsupported, outcome_of
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: The sides that it has: it is a consumer client.
SIDES = ("pure", "client", "whole", "grpc")
#: Ways to talk to a broker.
WAYS: dict[str, type[Transport]] = {"call": Calls, "tcp": Sockets}


class Port:
    """The bundled Python port; ``parts`` replaces the class that plays a suite, by the suite's name (mutants do)."""

    def __init__(
        self,
        parts: Mapping[str, type[Part]] | None = None,
        via: str = "call",
        name: str = "port",
        pace: float | None = None,
        clock: SteadyClock = time,
    ) -> None:
        self.via = via
        self.name = name
        self._changed = parts or {}
        #: Its clock, when that is a real one.
        self._clock = None if pace is None else ScaledClock(pace, clock)
        self._transport: Transport | None = None
        #: The part that plays each suite, and its methods; None for suites that the port does not have.
        self._parts: dict[str, tuple[Part, Methods] | None] = {}
        #: The operations of the current case.
        self._methods: Methods = {}
        #: The operation that lets time pass.
        self._tick: type[Operation] | None = None

    def hello(self) -> Hello:
        """A consumer client: it has no broker side."""
        unsupported = not_played(port.__name__, self.name, SIDES)
        if self._clock:
            return Hello(
                self.name,
                __version__,
                unsupported=unsupported,
                sides=SIDES,
                quirks=True,
                clock=REAL,
                pace=self._clock.pace,
            )
        return Hello(self.name, __version__, unsupported=unsupported, sides=SIDES, quirks=True)

    def reset(self, case: Case) -> None:
        """Forget everything; connections stay."""
        found = self._played(case.suite)
        self._methods = {}
        if found:
            part, self._methods = found
            part.begin_case(case)
        if self._clock:
            self._tick = None if case.suite.clock is None else case.suite.operations[case.suite.clock]
            self._clock.begin()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        method = self._methods.get(type(operation))
        if method is None:
            return Unsupported(f"the port has no {operation.spec.name}")
        if self._clock and self._tick:
            # It looks at its clock as an event loop does before every turn, and does what is due by now.
            passed = self._methods[self._tick](self._clock.passed())
            if type(operation) is self._tick:
                return outcome_of(passed)
        return outcome_of(method(*operation.args))

    def pass_time(self, millis: int) -> Outcome:
        """Advance the clock, and run the timers that are due."""
        for operation, method in self._methods.items():
            if operation.spec.duration:
                return outcome_of(method(millis))
        return Unsupported("the port knows no time in this suite")

    def calls(self, suite: Suite) -> Methods | None:
        """The method that does each operation, for the case of the last reset."""
        found = self._played(suite) if self.via == "call" else None
        return found and found[1]

    def close(self) -> None:
        """Close connections."""
        if self._transport:
            self._transport.close()

    def _played(self, suite: Suite) -> tuple[Part, Methods] | None:
        """The part that plays a suite; it lives as long as the port."""
        if suite.name not in self._parts:
            kind: type[Part] | None = self._changed.get(suite.name) or part_of(port.__name__, suite.family)
            # a part that plays on the ordinary topology alone takes none
            more = () if suite.topology is ORDINARY else (suite.topology,)
            part = kind(self._talks(), *more) if kind else None
            self._parts[suite.name] = (part, part.calls()) if part else None
        return self._parts[suite.name]

    def _talks(self) -> Transport:
        if self._transport is None:
            if self.via not in WAYS:
                raise AdapterError(f"The port cannot talk via {self.via!r}: use call or tcp.")
            self._transport = WAYS[self.via]()
        return self._transport
