"""Mutants of the port's listener calls and heartbeats after changed queues, after real defects of clients."""

from __future__ import annotations

from contextlib import suppress

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.rebalance_changed import (
    NO_LIMIT,
    ChangedConsumer,
    ListenerError,
    RebalanceChanged,
)
from rocketmq_conformance.conformance.targets.port.routes import of_topic
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-changed")


# --- versions and heartbeats ---------------------------------------------------------------------------------


@_mutant("D96", "The subscription of changed queues keeps its version.")
class NoNewVersion(RebalanceChanged):
    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        consumer.unsent_topics.add(topic)  # no newer version is sent

    def heartbeat(self, consumer: ChangedConsumer) -> Result:
        news = set(consumer.unsent_topics)
        result = super().heartbeat(consumer)
        consumer.unsent_topics |= news
        return result


@_mutant("D96", "Changed queues cause no heartbeat.")
class NoHeartbeatOfChanges(RebalanceChanged):
    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        pass


@_mutant("D96", "The heartbeat goes before the new version is there.")
class HeartbeatBeforeVersion(RebalanceChanged):
    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        super().send_full_heartbeat(consumer)
        super().renew_version(consumer, topic)

    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        pass


@_mutant("D96", "The heartbeat of changed queues leaves the subscriptions out.")
class BriefNews(RebalanceChanged):
    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        self.heartbeat(consumer)


@_mutant("D96", "After one full heartbeat all are brief, although subscriptions change.")
class BriefForGood(RebalanceChanged):
    def is_known(self, consumer: ChangedConsumer, topics: tuple[str, ...]) -> bool:
        return consumer.known is not None


@_mutant("D96", "No heartbeat is brief.")
class NeverBrief(RebalanceChanged):
    def is_known(self, consumer: ChangedConsumer, topics: tuple[str, ...]) -> bool:
        return False


@_mutant("D05", "A heartbeat that was lost counts as received.")
class LostHeartbeatIsKnown(RebalanceChanged):
    def heartbeat(self, consumer: ChangedConsumer) -> Result:
        result = super().heartbeat(consumer)
        if consumer.brief and consumer.routes:
            consumer.known = tuple(sorted(consumer.topics))
        return result


@_mutant("D96", "Subscribing sends no heartbeat.")
class SubscribesInSilence(RebalanceChanged):
    def subscribe_with_heartbeat(self, consumer: ChangedConsumer, topic: str) -> Result:
        self.subscribe(consumer, topic)
        return None


@_mutant("D96", "Subscribing again sends no heartbeat.")
class SubscribesOnce(RebalanceChanged):
    def subscribe_with_heartbeat(self, consumer: ChangedConsumer, topic: str) -> Result:
        return None if topic in consumer.topics else super().subscribe_with_heartbeat(consumer, topic)


# --- what counts as a change ---------------------------------------------------------------------------------


