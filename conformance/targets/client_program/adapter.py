"""The adapter of consumer programs: plays several cases side by side, each with a broker of its own."""

from __future__ import annotations

import math
import shlex
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import REAL, AdapterError, CannotRunError, Case, Hello
from rocketmq_conformance.conformance.fakes.whole_case import WholeCase
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.played_brokers import PlayedBrokers
from rocketmq_conformance.conformance.targets.client_program.played_group import Interrupted, PlayedGroup, Timing
from rocketmq_conformance.conformance.targets.client_program.python_consumer import python_name
from rocketmq_conformance.conformance.targets.client_program.real_broker import RealBroker
from rocketmq_conformance.conformance.targets.client_program.through import ProxiedCase
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_brokers
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Suite

#: Cases that are played side by side, unless the address says otherwise; up to three programs run in each.
LANES = 12
#: Seconds in which the programs of a case begin and end.
BEGINNING = 2.0
#: Seconds that a batch of cases may take: every look has a limit of its own.
PATIENCE = 3600.0


class ClientProgram:
    """A program by its command, whose timers are ``pace`` times faster than standard.

    Its cases go ``through`` a real broker, or have a fake one each.
    """

    def __init__(
        self,
        command: str,
        pace: float = 1.0,
        lanes: int = LANES,
        timing: Timing | None = None,
        through: RealBroker | None = None,
    ) -> None:
        self._command = shlex.split(command)
        self._text = python_name(self._command) or command
        self._pace, self._lanes = pace, lanes
        self._timing = timing or Timing.of(pace)
        self._through = through
        self._profile = Profile()
        self._interrupted = threading.Event()
        #: The case of each lane, and whether any program ever connected.
        self._groups: dict[int, PlayedGroup] = {}
        self._connected = False

    def hello(self) -> Hello:
        """A consumer as a whole; CannotRunError when there is no such command."""
        if not self._command or shutil.which(self._command[0]) is None:
            name = self._command[0] if self._command else ""
            raise CannotRunError(
                f"The command {name!r} cannot be found: write client:COMMAND with one that can be run."
            )
        itself = Hello(self._text, "", sides=(Side.WHOLE.value,), clock=REAL, pace=self._pace, patience=PATIENCE)
        if self._through is None:
            return itself
        broker = self._through.hello()
        return replace(
            itself,
            version=f"through {self._through.text} ({broker.version})",
            broker=broker.broker,
            java=broker.java,
            properties=broker.properties,
            configuration_unread=broker.configuration_unread,
            unsupported=self._through.refuses,
        )

    def follow(self, profile: Profile) -> None:
        """Judge by this profile: it decides how long a look waits for what."""
        self._profile = profile

    def group(self, suite: Suite) -> PlayedGroup:
        """A case of its own, without members."""
        if suite is whole_brokers.SUITE:
            return PlayedBrokers(suite, self._profile, self._command, self._timing, self._interrupted)
        return PlayedGroup(suite, self._profile, self._command, self._timing, self._interrupted, self._broker)

    def _broker(self, broadcasting: bool) -> CaseBroker:
        """The broker of a case."""
        if self._through is not None:
            return ProxiedCase(self._through, broadcasting)
        return WholeCase(self._profile, broadcasting=broadcasting)

    def case_seconds(self, suite: Suite) -> float:
        """Members wait for their timers, and their programs begin; cases wait for the slowest of those beside them.

        Of twelve cases the slowest takes about twice as long as the mean.
        """
        return (suite.case_seconds / self._pace + BEGINNING) * (1 + math.log2(self._lanes) / 3.5)

    def lanes(self, suite: Suite) -> int:
        """How many cases are played side by side."""
        return self._lanes

    def reset(self, case: Case) -> None:
        """Begin a case in the first lane."""
        self._profile = case.profile
        self.reset_many([(0, case.suite)])

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane."""
        return self._step(self._groups[0], operation)

    def reset_many(self, cases: Sequence[tuple[int, Suite]]) -> None:
        """Begin a case in each of these lanes."""
        self._end()
        for lane, suite in cases:
            self._groups[lane] = self.group(suite)

    def play_many(self, cases: Sequence[tuple[int, Sequence[Operation]]]) -> list[list[Outcome]]:
        """Do the operations of each lane, all lanes at the same time."""
        with ThreadPoolExecutor(len(cases)) as pool:
            try:
                under_way = [pool.submit(self._play, self._groups[lane], operations) for lane, operations in cases]
                return [done.result() for done in under_way]
            except BaseException:
                self._interrupted.set()
                raise
            finally:
                pool.shutdown()
                self._interrupted.clear()
                self._end()

    def close(self) -> None:
        """Kill every program that still runs."""
        self._interrupted.set()
        self._end()
        if self._through is not None:
            self._through.close()

    def _play(self, group: PlayedGroup, operations: Sequence[Operation]) -> list[Outcome]:
        return [self._step(group, operation) for operation in operations]

    def _step(self, group: PlayedGroup, operation: Operation) -> Outcome:
        try:
            outcome = group.do(operation)
            otherwise = group.owned_otherwise(outcome.value) if isinstance(outcome, Ok) else ""
        except Interrupted:
            raise AdapterError("The run ended while a case was played.") from None
        except CannotRunError as error:
            if not self._connected:
                raise
            # one program of many that is late on a busy machine decides nothing
            return group.lose(Err("NOT_CONNECTED", definite=False, detail=str(error)))
        self._connected = self._connected or bool(group.case.traffic.clients)
        wrong = group.wrong_line()
        if wrong:
            return group.lose(Err("BAD_LINE", definite=False, detail=wrong))
        return Err("OWNS_OTHERWISE", detail=otherwise) if otherwise else outcome

    def _end(self) -> None:
        for group in self._groups.values():
            group.close()
        self._groups.clear()
