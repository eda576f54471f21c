"""Mutants of the port's listener calls and heartbeats after changed queues, after real defects of clients."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.rebalance_changed import (
    NO_LIMIT,
    ChangedConsumer,
    ListenerError,
    RebalanceChanged,
)
from rocketmq_conformance.conformance.targets.port.routes import of_topic
from rocketmq_conformance.models.outcome import Result

# --- versions and heartbeats ---------------------------------------------------------------------------------


class NoNewVersion(RebalanceChanged):
    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        consumer.unsent_topics.add(topic)  # no newer version is sent

    def heartbeat(self, consumer: ChangedConsumer) -> Result:
        news = set(consumer.unsent_topics)
        result = super().heartbeat(consumer)
        consumer.unsent_topics |= news
        return result


class NoHeartbeat(RebalanceChanged):
    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        pass


class HeartbeatFirst(RebalanceChanged):
    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        super().send_full_heartbeat(consumer)
        super().renew_version(consumer, topic)

    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        pass


class BriefNews(RebalanceChanged):
    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        self.heartbeat(consumer)


class AlwaysBriefOnce(RebalanceChanged):
    def is_known(self, consumer: ChangedConsumer, topics: tuple[str, ...]) -> bool:
        return consumer.known is not None


class NeverBrief(RebalanceChanged):
    def is_known(self, consumer: ChangedConsumer, topics: tuple[str, ...]) -> bool:
        return False


class LostIsKnown(RebalanceChanged):
    def heartbeat(self, consumer: ChangedConsumer) -> Result:
        result = super().heartbeat(consumer)
        if consumer.brief and consumer.routes:
            consumer.known = tuple(sorted(consumer.topics))
        return result


class SubscribesInSilence(RebalanceChanged):
    def subscribe_with_heartbeat(self, consumer: ChangedConsumer, topic: str) -> Result:
        self.subscribe(consumer, topic)
        return None


class SubscribesOnce(RebalanceChanged):
    def subscribe_with_heartbeat(self, consumer: ChangedConsumer, topic: str) -> Result:
        return None if topic in consumer.topics else super().subscribe_with_heartbeat(consumer, topic)


# --- what counts as a change ---------------------------------------------------------------------------------


class OnlyGains(RebalanceChanged):
    def changed(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> bool:
        return not mine or super().changed(consumer, topic, mine)


class CountsOnly(RebalanceChanged):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        had = set(consumer.table)
        before = dict(consumer.changes) if isinstance(consumer, ChangedConsumer) else {}
        even = super().own(consumer, topic, wanted, new_pulls)
        if isinstance(consumer, ChangedConsumer) and had == set(consumer.table):
            consumer.changes = before
        return even


class EveryRound(RebalanceChanged):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        even = super().own(consumer, topic, wanted, new_pulls)
        if isinstance(consumer, ChangedConsumer) and topic in consumer.topics and topic not in consumer.changes:
            self.changed(consumer, topic, wanted)
        return even


class NothingIsNoChange(RebalanceChanged):
    def no_known_queues(self, consumer: ChangedConsumer, topic: str) -> bool:
        return True


class RetryToo(RebalanceChanged):
    def no_known_queues(self, consumer: ChangedConsumer, topic: str) -> bool:
        self.changed(consumer, topic, ())
        return True


class GoneIsTold(RebalanceChanged):
    def not_subscribed(self, consumer: ChangedConsumer, topic: str) -> bool:
        consumer.topics.append(topic)
        try:
            return self.changed(consumer, topic, tuple(at for at in of_topic(topic) if at in consumer.table))
        finally:
            consumer.topics.remove(topic)


class GoneIsBalanced(RebalanceChanged):
    def not_subscribed(self, consumer: ChangedConsumer, topic: str) -> bool:
        return True


# --- thresholds ----------------------------------------------------------------------------------------------


class TopicOnly(RebalanceChanged):
    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        return sum(queue in consumer.table for queue in of_topic(topic))


class WholeTopic(RebalanceChanged):
    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        return len(consumer.routes.get(topic, ()))


class WithoutRetry(RebalanceChanged):
    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        return sum(queue in consumer.table for name in ("T", "U") for queue in of_topic(name))


class NothingLeft(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return before if limit == NO_LIMIT else limit // count


class RoundedUp(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return before if limit == NO_LIMIT else -(-limit // count)


class NoneIsOne(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return max(1, limit // count)


class OnlyLower(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return min(before, super().quotient(limit, count, before))


class MessagesOnly(RebalanceChanged):
    def divide(self, consumer: ChangedConsumer, topic: str) -> None:
        size = consumer.thresholds[1]
        super().divide(consumer, topic)
        consumer.thresholds = consumer.thresholds[0], size


class AtOnce(RebalanceChanged):
    def limit(self, consumer: ChangedConsumer, messages: int, size: int) -> Result:
        super().limit(consumer, messages, size)
        self.divide(consumer, "")
        return None


# --- the listener --------------------------------------------------------------------------------------------


class ListenerFirst(RebalanceChanged):
    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        super().renew_version(consumer, topic)
        self.call_listener(consumer, topic, tuple(at for at in of_topic(topic) if at in consumer.table))

    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        if topic not in consumer.changes:
            super().call_listener(consumer, topic, mine)


class HearsItsOwn(RebalanceChanged):
    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        try:
            super().call_listener(consumer, topic, mine)
        finally:
            consumer.changes[topic] = consumer.changes[topic]._replace(
                queues=(tuple(sorted(mine)), tuple(sorted(mine)))
            )


class FailureIsSwallowed(RebalanceChanged):
    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        with suppress(ListenerError):
            super().call_listener(consumer, topic, mine)


class FailureOfRetryCounts(RebalanceChanged):
    def failed(self, topic: str) -> bool:
        return False


class FailureEndsTheRound(RebalanceChanged):
    ended = False

    def round(self, consumer: ChangedConsumer, fails: bool, given_up: str) -> Result:
        self.ended = False
        return super().round(consumer, fails, given_up)

    def rebalance_one(self, consumer: ChangedConsumer, topic: str) -> bool:
        return not self.ended and super().rebalance_one(consumer, topic)

    def failed(self, topic: str) -> bool:
        self.ended = True
        return super().failed(topic)


_mutant = partial(Mutant.of, "rebalance-changed")

MUTANTS = (
    _mutant("no-new-version", "D96", "The subscription of changed queues keeps its version.", NoNewVersion),
    _mutant("no-heartbeat-of-changes", "D96", "Changed queues cause no heartbeat.", NoHeartbeat),
    _mutant("heartbeat-before-version", "D96", "The heartbeat goes before the new version is there.", HeartbeatFirst),
    _mutant("brief-news", "D96", "The heartbeat of changed queues leaves the subscriptions out.", BriefNews),
    _mutant(
        "brief-for-good",
        "D96",
        "After one full heartbeat all are brief, although subscriptions change.",
        AlwaysBriefOnce,
    ),
    _mutant("never-brief", "D96", "No heartbeat is brief.", NeverBrief),
    _mutant("lost-heartbeat-is-known", "D05", "A heartbeat that was lost counts as received.", LostIsKnown),
    _mutant("subscribes-in-silence", "D96", "Subscribing sends no heartbeat.", SubscribesInSilence),
    _mutant("subscribes-once", "D96", "Subscribing again sends no heartbeat.", SubscribesOnce),
    _mutant("only-gains-are-told", "D96", "A topic whose last queue was lost is not reported.", OnlyGains),
    _mutant("renewed-is-not-told", "D96", "Queues that are started again are no change.", CountsOnly),
    _mutant("tells-every-round", "D95", "Every round reports every topic.", EveryRound),
    _mutant("nothing-is-no-change", "D82", "A topic without known queues is not reported.", NothingIsNoChange),
    _mutant("retry-without-queues-is-told", "D82", "A retry topic without known queues is reported.", RetryToo),
    _mutant("gone-is-told", "D81", "A topic that was unsubscribed is reported.", GoneIsTold),
    _mutant("gone-is-balanced", "D80", "A topic that was given up on the way counts as balanced.", GoneIsBalanced),
    _mutant("divides-by-topic", "D21", "Thresholds are divided by the topic's queues of the consumer.", TopicOnly),
    _mutant("divides-by-all-queues", "D21", "Thresholds are divided by all queues of the topic.", WholeTopic),
    _mutant("divides-without-retry", "D81", "Thresholds are divided without the retry topic.", WithoutRetry),
    _mutant("nothing-left", "D22", "A threshold of 0 is left when there are more queues than messages.", NothingLeft),
    _mutant("threshold-rounded-up", "D21", "Thresholds are rounded up.", RoundedUp),
    _mutant("no-limit-is-one", "D01", "A topic without thresholds gives each queue one of 1.", NoneIsOne),
    _mutant("thresholds-only-fall", "D21", "Thresholds never rise again.", OnlyLower),
    _mutant("size-is-not-divided", "D24", "The threshold of sizes is not divided.", MessagesOnly),
    _mutant("limits-at-once", "D21", "Thresholds are divided when they are set.", AtOnce),
    _mutant("listener-first", "D96", "The listener is called before the brokers get the heartbeat.", ListenerFirst),
    _mutant("listener-hears-its-own", "D18", "The listener gets its own queues in place of all queues.", HearsItsOwn),
    _mutant("listener-failure-is-swallowed", "D80", "A topic is balanced whose listener failed.", FailureIsSwallowed),
    _mutant(
        "retry-failure-counts", "D80", "What the listener throws for the retry topic counts.", FailureOfRetryCounts
    ),
    _mutant("listener-failure-ends-round", "D79", "What the listener throws ends the round.", FailureEndsTheRound),
)
