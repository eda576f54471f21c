"""One case of the suite of two brokers, played with a program for each member and judged by the traffic at both."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import ClassVar

from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.fakes.whole_brokers import WholeBrokers
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_faults import PlayedFaults
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.client.whole_brokers import MOST, number_of
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.outcome import Ok, Outcome, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_brokers as operations
from rocketmq_conformance.suites import whole_topologies
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite


class PlayedBrokers(PlayedFaults):
    """The members of one case at two brokers."""

    _shows_ends = False
    #: What makes the brokers of a case.
    _BROKERS: ClassVar[type[WholeBrokers]] = WholeBrokers
    brokers: WholeBrokers

    def __init__(
        self,
        suite: Suite,
        profile: Profile,
        command: Sequence[str],
        timing: Timing,
        interrupted: threading.Event,
        access: GivenAccess,
    ) -> None:
        self.brokers = self._BROKERS(profile)
        super().__init__(suite, profile, command, timing, interrupted, lambda _: self.brokers.first, access)

    def close(self) -> None:
        """Kill the programs that still run, and close the brokers."""
        super().close()
        self.brokers.stop()

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result."""
        match operation:
            case operations.Prepare(first, second, shape, stored, where):
                return self._prepared((first, second), Setting(0, shape, stored, where), operation)
            case operations.Send() | operations.Route() | operations.GoAway() | operations.ComeBack():
                return self._world(operation)
            case operations.FailAt(broker, request):
                return self._played(operation, lambda: self._fail_at(broker, Request[request]))
            case operations.Mend():
                return self._played(operation, self._mend_all)
            case _:
                return super().do(operation)

    def _fail_at(self, broker: int, request: Request) -> None:
        self._mend_all()
        self.brokers.cases[broker].fail(request, "SYSTEM_ERROR")

    def _mend_all(self) -> None:
        for case in self.brokers.cases:
            case.mend()

    def _faulty(self) -> Sequence[CaseBroker]:
        return self.brokers.cases

    def _prepared(self, queues: tuple[int, int], setting: Setting, operation: Operation) -> Outcome:
        self._expect(operation)
        if not self._begun:
            self._setting = setting
            self.brokers.prepare(queues, setting.shape, setting.stored)
        return Ok()

    def _world(self, operation: Operation) -> Outcome:
        """Change the brokers, and wait until members know it where they learn it by timers."""

        def change() -> None:
            if self._change(operation):
                self._learn_route()

        return self._played(operation, change)

    def _change(self, operation: Operation) -> bool:
        """Change the brokers; is there another route now?"""
        match operation:
            case operations.Send(queue):
                self.brokers.send(queue)
                return False
            case operations.Route(first, second):
                return self._route((first, second))
            case operations.GoAway() | whole_topologies.GoAway():
                if not self.members.programs or self.brokers.away:
                    return False
                self.brokers.go_away()
                return True
            case _:
                return self._come_back()

    def _route(self, queues: tuple[int, int], more_written: int = 0) -> bool:
        if self.brokers.away or (self.brokers.queues, self.brokers.more_written) == (queues, more_written):
            return False
        self.brokers.route(queues, more_written)
        return True

    def _come_back(self) -> bool:
        if not self.brokers.away:
            return False
        self.brokers.come_back()
        # members come to be known there at different times: who asks meanwhile would take the shares of the others
        self.brokers.second.fail(Request.GET_CONSUMER_LIST_BY_GROUP, "SYSTEM_ERROR")
        self.brokers.reopen()
        return True

    def _learn_route(self) -> None:
        """Wait until every member has learned the route, is known to all brokers, and had a round since."""
        clients = [self.members.ids[member] for member in self.members.programs]
        self._wait_for_two_requests(Request.GET_ROUTEINFO_BY_TOPIC, self._timing.routes)
        self._wait(lambda: self.members.ended() or self.brokers.knows_all(clients), self._timing.routes)
        self.brokers.second.mend()
        self._wait_for_two_requests(Request.GET_CONSUMER_LIST_BY_GROUP, 2 * self._timing.round)

    def _wait_for_two_requests(self, request: Request, limit: float) -> None:
        clients = [self.members.ids[member] for member in self.members.programs]
        wanted = {client: self.brokers.times_sent(client, request) + 2 for client in clients}
        self._wait(
            lambda: (
                self.members.ended()
                or all(self.brokers.times_sent(client, request) >= count for client, count in wanted.items())
            ),
            limit,
        )

    def _prepare(self, setting: Setting) -> None:
        self._setting = setting
        self.brokers.second.owner = self.members.owner
        self.brokers.prepare((2, 2), setting.shape, setting.stored)

    def _open(self) -> str:
        # both are guarded alike
        self.brokers.second.guard = self.brokers.first.guard
        return self.brokers.open()

    def _brokers(self) -> Sequence[tuple[CaseBroker, Mapping[int, int]]]:
        there = self.brokers.there
        return [(case, {queue: number_of(at, queue) for queue in range(MOST[at])}) for at, case in enumerate(there)]

    def _places(self) -> Sequence[int]:
        return range(sum(MOST))

    def _reached(self, joined: str | None) -> bool:
        return joined is None or self.brokers.times_sent(joined, Request.GET_CONSUMER_LIST_BY_GROUP) > 0

    def _shown(self, brought: list[Brought]) -> Value:
        brought += self.brokers.take_brought()
        running = {self.members.ids[member]: member for member in self.members.programs}
        return self.brokers.observed(running, self.brokers.given(brought, self._heard()))
