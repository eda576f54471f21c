"""The contents and the target of a pull: offset, commit, expression, and node (PULL-COM-1, PULL-NODE-*).

A broker is a master, number 0, and perhaps slaves. Each answer suggests a node to ask next for that queue, and the
suggestion outlives the queue's loss. A slave takes no commits, so a pull that goes to one sets the flag accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.subscription import SQL92, Subscription
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "PULL-COM-1",
        "A pull carries the queue's offset in memory, -1 without one; its flag says to commit it (1) when it is "
        "greater than 0 and the node asked is no slave. The flag always lets the broker wait (2).",
        "DefaultMQPushConsumerImpl#pullMessage, PullAPIWrapper#pullKernelImpl @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-COM-BC",
        "A pull of a broadcasting consumer carries 0 and no flag to commit it, whatever memory holds.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-NODE-1",
        "The node asked is the one that the queue's last answer suggested, at first the master; one that is not known "
        "is replaced by any known one, from 4.8.0 on preferably by the slave with the next number.",
        "MQClientInstance#findBrokerAddressInSubscribe, PullAPIWrapper#recalculatePullFromWhichNode @ 4.0.0, 4.8.0, "
        "5.3.3",
    ),
    Rule(
        "PULL-NODE-2",
        "When no node of the broker is known, the route of the topic is asked for; without one the pull is put off.",
        "PullAPIWrapper#pullKernelImpl @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-SUB-3",
        "The expression goes with a pull (flag 4) only when the consumer is told to post it. Its type always does, "
        "SQL92 from 4.1.0, TAG from 4.3.0 on.",
        "DefaultMQPushConsumerImpl#pullMessage, FilterAPI @ 4.0.0, 4.1.0, 4.2.0, 4.3.0, 5.3.3",
    ),
    Rule(
        "PULL-SUB-4",
        "A pull by an SQL92 expression is put off while the node is not known to be 4.1.0 or newer.",
        "PullAPIWrapper#pullKernelImpl @ 4.1.0, 4.9.8, 5.3.3",
        releases="4.1.0+",
    ),
)

MASTER = 0
COMMIT, SUSPEND, EXPRESSION = 1, 2, 4


class KnownBroker(NamedTuple):
    """The client's knowledge of the broker that has the queues."""

    #: Numbers of its nodes; none: its address is not known.
    nodes: tuple[int, ...] = (MASTER,)
    #: Is it older than 4.1.0?
    old: bool = False
    #: Topics without a route.
    lost: frozenset[str] = frozenset()
    #: The node that the last answer suggested, by queue.
    suggested: Mapping[int, int] = MappingProxyType({})


NO_BROKER = Reason(("PULL-NODE-2",), "no route")
TOO_OLD = Reason(("PULL-SUB-4",), "too old for SQL92")
UNREACHED = Reason(("PULL-NODE-1",), "not reached")
_NODES = ("master", "suggested slave", "next slave", "any node", "route learned")
_COMMITS = ("no commit", "commit", "commit withheld from a slave")
_ASKED = {
    (node, commit): Reason(
        ("PULL-COM-1", "PULL-NODE-2" if node == "route learned" else "PULL-NODE-1", "PULL-SUB-3"), f"{node}, {commit}"
    )
    for node in _NODES
    for commit in _COMMITS
}
LEARNED_REASONS = reasons_by_kind(("PULL-NODE-1",), "nodes", "no node")
ROUTED_REASONS = reasons_by_kind(("PULL-NODE-2",), "route", "route lost")


def carried(broadcasts: bool, held: int) -> tuple[int, bool]:
    """PULL-COM-1, PULL-COM-BC: the offset that a pull of the master carries, and whether its flag says to commit it;
    ``held`` is the offset in memory, -1 for none."""
    return (0, False) if broadcasts else (held, held > 0)


def locate(broker: KnownBroker, topic: str) -> KnownBroker | None:
    """PULL-NODE-2: the broker as it is known once a node is to be asked for a topic; None when it cannot be found."""
    if broker.nodes:
        return broker
    return None if topic in broker.lost else broker._replace(nodes=(MASTER,))


def node_to_ask(client: ClientRules, broker: KnownBroker, queue: int) -> tuple[int, str]:
    """PULL-NODE-1: the node to ask, and the kind of reason."""
    wanted = broker.suggested.get(queue, MASTER)
    if wanted in broker.nodes:
        return wanted, "suggested slave" if wanted else "master"
    if client.next_slave and wanted + 1 in broker.nodes:
        return wanted + 1, "next slave"
    return broker.nodes[0], "any node"


def ask(
    client: ClientRules,
    broker: KnownBroker,
    learned: bool,
    queue: int,
    offset: int,
    held: int,
    sub: Subscription,
    posts: bool,
) -> tuple[tuple[Value, ...] | None, Reason]:
    """("asked", node, offset, commit offset, flag, expression or None, its type or None), or None when the node is too
    old; ``held`` is the offset in memory, -1 for none."""
    number, chosen = node_to_ask(client, broker, queue)
    if sub.kind == SQL92 and broker.old:
        return None, TOO_OLD
    flag = SUSPEND | (EXPRESSION if posts else 0)
    commit = "no commit"
    if held > 0:
        commit = "commit withheld from a slave" if number else "commit"
        flag |= 0 if number else COMMIT
    kind = sub.kind if client.names_tags or sub.kind == SQL92 else None
    answer = "asked", number, offset, held, flag, sub.text if posts else None, kind
    return answer, _ASKED["route learned" if learned else chosen, commit]
