"""The broker of suite broker-assignment: members over several connections, modes, and a name server's routes.

The routes are the same in every case, and some of their queues are on brokers that are never asked. How much of the
routes the broker knows depends on its release.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rocketmq_conformance.models.broker import assignment, members
from rocketmq_conformance.models.broker.assignment import (
    LMQ_PREFIX,
    NO_MODES,
    AssignmentRequest,
    Mode,
    Modes,
    default_mode,
    mode_of,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.members import NO_GROUPS, Consumer, Groups
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.broker.subscription import RegisteredSubscription
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, reasons_by_kind

#: Groups by index: the first one exists when a case begins, and no broker creates the last, whose name is illegal.
GROUPS = ("G0", "G1", "G!")
KNOWN_GROUP, ILLEGAL_GROUP = 0, 2
#: Topics by index: on one broker, on several, with one queue, with no readable queue, without a route, the retry
#: topics of two groups, of which only the first has a route, and a light message queue.
TOPICS = ("T0", "T1", "T2", "T3", "T4", f"{RETRY}G0", f"{RETRY}G1", f"{LMQ_PREFIX}L")
#: Client ids by index, in an order that is not Java's; the last one is blank.
CLIENTS = ("c2", "c10", "C3", "\u00e9", " ")
#: Connections over which members register.
CONNECTIONS = 5

#: The name of the broker that is asked.
BROKER = "broker-a"
#: The name server's routes: (broker, number of queues, are they readable?) by topic.
ROUTES: dict[str, tuple[tuple[str, int, bool], ...]] = {
    "T0": ((BROKER, 4, True),),
    "T1": (("broker-c", 2, False), ("broker-b", 2, True), (BROKER, 3, True)),
    "T2": (("broker-b", 1, True),),
    "T3": ((BROKER, 2, False),),
    f"{RETRY}G0": ((BROKER, 1, True),),
}

_CREATED = reasons_by_kind(("BQ-TOPIC-1",), "new topic", "same again")


def readable_queues(topic: str) -> tuple[Queue, ...] | None:
    """The readable queues of a topic of the fixtures; None without a route."""
    found = ROUTES.get(topic)
    if found is None:
        return None
    return tuple((topic, broker, number) for broker, count, may in found if may for number in range(count))


class BrokerAssignmentState(NamedTuple):
    """The topics of the broker, its registered members, and the modes that are set."""

    topics: frozenset[str] = frozenset({TOPICS[0]})
    members: Groups = NO_GROUPS
    modes: Modes = NO_MODES


class BrokerAssignmentModel:
    """The rules of a broker that assigns queues; every method is pure. Arguments are indexes of the fixtures."""

    __slots__ = ("default", "rules")

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)
        self.default = default_mode(self.rules)

    def make_topic(self, state: BrokerAssignmentState, topic: int) -> Answer[BrokerAssignmentState]:
        """BQ-TOPIC-1: None."""
        why = _CREATED["same again" if TOPICS[topic] in state.topics else "new topic"]
        return state._replace(topics=state.topics | {TOPICS[topic]}), None, why

    def register(
        self, state: BrokerAssignmentState, connection: int, client: int, group: int
    ) -> Answer[BrokerAssignmentState]:
        """BQ-HB-1: None."""
        consumer = Consumer(GROUPS[group], {TOPICS[0]: RegisteredSubscription(None, 0)})
        known = group == KNOWN_GROUP or self.rules.creates_groups
        groups, _, why = members.heartbeat(self.rules, state.members, connection, CLIENTS[client], consumer, known)
        topics = state.topics | {RETRY + GROUPS[group]} if known else state.topics
        return BrokerAssignmentState(topics, groups, state.modes), None, why

    def unregister(self, state: BrokerAssignmentState, connection: int, group: int) -> Answer[BrokerAssignmentState]:
        """BQ-HB-6: None."""
        groups, _, why = members.unregister(self.rules, state.members, connection, GROUPS[group])
        return BrokerAssignmentState(state.topics, groups, state.modes), None, why

    def set_mode(
        self, state: BrokerAssignmentState, topic: int, group: int, mode: str | None, share: int | None
    ) -> Answer[BrokerAssignmentState]:
        """BQ-ASSIGN-6: None, or the error."""
        there = assignment.has_topic(self.rules, state.topics, TOPICS[topic])
        lacking = "topic" if not there else "" if self._knows(group) else "group"
        modes, result, why = assignment.set_mode(
            self.rules, state.modes, TOPICS[topic], GROUPS[group], mode, share, lacking
        )
        return BrokerAssignmentState(state.topics, state.members, modes), result, why

    def _knows(self, group: int) -> bool:
        return group == KNOWN_GROUP or (group != ILLEGAL_GROUP and self.rules.creates_groups)

    def ask(
        self,
        state: BrokerAssignmentState,
        topic: int,
        group: int,
        client: str | None,
        model: str | None,
        strategy: str | None,
    ) -> Answer[BrokerAssignmentState]:
        """BQ-ASSIGN-1 to 5: sorted (broker, queue id, mode) triples, None for no list, or the error."""
        name = TOPICS[topic]
        asked = AssignmentRequest(name, GROUPS[group], client, model, strategy)
        registered = state.members.get(GROUPS[group])
        listed = None if registered is None else tuple(registered.members.values())
        mode = mode_of(state.modes, name, GROUPS[group], self.default)
        return state, *_assignment(self.rules, asked, mode, name in state.topics, listed)


@lru_cache(maxsize=1 << 16)
def _assignment(
    rules: BrokerRules,
    asked: AssignmentRequest,
    mode: Mode,
    own: bool,
    listed: tuple[str, ...] | None,
) -> assignment.Assignment:
    queues = assignment.known_queues(rules, readable_queues(asked.topic), own)
    return assignment.assign(rules, asked, mode, queues, listed, BROKER)
