"""Proof of where new groups start: common claims, tested with a real push consumer and broker of each release."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.java_client.release import java_release
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.reset import OFFLINE
from rocketmq_conformance.models.broker.state import QueueLog, Topic
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.new_group_start import (
    ARRIVING,
    DONOR,
    DONOR_OFFSET,
    EXPIRED,
    MESSAGES_EACH,
    QUEUE_COUNT,
)
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.release import Release

#: The topics of the steps: two that messages are sent to, and one that comes with the store and has lost messages.
YOUNG, OLD, OTHER = "YOUNG", "OLD", "OTHER"
#: Timeout until a commit has arrived (s).
_COMMIT_LIMIT = 5.0
_LOG = QueueLog(first=EXPIRED, times=(aged_store.EPOCH,) * (MESSAGES_EACH - EXPIRED))


class NewGroupStartPlayer(Scoped):
    """Plays the folklore on one release; a context manager that starts and stops a name server and a broker."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.cluster = Cluster(release, lambda home: write_store(home, {OLD: (_LOG,) * QUEUE_COUNT}, {}))
        self._java = java_release(str(release))
        self._open = ExitStack()
        self._steps: dict[str, Callable[[], Value]] = {
            "new group": lambda: self._consume("NEW", YOUNG),
            "expired": lambda: self._consume("LATE", OLD),
            "reset alone": lambda: self._reset("BARE"),
            "remedy": lambda: self._remedy("REMEDIED"),
            "remedied": lambda: self._consume("REMEDIED", OTHER),
        }

    def start(self) -> None:
        """Start its cluster, and fill it."""
        self._open.enter_context(self.cluster)
        self._fill()

    def close(self) -> None:
        """End the processes and connections."""
        self._open.close()

    def play(self, step: str) -> Value:
        """Play a step, and return the observed value."""
        try:
            return self._steps[step]()
        except OSError as error:
            raise CannotRunError(f"Broker {self.release} did not answer ({error}): try again.") from error

    def _fill(self) -> None:
        for topic in (YOUNG, OTHER):
            self.cluster.do(requests.create_topic(topic, Topic.of(QUEUE_COUNT)))
        for topic in (YOUNG, OLD, OTHER):
            self.cluster.await_route(topic)
        for topic in (YOUNG, OTHER):
            for _ in range(MESSAGES_EACH):
                for queue in range(QUEUE_COUNT):
                    self.cluster.send(topic, queue)
        self.cluster.do(requests.create_group(DONOR))
        for queue in range(QUEUE_COUNT):
            self.cluster.do(requests.commit(DONOR, OTHER, queue, DONOR_OFFSET))

    def _consume(self, group: str, topic: str) -> Value:
        """Start a consumer, send messages after that, and report what it received (first -1: nothing) and
        has committed."""
        from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

        with WholeConsumer(self._java, PUSH, self.cluster.name_server, group, topic, LAST) as consumer:
            consumer.await_start(QUEUE_COUNT)
            arrived = {
                (queue, self.cluster.send(topic, queue)) for queue in range(QUEUE_COUNT) for _ in range(ARRIVING)
            }
            consumer.await_consumed(arrived)
            consumer.commit()
            self._await_commits(group, topic, arrived)
        rows: list[Value] = []
        for queue in range(QUEUE_COUNT):
            offsets = [offset for number, offset in consumer.given if number == queue]
            rows.append((queue, min(offsets, default=-1), len(offsets), self._stands_at(group, topic, queue)))
        return tuple(rows)

    def _reset(self, group: str) -> Value:
        """Create a group and reset it to -1: the pairs, or the name of the error."""
        self.cluster.do(requests.create_group(group))
        answer = self.cluster.ask(requests.reset(group, OTHER, -1, True, None, None))
        error = responses.refused(answer)
        if error is not None:
            return error.code
        pairs = responses.offset_pairs(answer.body)
        return pairs.code if isinstance(pairs, Err) else pairs

    def _remedy(self, group: str) -> Value:
        """Create a group, clone the donor's offsets, and reset it as the administration tool does: when the broker
        only resets by way of members and there are none, max is committed for each queue."""
        self.cluster.do(requests.create_group(group))
        self.cluster.do(requests.clone(DONOR, group, OTHER, offline=True))
        answer = self._reset(group)
        if answer == OFFLINE.code:
            for queue in range(QUEUE_COUNT):
                end = responses.number(self.cluster.do(requests.max_offset(OTHER, queue)))
                if isinstance(end, Err):
                    raise CannotRunError(f"Broker {self.release} has no max of a queue ({end.detail}).")
                self.cluster.do(requests.commit(group, OTHER, queue, end))
        return answer, tuple((queue, self._stands_at(group, OTHER, queue)) for queue in range(QUEUE_COUNT))

    def _await_commits(self, group: str, topic: str, consumed: set[tuple[int, int]]) -> None:
        """Wait for a commit to arrive, as consumers commit one way; no longer than the timeout."""
        last = dict(sorted(consumed))
        wait_until(
            lambda: all(self._stands_at(group, topic, queue) == offset + 1 for queue, offset in last.items()),
            _COMMIT_LIMIT,
            0.05,
        )

    def _stands_at(self, group: str, topic: str, queue: int) -> int | str:
        """The group's offset, or the name of the error."""
        found = responses.number(self.cluster.ask(requests.query(group, topic, queue, None)))
        return found.code if isinstance(found, Err) else found
