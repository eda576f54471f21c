"""The protocol of the port's parts: classes that play one suite, exported as ``PART`` by the module of its name."""

from __future__ import annotations

from typing import Protocol

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.client.topology import Topology


class Part(Protocol):
    """Plays the cases of one suite, one after the other."""

    def __init__(self, transport: Transport, *topology: Topology) -> None: ...

    def begin_case(self, case: Case) -> None:
        """Forget everything and begin a case."""
        ...

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class; for all cases."""
        ...
