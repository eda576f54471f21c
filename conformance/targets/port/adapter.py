"""The adapter of the bundled port: its parts, and which suite each of them plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import REAL, AdapterError, Case, Hello
from rocketmq_conformance.conformance.engine.scaled_clock import PacedClock
from rocketmq_conformance.conformance.targets.port.allocation import Allocator
from rocketmq_conformance.conformance.targets.port.consume import Concurrently
from rocketmq_conformance.conformance.targets.port.consume_orderly import Orderly
from rocketmq_conformance.conformance.targets.port.local_store import LocalOffsetStore
from rocketmq_conformance.conformance.targets.port.pull import Puller
from rocketmq_conformance.conformance.targets.port.rebalance import Rebalancer
from rocketmq_conformance.conformance.targets.port.rebalance_broker import AssignedRebalancer
from rocketmq_conformance.conformance.targets.port.rebalance_changed import ChangedRebalancer
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyRebalancer
from rocketmq_conformance.conformance.targets.port.rebalance_plain import PlainRebalancer
from rocketmq_conformance.conformance.targets.port.rebalance_pull import LiteRebalancer
from rocketmq_conformance.conformance.targets.port.rebalance_service import RoundTimer
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteOffsetStore
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import Calls, Sockets, Transport
from rocketmq_conformance.models.outcome import Outcome, Result, Unsupported, outcome_of
from rocketmq_conformance.suites.declare.measured_time import TICK
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

#: The part that plays each suite.
PARTS: dict[str, str] = {
    "allocation": "allocator",
    "remote-store": "remote_store",
    "local-store": "local_store",
    "start-push": "start",
    "start-lite-pull": "start",
    "start-pull": "start",
    "rebalance": "rebalancer",
    "pull": "puller",
    "consume": "listener",
    "consume-orderly": "orderly_listener",
    "rebalance-orderly": "orderly_rebalancer",
    "rebalance-pull": "lite_rebalancer",
    "rebalance-broker": "assigned_rebalancer",
    "rebalance-changed": "changed_rebalancer",
    "rebalance-service": "round_timer",
    "rebalance-plain": "plain_rebalancer",
}
#: The classes of the port.
CLASSES: dict[str, type] = {
    "allocator": Allocator,
    "remote_store": RemoteOffsetStore,
    "local_store": LocalOffsetStore,
    "start": StartPosition,
    "rebalancer": Rebalancer,
    "puller": Puller,
    "listener": Concurrently,
    "orderly_listener": Orderly,
    "orderly_rebalancer": OrderlyRebalancer,
    "lite_rebalancer": LiteRebalancer,
    "assigned_rebalancer": AssignedRebalancer,
    "changed_rebalancer": ChangedRebalancer,
    "round_timer": RoundTimer,
    "plain_rebalancer": PlainRebalancer,
}


#: Ways to talk to a broker.
WAYS: dict[str, type[Transport]] = {"call": Calls, "tcp": Sockets}

Played = dict[str, Callable[..., Result]]


class Port:
    """The bundled Python port; ``parts`` replaces some of its classes (mutants do)."""

    def __init__(
        self, parts: dict[str, type] | None = None, via: str = "call", name: str = "port", pace: float | None = None
    ) -> None:
        self.classes = {**CLASSES, **(parts or {})}
        self.via = via
        self.name = name
        #: Its clock, when that is a real one.
        self._clock = None if pace is None else PacedClock(pace)
        self._transport: Transport | None = None
        self._parts: dict[str, Any] = {}
        #: Operations by suite and name.
        self._played: dict[str, Played] = {}
        self._suite = ""

    def hello(self) -> Hello:
        """A consumer client: it has no broker half."""
        if self._clock:
            return Hello(self.name, __version__, sides=("pure", "client"), clock=REAL, pace=self._clock.pace)
        return Hello(self.name, __version__, sides=("pure", "client"))

    def reset(self, case: Case) -> None:
        """Forget everything; connections stay."""
        self._suite = case.suite.name
        part = PARTS.get(self._suite)
        if part == "local_store":
            self._played[self._suite] = self.classes[part](case.directory, case.group).calls()
        elif part == "allocator":
            self._plays(self._suite)
        elif part:
            self._talks().begin(case)
            self._plays(self._suite)
            self._parts[part].forget()
            if self._clock:
                self._clock.begin()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        call = self._played.get(self._suite, {}).get(operation.spec.name)
        if call is None:
            return Unsupported(f"the port has no {operation.spec.name}")
        if self._clock and TICK in self._played[self._suite]:
            # It looks at its clock as an event loop does before every turn, and does what is due by now.
            passed = self._played[self._suite][TICK](self._clock.passed())
            if operation.spec.name == TICK:
                return outcome_of(passed)
        return outcome_of(call(*operation.args))

    def calls(self, suite: Suite) -> Sequence[Callable[..., Result]] | None:
        """One callable per operation, for the case of the last reset."""
        part = PARTS.get(suite.name)
        if part is None or self.via != "call":
            return None
        names = [op.spec.name for op in suite.operations]
        if part == "local_store":  # every case has a store of its own
            return [lambda *args, name=name: self._played[suite.name][name](*args) for name in names]
        played = self._plays(suite.name)
        return [played.get(name, _left_to_the_world) for name in names]

    def close(self) -> None:
        """Close connections."""
        if self._transport:
            self._transport.close()

    def _plays(self, suite: str) -> Played:
        """The operations of a part that lives as long as the port."""
        if suite not in self._played:
            part = PARTS[suite]
            if part not in self._parts:
                made = self.classes[part]
                self._parts[part] = made() if part == "allocator" else made(self._talks())
            made = self._parts[part]
            self._played[suite] = made.calls(suite) if part == "start" else made.calls()
        return self._played[suite]

    def _talks(self) -> Transport:
        if self._transport is None:
            if self.via not in WAYS:
                raise AdapterError(f"The port cannot talk via {self.via!r}: use call or tcp.")
            self._transport = WAYS[self.via]()
        return self._transport


def _left_to_the_world(*args: Any) -> Result:
    raise AdapterError("The port was asked for an operation that it does not have: leave it to the scripted broker.")
