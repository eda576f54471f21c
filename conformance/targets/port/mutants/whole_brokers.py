"""Mutants of the port's whole push consumers of a topic on two brokers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.whole_brokers import NAMES
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.mutants.whole_answers import (
    CommitEndsCommits,
    FailureEndsReading,
    StartEndsRound,
)
from rocketmq_conformance.conformance.targets.port.routes import of_topic
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_brokers import FIRST, WholeBrokersGroup, home_of
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.suites.declare.topologies import TOPIC

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-brokers")


@_mutant("D95", "Of a route the first broker alone is read.")
class BrokersFirstOnly(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        super().routed(consumer, {NAMES[0]: counts[NAMES[0]]})


@_mutant("D95", "Every broker counts as having the queues of the first.")
class BrokersCountsOfFirst(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        super().routed(
            consumer, {name: min(counts[NAMES[0]], 2) if name != NAMES[0] else counts[name] for name in counts}
        )


@_mutant("D21", "Queues are divided by their ids, and not by their brokers.")
class BrokersById(WholeBrokersGroup):
    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        places = of_topic(TOPIC)
        ids = {places[number]: number - FIRST[home_of(number)] for number in range(len(places))}
        return tuple(sorted(queues, key=ids.__getitem__))


@_mutant("D18", "The queues of each broker are divided apart.")
class BrokersDividedApart(WholeBrokersGroup):
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


@_mutant("D31", "All offsets are committed at the first broker.")
class BrokersCommitsToFirst(_GoesToFirst):
    request = int(Request.UPDATE_CONSUMER_OFFSET)


@_mutant("D31", "All stored offsets are asked for at the first broker.")
class BrokersAsksFirst(_GoesToFirst):
    request = int(Request.QUERY_CONSUMER_OFFSET)


@_mutant("D56", "Max is asked for at the first broker.")
class BrokersMaxOfFirst(_GoesToFirst):
    request = int(Request.GET_MAX_OFFSET)


@_mutant("D95", "All queues are pulled at the first broker.")
class BrokersPullsFirst(_GoesToFirst):
    request = int(Request.PULL_MESSAGE)


@_mutant("D95", "Heartbeats go to the first broker alone.")
class BrokersBeatsFirst(WholeBrokersGroup):
    def registered_at(self) -> tuple[str, ...]:
        return NAMES[:1]


@_mutant("D95", "Queues of a broker that went away are kept.")
class BrokersKeepsAway(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        if len(counts) == len(NAMES) or not consumer.routes:
            super().routed(consumer, counts)


@_mutant("D95", "The route of both brokers is learned once.")
class BrokersNeverLearns(WholeBrokersGroup):
    def learn(self, consumer: Consumer) -> None:
        pass


@_mutant("D95", "Queues that a route brings later are not taken.")
class BrokersOnlyLoses(WholeBrokersGroup):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        known = consumer.routes.get(TOPIC)
        super().routed(consumer, counts)
        if known is not None:
            consumer.routes[TOPIC] = tuple(queue for queue in consumer.routes[TOPIC] if queue in known)


@_mutant("D56", "Queues that a route brings later begin at max.")
class BrokersBackAtMax(WholeBrokersGroup):
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


@_mutant("D31", "A queue that is lost is committed at 0.")
class BrokersLostAt0(WholeBrokersGroup):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.update(queue, 0, False)
        super().hand_over(consumer, queue)


@_mutant("D95", "Queues are known by their ids: of two brokers with the same id one is pulled.")
class BrokersOneTable(WholeBrokersGroup):
    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        if self.id_of(queue) not in [self.id_of(owned) for owned in consumer.table]:
            super().gain(consumer, queue, new_pulls)

    def id_of(self, queue: int) -> int:
        """The id of a queue at its broker."""
        number = of_topic(TOPIC).index(queue)
        return number - FIRST[home_of(number)]


@_mutant(
    "D95", "Offsets are known by the ids of queues: what one broker's queue got to is committed at the other's, too."
)
class BrokersOneOffsetTable(BrokersOneTable):
    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        WholeBrokersGroup.gain(self, consumer, queue, new_pulls)

    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        for other in consumer.table:
            if self.id_of(other) == self.id_of(queue):
                super().result(consumer, other, consumer.table[other], following)


@_mutant("D79", "A commit that one broker refuses ends the commits at the other.")
class BrokersCommitEndsCommits(CommitEndsCommits, WholeBrokersGroup):
    pass


@_mutant("D151", "What comes after a pull that one broker refuses is not read.")
class BrokersFailureEndsReading(FailureEndsReading, WholeBrokersGroup):
    pass


@_mutant("D79", "Where one broker does not say what is stored, nothing is taken at the other.")
class BrokersStartEndsRound(StartEndsRound, WholeBrokersGroup):
    pass


@_mutant("D232", "A pull that a broker refuses is the last of its queue.")
class BrokersRefusedIsLast(WholeBrokersGroup):
    def pull_failed(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        pass
