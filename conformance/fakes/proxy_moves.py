"""The moves of gRPC suites at a fake proxy: what plans name by words."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.proxy_case import ProxyCase
from rocketmq_conformance.conformance.remoting.grpc_codes import Code
from rocketmq_conformance.models.client.grpc_forms import FORMS
from rocketmq_conformance.models.client.grpc_push import ASSIGNMENTS, POLLING, SETTING_BACKOFFS, Setting
from rocketmq_conformance.models.client.plan_words import EVERY

#: How a case begins that says nothing.
BEGIN = Setting()


def prepare(
    case: ProxyCase, assigned: str = BEGIN.assigned, batch: int = BEGIN.batch, backoff: str = BEGIN.backoff
) -> None:
    """How a case begins."""
    waits, exponential = SETTING_BACKOFFS[backoff]
    case.settings = case.settings._replace(batch=batch, polling=POLLING, backoff=waits, exponential=exponential)
    assign(case, assigned)


def assign(case: ProxyCase, assigned: str) -> None:
    """The queues that every member is assigned from now on."""
    with case.lock:
        case.assigned = ASSIGNMENTS[assigned]
        case.calls.clear()


def arrive(case: ProxyCase, queue: int, form: str = "ordinary") -> None:
    """A message arrives in a queue, or in every queue."""
    for one in range(case.queues):
        if queue in (one, EVERY):
            case.send(one, FORMS[form])


def refuse(case: ProxyCase, call: str, code: str) -> None:
    """A call is refused from now on, and no other one."""
    case.refuse(call, Code[code])
