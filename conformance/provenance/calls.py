"""What requests pass in a broker on their way to an answer, kept in ``calls.txt``: made by ``regenerate --provenance``
from the sources of the newest release, so that nobody has to remember it.

A line for each request names the methods in which a broker begins with it; a line for each of these, and of those that
they call, what it calls. What is excused is named where it is called, and no further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocketmq_conformance.conformance.provenance.call_graph import BEGIN, CallGraph
from rocketmq_conformance.conformance.provenance.excused import why_excused
from rocketmq_conformance.conformance.provenance.named import Named, sources_of
from rocketmq_conformance.models.rule import Rule

FILE = Path(__file__).parent / "calls.txt"
#: The requests that suites send to a broker, whose answers rules decide.
REQUESTS = (
    *("SEND_MESSAGE", "SEND_MESSAGE_V2", "PULL_MESSAGE", "LITE_PULL_MESSAGE", "CONSUMER_SEND_MSG_BACK"),
    *("QUERY_CONSUMER_OFFSET", "UPDATE_CONSUMER_OFFSET", "GET_ALL_CONSUMER_OFFSET", "CLONE_GROUP_OFFSET"),
    *("INVOKE_BROKER_TO_RESET_OFFSET", "QUERY_CORRECTION_OFFSET", "SEARCH_OFFSET_BY_TIMESTAMP", "GET_MAX_OFFSET"),
    *("GET_MIN_OFFSET", "GET_EARLIEST_MSG_STORETIME", "HEART_BEAT", "UNREGISTER_CLIENT", "CHECK_CLIENT_CONFIG"),
    *("GET_CONSUMER_LIST_BY_GROUP", "GET_CONSUMER_CONNECTION_LIST", "LOCK_BATCH_MQ", "UNLOCK_BATCH_MQ"),
    *("QUERY_ASSIGNMENT", "SET_MESSAGE_REQUEST_MODE", "UPDATE_AND_CREATE_TOPIC", "DELETE_TOPIC_IN_BROKER"),
    *("GET_ALL_TOPIC_CONFIG", "GET_TOPIC_STATS_INFO", "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP"),
    *("QUERY_TOPIC_CONSUME_BY_WHO", "QUERY_TOPICS_BY_CONSUMER", "QUERY_CONSUME_TIME_SPAN", "QUERY_CONSUME_QUEUE"),
    *("DELETE_SUBSCRIPTIONGROUP", "GET_ALL_SUBSCRIPTIONGROUP_CONFIG"),
)


@dataclass(frozen=True, slots=True)
class Calls:
    """The methods in which a broker begins with each request, and what each method calls."""

    entries: Mapping[str, tuple[Named, ...]]
    called: Mapping[Named, tuple[Named, ...]]

    def passed_by(self, request: str) -> tuple[Named, ...]:
        """The methods that a request passes, in the order of names."""
        return tuple(sorted(_reached(self.entries[request], self.called)))


def calls_of(graph: CallGraph, requests: Iterable[str] = REQUESTS) -> Calls:
    """What requests pass by the sources of a release."""
    entries = {request: graph.entries(request) for request in requests}
    called: dict[Named, tuple[Named, ...]] = {}
    for begin in entries.values():
        for one, callees in graph.passed(begin, lambda named: bool(why_excused(named))).items():
            called[one] = called.get(one) or callees
    return Calls(entries, called)


def rules_on_the_way(calls: Calls, rules: Iterable[Rule]) -> dict[Named, tuple[str, ...]]:
    """The methods that requests pass and no rule names, with the rules that name the nearest ones of their callers.

    What is excused is left out. A method of which nothing but the switch over all requests leads to it has no rule.
    """
    of: dict[Named, list[str]] = {}
    for rule in rules:
        for citation in sources_of(rule.source).citations:
            of.setdefault(citation.named, []).append(rule.id)
    callers: dict[Named, list[Named]] = {}
    for one, callees in (*calls.called.items(), *((begin, rest) for begin, *rest in calls.entries.values())):
        for callee in callees:
            callers.setdefault(callee, []).append(one)
    return {one: _nearest(one, callers, of) for one in sorted(calls.called) if one not in of and not why_excused(one)}


def watched(calls: Calls, rules: Iterable[Rule]) -> dict[Named, tuple[str, ...]]:
    """Those of them that are on the way of any of these rules."""
    return {one: ids for one, ids in rules_on_the_way(calls, rules).items() if ids}


def _nearest(one: Named, callers: Mapping[Named, list[Named]], of: Mapping[Named, list[str]]) -> tuple[str, ...]:
    """The rules of the nearest callers that have some."""
    seen, ring = {one}, [one]
    while ring:
        ring = [caller for caller in dict.fromkeys(c for at in ring for c in callers.get(at, ())) if caller not in seen]
        seen.update(ring)
        found = {rule for at in ring if at.member != BEGIN or at.type not in _SWITCHES for rule in of.get(at, ())}
        if found:
            return tuple(sorted(found))
    return ()


#: Classes whose first method looks at the code of a request and decides nothing else.
_SWITCHES = frozenset(
    {"AdminBrokerProcessor", "ClientManageProcessor", "ConsumerManageProcessor", "QueryAssignmentProcessor"}
)


def _reached(begin: Iterable[Named], called: Mapping[Named, tuple[Named, ...]]) -> set[Named]:
    found: set[Named] = set()
    waiting = list(begin)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += called.get(one, ())
    return found


def read_calls(text: str | None = None) -> Calls:
    """Read what is kept, or a text of it."""
    entries: dict[str, tuple[Named, ...]] = {}
    called: dict[Named, tuple[Named, ...]] = {}
    for line in (FILE.read_text("utf-8") if text is None else text).splitlines():
        if line.startswith("#"):
            continue
        first, *names = line.split()
        members = tuple(_named(name) for name in names)
        if "#" in first:
            called[_named(first)] = members
        else:
            entries[first] = members
    return Calls(entries, called)


def _named(text: str) -> Named:
    owner, _, member = text.partition("#")
    return Named(owner, member)


def text_of(calls: Calls, release: str) -> str:
    """The file's text."""
    lines = [f"# What requests pass in a broker {release}: where each begins, and what each method calls."]
    lines += [" ".join((request, *map(str, begin))) for request, begin in sorted(calls.entries.items())]
    lines += [" ".join((str(one), *map(str, callees))) for one, callees in sorted(calls.called.items())]
    return "\n".join(lines) + "\n"
