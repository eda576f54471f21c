"""One case of the suite of another topic, played with a program for each member that subscribes to it while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.played_faults import PlayedFaults
from rocketmq_conformance.conformance.targets.client_program.required_consumers import SUBSCRIBE
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits
from rocketmq_conformance.models.client.whole_deadlines import SUBSCRIBED
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES
from rocketmq_conformance.models.client.whole_push import Setting, WholePushState
from rocketmq_conformance.models.client.whole_subscriptions import is_subscribed
from rocketmq_conformance.models.outcome import Ok, Outcome, Value
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites import whole_subscriptions as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: The command that undoes the one that a program says that it takes.
UNSUBSCRIBE = "unsubscribe"


class PlayedSubscriptions(PlayedFaults):
    """The members of one case, which subscribe to another topic together."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.Prepare(shape, stored, where):
                self._expect(operation)
                if not self._begun:
                    self._prepare(Setting(OTHER_QUEUES, shape, stored, where))
                return Ok()
            case operations.Subscribe() | operations.Unsubscribe():
                before = is_subscribed(self._state.group)

                def tell() -> None:
                    if is_subscribed(self._state.group) != before:
                        self._tell_all()

                return self._played(operation, tell)
            case operations.FailOf(topic, request):
                return self._played(operation, lambda: self._fail_of(topic, Request[request]))
            case _:
                return super()._do(operation)

    def _fail_of(self, topic: int, request: Request) -> None:
        self.case.fail_alone(request, "SYSTEM_ERROR", None, self.case.other_topic if topic else self.case.topic)
        if request is Request.GET_ROUTEINFO_BY_TOPIC:
            self._wait_for_route_requests()
            self._wait_for_member_requests()

    def _tell_all(self) -> None:
        """Tell every member to subscribe, or to unsubscribe; then wait until its queues are let go."""
        subscribes = is_subscribed(self._state.group)
        for program in self.members.programs.values():
            program.send({SUBSCRIBE if subscribes else UNSUBSCRIBE: self.case.other_topic})
        if not subscribes:
            # the next round lets them go, and shows nothing of that
            self._wait(lambda: self.members.ended() or self._all_said(), self._timing.routes)
            self._wait_for_member_requests()

    def _all_said(self) -> bool:
        """Did the last heartbeat of every member name the first topic alone?"""
        return all(self._said(member) == (0,) for member in self.members.programs)

    def _said(self, member: int) -> tuple[int, ...]:
        """The numbers of the topics that the last heartbeat of a member named that runs."""
        said = (
            self.case.traffic.topics.get(self.members.ids.get(member, ""), ())
            if member in self.members.programs
            else ()
        )
        topics = self.case.topic, self.case.other_topic
        return tuple(number for number, topic in enumerate(topics) if topic in said)

    def _first_commands(self) -> Sequence[dict[str, object]]:
        return [{SUBSCRIBE: self.case.other_topic}] if is_subscribed(self._state.group) else []

    def _prepare(self, setting: Setting) -> None:
        super()._prepare(setting)
        self.case.add_other_topic()

    def _shown(self, brought: list[Brought]) -> Value:
        seen = super()._shown(brought)
        assert isinstance(seen, tuple)
        return (*seen, tuple(self._said(member) for member in range(len(ORDINARY.members))))

    def _numbered(self, topic: str, queue: int) -> int | None:
        return OTHER_QUEUES + queue if topic == self.case.other_topic else super()._numbered(topic, queue)

    def _limits(self, before: WholePushState, operation: Operation, why: Reason) -> Limits:
        limits = super()._limits(before, operation, why)
        if is_subscribed(self._state.group) and isinstance(operation, (operations.Subscribe, operations.Join)):
            more = SUBSCRIBED / self._timing.pace
            standard = limits.standard + SUBSCRIBED if limits.standard else 0.0
            return limits._replace(owners=limits.owners + more, everything=limits.everything + more, standard=standard)
        return limits
