"""The broker of suite broker-restart: it is stopped, killed and started, and only partly known after that
(:class:`~rocketmq_conformance.models.broker.lifecycle.Forked`).

Every operation observes: each answer of the broker narrows its possible states down.
"""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.models.broker import aged_store, lifecycle
from rocketmq_conformance.models.broker.broker_offsets import AGED, NAMES, BrokerModel
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, begun
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP, Forked, step
from rocketmq_conformance.models.broker.send import send_observed
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import UNDEFINED, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Why

_HAUNTED = Why(("BQ-TOPIC-5",), "deleted before the restart")

#: Reasons of an offset that was stored before the last restart and is answered after it.
SURVIVED = {
    STOP: Why(("BQ-COM-11", "BQ-QUERY-1"), "stored before it was stopped"),
    KILL: Why(("BQ-COM-12", "BQ-QUERY-1"), "stored before it was killed"),
}


class RestartModel:
    """The rules of a broker that is restarted, for one profile; every method is pure."""

    __slots__ = ("broker",)

    def __init__(self, profile: Profile) -> None:
        self.broker = BrokerModel(profile)

    def initial(self) -> Forked:
        """The initial state: a broker that started on the aged store, with topic 0 and group 0."""
        old, new = aged_store.aged(self.broker.rules), begun()
        return Forked.of(old._replace(topics={**old.topics, **new.topics}))

    def restart(self, state: Forked, observed: Result, how: str) -> Answer[Forked]:
        """BQ-COM-11, BQ-COM-12: stopped or killed, and started again."""
        if how == STOP:
            return lifecycle.stop(self.broker.rules, state)
        return lifecycle.kill(self.broker.rules, state)

    def save(self, state: Forked, observed: Result) -> Answer[Forked]:
        """BQ-COM-12: stored offsets have been written to disk."""
        return lifecycle.save(state)

    def memory(self, state: Forked, observed: Result, hot: bool) -> Answer[Forked]:
        """RUN-DYN-1."""
        return lifecycle.set_memory(self.broker.rules, state, hot)

    def create_topic(self, state: Forked, observed: Result, topic: int, queues: int) -> Answer[Forked]:
        """BQ-TOPIC-1."""
        return step(state, observed, lambda broker: self.broker.create_topic(broker, topic, queues))

    def delete_topic(self, state: Forked, observed: Result, topic: int) -> Answer[Forked]:
        """BQ-TOPIC-3, BQ-TOPIC-5."""
        before = lifecycle.deleted(state, TOPICS[topic])
        return step(before, observed, lambda broker: self.broker.delete_topic(broker, topic))

    def create_group(self, state: Forked, observed: Result, group: int) -> Answer[Forked]:
        """BQ-GROUP-1."""
        return step(state, observed, lambda broker: self.broker.create_group(broker, group))

    def delete_group(self, state: Forked, observed: Result, group: int, flag: str) -> Answer[Forked]:
        """BQ-GROUP-2."""
        return step(state, observed, lambda broker: self.broker.delete_group(broker, group, flag))

    def send(self, state: Forked, observed: Result, topic: int, queue: int, count: int, apart: bool) -> Answer[Forked]:
        """BQ-SEND-1."""
        name, hot = TOPICS[topic], state.hot
        rules = self.broker.rules
        known = state.possible[0].topics.get(name)
        if name in state.haunted and known is not None and queue < known:
            return state, UNDEFINED, _HAUNTED
        return step(state, observed, lambda broker: send_observed(rules, broker, observed, name, queue, count, hot))

    def commit(
        self, state: Forked, observed: Result, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[Forked]:
        """BQ-UPDATE-*."""
        if queue is not None:
            state = state._replace(survivors=state.survivors - {(GROUPS[group], NAMES[topic], queue)})
        return step(state, observed, lambda broker: self.broker.commit(broker, group, topic, queue, offset))

    def query(
        self, state: Forked, observed: Result, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[Forked]:
        """BQ-QUERY-*; an offset from before the last restart also shows BQ-COM-11 or BQ-COM-12."""
        key = GROUPS[group], NAMES[topic], queue or 0
        least = min(broker.stored.get(key, -1) for broker in state.possible)
        if self._haunts(state, topic) and queue is not None and least < 0:
            return state, UNDEFINED, _HAUNTED
        after, expected, why = step(
            state, observed, lambda broker: self.broker.query(broker, group, topic, queue, set_zero)
        )
        if why.rules == ("BQ-QUERY-1",) and key in state.survivors:
            why = SURVIVED[state.how]
        return after, expected, why

    def query_kept(self, state: Forked, observed: Result, queue: int, set_zero: bool | None) -> Answer[Forked]:
        """BQ-COM-11."""
        return step(state, observed, lambda broker: self.broker.query_kept(broker, queue, set_zero))

    def max(self, state: Forked, observed: Result, topic: int, queue: int) -> Answer[Forked]:
        """BQ-STORE-MAX."""
        return self._log(state, observed, topic, lambda broker: self.broker.max(broker, topic, queue))

    def min(self, state: Forked, observed: Result, topic: int, queue: int) -> Answer[Forked]:
        """BQ-STORE-MIN."""
        return self._log(state, observed, topic, lambda broker: self.broker.min(broker, topic, queue))

    def earliest(self, state: Forked, observed: Result, topic: int, queue: int) -> Answer[Forked]:
        """BQ-EARLIEST-1."""
        return self._log(state, observed, topic, lambda broker: self.broker.earliest(broker, topic, queue))

    def search(
        self, state: Forked, observed: Result, topic: int, queue: int, message: int, delta: int, boundary: str
    ) -> Answer[Forked]:
        """BQ-TIME-*."""
        return self._log(
            state,
            observed,
            topic,
            lambda broker: self.broker.search(broker, topic, queue, message, delta, boundary),
        )

    def _log(
        self, state: Forked, observed: Result, topic: int, handler: Callable[[BrokerState], Answer[BrokerState]]
    ) -> Answer[Forked]:
        """An operation on the messages of a queue."""
        if self._haunts(state, topic):
            return state, UNDEFINED, _HAUNTED
        return step(state, observed, handler)

    @staticmethod
    def _haunts(state: Forked, topic: int) -> bool:
        return topic != AGED and TOPICS[topic] in state.haunted
