"""The adapter of consumer programs: plays several cases side by side, each with a broker of its own."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import REAL, CannotRunError, Hello
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.startup import phase
from rocketmq_conformance.conformance.targets.address_kinds import LANES
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_answers import PlayedAnswers
from rocketmq_conformance.conformance.targets.client_program.played_assignments import PlayedAssignments
from rocketmq_conformance.conformance.targets.client_program.played_brokers import PlayedBrokers
from rocketmq_conformance.conformance.targets.client_program.played_clusters import PlayedClusters
from rocketmq_conformance.conformance.targets.client_program.played_commits import PlayedCommits
from rocketmq_conformance.conformance.targets.client_program.played_files import PlayedFiles
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.played_groups import PlayedGroups
from rocketmq_conformance.conformance.targets.client_program.played_listener import PlayedListener
from rocketmq_conformance.conformance.targets.client_program.played_load import PlayedLoad
from rocketmq_conformance.conformance.targets.client_program.played_messages import PlayedMessages
from rocketmq_conformance.conformance.targets.client_program.played_pauses import PlayedPauses
from rocketmq_conformance.conformance.targets.client_program.played_slaves import PlayedSlaves
from rocketmq_conformance.conformance.targets.client_program.played_subscriptions import PlayedSubscriptions
from rocketmq_conformance.conformance.targets.client_program.played_topologies import PlayedTopologies
from rocketmq_conformance.conformance.targets.client_program.program import Introduced
from rocketmq_conformance.conformance.targets.client_program.program_cases import BEGINNING, PATIENCE, ProgramCases
from rocketmq_conformance.conformance.targets.client_program.proxied_case import ProxiedCase
from rocketmq_conformance.conformance.targets.client_program.python_consumer import python_name
from rocketmq_conformance.conformance.targets.client_program.real_broker import RealBroker
from rocketmq_conformance.conformance.targets.client_program.required_consumers import (
    REQUIRED_CONSUMERS,
    RequiredConsumer,
)
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites import (
    whole_answers,
    whole_assign,
    whole_brokers,
    whole_clusters,
    whole_commit,
    whole_files,
    whole_groups,
    whole_listener,
    whole_load,
    whole_messages,
    whole_pause,
    whole_slaves,
    whole_subscriptions,
    whole_topologies,
)
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite

#: What plays the suites that need more than a group has.
_PLAYED = {
    whole_pause.SUITE.name: PlayedPauses,
    whole_subscriptions.SUITE.name: PlayedSubscriptions,
    whole_commit.SUITE.name: PlayedCommits,
    whole_messages.SUITE.name: PlayedMessages,
    whole_load.SUITE.name: PlayedLoad,
    whole_files.SUITE.name: PlayedFiles,
    whole_answers.SUITE.name: PlayedAnswers,
    whole_listener.SUITE.name: PlayedListener,
    whole_assign.SUITE.name: PlayedAssignments,
}
#: The same with brokers of their own.
_PLAYED_AT_TWO: dict[str, type[PlayedBrokers | PlayedGroups]] = {
    whole_brokers.SUITE.name: PlayedBrokers,
    whole_topologies.SUITE.name: PlayedTopologies,
    whole_clusters.SUITE.name: PlayedClusters,
    whole_groups.SUITE.name: PlayedGroups,
    whole_slaves.SUITE.name: PlayedSlaves,
}


class ClientProgram(ProgramCases[PlayedGroup]):
    """A program by its command, whose timers are ``pace`` times faster than standard.

    Its cases go ``through`` a real broker, or have a fake one each. ``access`` is what its members need to connect.
    """

    def __init__(
        self,
        command: str,
        pace: float = 1.0,
        lanes: int = LANES,
        timing: Timing | None = None,
        through: RealBroker | None = None,
        access: GivenAccess | None = None,
    ) -> None:
        super().__init__(command, lanes)
        self._text = python_name(self._command) or command
        self._pace = pace
        self._timing = timing or Timing.of(pace)
        self._through = through
        self._access = access or GivenAccess()
        #: What a program said of itself, by the consumer that it was to be; None when it did not connect.
        self._introduced: dict[RequiredConsumer, Introduced | None] = {}
        #: The consumers that wrote what they were given.
        self._say: set[RequiredConsumer] = set()

    def hello(self) -> Hello:
        """A consumer as a whole; CannotRunError when there is no such command."""
        self.must_be_found()
        quick = self._timing.too_quick_for()
        itself = Hello(
            self._text,
            "",
            sides=(Side.WHOLE.value,),
            clock=REAL,
            pace=self._pace,
            patience=PATIENCE,
            notes=tuple(f"too quick for {rule}, which counts as not reached: {why}" for rule, why in quick.items()),
            cannot_show=quick,
        )
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
            notes=(*itself.notes, *broker.notes),
            unsupported=self._through.refuses,
        )

    def refuses_suite(self, suite: Suite) -> str:
        """Why the program cannot be judged by a suite, as it says when it starts; once for each kind of consumer."""
        if suite.side is not Side.WHOLE:
            return ""
        consumer, command = REQUIRED_CONSUMERS[suite.name]
        if consumer not in self._introduced:
            self._introduced[consumer] = self._introduction(suite)
        introduced = self._introduced[consumer]
        return introduced.lacks(command) if introduced else ""

    def _introduction(self, suite: Suite) -> Introduced | None:
        with closing(self.case(suite)) as group:
            try:
                with phase(f"starting a member, to see whether it is a consumer of {suite.name}"):
                    introduced = group.introduce()
            except CannotRunError:
                if not self._connected:
                    raise
                return None
        self._connected = self._connected or not introduced.unsupported
        return introduced

    def case(self, suite: Suite, interrupted: threading.Event | None = None) -> PlayedGroup:
        """A case of its own, without members, until it is interrupted."""
        group = self._made(suite, interrupted or self._interrupted)
        group.says = group.consumer in self._say
        return group

    def _made(self, suite: Suite, interrupted: threading.Event) -> PlayedGroup:
        at_two = _PLAYED_AT_TWO.get(suite.name)
        if at_two is not None:
            return at_two(suite, self._profile, self._command, self._timing, interrupted, access=self._access)
        make = _PLAYED.get(suite.name, PlayedGroup)
        return make(suite, self._profile, self._command, self._timing, interrupted, self._broker, access=self._access)

    def _broker(self, broadcasting: bool) -> CaseBroker:
        """The broker of a case."""
        if self._through is not None:
            return ProxiedCase(self._through, broadcasting)
        return GroupCase(self._profile, broadcasting=broadcasting, delay=self._timing.delay)

    def case_seconds(self, suite: Suite) -> float:
        """Members wait for their timers, and their programs begin."""
        return suite.case_seconds / self._pace + BEGINNING

    def close(self) -> None:
        """Kill every program that still runs."""
        super().close()
        self._access.close()
        if self._through is not None:
            self._through.close()

    def finished(self, case: PlayedGroup, outcome: Outcome) -> Outcome:
        """The outcome with the clients that were seen, unless members own queues otherwise or wrote a bad line."""
        otherwise = case.owned_otherwise(outcome.value) if isinstance(outcome, Ok) else None
        if case.says:
            self._say.add(case.consumer)
        wrong = case.members.wrong_line()
        if wrong:
            return case.give_up(Err("BAD_LINE", definite=False, detail=wrong))
        outcome = otherwise or outcome
        return outcome if isinstance(outcome, Unsupported) else replace(outcome, clients=case.seen_ids())
