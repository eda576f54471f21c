"""The broker of suite broker-restart: it is stopped, killed and started, and only partly known after that
(:class:`~rocketmq_conformance.models.broker.lifecycle.UncertainBroker`).

Every operation observes: each answer of the broker narrows its possible states down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from rocketmq_conformance.models.broker import aged_store, lifecycle
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC, TOPIC_NAMES, BrokerOffsetsModel
from rocketmq_conformance.models.broker.compiled_filters import NO_FILTERS, compile_subscriptions, restarted
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP, UncertainBroker, step
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.send import send, send_observed
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import SQL92, RegisteredSubscription, StoredEntry, registered_codes
from rocketmq_conformance.models.outcome import UNDEFINED, Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, reasons_by_kind

#: What a group subscribes to before the broker is stopped, the version of that, and the tags of the messages.
FIRST, FIRST_VERSION, MESSAGES = "TAGS = 'A'", 2, ("A", "B")
_HAUNTED = Reason(("BQ-TOPIC-5",), "deleted before the restart")

#: Reasons of an offset that was stored before the last restart and is answered after it.
SURVIVAL_REASONS = {
    STOP: Reason(("BQ-COM-11", "BQ-QUERY-1"), "stored before it was stopped"),
    KILL: Reason(("BQ-COM-12", "BQ-QUERY-1"), "stored before it was killed"),
}
_AS_TAGS = Reason(("RUN-RESTART-1",), "expressions are taken for tags")
_AGAIN = reasons_by_kind(
    ("BQ-FILTER-STOP", "BQ-HB-FILTER", "BQ-PULL-FILTER"),
    *("older expression kept", "newer one compiled", "newer one not compiled", "empty expression"),
    *("compiled", "not compiled"),
)
_SMALL = 100


class BrokerRestartModel:
    """The rules of a broker that is restarted, for one profile; every method is pure."""

    __slots__ = ("broker",)

    def __init__(self, profile: Profile) -> None:
        self.broker = BrokerOffsetsModel(profile)

    def initial(self) -> UncertainBroker:
        """The initial state: a broker that started on the aged store, with topic 0 and group 0."""
        old, new = aged_store.aged_broker(self.broker.rules), initial_state()
        return UncertainBroker.of(old._replace(topics={**old.topics, **new.topics}))

    def restart(self, state: UncertainBroker, observed: Result, how: str) -> Answer[UncertainBroker]:
        """BQ-COM-11, BQ-COM-12: stopped or killed, and started again."""
        if how == STOP:
            return lifecycle.stop(self.broker.rules, state)
        return lifecycle.kill(self.broker.rules, state)

    def save(self, state: UncertainBroker, observed: Result) -> Answer[UncertainBroker]:
        """BQ-COM-12: stored offsets have been written to disk."""
        return lifecycle.save(state)

    def subscribe_again(
        self, state: UncertainBroker, observed: Result, version: int, expression: str
    ) -> Answer[UncertainBroker]:
        """BQ-FILTER-STOP: (response code's name, next offset, offsets found) of a pull by the subscription that a new
        group registered after the broker was stopped and started, having had another one; or the error."""
        rules, group, topic = self.broker.rules, GROUPS[0], TOPICS[0]
        subscribed = {topic: RegisteredSubscription(frozenset(), FIRST_VERSION, SQL92, FIRST)}
        again = {topic: RegisteredSubscription(frozenset(), version, SQL92, expression)}
        filters = restarted(rules, compile_subscriptions(rules, NO_FILTERS, group, subscribed, (topic,))[0])
        filters, kinds = compile_subscriptions(rules, filters, group, again, (topic,))
        codes = registered_codes(rules, again[topic], version, filters.get((group, topic)))
        broker = BrokerState(topics={topic: Topic.of(1)}, groups=frozenset({group}))
        broker = send(rules, broker, topic, 0, (aged_store.EPOCH,) * len(MESSAGES))[0]
        entries = [StoredEntry(_SMALL, tag, {"TAGS": tag}) for tag in MESSAGES]
        result = pull(rules, broker, PullMessageRequest(group, topic, 0, 0), codes, entries)[1]
        after, why = lifecycle.stop(rules, state)[0], _AGAIN[kinds[0]] if kinds else _AS_TAGS
        if isinstance(result, Err):
            return after, result, why
        status, following, _, _, found = cast(PullResult, result)
        return after, (response_code(status, 0), following, found), why

    def memory(self, state: UncertainBroker, observed: Result, hot: bool) -> Answer[UncertainBroker]:
        """RUN-DYN-1."""
        return lifecycle.set_memory(self.broker.rules, state, hot)

    def create_topic(
        self, state: UncertainBroker, observed: Result, topic: int, queues: int
    ) -> Answer[UncertainBroker]:
        """BQ-TOPIC-1."""
        return step(state, observed, lambda broker: self.broker.create_topic(broker, topic, queues))

    def delete_topic(self, state: UncertainBroker, observed: Result, topic: int) -> Answer[UncertainBroker]:
        """BQ-TOPIC-3, BQ-TOPIC-5."""
        before = lifecycle.with_deleted(state, TOPICS[topic])
        return step(before, observed, lambda broker: self.broker.delete_topic(broker, topic))

    def create_group(self, state: UncertainBroker, observed: Result, group: int) -> Answer[UncertainBroker]:
        """BQ-GROUP-1."""
        return step(state, observed, lambda broker: self.broker.create_group(broker, group))

    def delete_group(self, state: UncertainBroker, observed: Result, group: int, flag: str) -> Answer[UncertainBroker]:
        """BQ-GROUP-2."""
        return step(state, observed, lambda broker: self.broker.delete_group(broker, group, flag))

    def send(
        self, state: UncertainBroker, observed: Result, topic: int, queue: int, count: int, apart: bool
    ) -> Answer[UncertainBroker]:
        """BQ-SEND-1."""
        name, hot = TOPICS[topic], state.hot
        rules = self.broker.rules
        known = state.possible[0].topics.get(name)
        if name in state.haunted and known is not None and queue < known.write_queues:
            return state, UNDEFINED, _HAUNTED
        return step(state, observed, lambda broker: send_observed(rules, broker, observed, name, queue, count, hot))

    def commit(
        self, state: UncertainBroker, observed: Result, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[UncertainBroker]:
        """BQ-UPDATE-*."""
        if queue is not None:
            state = state._replace(survivors=state.survivors - {(GROUPS[group], TOPIC_NAMES[topic], queue)})
        return step(state, observed, lambda broker: self.broker.commit(broker, group, topic, queue, offset))

    def query(
        self, state: UncertainBroker, observed: Result, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[UncertainBroker]:
        """BQ-QUERY-*; an offset from before the last restart also shows BQ-COM-11 or BQ-COM-12."""
        key = GROUPS[group], TOPIC_NAMES[topic], queue or 0
        least = min(broker.stored.get(key, -1) for broker in state.possible)
        if self._is_haunted(state, topic) and queue is not None and least < 0:
            return state, UNDEFINED, _HAUNTED
        after, expected, why = step(
            state, observed, lambda broker: self.broker.query(broker, group, topic, queue, set_zero)
        )
        if why.rules == ("BQ-QUERY-1",) and key in state.survivors:
            why = SURVIVAL_REASONS[state.how]
        return after, expected, why

    def query_kept(
        self, state: UncertainBroker, observed: Result, queue: int, set_zero: bool | None
    ) -> Answer[UncertainBroker]:
        """BQ-COM-11."""
        return step(state, observed, lambda broker: self.broker.query_kept(broker, queue, set_zero))

    def max(self, state: UncertainBroker, observed: Result, topic: int, queue: int) -> Answer[UncertainBroker]:
        """BQ-STORE-MAX."""
        return self._log(state, observed, topic, lambda broker: self.broker.max(broker, topic, queue))

    def min(self, state: UncertainBroker, observed: Result, topic: int, queue: int) -> Answer[UncertainBroker]:
        """BQ-STORE-MIN."""
        return self._log(state, observed, topic, lambda broker: self.broker.min(broker, topic, queue))

    def earliest(self, state: UncertainBroker, observed: Result, topic: int, queue: int) -> Answer[UncertainBroker]:
        """BQ-EARLIEST-1."""
        return self._log(state, observed, topic, lambda broker: self.broker.earliest(broker, topic, queue))

    def search(
        self, state: UncertainBroker, observed: Result, topic: int, queue: int, message: int, delta: int, boundary: str
    ) -> Answer[UncertainBroker]:
        """BQ-TIME-*."""
        return self._log(
            state,
            observed,
            topic,
            lambda broker: self.broker.search(broker, topic, queue, message, delta, boundary),
        )

    def _log(
        self,
        state: UncertainBroker,
        observed: Result,
        topic: int,
        handler: Callable[[BrokerState], Answer[BrokerState]],
    ) -> Answer[UncertainBroker]:
        """An operation on the messages of a queue."""
        if self._is_haunted(state, topic):
            return state, UNDEFINED, _HAUNTED
        return step(state, observed, handler)

    @staticmethod
    def _is_haunted(state: UncertainBroker, topic: int) -> bool:
        return topic != AGED_TOPIC and TOPICS[topic] in state.haunted
