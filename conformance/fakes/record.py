"""Records what reached the fake broker in a client case: commits, requests for assignments, messages sent back."""

from __future__ import annotations

from rocketmq_conformance.models.client.fixtures import LOST_QUEUE, QUEUES
from rocketmq_conformance.models.outcome import Value

#: A message that was sent back, as ``models.client.sent_back`` describes it.
SentBackMessage = tuple[Value, ...]

#: The index of each queue of a client case, by topic and queue id.
INDEX = {(queue.topic, queue.id): at for at, queue in enumerate(QUEUES) if at != LOST_QUEUE}


class Record:
    """Records effects that no response shows, until ``take``."""

    def __init__(self) -> None:
        #: Commits that were stored: the queue (see ``INDEX``, -1: none of the case's) and the offset.
        self.commits: list[tuple[int, int]] = []
        #: How often the assignment of each topic was asked for.
        self.assignments: dict[str, int] = {}
        self.sent_back: list[SentBackMessage] = []

    def clear(self) -> None:
        """Forget everything."""
        if self.commits:
            self.commits = []
        if self.assignments:
            self.assignments = {}
        if self.sent_back:
            self.sent_back = []

    def ask_assignment(self, topic: str) -> None:
        """The assignment of a topic was asked for."""
        self.assignments[topic] = self.assignments.get(topic, 0) + 1

    def take(self) -> tuple[Value, ...]:
        """The effects that were recorded since the last call.

        Commits are sorted (queue, offset) pairs, followed by the requests for assignments as sorted
        (topic, times) pairs; or the messages that were sent back, sorted. No operation leads to both. A queue that the
        case does not have counts as -1.
        """
        if self.sent_back:
            back, self.sent_back = self.sent_back, []
            return tuple(sorted(back))
        if not self.commits and not self.assignments:
            return ()
        taken, self.commits = self.commits, []
        if len(taken) > 1:
            taken.sort()
        if not self.assignments:
            return tuple(taken)
        asked, self.assignments = sorted(self.assignments.items()), {}
        return (*taken, *asked)
