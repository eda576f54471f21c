"""Mutants of the port's whole push consumers that subscribe to another topic, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.mutants.whole_answers import (
    CommitEndsCommits,
    FailureEndsReading,
)
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.conformance.targets.port.whole_subscriptions import WholeSubscriptions
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC

_OTHERS = ORDINARY.topic_queues[OTHER_TOPIC]

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-subscriptions")


@_mutant("D193", "The route of the other topic is not asked for.")
class WholeSubscriptionsNoRoute(WholeSubscriptions):
    def begin_topic(self, consumer: Consumer, line: Line) -> None:
        super().begin_topic(consumer, line)
        consumer.routes.pop(OTHER_TOPIC)


@_mutant("D193", "Heartbeats name the first topic alone.")
class WholeSubscriptionsUnsaid(WholeSubscriptions):
    def named(self, consumer: Consumer) -> list[str]:
        return WholePush.named(self, consumer)


@_mutant("D130", "Heartbeats name a topic that was unsubscribed.")
class WholeSubscriptionsStillSaid(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        WholePush.unsubscribe(self, consumer, OTHER_TOPIC)


@_mutant("D194", "Unsubscribing does nothing.")
class WholeSubscriptionsPullsOn(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        pass


@_mutant("D130", "Who starts later has the first topic alone.")
class WholeSubscriptionsForgotten(WholeSubscriptions):
    def topics(self) -> list[str]:
        return [TOPIC]


@_mutant("D195", "The other topic takes the place of the first one.")
class WholeSubscriptionsInstead(WholeSubscriptions):
    def begin_topic(self, consumer: Consumer, line: Line) -> None:
        consumer.topics = []
        super().begin_topic(consumer, line)


@_mutant("D79", "Each member takes all queues of the other topic.")
class WholeSubscriptionsTakesAll(WholeSubscriptions):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        return super().share(strategy, client, queues, (client,) if queues == _OTHERS else ids)


@_mutant("D12", "The other topic begins at its end.")
class WholeSubscriptionsSkips(WholeSubscriptions):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.max(queue) if queue in _OTHERS else super().beginning(consumer, queue)


@_mutant("D81", "Unsubscribing drops the first topic, too.")
class WholeSubscriptionsUnsubscribesAll(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        super().end_topic(consumer, line)
        for queue in list(consumer.table):
            consumer.store.update(queue, consumer.positions.max(queue), False)
            consumer.table[queue].dropped = True


@_mutant("D30", "What was consumed of the other topic is given again.")
class WholeSubscriptionsAgain(WholeSubscriptions):
    def end_topic(self, consumer: Consumer, line: Line) -> None:
        for queue in consumer.table.keys() & set(_OTHERS):
            consumer.store.update(queue, 0, False)
            consumer.store.persist(queue)
        super().end_topic(consumer, line)


@_mutant("D193", "Subscribing again does nothing.")
class WholeSubscriptionsOnce(WholeSubscriptions):
    def subscribe(self, consumer: Consumer, topic: str) -> Result:
        return None if topic in consumer.routes else super().subscribe(consumer, topic)


@_mutant("D95", "That a member left shows in the next round alone.")
class WholeSubscriptionsDeaf(WholeSubscriptions):
    _hears = True

    def leave_group(self, member: int) -> Result:
        self._hears = False
        try:
            return super().leave_group(member)
        finally:
            self._hears = True

    def rebalance(self, consumer: Consumer) -> Result:
        return super().rebalance(consumer) if self._hears else None


@_mutant("D95", "Without the route of one topic the queues of the other one are dropped, too.")
class WholeSubscriptionsLostRouteDrops(WholeSubscriptions):
    def lost_route(self, consumer: Consumer, topic: str) -> None:
        for one in consumer.topics:
            self.own(consumer, one, (), [])
            consumer.routes.pop(one, None)


@_mutant("D151", "What comes after a pull of one topic that is refused is not read.")
class WholeSubscriptionsFailureEndsReading(FailureEndsReading, WholeSubscriptions):
    pass


@_mutant("D79", "A commit of one topic that is refused ends the commits of the other.")
class WholeSubscriptionsCommitEndsCommits(CommitEndsCommits, WholeSubscriptions):
    pass


@_mutant("D79", "Where it is not said what is stored of one topic, the round of both ends.")
class WholeSubscriptionsStartEndsRound(WholeSubscriptions):
    _fails = False

    def rebalance(self, consumer: Consumer) -> Result:
        self._fails = False
        return super().rebalance(consumer)

    def gain_all(self, consumer: Consumer, queues: list[int], new_pulls: list[tuple[int, int]]) -> None:
        for queue in queues:
            if not self._fails:
                self.gain(consumer, queue, new_pulls)
                self._fails = queue not in consumer.table
