"""Records what reached the fake broker in a client case: commits, requests for assignments, messages sent back."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models.client.effects import AWAITED, AWAITED_UNLOCK
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Value

#: A message that was sent back, as ``models.client.sent_back`` describes it.
SentBackMessage = tuple[Value, ...]


class Record:
    """Records effects that no response shows, until ``take``."""

    def __init__(self) -> None:
        #: The key of each queue of a client case, by its place.
        self.keys: Mapping[tuple[str, int], int] = {}
        #: Is the request that is being answered one way?
        self.one_way = False
        #: Commits that arrived, whatever became of them: the queue's key (-1: none of the case's), the offset,
        #: and ``AWAITED`` when the request was not one way.
        self.commits: list[tuple[Value, ...]] = []
        #: Requests to unlock that were not one way.
        self.unlocks: list[tuple[Value, ...]] = []
        #: How often the assignment of each topic was asked for.
        self.assignments: dict[str, int] = {}
        self.sent_back: list[SentBackMessage] = []

    def clear(self) -> None:
        """Forget everything."""
        if self.commits:
            self.commits = []
        if self.unlocks:
            self.unlocks = []
        if self.assignments:
            self.assignments = {}
        if self.sent_back:
            self.sent_back = []

    def commit(self, ext: Mapping[str, str]) -> None:
        """A commit arrived, with these header fields."""
        queue, offset = parse_number(ext.get("queueId"), 32), parse_number(ext.get("commitOffset"), 64)
        if queue is not None and offset is not None:
            commit = self.keys.get((ext["topic"], queue), NO_QUEUE), offset
            self.commits.append(commit if self.one_way else (*commit, AWAITED))

    def unlock(self) -> None:
        """Queues were unlocked."""
        if not self.one_way:
            self.unlocks.append(AWAITED_UNLOCK)

    def ask_assignment(self, topic: str) -> None:
        """The assignment of a topic was asked for."""
        self.assignments[topic] = self.assignments.get(topic, 0) + 1

    def take(self) -> tuple[Value, ...]:
        """The effects that were recorded since the last call.

        Commits are sorted (queue, offset) pairs, with ``AWAITED`` as a third part when their request was not one way,
        followed by such requests to unlock, and by the requests for assignments as sorted (topic, times) pairs; or the
        messages that were sent back, sorted. No operation leads to both. A queue that the case does not have counts as
        -1.
        """
        if self.sent_back:
            back, self.sent_back = self.sent_back, []
            return tuple(sorted(back))
        if not self.commits and not self.assignments and not self.unlocks:
            return ()
        taken, self.commits = self.commits, []
        if len(taken) > 1:
            taken.sort()
        if not self.assignments and not self.unlocks:
            return tuple(taken)
        unlocks, self.unlocks = self.unlocks, []
        asked, self.assignments = sorted(self.assignments.items()), {}
        return (*taken, *unlocks, *asked)
