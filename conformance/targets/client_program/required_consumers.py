"""What each suite asks of a program: the consumer that it is to be, and the commands that it is to take."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.suites import (
    whole_allocation,
    whole_answers,
    whole_assign,
    whole_broadcast,
    whole_broadcast_listener,
    whole_brokers,
    whole_clusters,
    whole_commit,
    whole_files,
    whole_groups,
    whole_listener,
    whole_lite,
    whole_load,
    whole_messages,
    whole_orderly,
    whole_orderly_listener,
    whole_pause,
    whole_push,
    whole_slaves,
    whole_subscriptions,
    whole_topologies,
)

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
AUTOMATIC, ON_DEMAND = "AUTOMATIC", "ON_DEMAND"
SHARED, ASSIGNED = "SHARED", "ASSIGNED"
#: Commands that a program says that it takes, and what it says when it has strategies other than the first.
LISTEN, HOLD, PAUSE, COMMIT = "listen", "hold", "pause", "commit"
SUBSCRIBE, ALSO, END, ASSIGN, STRATEGY = "subscribe", "also", "end", "assign", "strategy"


class RequiredConsumer(NamedTuple):
    """The consumer that a program is to be: ``ROCKETMQ_KIND``, ``ROCKETMQ_MODEL``, ``ROCKETMQ_COMMIT`` and
    ``ROCKETMQ_QUEUES``."""

    kind: str
    model: str = CLUSTERING
    commit: str = AUTOMATIC
    queues: str = SHARED


PUSH, ORDERLY, LITE = RequiredConsumer("push"), RequiredConsumer("orderly"), RequiredConsumer("lite")
#: The consumer that each suite asks a program for, and a command that all of its cases need, or "".
REQUIRED_CONSUMERS: dict[str, tuple[RequiredConsumer, str]] = {
    whole_push.SUITE.name: (PUSH, ""),
    whole_orderly.SUITE.name: (ORDERLY, ""),
    whole_broadcast.SUITE.name: (PUSH._replace(model=BROADCASTING), ""),
    whole_broadcast_listener.SUITE.name: (PUSH._replace(model=BROADCASTING), LISTEN),
    whole_lite.SUITE.name: (LITE, ""),
    whole_listener.SUITE.name: (PUSH, LISTEN),
    whole_allocation.SUITE.name: (PUSH, ""),
    whole_orderly_listener.SUITE.name: (ORDERLY, LISTEN),
    whole_brokers.SUITE.name: (PUSH, ""),
    whole_pause.SUITE.name: (PUSH, PAUSE),
    whole_commit.SUITE.name: (LITE._replace(commit=ON_DEMAND), COMMIT),
    whole_subscriptions.SUITE.name: (PUSH, SUBSCRIBE),
    whole_messages.SUITE.name: (PUSH, ""),
    whole_load.SUITE.name: (PUSH, HOLD),
    whole_topologies.SUITE.name: (PUSH, ""),
    whole_clusters.SUITE.name: (PUSH, ALSO),
    whole_groups.SUITE.name: (PUSH, END),
    whole_files.SUITE.name: (PUSH._replace(model=BROADCASTING), ""),
    whole_answers.SUITE.name: (PUSH, ""),
    whole_slaves.SUITE.name: (PUSH, ""),
    whole_assign.SUITE.name: (LITE._replace(queues=ASSIGNED), ASSIGN),
}
