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
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite


class GrpcProgram(ProgramCases[PlayedProxy]):
    """A program by its command, which starts a consumer of the gRPC protocol."""

    def __init__(self, command: str, lanes: int = LANES) -> None:
        super().__init__(command, lanes)
        self._text = command
        self._introduced: Introduced | None = None

    def hello(self) -> Hello:
        """A consumer as a whole; CannotRunError when there is no such command."""
        self.must_be_found()
        return Hello(self._text, "over gRPC", sides=(Side.GRPC.value,), clock=REAL, patience=PATIENCE)

    def refuses_suite(self, suite: Suite) -> str:
        """Why the program cannot be judged by a suite, as it says when it starts."""
        if suite.side is not Side.GRPC:
            return ""
        if self._introduced is None:
            with (
                closing(self.case(suite)) as case,
                phase("starting a member, to see what it takes"),
            ):
                self._introduced = case.introduce()
            self._connected = not self._introduced.unsupported
        return self._introduced.lacks(LISTEN)

    def case(self, suite: Suite, interrupted: threading.Event | None = None) -> PlayedProxy:
        """A case of its own, without members, until it is interrupted."""
        return PlayedProxy(suite, self._profile, self._command, interrupted or self._interrupted)

    def case_seconds(self, suite: Suite) -> float:
        """Members wait for their timers, and their programs begin."""
        return suite.case_seconds + BEGINNING
