"""What the adapters of programs share: cases side by side, whose programs are started by a command."""

from __future__ import annotations

import shlex
import shutil
import threading
from abc import abstractmethod
from contextlib import closing
from typing import Generic, Protocol, TypeVar

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Case, Play, T
from rocketmq_conformance.conformance.targets.client_program.side_by_side import SideBySide
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Interrupted
from rocketmq_conformance.models.outcome import Err, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.judged_step import drive
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

#: Seconds in which the programs of a case begin and end.
BEGINNING = 2.0
#: Seconds that a case may take: every look has a limit of its own.
PATIENCE = 3600.0
#: A program that started, and never connected.
NOT_CONNECTED = "NOT_CONNECTED"


class PlayedCase(Protocol):
    """A case that is played: its programs, and what they connect to."""

    suite: Suite

    @property
    def misses_member(self) -> bool:
        """Did a member not connect?"""

    @property
    def is_connected(self) -> bool:
        """Did any program connect?"""

    def do(self, operation: Operation) -> Outcome:
        """Do one operation; raises CannotRunError when a program does not connect."""

    def give_up(self, why: Err) -> Err:
        """Do nothing any more: answer this from now on."""

    def close(self) -> None:
        """Kill its programs."""


C = TypeVar("C", bound=PlayedCase)


class ProgramCases(SideBySide, Generic[C]):
    """An adapter whose cases start programs by a command; ``text`` is how a report names them."""

    def __init__(self, command: str, lanes: int) -> None:
        super().__init__(lanes)
        self._command = shlex.split(command)
        self._profile = Profile()
        #: The case that is played step by step, and whether any program ever connected.
        self._case: C | None = None
        self._connected = False
        #: The suites in which one did.
        self._seen_in: set[str] = set()

    @abstractmethod
    def case(self, suite: Suite, interrupted: threading.Event | None = None) -> C:
        """A case of its own, without members, until it is interrupted."""

    def must_be_found(self) -> None:
        """Raises CannotRunError when there is no such command."""
        if not self._command or shutil.which(self._command[0]) is None:
            name = self._command[0] if self._command else ""
            options = " Options stand before the colon: client?pace=20:COMMAND." if "?" in name else ""
            raise CannotRunError(
                f"The command {name!r} cannot be found: write client:COMMAND with one that can be run.{options}"
            )

    def follow(self, profile: Profile) -> None:
        """Judge by this profile: it decides how long a look waits for what."""
        self._profile = profile

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

    def finished(self, case: C, outcome: Outcome) -> Outcome:
        """What a case answers to an operation that was done."""
        return outcome

    def _played(self, suite: Suite, play: Play[T], interrupted: threading.Event) -> tuple[T, bool]:
        """Play a case; did a member of it not connect?"""
        with closing(self.case(suite, interrupted)) as case:
            return drive(play(), lambda operation: self._step(case, operation)), case.misses_member

    def _step(self, case: C, operation: Operation) -> Outcome:
        try:
            outcome = self.finished(case, case.do(operation))
        except Interrupted:
            raise AdapterError("The run ended while a case was played.") from None
        except CannotRunError as error:
            if not self._connected:
                raise
            # one program of many that is late on a busy machine decides nothing
            return case.give_up(Err(NOT_CONNECTED, definite=False, detail=str(error)))
        if case.is_connected:
            self._connected = True
            self._seen_in.add(case.suite.name)
        return outcome
