"""One case of the suite of answers, played with a program for each member."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_answers as operations
from rocketmq_conformance.suites.declare.operation import Operation

#: The rules of steps in which a request about one thing alone fails, those of which show in what members say alone,
#: and those of a commit.
_FAILING = frozenset({"WHOLE-ANS-ALONE", "WHOLE-ANS-CODE", "WHOLE-ANS-FIELD", "WHOLE-ANS-LIST"})
_GIVEN = frozenset({"WHOLE-ANS-TWICE", "WHOLE-ANS-LATE"})
_COMMITS = frozenset({"WHOLE-LOST", "WHOLE-ANS-ALONE", "WHOLE-ANS-CODE"})


class PlayedAnswers(PlayedGroup):
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

    def _unseen(self) -> str:
        """Also that nothing has come of what fails; commits need not come, and pulls that are not answered do late."""
        unseen = super()._unseen()
        late = self.case.fails(Request.UPDATE_CONSUMER_OFFSET) or self.case.silent
        fails = bool(self._state.group.fails) and not late
        if unseen or not fails or self.case.met or not _FAILING & self._points.rules:
            return unseen
        return "no member was seen to send the request that fails"

    def _unshown(self, limits: Limits) -> frozenset[str]:
        """Also the rules about what is given twice, where members do not say what they are given, and about a commit
        that fails, where none came."""
        silent = frozenset[str]() if self.says else _GIVEN
        if self.case.fails(Request.UPDATE_CONSUMER_OFFSET) and not self.case.met:
            silent |= _COMMITS
        return super()._unshown(limits) | (silent & self._points.rules)
