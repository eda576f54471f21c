"""What a divergence does to those who use the client or broker, in a sentence, and how bad that is.

It is derived from what was expected and observed in the last step of a minimal plan, once for each kind of answer: an
offset that is started at, one that is stored, a share of queues, messages that are given. It claims no more than these
show; where they show nothing of that kind, the divergence is "only different".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.suites.declare import harm_readers as readers
from rocketmq_conformance.suites.declare.answer_parts import differing_parts, is_accident, named_parts, responsible
from rocketmq_conformance.suites.declare.harm_readers import DIFFERENT, Consequence, Harm, Reader
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side

if TYPE_CHECKING:
    from rocketmq_conformance.suites.declare.step import Step
    from rocketmq_conformance.suites.declare.suite import Suite


_ACCIDENT = Consequence(Harm.DIFFERENT, "Java answers so by accident; no message depends on it.")
_LATE = Consequence(Harm.LATE, "It happens later than with a Java client; messages wait until then.")
#: Rules that say when something happens.
_TIMED = ("REB-SVC-", "TIMER-")


def consequence_of(suite: Suite, step: Step) -> Consequence:
    """The consequence of a step that differs."""
    spec = suite.operations[step.row[0]].spec
    names = differing_parts(spec, step.expected, step.observed)
    if is_accident(step.why, names):
        return _ACCIDENT
    found = _of_parts(spec, names, step) if names else [_of_answer(suite, spec)(step.expected, step.observed)]
    worst = readers.worst(found)
    timed = responsible(suite, step).startswith(_TIMED)
    return _LATE if timed and worst.harm in (Harm.SKIPPED, Harm.STALLED, Harm.DIFFERENT) else worst


def _of_parts(spec: OperationSpec, names: list[str], step: Step) -> list[Consequence]:
    wanted, given = named_parts(spec, step.expected), named_parts(spec, step.observed)
    if wanted is None or given is None:
        return []
    by_name = _WHOLE_PARTS if spec.side is Side.WHOLE else _PARTS
    found = [by_name.get(name, _no_reader)(wanted[name], given[name]) for name in names]
    # what does not come back by the retry topic is given again by the client itself
    return [readers.AT_ONCE if one is readers.MISSED and readers.more_is_given(wanted, given) else one for one in found]


def _of_answer(suite: Suite, spec: OperationSpec) -> Reader:
    if spec.side is Side.BROKER:
        return _BROKER.get(spec.name, _no_reader)
    if suite.name.startswith("start-") and spec.name in _STARTS:
        return readers.start
    if spec.effect:
        return readers.commits
    return _CLIENT.get(spec.name, _no_reader)


def _no_reader(expected: Expected, observed: Expected) -> Consequence:
    return DIFFERENT


# --- which answer is read how -----------------------------------------------------------------------------------

_STARTS = frozenset(
    {"start", "start_checked", "start_at_time", "start_at_time_checked", "begin_push", "begin_lite_pull"}
)
_WHOLE_PARTS: Mapping[str, Reader] = {
    "places": readers.places,
    "brought": readers.brought,
    "stored": readers.stored,
    "locks": readers.locks,
    "given": readers.brought,
    "again": readers.given_again,
    "retry": readers.retried,
}
_PARTS: Mapping[str, Reader] = {
    "owned": readers.share,
    "begun": readers.begun,
    "commits": readers.commits,
    "offset to commit": readers.memory,
    "offset in memory": readers.memory,
    "offset": readers.start,
    "next": readers.start,
    "next offset": readers.start,
    "sent back": readers.sent_back,
}
_CLIENT: Mapping[str, Reader] = {
    "read": readers.read,
    "pull": readers.start,
    **dict.fromkeys(
        (
            *("allocate_averagely", "allocate_by_circle", "allocate_by_config", "allocate_by_consistent_hash"),
            *("allocate_by_machine_room", "allocate_nearby"),
        ),
        readers.share,
    ),
    **dict.fromkeys(("rebalance", "assign"), readers.first_share),
    **dict.fromkeys(("sort_queues", "sort_members"), readers.in_order),
}
_BROKER: Mapping[str, Reader] = {
    **dict.fromkeys(("query", "query_kept", "query_pages", "query_texts"), readers.answered),
    **dict.fromkeys(("min", "max", "search", "search_end", "min_texts", "max_texts", "search_texts"), readers.bound),
    **dict.fromkeys(("commit", "commit_texts"), readers.taken),
    **dict.fromkeys(
        ("pull", "pull_filtered", "pull_sql", "pull_registered", "pull_most", "pull_texts"), readers.pulled
    ),
    **dict.fromkeys(("hold_pull", "look_at_pull", "wake_pull", "await_pull"), readers.held),
    **dict.fromkeys(("send_back", "send_copy"), readers.sent_back_to),
    "take_notices": readers.noticed,
    "lock": readers.granted,
    "list_members": readers.members,
}
