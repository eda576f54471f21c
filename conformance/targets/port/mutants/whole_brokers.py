"""Mutants of the port's whole push consumers of a topic on two brokers, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.fakes.whole_brokers import NAMES
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.routes import of_topic
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_brokers import FIRST, WholeBrokersGroup, home_of
from rocketmq_conformance.models.client.fixtures import TOPIC


class FirstBrokerOnly(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        super().routed(consumer, {NAMES[0]: counts[NAMES[0]]})


class CountsOfFirst(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        super().routed(
            consumer, {name: min(counts[NAMES[0]], 2) if name != NAMES[0] else counts[name] for name in counts}
        )


class ById(WholeBrokersGroup):
    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        places = of_topic(TOPIC)
        ids = {places[number]: number - FIRST[home_of(number)] for number in range(len(places))}
        return tuple(sorted(queues, key=ids.__getitem__))


class DividesEachBroker(WholeBrokersGroup):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        places = of_topic(TOPIC)
        found: list[int] = []
        for name in NAMES:
            mine = tuple(queue for queue in queues if home_of(places.index(queue)) == name)
            found += super().share(strategy, client, mine, ids) or () if mine else ()
        return tuple(found)


class _GoesToFirst(WholeBrokersGroup):
    """Requests of one kind go to the first broker."""

    request = 0

    def broker_of(self, number: int, code: int) -> str:
        return NAMES[0] if code == self.request else super().broker_of(number, code)


class CommitsToFirst(_GoesToFirst):
    request = int(Request.UPDATE_CONSUMER_OFFSET)


class AsksFirst(_GoesToFirst):
    request = int(Request.QUERY_CONSUMER_OFFSET)


class AsksMaxOfFirst(_GoesToFirst):
    request = int(Request.GET_MAX_OFFSET)


class PullsFirst(_GoesToFirst):
    request = int(Request.PULL_MESSAGE)


class BeatsFirst(WholeBrokersGroup):
    def registered_at(self) -> tuple[str, ...]:
        return NAMES[:1]


class KeepsAway(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        if len(counts) == len(NAMES) or not consumer.routes:
            super().routed(consumer, counts)


class NeverLearns(WholeBrokersGroup):
    def learn(self, consumer: Consumer) -> None:
        pass


class OnlyLoses(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        known = consumer.routes.get(TOPIC)
        super().routed(consumer, counts)
        if known is not None:
            consumer.routes[TOPIC] = tuple(queue for queue in consumer.routes[TOPIC] if queue in known)


class BackBeginsAtMax(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        known = consumer.routes.get(TOPIC)
        super().routed(consumer, counts)
        if known is not None:
            self.back[consumer.client] = frozenset(consumer.routes[TOPIC]) - frozenset(known)

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The queues that the latest route has brought, by client id.
        self.back: dict[str, frozenset[int]] = {}

    def beginning(self, consumer: Consumer, queue: int) -> int:
        if queue in self.back.get(consumer.client, ()):
            return consumer.positions.max(queue)
        return super().beginning(consumer, queue)


class LostGoesTo0(WholeBrokersGroup):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.update(queue, 0, False)
        super().hand_over(consumer, queue)


_mutant = partial(Mutant.of, "whole-brokers")

MUTANTS = (
    _mutant("brokers-first-only", "D95", "Of a route the first broker alone is read.", FirstBrokerOnly),
    _mutant("brokers-counts-of-first", "D95", "Every broker counts as having the queues of the first.", CountsOfFirst),
    _mutant("brokers-by-id", "D21", "Queues are divided by their ids, and not by their brokers.", ById),
    _mutant("brokers-divided-apart", "D18", "The queues of each broker are divided apart.", DividesEachBroker),
    _mutant("brokers-commits-to-first", "D31", "All offsets are committed at the first broker.", CommitsToFirst),
    _mutant("brokers-asks-first", "D31", "All stored offsets are asked for at the first broker.", AsksFirst),
    _mutant("brokers-max-of-first", "D56", "Max is asked for at the first broker.", AsksMaxOfFirst),
    _mutant("brokers-pulls-first", "D95", "All queues are pulled at the first broker.", PullsFirst),
    _mutant("brokers-beats-first", "D95", "Heartbeats go to the first broker alone.", BeatsFirst),
    _mutant("brokers-keeps-away", "D95", "Queues of a broker that went away are kept.", KeepsAway),
    _mutant("brokers-never-learns", "D95", "The route of both brokers is learned once.", NeverLearns),
    _mutant("brokers-only-loses", "D95", "Queues that a route brings later are not taken.", OnlyLoses),
    _mutant("brokers-back-at-max", "D56", "Queues that a route brings later begin at max.", BackBeginsAtMax),
    _mutant("brokers-lost-at-0", "D31", "A queue that is lost is committed at 0.", LostGoesTo0),
)
