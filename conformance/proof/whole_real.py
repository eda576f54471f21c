"""Proof of the hand-over of queues: members of a group join and leave on a real broker, with its real locks.

Every case has topics and groups of its own, one for each attempt, on a broker that all of them share. Besides what a
look shows, the broker is asked who has the lock of each queue.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.whole_cases import TableCase
from rocketmq_conformance.conformance.proof.whole_played import PlayedCase, play_all
from rocketmq_conformance.conformance.proof.whole_scripted import rules_of
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.broker.process import HOST
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_locks import lock_holders
from rocketmq_conformance.models.client.whole_moves import STRANGER, Look, Observation
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Reason

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: How often a case may be played: when it differs, or a consumer did not start.
ATTEMPTS = 6
#: Timeout of a request (s).
_PATIENCE = 20.0
#: A client that keeps no lock.
_PASSER_BY = "a passer-by"

#: What each look shows, and who has the lock of each queue then.
Handover = tuple[tuple[Observation, tuple[str, ...]], ...]


class Names(NamedTuple):
    """The names of one attempt at the broker."""

    topic: str
    group: str


def names(number: int, attempt: int) -> Names:
    """Of an attempt at a case."""
    return Names(f"HANDOVER-{number}-{attempt}", f"G-HANDOVER-{number}-{attempt}")


def topics(every: Sequence[TableCase]) -> dict[str, tuple[QueueLog, ...]]:
    """The topics that the broker has from the start."""
    return {
        names(number, attempt).topic: (log_of_shape(case.shape),) * case.queues
        for number, case in enumerate(every)
        for attempt in range(ATTEMPTS)
    }


def stored(every: Sequence[TableCase]) -> dict[tuple[str, str], Mapping[int, int]]:
    """The offsets that it has."""
    found: dict[tuple[str, str], Mapping[int, int]] = {}
    for number, case in enumerate(every):
        for attempt in range(ATTEMPTS):
            if case.stored is not None:
                topic, group = names(number, attempt)
                found[group, topic] = dict.fromkeys(range(case.queues), case.stored)
    return found


class RealCase(PlayedCase):
    """One attempt at a case on a real broker."""

    def __init__(self, classes: JavaRelease, cluster: Cluster, number: int, attempt: int, case: TableCase) -> None:
        topic, group = names(number, attempt)
        super().__init__(classes, case, f"handover-{number}-{attempt}", group, topic)
        self._port = cluster.broker.port
        self.address = cluster.name_server
        #: Who had the lock of each queue, at every look.
        self.held: list[tuple[str, ...]] = []

    def start(self) -> None:
        """Connect to the broker."""
        # a connection belongs to one thread
        self._connection = self._open.enter_context(Connection(HOST, self._port, _PATIENCE))

    def ask(self, request: requests.Ask) -> Command:
        """Send a request; the broker's response."""
        return self._connection.call(request.code, request.ext, request.body)

    def send(self, queue: int) -> None:
        """A message arrives."""
        error = responses.refused(self.ask(requests.send(self.topic, queue, int(time.time() * 1000))))
        if error is not None:
            raise CannotRunError(f"The broker refused a message with {error.code} ({error.detail})")

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue; a new group has none where messages have expired, and 0 elsewhere."""
        asked = (requests.query(self.group, self.topic, queue, None) for queue in range(self.case.queues))
        found = (responses.number(self.ask(request)) for request in asked)
        return tuple(-1 if isinstance(offset, Err) else offset for offset in found)

    def look(self, expected: Observation) -> Observation:
        """Wait for what is expected, and return what is observed."""
        observed = super().look(expected)
        self.held.append(self.holders())
        return observed

    def holders(self) -> tuple[str, ...]:
        """The holder of each queue's lock: a lock is granted to its holder only, and to any client when it is free."""
        asked = {"": _PASSER_BY, STRANGER: STRANGER}
        asked |= {name: consumer.client_id for name, consumer in self.consumers.items()}
        found: dict[Queue, str] = {}
        for name, client in asked.items():
            left = [queue for queue in self.queues() if queue not in found]
            granted = responses.locked(self.ask(requests.lock(self.group, client, left))) if left else ()
            if isinstance(granted, Err):
                raise CannotRunError(f"The broker refused a lock with {granted.code} ({granted.detail})")
            found |= dict.fromkeys(granted, name)
        self.ask(requests.unlock(self.group, _PASSER_BY, [queue for queue, name in found.items() if not name]))
        return tuple(found.get(queue, "?") for queue in self.queues())


def expected(life: WholeGroupModel, case: TableCase) -> tuple[Handover, Reason]:
    """The expected result of every look, and the rules of whole consumers behind it."""
    group = case.group(life.start.store.broker)
    looks: list[tuple[Observation, tuple[str, ...]]] = []
    for move in case.moves:
        if isinstance(move, Look):
            group, look = life.look(group)
            looks.append((look, lock_holders(group)))
        else:
            group = life.move(group, move)
    return tuple(looks), rules_of(group.reasons, str(case))


def prove_handovers(
    tally: Tally, life: WholeGroupModel, classes: JavaRelease, cluster: Cluster, every: Sequence[TableCase]
) -> None:
    """Play cases, and compare; one that differs is played once more when the others are done, and that counts."""
    wanted = [expected(life, case) for case in every]

    def play(number: int, attempt: int) -> Handover:
        played = RealCase(classes, cluster, number, attempt, every[number])
        looks = played.played([look for look, _ in wanted[number][0]])
        return tuple(zip(looks, played.held, strict=True))

    found = play_all(range(len(every)), play)
    again = [number for number, looks in found.items() if looks != wanted[number][0]]
    found |= play_all(again, lambda number, attempt: play(number, attempt + ATTEMPTS // 2))
    for number, case in enumerate(every):
        tally.add(*wanted[number], found[number], case.__str__)
