"""QUERY_ASSIGNMENT and SET_MESSAGE_REQUEST_MODE: the broker decides which queues a member gets (BQ-ASSIGN-*).

A broker of 5.x can balance a group itself. A member sends its client id, its strategy and its message model; the
response lists queues of *all* brokers of the topic, as the name server's route has them. A response without a list
means that the broker cannot say: the member keeps what it has. An empty list means that it gets nothing.

Whether the queues are to be pulled one by one (PULL) or popped together with other members (POP) is set for a topic and
group by an administrator.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.allocation.averagely import averagely
from rocketmq_conformance.models.allocation.circle import by_circle
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.message_queue import Queue, sort_ids, sort_queues
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

_SINCE = "5.0.0-PREVIEW+"

RULES = (
    Rule(
        "BQ-ASSIGN-1",
        "Queues are asked for as it is set for this topic and this group. Where nothing is set they are pulled, or "
        "asked for as the broker's defaultMessageRequestMode and defaultPopShareQueueNum say; queues of retry topics "
        "are pulled then all the same.",
        "QueryAssignmentProcessor#queryAssignment @ 5.0.0-PREVIEW, 5.3.3; "
        "MessageRequestModeManager#getMessageRequestMode @ 5.3.3",
        releases=_SINCE,
    ),
    Rule(
        "BQ-ASSIGN-2",
        "The queues are those that the name server's route says are readable, of all brokers. A topic without a route "
        "is answered without a list. The broker asks for a route when a member first needs it; up to 5.0.0-ALPHA it "
        "only knows routes of topics that it has itself.",
        "TopicRouteInfoManager#getTopicSubscribeInfo @ 5.0.0, 5.3.3; AssignmentManager#getTopicSubscribeInfo, "
        "#updateTopicRouteInfoFromNameServer @ 5.0.0-PREVIEW",
        releases=_SINCE,
    ),
    Rule(
        "BQ-ASSIGN-2-LMQ",
        "A light message queue (%LMQ%...) has one queue, 0, on the broker that is asked, for clusters only.",
        "QueryAssignmentProcessor#doLoadBalance @ 5.3.1, 5.3.3",
        releases="5.3.1+",
    ),
    Rule(
        "BQ-ASSIGN-3",
        "A broadcasting member gets every queue, registered or not. In a cluster there is no list when nobody of the "
        "group is registered, or the strategy is neither AVG nor AVG_BY_CIRCLE, or it refuses; a member that is not "
        "registered gets nothing. A request without a message model fails.",
        "QueryAssignmentProcessor#doLoadBalance @ 5.0.0-PREVIEW, 5.3.3",
        releases=_SINCE,
    ),
    Rule(
        "BQ-ASSIGN-OFF",
        "A broker whose load balancing is switched off gives every member of a cluster all queues.",
        "QueryAssignmentProcessor#doLoadBalance @ 5.0.0-PREVIEW, 5.3.3",
        releases=_SINCE,
        needs="serverLoadBalancerEnable=false",
    ),
    Rule(
        "BQ-ASSIGN-4",
        "Where queues are pulled, a member gets what its strategy says of the sorted queues and client ids.",
        "QueryAssignmentProcessor#doLoadBalance @ 5.0.0-PREVIEW, 5.3.3",
        releases=_SINCE,
    ),
    Rule(
        "BQ-ASSIGN-5",
        "Where queues are popped and the share is 0 or less, or (5.0.0-ALPHA+) all other members or more, everybody, "
        "registered or not, gets queue -1 of every broker. With a smaller share and no more members than queues, a "
        "member gets its own queues and those of so many members behind it, in a circle; with more members than "
        "queues it gets one queue, by its place.",
        "QueryAssignmentProcessor#allocate4Pop, #allocate @ 5.0.0-ALPHA, 5.3.3; #doLoadBalance @ 5.0.0-PREVIEW",
        releases=_SINCE,
    ),
    Rule(
        "BQ-ASSIGN-6",
        "The mode of a retry topic cannot be set (NO_PERMISSION). From 5.3.3 the broker must have the topic "
        "(TOPIC_NOT_EXIST), then the group, which it creates if it may and the name is legal "
        "(SUBSCRIPTION_GROUP_NOT_EXIST). Without a mode it is PULL, without a share 0. With configManagerVersion=v2 it "
        "has every light message queue.",
        "QueryAssignmentProcessor#setMessageRequestMode @ 5.0.0-PREVIEW, 5.3.2, 5.3.3; "
        "TopicConfigManagerV2#selectTopicConfig @ 5.3.2",
        releases=_SINCE,
    ),
)

PULL, POP = "PULL", "POP"
CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
RETRY_PREFIX = "%RETRY%"
LMQ_PREFIX = "%LMQ%"
#: The queue id that stands for all queues of a broker.
ANY_QUEUE = -1


class Mode(NamedTuple):
    """How queues are consumed, and the number of other members whose queues a member pops from too."""

    mode: str = PULL
    share: int = 0


#: The default of a broker whose properties do not set another.
PULL_MODE = Mode()
#: Modes by (topic, group). Never changed in place.
Modes = Mapping[tuple[str, str], Mode]
NO_MODES: Modes = MappingProxyType({})


class AssignmentRequest(NamedTuple):
    """The request of a member; a message model, strategy or client id of None is a field that is not sent."""

    topic: str
    group: str
    client: str | None
    model: str | None
    strategy: str | None


#: The broker's answer, and the reason.
Assignment = tuple[Expected, Reason]

_STRATEGIES = {"AVG": averagely, "AVG_BY_CIRCLE": by_circle}
_FAILED = Err("SYSTEM_ERROR")

_NO_LIST = reasons_by_kind(
    ("BQ-ASSIGN-3",), "nobody registered", "unknown strategy", "no client id", "no readable queue", "blank client id"
)
_NO_MODEL = Reason(("BQ-ASSIGN-3",), "no message model")
_NO_ROUTE = reasons_by_kind(("BQ-ASSIGN-2",), "no route, broadcasting", "no route, cluster")
_NOT_REGISTERED = Reason(("BQ-ASSIGN-3",), "not registered")
_BROADCASTING = {
    mode: Reason(("BQ-ASSIGN-3", "BQ-ASSIGN-2", "BQ-ASSIGN-1"), f"broadcasting, {mode}") for mode in (PULL, POP)
}
_SWITCHED_OFF = {
    mode: Reason(("BQ-ASSIGN-OFF", "BQ-ASSIGN-2", "BQ-ASSIGN-1"), f"switched off, {mode}") for mode in (PULL, POP)
}
_BY_STRATEGY = reasons_by_kind(("BQ-ASSIGN-4", "BQ-ASSIGN-2", "BQ-ASSIGN-1"), "queues", "more members than queues")
_LIGHT = reasons_by_kind(("BQ-ASSIGN-4", "BQ-ASSIGN-2-LMQ", "BQ-ASSIGN-1"), "queues", "more members than queues")
_POPPED = reasons_by_kind(
    ("BQ-ASSIGN-5", "BQ-ASSIGN-2", "BQ-ASSIGN-1"),
    "no share",
    "a share as large as the group",
    "no readable queue",
    "own queues and others'",
    "a share beyond the group",
    "an id twice",
    "one queue by place",
    "stranger",
)
_SET = reasons_by_kind(
    ("BQ-ASSIGN-6",), "set", "set anew", "retry topic", "unknown topic", "unknown group", "mode not sent"
)


def known_queues(rules: BrokerRules, named: tuple[Queue, ...] | None, own: bool) -> tuple[Queue, ...] | None:
    """BQ-ASSIGN-2: the readable queues as the broker knows them; ``named`` is the name server's route, None for none,
    and ``own`` whether the broker has the topic itself."""
    return None if rules.routes_polled and not own else named


def assign(
    rules: BrokerRules,
    asked: AssignmentRequest,
    mode: Mode,
    queues: tuple[Queue, ...] | None,
    members: tuple[str, ...] | None,
    broker: str,
) -> Assignment:
    """Sorted (broker, queue id, mode) triples, None for no list, or the error.

    ``queues`` are the topic's readable ones, None without a route; ``members`` the client ids of the group, None when
    no member is registered; ``broker`` the name of the broker that is asked.
    """
    if asked.model is None:
        return _FAILED, _NO_MODEL
    if asked.model == BROADCASTING:
        if queues is None:
            return None, _NO_ROUTE["no route, broadcasting"]
        return _triples(queues, mode), _BROADCASTING[mode.mode]
    light = rules.lmq_assigned and asked.topic.startswith(LMQ_PREFIX)
    if light:
        queues = ((asked.topic, broker, 0),)
    if queues is None:
        return None, _NO_ROUTE["no route, cluster"]
    if not rules.balances:
        return _triples(queues, mode), _SWITCHED_OFF[mode.mode]
    if members is None:
        return None, _NO_LIST["nobody registered"]
    if asked.strategy not in _STRATEGIES:
        return None, _NO_LIST["unknown strategy"]
    ordered = sort_queues(queues)
    assert ordered is not None  # real ids have an order
    if mode.mode == POP:
        return _popped(rules, asked, mode, ordered, sort_ids(members))
    return _pulled(asked, mode, ordered, sort_ids(members), light)


def _pulled(
    asked: AssignmentRequest, mode: Mode, queues: tuple[Queue, ...], members: tuple[str, ...], light: bool
) -> Assignment:
    """BQ-ASSIGN-4."""
    mine = _share(asked, asked.client, queues, members)
    if isinstance(mine, Reason):
        return None, mine
    if asked.client not in members:
        return (), _NOT_REGISTERED
    kind = "queues" if mine else "more members than queues"
    return _triples(mine, mode), (_LIGHT if light else _BY_STRATEGY)[kind]


def _popped(
    rules: BrokerRules, asked: AssignmentRequest, mode: Mode, queues: tuple[Queue, ...], members: tuple[str, ...]
) -> Assignment:
    """BQ-ASSIGN-5."""
    whole = rules.large_share_is_all and mode.share >= len(members) - 1
    if mode.share <= 0 or whole:
        everywhere = {(topic, broker, ANY_QUEUE) for topic, broker, _ in queues}
        kind = "a share as large as the group" if mode.share > 0 else "no share" if queues else "no readable queue"
        return _triples(everywhere, mode), _POPPED[kind]
    if len(members) > len(queues):
        return _one_queue(rules, asked, mode, queues, members)
    mine = _share(asked, asked.client, queues, members)
    if isinstance(mine, Reason):
        return None, mine
    if asked.client not in members:
        return (), _POPPED["stranger"]
    place = members.index(asked.client)
    behind = [members[(place + step) % len(members)] for step in range(1, mode.share + 1)]
    shared = {*mine}
    for other in behind:
        theirs = _share(asked, other, queues, members)
        assert not isinstance(theirs, Reason)  # they are registered, and there are queues
        shared.update(theirs)
    if len({*members}) < len(members):
        kind = "an id twice"
    else:
        kind = "a share beyond the group" if mode.share >= len(members) else "own queues and others'"
    return _triples(shared, mode), _POPPED[kind]


def _one_queue(
    rules: BrokerRules, asked: AssignmentRequest, mode: Mode, queues: tuple[Queue, ...], members: tuple[str, ...]
) -> Assignment:
    """BQ-ASSIGN-5: more members than queues."""
    if not asked.client:
        return None, _NO_LIST["no client id"]
    if rules.blank_client_refused and not asked.client.strip():
        return None, _NO_LIST["blank client id"]
    if not queues:
        return None, _NO_LIST["no readable queue"]
    if asked.client not in members:
        return (), _POPPED["stranger"]
    return _triples([queues[members.index(asked.client) % len(queues)]], mode), _POPPED["one queue by place"]


def _share(
    asked: AssignmentRequest, client: str | None, queues: tuple[Queue, ...], members: tuple[str, ...]
) -> tuple[Queue, ...] | Reason:
    """The answer of a strategy, or the reason why it refuses."""
    if not client:
        return _NO_LIST["no client id"]
    mine, _ = _STRATEGIES[asked.strategy or ""](client, queues, members)
    return mine if isinstance(mine, tuple) else _NO_LIST["no readable queue"]  # type: ignore[return-value]


def _triples(queues: object, mode: Mode) -> tuple[tuple[str, int, str], ...]:
    return tuple(sorted((broker, number, mode.mode) for _, broker, number in queues))  # type: ignore[attr-defined]


def default_mode(rules: BrokerRules) -> Mode:
    """BQ-ASSIGN-1: how queues are assigned where nothing is set."""
    return Mode(rules.default_mode, rules.default_share)


def mode_of(modes: Modes, topic: str, group: str, default: Mode = PULL_MODE) -> Mode:
    """BQ-ASSIGN-1: the mode that is set; ``default`` is the broker's."""
    return modes.get((topic, group), PULL_MODE if topic.startswith(RETRY_PREFIX) else default)


def has_topic(rules: BrokerRules, topics: Container[str], topic: str) -> bool:
    """Is it a topic whose mode may be set?"""
    return topic in topics or (rules.every_lmq and topic.startswith(LMQ_PREFIX))


def set_mode(
    rules: BrokerRules, modes: Modes, topic: str, group: str, mode: str | None, share: int | None, known: str = ""
) -> Answer[Modes]:
    """BQ-ASSIGN-6: None, or the error. ``known`` is what the broker lacks, "topic" or "group", or ""."""
    if topic.startswith(RETRY_PREFIX):
        return modes, Err("NO_PERMISSION"), _SET["retry topic"]
    if known and rules.mode_checked:
        code = "TOPIC_NOT_EXIST" if known == "topic" else "SUBSCRIPTION_GROUP_NOT_EXIST"
        return modes, Err(code), _SET[f"unknown {known}"]
    after = {**modes, (topic, group): Mode(PULL if mode is None else mode, 0 if share is None else share)}
    kind = "mode not sent" if mode is None else "set anew" if (topic, group) in modes else "set"
    return after, None, _SET[kind]