@_mutant("D96", "A topic whose last queue was lost is not reported.")
class OnlyGainsAreTold(RebalanceChanged):
    def changed(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> bool:
        return not mine or super().changed(consumer, topic, mine)


@_mutant("D96", "Queues that are started again are no change.")
class RenewedIsNotTold(RebalanceChanged):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        had = set(consumer.table)
        before = dict(consumer.changes) if isinstance(consumer, ChangedConsumer) else {}
        even = super().own(consumer, topic, wanted, new_pulls)
        if isinstance(consumer, ChangedConsumer) and had == set(consumer.table):
            consumer.changes = before
        return even


@_mutant("D95", "Every round reports every topic.")
class TellsEveryRound(RebalanceChanged):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        even = super().own(consumer, topic, wanted, new_pulls)
        if isinstance(consumer, ChangedConsumer) and topic in consumer.topics and topic not in consumer.changes:
            self.changed(consumer, topic, wanted)
        return even


@_mutant("D82", "A topic without known queues is not reported.")
class NothingIsNoChange(RebalanceChanged):
    def no_known_queues(self, consumer: ChangedConsumer, topic: str) -> bool:
        return True


@_mutant("D82", "A retry topic without known queues is reported.")
class RetryWithoutQueuesIsTold(RebalanceChanged):
    def no_known_queues(self, consumer: ChangedConsumer, topic: str) -> bool:
        self.changed(consumer, topic, ())
        return True


@_mutant("D81", "A topic that was unsubscribed is reported.")
class GoneIsTold(RebalanceChanged):
    def not_subscribed(self, consumer: ChangedConsumer, topic: str) -> bool:
        consumer.topics.append(topic)
        try:
            return self.changed(consumer, topic, tuple(at for at in of_topic(topic) if at in consumer.table))
        finally:
            consumer.topics.remove(topic)


@_mutant("D80", "A topic that was given up on the way counts as balanced.")
class GoneIsBalanced(RebalanceChanged):
    def not_subscribed(self, consumer: ChangedConsumer, topic: str) -> bool:
        return True


# --- thresholds ----------------------------------------------------------------------------------------------


@_mutant("D21", "Thresholds are divided by the topic's queues of the consumer.")
class DividesByTopic(RebalanceChanged):
    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        return sum(queue in consumer.table for queue in of_topic(topic))


@_mutant("D21", "Thresholds are divided by all queues of the topic.")
class DividesByAllQueues(RebalanceChanged):
    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        return len(consumer.routes.get(topic, ()))


@_mutant("D81", "Thresholds are divided without the retry topic.")
class DividesWithoutRetry(RebalanceChanged):
    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        return sum(queue in consumer.table for name in ("T", "U") for queue in of_topic(name))


@_mutant("D22", "A threshold of 0 is left when there are more queues than messages.")
class NothingLeft(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return before if limit == NO_LIMIT else limit // count


@_mutant("D21", "Thresholds are rounded up.")
class ThresholdRoundedUp(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return before if limit == NO_LIMIT else -(-limit // count)


@_mutant("D01", "A topic without thresholds gives each queue one of 1.")
class NoLimitIsOne(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return max(1, limit // count)


@_mutant("D21", "Thresholds never rise again.")
class ThresholdsOnlyFall(RebalanceChanged):
    def quotient(self, limit: int, count: int, before: int) -> int:
        return min(before, super().quotient(limit, count, before))


@_mutant("D24", "The threshold of sizes is not divided.")
class SizeIsNotDivided(RebalanceChanged):
    def divide(self, consumer: ChangedConsumer, topic: str) -> None:
        size = consumer.thresholds[1]
        super().divide(consumer, topic)
        consumer.thresholds = consumer.thresholds[0], size


@_mutant("D21", "Thresholds are divided when they are set.")
class LimitsAtOnce(RebalanceChanged):
    def limit(self, consumer: ChangedConsumer, messages: int, size: int) -> Result:
        super().limit(consumer, messages, size)
        self.divide(consumer, "")
        return None


# --- the listener --------------------------------------------------------------------------------------------


@_mutant("D96", "The listener is called before the brokers get the heartbeat.")
class ListenerFirst(RebalanceChanged):
    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        super().renew_version(consumer, topic)
        self.call_listener(consumer, topic, tuple(at for at in of_topic(topic) if at in consumer.table))

    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        if topic not in consumer.changes:
            super().call_listener(consumer, topic, mine)


@_mutant("D18", "The listener gets its own queues in place of all queues.")
class ListenerHearsItsOwn(RebalanceChanged):
    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        try:
            super().call_listener(consumer, topic, mine)
        finally:
            consumer.changes[topic] = consumer.changes[topic]._replace(
                queues=(tuple(sorted(mine)), tuple(sorted(mine)))
            )


@_mutant("D80", "A topic is balanced whose listener failed.")
class ListenerFailureIsSwallowed(RebalanceChanged):
    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        with suppress(ListenerError):
            super().call_listener(consumer, topic, mine)


@_mutant("D80", "What the listener throws for the retry topic counts.")
class RetryFailureCounts(RebalanceChanged):
    def failed(self, topic: str) -> bool:
        return False


@_mutant("D79", "What the listener throws ends the round.")
class ListenerFailureEndsRound(RebalanceChanged):
    ended = False

    def round(self, consumer: ChangedConsumer, fails: bool, given_up: str) -> Result:
        self.ended = False
        return super().round(consumer, fails, given_up)

    def rebalance_one(self, consumer: ChangedConsumer, topic: str) -> bool:
        return not self.ended and super().rebalance_one(consumer, topic)

    def failed(self, topic: str) -> bool:
        self.ended = True
        return super().failed(topic)
