"""Mutants of the port's whole push consumers that subscribe to another topic, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.conformance.targets.port.whole_subscriptions import WholeSubscriptions
from rocketmq_conformance.models.client.fixtures import OTHER_TOPIC, TOPIC, TOPIC_QUEUES
from rocketmq_conformance.models.outcome import Result

_OTHERS = TOPIC_QUEUES[OTHER_TOPIC]


class NeverTakesItsQueues(WholeSubscriptions):
    def begin_topic(self, consumer: Consumer, line: Line) -> None:
        super().begin_topic(consumer, line)
        consumer.routes.pop(OTHER_TOPIC)


class SaysTheFirstAlone(WholeSubscriptions):
    def named(self, consumer: Consumer) -> list[str]:
        return WholePush.named(self, consumer)


class SaysThatItIsSubscribed(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        WholePush.unsubscribe(self, consumer, OTHER_TOPIC)


class PullsOn(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        pass


class ForgetsIt(WholeSubscriptions):
    def topics(self) -> list[str]:
        return [TOPIC]


class SubscribesToItAlone(WholeSubscriptions):
    def begin_topic(self, consumer: Consumer, line: Line) -> None:
        consumer.topics = []
        super().begin_topic(consumer, line)


class TakesAll(WholeSubscriptions):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        return super().share(strategy, client, queues, (client,) if queues == _OTHERS else ids)


class BeginsAtMax(WholeSubscriptions):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.max(queue) if queue in _OTHERS else super().beginning(consumer, queue)


class GivesUpAll(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        super().end_topic(consumer, line)
        for queue in list(consumer.table):
            consumer.store.update(queue, consumer.positions.max(queue), False)
            consumer.table[queue].dropped = True


class ForgetsWhatWasConsumed(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        for queue in consumer.table.keys() & set(_OTHERS):
            consumer.store.update(queue, 0, False)
            consumer.store.persist(queue)
        super().end_topic(consumer, line)


class SubscribesOnce(WholeSubscriptions):
    def subscribe(self, consumer: Consumer, topic: str) -> Result:
        return None if topic in consumer.routes else super().subscribe(consumer, topic)


_mutant = partial(Mutant.of, "whole-subscriptions")

MUTANTS = (
    _mutant(
        "whole-subscriptions-no-route", "D193", "The route of the other topic is not asked for.", NeverTakesItsQueues
    ),
    _mutant("whole-subscriptions-unsaid", "D193", "Heartbeats name the first topic alone.", SaysTheFirstAlone),
    _mutant(
        "whole-subscriptions-still-said",
        "D130",
        "Heartbeats name a topic that was unsubscribed.",
        SaysThatItIsSubscribed,
    ),
    _mutant("whole-subscriptions-pulls-on", "D194", "Unsubscribing does nothing.", PullsOn),
    _mutant("whole-subscriptions-unsubscribes-all", "D81", "Unsubscribing drops the first topic, too.", GivesUpAll),
    _mutant("whole-subscriptions-forgotten", "D130", "Who starts later has the first topic alone.", ForgetsIt),
    _mutant(
        "whole-subscriptions-instead", "D195", "The other topic takes the place of the first one.", SubscribesToItAlone
    ),
    _mutant("whole-subscriptions-takes-all", "D79", "Each member takes all queues of the other topic.", TakesAll),
    _mutant("whole-subscriptions-skips", "D12", "The other topic begins at its end.", BeginsAtMax),
    _mutant(
        "whole-subscriptions-again",
        "D30",
        "What was consumed of the other topic is given again.",
        ForgetsWhatWasConsumed,
    ),
    _mutant("whole-subscriptions-once", "D193", "Subscribing again does nothing.", SubscribesOnce),
)
