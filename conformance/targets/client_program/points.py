"""Points that members must be seen to reach before it means something that nothing happens.

A member that has not asked for the members of its group since that request fails has not yet had the chance to let go
of its queues, and one that has sent nothing since it was asked to reset may not have read that. A look that agrees
before such a point was seen decides nothing.

A client need not commit what has not changed: where no commit was seen that could have failed, the look is decided by
what was seen, and the rule alone does not show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.client.whole_moves import SILENT
from rocketmq_conformance.suites import whole_allocation, whole_answers, whole_orderly
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.operation import Operation

#: How often each client sent each kind of request, by (client id, request code).
Sent = Mapping[tuple[str, int], int]
_LIST, _COMMIT = Request.GET_CONSUMER_LIST_BY_GROUP, Request.UPDATE_CONSUMER_OFFSET
#: Rules about requests that fail, and these: any member sends the one that does.
_FAILING = {
    "WHOLE-UNREAD": (Request.QUERY_CONSUMER_OFFSET, Request.GET_MAX_OFFSET, Request.SEARCH_OFFSET_BY_TIMESTAMP),
    "WHOLE-PULL": (Request.PULL_MESSAGE,),
}
#: Operations after which every member asks anew for the members of its group.
_NOTIFIED = (operations.Join, operations.Leave, operations.Crash, operations.Resize, whole_allocation.Crowd)


class Points:
    """What members have sent since the step began, and since a request has failed."""

    def __init__(self) -> None:
        self._operation: Operation | None = None
        #: The rules that decide the step.
        self.rules: frozenset[str] = frozenset()
        self._step: Sent = {}
        self._failing: Request | None = None
        self._failure: Sent = {}
        #: The members that do not exist, before the step and after it.
        self._crowds = whole_allocation.Crowd(0, 0), whole_allocation.Crowd(0, 0)
        #: May members ask by connections that are not known to be theirs?
        self._nameless = False

    def begin(self, operation: Operation, rules: Collection[str], sent: Sent) -> None:
        """A step begins, which these rules decide."""
        self._operation, self.rules, self._step = operation, frozenset(rules), dict(sent)
        if isinstance(operation, whole_allocation.Crowd):
            self._crowds = self._crowds[1], operation
        match operation:
            case operations.Fail(request, _) | operations.Interrupt(request, _):
                self._failing, self._failure = Request[request], self._step
                # over a connection that was opened again no heartbeat may have come yet
                self._nameless = isinstance(operation, operations.Interrupt)
            case operations.Silence(request):
                # pulls that wait are sent again 33 s later
                fails = Request[request]
                self._failing = None if fails is Request.PULL_MESSAGE else fails
                self._failure, self._nameless = self._step, False
            case whole_orderly.RefuseLocks():
                self._failing, self._failure, self._nameless = Request.LOCK_BATCH_MQ, self._step, False
            case operations.Mend() | operations.Delay():
                self._failing, self._nameless = None, False
            case whole_answers.FailPulls(_, answer) if answer == SILENT:
                self._failing, self._nameless = None, False
            case _ if request := whole_answers.request_of(operation):
                self._failing, self._failure, self._nameless = Request[request], self._step, False

    def unseen(self, clients: Collection[str], sent: Sent) -> str:
        """What was not yet seen of the members that run, as the end of a sentence, or ""."""
        operation = self._operation
        crowded = isinstance(operation, whole_allocation.Crowd) and self._crowds[0] != self._crowds[1]
        if crowded or "WHOLE-LIST" in self.rules:
            since = self._step if isinstance(operation, _NOTIFIED) else self._failure
            silent = [
                client for client in clients if self._times_asked(sent, client) <= self._times_asked(since, client)
            ]
            if silent:
                return f"{silent[0]} was not seen to ask for the members of its group"
        if isinstance(operation, operations.Reset) and "WHOLE-RESET-LITE" in self.rules:
            silent = [client for client in clients if _count(sent, client) <= _count(self._step, client)]
            if silent:
                return f"{silent[0]} sent nothing after it was asked to reset"
        failing = self._failing
        matters = any(failing in requests for rule, requests in _FAILING.items() if rule in self.rules)
        if failing and matters and _of_any(sent, failing) <= _of_any(self._failure, failing):
            return f"no member was seen to send {failing.name}, which fails"
        return ""

    def unshown(self, sent: Sent) -> frozenset[str]:
        """The rules of the step that do not show, as nothing was sent that they are about."""
        commits = self._failing is _COMMIT and "WHOLE-LOST" in self.rules
        return frozenset(
            {"WHOLE-LOST"} if commits and _of_any(sent, _COMMIT) <= _of_any(self._failure, _COMMIT) else ()
        )

    def _times_asked(self, sent: Sent, client: str) -> int:
        """How often a client has asked for the members of its group."""
        return _count(sent, client, _LIST) + (_count(sent, "", _LIST) if self._nameless else 0)


def _count(sent: Sent, client: str, request: Request | None = None) -> int:
    """How many requests of a kind, or of any, a client has sent."""
    return sum(times for (who, code), times in list(sent.items()) if who == client and request in (None, code))


def _of_any(sent: Sent, request: Request) -> int:
    """How many requests of a kind all clients have sent."""
    return sum(times for (_, code), times in list(sent.items()) if code == request)
