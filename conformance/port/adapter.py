"""The adapter of the bundled port: its parts, and which suite each of them plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import AdapterError, Case, Hello
from rocketmq_conformance.conformance.port.allocation import Allocator
from rocketmq_conformance.conformance.port.local_store import LocalOffsetStore
from rocketmq_conformance.conformance.port.remote_store import RemoteOffsetStore
from rocketmq_conformance.conformance.port.start import StartPosition
from rocketmq_conformance.conformance.port.transport import Calls, Sockets, Transport
from rocketmq_conformance.models.outcome import Outcome, Result, Unsupported, outcome_of
from rocketmq_conformance.suites.operation import Operation
from rocketmq_conformance.suites.suite import Suite

#: The part that plays each suite.
PARTS: dict[str, str] = {
    "allocation": "allocator",
    "remote-store": "remote_store",
    "local-store": "local_store",
    "start-push": "start",
    "start-lite-pull": "start",
    "start-pull": "start",
}
#: The classes of the port.
CLASSES: dict[str, type] = {
    "allocator": Allocator,
    "remote_store": RemoteOffsetStore,
    "local_store": LocalOffsetStore,
    "start": StartPosition,
}


class Port:
    """The bundled Python port; ``parts`` replaces some of its classes (mutants do)."""

    def __init__(self, parts: dict[str, type] | None = None, via: str = "call", name: str = "port") -> None:
        self.classes = {**CLASSES, **(parts or {})}
        self.via = via
        self.name = name
        self._transport: Transport | None = None
        self._part: Any = None
        self._calls: dict[str, Callable[..., Result]] = {}

    def hello(self) -> Hello:
        """A consumer client: it has no broker half."""
        return Hello(self.name, __version__, sides=("pure", "client"))

    def reset(self, case: Case) -> None:
        """A new part for a new case; connections stay."""
        part = PARTS.get(case.suite.name)
        if part is None:
            self._calls = {}
            return
        made = self.classes[part]
        if part == "allocator":
            self._part = self._part if type(self._part) is made else made()
        elif part == "local_store":
            self._part = made(case.directory, case.group)
        else:
            self._part = made(self._connected(case))
        self._calls = self._part.calls(case.suite.name) if part == "start" else self._part.calls()

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        call = self._calls.get(operation.form.name)
        if call is None:
            return Unsupported(f"the port has no {operation.form.name}")
        return outcome_of(call(*operation.args))

    def calls(self, suite: Suite) -> Sequence[Callable[..., Result]] | None:
        """One callable per operation, for the case of the last reset."""
        if suite.name not in PARTS:
            return None
        if self.via != "call":
            return None

        def named(name: str) -> Callable[..., Result]:
            return lambda *args: self._calls[name](*args)

        return [named(op.form.name) for op in suite.operations]

    def close(self) -> None:
        """Close connections."""
        if self._transport:
            self._transport.close()

    def _connected(self, case: Case) -> Transport:
        if self._transport is None:
            if self.via not in ("call", "tcp"):
                raise AdapterError(f"The port cannot talk via {self.via!r}: use call or tcp.")
            self._transport = Calls(case.exchange) if self.via == "call" else Sockets(case.name_server())
        return self._transport
