"""One case of the suite of answers, played with a program for each member."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.played_faults import PlayedFaults
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_answers as operations
from rocketmq_conformance.suites.declare.operation import Operation

#: The rules that show in what members say alone.
_GIVEN = frozenset({"WHOLE-ANS-TWICE", "WHOLE-ANS-LATE"})


class PlayedAnswers(PlayedFaults):
    """The members of one case, and what is done to them and their broker."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.FailPulls(queue, answer) | operations.FailCommits(queue, answer):
                return self._played(operation, lambda: self._fail_alone(operation, answer, queue))
            case operations.FailStart(queue, _, answer):
                return self._played(operation, lambda: self._fail_alone(operation, answer, queue))
            case operations.FailList(answer) | operations.FailRoute(answer):
                return self._played(operation, lambda: self._fail_alone(operation, answer, None))
            case operations.SendAgain(queue, how):
                return self._played(operation, lambda: self._send_again(queue, how))
            case _:
                return super()._do(operation)

    def _fail_alone(self, operation: Operation, answer: str, queue: int | None) -> None:
        request = Request[operations.request_of(operation)]
        if request is Request.GET_CONSUMER_LIST_BY_GROUP:
            self.case.fail(request, answer)
        else:
            self.case.fail_alone(request, answer, queue)
        if request is Request.GET_ROUTEINFO_BY_TOPIC:
            self._wait_for_route_requests()
            self._wait_for_member_requests()

    def _send_again(self, queue: int, how: str) -> None:
        if queue in self.case.seen:
            self.case.send_again(queue, how)

    def _unshown(self, limits: Limits) -> frozenset[str]:
        """Also the rules about what is given twice, where members do not say what they are given."""
        silent = frozenset[str]() if self.says else _GIVEN
        return super()._unshown(limits) | (silent & self._points.rules)
