"""The moves of gRPC suites at a fake proxy: what plans name by words."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.fakes.proxy_case import ProxyCase, ProxySettings
from rocketmq_conformance.conformance.remoting.grpc_codes import Code
from rocketmq_conformance.models.client.grpc_fifo import begins
from rocketmq_conformance.models.client.grpc_forms import FORMS
from rocketmq_conformance.models.client.grpc_push import ASSIGNMENTS, POLLING, SETTING_BACKOFFS, Setting
from rocketmq_conformance.models.client.plan_words import EVERY


def prepare(case: ProxyCase, setting: Setting) -> None:
    """How a case begins."""
    waits, exponential = SETTING_BACKOFFS[setting.backoff]
    case.settings = ProxySettings(
        setting.batch, POLLING, waits, exponential=exponential, attempts=setting.attempts, fifo=setting.fifo
    )
    assign(case, setting.assigned)


def prepare_push(case: ProxyCase, *said: Any) -> None:
    """How a case of any group begins, by what a plan says of it, if anything."""
    prepare(case, Setting(*said))


def prepare_fifo(case: ProxyCase, *said: Any) -> None:
    """How a case of a FIFO group begins, by what a plan says of it, if anything."""
    prepare(case, begins(*said))


def assign(case: ProxyCase, assigned: str) -> None:
    """The queues that every member is assigned from now on."""
    with case.lock:
        case.assigned = ASSIGNMENTS[assigned]
        case.calls.clear()


def arrive(case: ProxyCase, queue: int, form: str = "ordinary", messages: int = 1) -> None:
    """Messages arrive in a queue, or in every queue."""
    for one in range(case.queues):
        if queue in (one, EVERY):
            case.send(one, FORMS[form], messages)


def refuse(case: ProxyCase, call: str, code: str) -> None:
    """A call is refused from now on, and no other one."""
    case.refuse(call, Code[code])
