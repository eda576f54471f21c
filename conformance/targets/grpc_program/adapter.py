"""The adapter of gRPC consumer programs: plays several cases side by side, each with a fake proxy of its own."""

from __future__ import annotations

import shlex
import shutil
import threading
from contextlib import closing

from rocketmq_conformance.conformance.adapter import REAL, AdapterError, CannotRunError, Case, Hello, Play, T
from rocketmq_conformance.conformance.startup import phase
from rocketmq_conformance.conformance.targets.address_kinds import LANES
from rocketmq_conformance.conformance.targets.client_program.program import Introduced
from rocketmq_conformance.conformance.targets.client_program.required_consumers import LISTEN
from rocketmq_conformance.conformance.targets.client_program.side_by_side import SideBySide
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Interrupted
from rocketmq_conformance.conformance.targets.grpc_program.played_proxy import NOT_CONNECTED, PlayedProxy
from rocketmq_conformance.models.outcome import Err, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.judged_step import drive
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Suite

#: Seconds in which the programs of a case begin and end.
_BEGINNING = 2.0
#: Seconds that a case may take: every look has a limit of its own.
_PATIENCE = 3600.0


class GrpcProgram(SideBySide):
    """A program by its command, which starts a consumer of the gRPC protocol."""

    def __init__(self, command: str, lanes: int = LANES) -> None:
        super().__init__(lanes)
        self._command = shlex.split(command)
        self._text = command
        self._profile = Profile()
        self._case: PlayedProxy | None = None
        #: Did any program ever connect, and in which suites?
        self._connected = False
        self._seen_in: set[str] = set()
        self._introduced: Introduced | None = None

    def hello(self) -> Hello:
        """A consumer as a whole; CannotRunError when there is no such command."""
        if not self._command or shutil.which(self._command[0]) is None:
            name = self._command[0] if self._command else ""
            raise CannotRunError(
                f"The command {name!r} cannot be found: write client:COMMAND with one that can be run."
            )
        return Hello(self._text, "over gRPC", sides=(Side.GRPC.value,), clock=REAL, patience=_PATIENCE)

    def follow(self, profile: Profile) -> None:
        """Judge by this profile."""
        self._profile = profile

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
        return suite.case_seconds + _BEGINNING

    def took_part(self, suite: Suite) -> bool:
        """Did a program connect in any case of the suite?"""
        return suite.name in self._seen_in

    def reset(self, case: Case) -> None:
        """Begin a case that is played step by step."""
        self._profile = case.profile
        self.end_case()
        self._case = self.case(case.suite)

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation in it."""
        assert self._case is not None
        return self._step(self._case, operation)

    def play(self, suite: Suite, play: Play[T], interrupted: threading.Event) -> T:
        """Play a case; once more when a member did not connect, as a machine may have been too busy for it."""
        came, missed = self._played(suite, play, interrupted)
        return self._played(suite, play, interrupted)[0] if missed else came

    def close(self) -> None:
        """Kill every program that still runs."""
        self.interrupt()
        self.end_case()
        self.end_lanes()

    def end_case(self) -> None:
        """Kill the programs of the case that is played step by step."""
        if self._case is not None:
            self._case.close()
            self._case = None

    def _played(self, suite: Suite, play: Play[T], interrupted: threading.Event) -> tuple[T, bool]:
        """Play a case; did a member of it not connect?"""
        with closing(self.case(suite, interrupted)) as case:
            return drive(play(), lambda operation: self._step(case, operation)), case.misses_member

    def _step(self, case: PlayedProxy, operation: Operation) -> Outcome:
        try:
            outcome = case.do(operation)
        except Interrupted:
            raise AdapterError("The run ended while a case was played.") from None
        except CannotRunError as error:
            if not self._connected:
                raise
            # one program of many that is late on a busy machine decides nothing
            return case.give_up(Err(NOT_CONNECTED, definite=False, detail=str(error)))
        if case.ids:
            self._connected = True
            self._seen_in.add(case.suite.name)
        return outcome
