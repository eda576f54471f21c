"""The adapter of gRPC consumer programs: plays several cases side by side, each with a fake proxy of its own."""

from __future__ import annotations

import threading
from contextlib import closing

from rocketmq_conformance.conformance.adapter import REAL, Hello
from rocketmq_conformance.conformance.startup import phase
from rocketmq_conformance.conformance.targets.address_kinds import LANES
from rocketmq_conformance.conformance.targets.client_program.program import Introduced
from rocketmq_conformance.conformance.targets.client_program.program_cases import BEGINNING, PATIENCE, ProgramCases
from rocketmq_conformance.conformance.targets.client_program.required_consumers import LISTEN
from rocketmq_conformance.conformance.targets.grpc_program.played_proxy import PlayedProxy
from rocketmq_conformance.conformance.targets.grpc_program.played_simple import PlayedSimple
from rocketmq_conformance.suites import grpc_simple
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite

#: The consumer that a program is to be, and a command that it is to take, where that is no push consumer.
_REQUIRED = {grpc_simple.SUITE.name: (PlayedSimple.kind, "receive")}


class GrpcProgram(ProgramCases[PlayedProxy]):
    """A program by its command, which starts a consumer of the gRPC protocol."""

    def __init__(self, command: str, lanes: int = LANES) -> None:
        super().__init__(command, lanes)
        self._text = command
        #: What a program said of itself, by the consumer that it was to be.
        self._introduced: dict[str, Introduced] = {}

    def hello(self) -> Hello:
        """A consumer as a whole; CannotRunError when there is no such command."""
        self.must_be_found()
        return Hello(self._text, "over gRPC", sides=(Side.GRPC.value,), clock=REAL, patience=PATIENCE)

    def refuses_suite(self, suite: Suite) -> str:
        """Why the program cannot be judged by a suite, as it says when it starts."""
        if suite.side is not Side.GRPC:
            return ""
        kind, command = _REQUIRED.get(suite.name, (PlayedProxy.kind, LISTEN))
        if kind not in self._introduced:
            with (
                closing(self.case(suite)) as case,
                phase(f"starting a member, to see whether it is a consumer of {suite.name}"),
            ):
                self._introduced[kind] = case.introduce()
            self._connected = self._connected or not self._introduced[kind].unsupported
        return self._introduced[kind].lacks(command)

    def case(self, suite: Suite, interrupted: threading.Event | None = None) -> PlayedProxy:
        """A case of its own, without members, until it is interrupted."""
        played = PlayedSimple if suite.name in _REQUIRED else PlayedProxy
        return played(suite, self._profile, self._command, interrupted or self._interrupted)

    def case_seconds(self, suite: Suite) -> float:
        """Members wait for their timers, and their programs begin."""
        return suite.case_seconds + BEGINNING
