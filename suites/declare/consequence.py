"""What a divergence does to those who use the client or broker, in a sentence, and how bad that is.

It is derived from what was expected and observed in the last step of a minimal plan, once for each kind of answer: an
offset that is started at, one that is stored, a share of queues, messages that are given. Where these do not decide,
what the plan did to the queue or the member does (``state_readers``). It claims no more than that shows; where nothing
of that kind shows, the divergence is "only different".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.suites.declare import harm_readers as offsets
from rocketmq_conformance.suites.declare import message_readers as messages
from rocketmq_conformance.suites.declare import queue_readers as queues
from rocketmq_conformance.suites.declare import state_readers as states
from rocketmq_conformance.suites.declare.answer_parts import differing_parts, is_accident, named_parts, responsible
from rocketmq_conformance.suites.declare.harm_readers import DIFFERENT, Consequence, Harm, Reader
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side

if TYPE_CHECKING:
    from rocketmq_conformance.suites.declare.step import Step
    from rocketmq_conformance.suites.declare.suite import Suite


_ACCIDENT = Consequence(Harm.DIFFERENT, "Java answers so by accident; no message depends on it.")
_LATE = Consequence(Harm.LATE, "It happens later than with a Java client; messages wait until then.")
_EARLY = Consequence(Harm.DIFFERENT, "It happens too often, or too early: no message waits for that.")
#: Rules that say when something happens.
_TIMED = ("REB-SVC-", "TIMER-")


def consequence_of(suite: Suite, step: Step) -> Consequence:
    """The consequence of a step that differs."""
    spec = suite.operations[step.row[0]].spec
    names = differing_parts(spec, step.expected, step.observed)
    if is_accident(step.why, names):
        return _ACCIDENT
    if names:
        found = _of_parts(suite, names, step)
    else:
        found = [_knowing(_of_answer(suite, spec), suite, step)(step.expected, step.observed)]
    worst = offsets.worst(found)
    timed = responsible(suite, step).startswith(_TIMED) and worst is not messages.LISTED_AGAIN
    if not timed or worst.harm not in (Harm.SKIPPED, Harm.STALLED, Harm.DIFFERENT):
        return worst
    return _LATE if names or messages.is_later(step.expected, step.observed) else _EARLY


def _of_parts(suite: Suite, names: list[str], step: Step) -> list[Consequence]:
    spec = suite.operations[step.row[0]].spec
    wanted, given = named_parts(spec, step.expected), named_parts(spec, step.observed)
    if wanted is None or given is None:
        return []
    by_name = _WHOLE_PARTS if spec.side is Side.WHOLE else _PARTS
    readers = {name: _knowing(by_name.get(name, _no_reader), suite, step) for name in names}
    found = [of(wanted[name], given[name]) for name, of in readers.items()]
    # what does not come back by the retry topic is given again by the client itself
    by_itself = messages.more_is_given(wanted, given)
    return [messages.AT_ONCE if one is messages.MISSED and by_itself else one for one in found]


def _of_answer(suite: Suite, spec: OperationSpec) -> Reader:
    if spec.side is Side.BROKER:
        return _BROKER.get(spec.name, _no_reader)
    if suite.family.startswith("start-") and spec.name in _STARTS:
        return offsets.start
    if spec.effect:
        return offsets.commits
    if suite.family in _OWN:
        return _OWN[suite.family].get(spec.name) or _CLIENT.get(spec.name, _no_reader)
    return _CLIENT.get(spec.name, _no_reader)


def _knowing(of: Reader, suite: Suite, step: Step) -> Reader:
    """A reader, with what it asks of the step beside the two answers."""
    asks = _ASK.get(of)
    return partial(of, **asks(suite, step)) if asks else of


def _no_reader(expected: Expected, observed: Expected) -> Consequence:
    return DIFFERENT


# --- which answer is read how -----------------------------------------------------------------------------------

_STARTS = frozenset(
    {"start", "start_checked", "start_at_time", "start_at_time_checked", "begin_push", "begin_lite_pull"}
)
_WHOLE_PARTS: Mapping[str, Reader] = {
    "places": queues.places,
    "brought": messages.brought,
    "stored": offsets.stored,
    "locks": queues.locks,
    "given": messages.brought,
    "again": messages.given_again,
    "retry": messages.retried,
    "connections": messages.connections,
}
_PARTS: Mapping[str, Reader] = {
    "owned": queues.share,
    "begun": queues.begun,
    "commits": offsets.commits,
    "offset to commit": offsets.memory,
    "offset in memory": offsets.memory,
    "offset": offsets.start,
    "next": offsets.start,
    "next offset": offsets.start,
    "sent back": messages.sent_back,
    "pulled": queues.pulled_queues,
    "balanced": queues.balanced,
    "another round": queues.another_round,
    "given": messages.offsets_given,
    "messages": messages.app_messages,
    "starts": messages.starts,
    "delay": messages.delay,
    "then": messages.goes_on,
}
_CLIENT: Mapping[str, Reader] = {
    "read": offsets.read,
    "read_offset": offsets.read,
    "read_timestamp": offsets.timestamp,
    "save": offsets.saved,
    **dict.fromkeys(("start", "start_lite"), messages.consumer_not_started),
    "pull": queues.asked_for,
    "poll": messages.polled,
    "take": messages.taken_by_listener,
    "renew": queues.locked,
    **dict.fromkeys(("consume", "finish", "update"), messages.consumed),
    **dict.fromkeys(("gain", "lose"), offsets.with_commits()),
    **dict.fromkeys(
        (
            *("allocate_averagely", "allocate_by_circle", "allocate_by_config", "allocate_by_consistent_hash"),
            *("allocate_by_machine_room", "allocate_nearby"),
        ),
        queues.share,
    ),
    **dict.fromkeys(("rebalance", "assign"), queues.first_share),
    **dict.fromkeys(("sort_queues", "sort_members", "compare_queues", "place_text"), queues.in_order),
}
#: Answers that mean something else in one suite than in the others.
_OWN: Mapping[str, Mapping[str, Reader]] = {
    "rebalance-broker": {"rebalance": queues.round_by_broker},
    "pushed-reset": {
        "start": queues.begun,
        **dict.fromkeys(("reset", "reset_queue", "elapse", "finish"), offsets.with_commits(queues.resumed)),
    },
}
_BROKER: Mapping[str, Reader] = {
    **dict.fromkeys(("query", "query_kept", "query_texts"), offsets.answered),
    **dict.fromkeys(("min", "max", "search", "search_end", "min_texts", "max_texts", "search_texts"), offsets.bound),
    **dict.fromkeys(("commit", "commit_texts"), offsets.taken),
    **dict.fromkeys(
        ("pull", "pull_filtered", "pull_sql", "pull_registered", "pull_most", "pull_texts"), messages.pulled
    ),
    **dict.fromkeys(("hold_pull", "look_at_pull", "wake_pull", "await_pull"), messages.held),
    **dict.fromkeys(("send_back", "send_copy"), messages.sent_back_to),
    "query_pages": messages.cold,
    "start": messages.broker_not_started,
    "ask": queues.assigned,
    **dict.fromkeys(("send_locked_copy",), messages.sent_back_to),
    **dict.fromkeys(("reset_by_time", "reset_to_max", "reset_queue", "reset_topic"), offsets.led),
    **dict.fromkeys(("send", "send_timed", "send_named", "send_tags", "send_tagged"), offsets.sent),
    "take_notices": messages.noticed,
    "lock": queues.granted,
    "list_members": queues.members,
}
#: What readers ask of a step beside the two answers.
_ASK: Mapping[Reader, Callable[[Suite, Step], dict[str, Any]]] = {
    **dict.fromkeys((offsets.start, offsets.read), states.log),
    queues.begun: states.logs,
    queues.asked_for: lambda suite, step: states.log(suite, step) | states.logs(suite, step),
    queues.share: states.sharing,
    **dict.fromkeys((queues.first_share, queues.pulled_queues), states.dividing),
    queues.in_order: states.topics,
    queues.round_by_broker: states.queues,
}
