"""Two brokers of a case with whole consumers, the first of which is the name server, too; what their traffic shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocketmq_conformance.conformance.fakes.broker import CLUSTER
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.own_topics import own_topics
from rocketmq_conformance.conformance.fakes.responses import command
from rocketmq_conformance.conformance.fakes.routes import RouteForm, route_of_many
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import RETURNED, Brought
from rocketmq_conformance.conformance.fakes.watched_case import STRANGER, shown_messages
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.state import WRITE, Topic
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.client.whole_brokers import MOST, SECOND, number_of, numbers, place_of
from rocketmq_conformance.models.client.whole_push import NO_OWNER
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, TOPIC

#: The names of the brokers, in their order.
NAMES = BROKER, "broker-b"


class _NamingCase(GroupCase):
    """The broker that answers what the route of the topic is, too."""

    def __init__(self, profile: Profile, later: Callable[[float, Callable[[], object]], Any] | None) -> None:
        super().__init__(profile, later)
        self._wire, self._form = WireRules.of(profile), RouteForm.of(profile.broker)
        self._settings = {name: own_topics(profile.broker, name, CLUSTER, creates=False)[name] for name in NAMES}
        #: The brokers that the route names, with their addresses and how many queues each has.
        self.named: Callable[[], list[tuple[str, str, Topic]]] = list

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client."""
        brokers = self._routed(request.ext["topic"]) if request.code == Request.GET_ROUTEINFO_BY_TOPIC else []
        if not brokers:
            return super().handle(peer, request)
        self.traffic.request(peer, request)
        standard = self._wire.standard(request.version, request.ext.get("acceptStandardJsonOnly") == "true")
        return command((0, "", {}, route_of_many(brokers, CLUSTER, standard, self._form)))

    def _routed(self, topic: str) -> list[tuple[str, str, Topic]]:
        """What the route names of the topic, or of the topic that each broker makes with its own name."""
        if topic == TOPIC:
            return self.named()
        return [(name, address, self._settings[name]) for name, address, _ in self.named() if name == topic]


class WholeBrokers:
    """Two brokers with a topic and a group, without members at first; ``later`` replaces their timers."""

    def __init__(self, profile: Profile, later: Callable[[float, Callable[[], object]], Any] | None = None) -> None:
        self.first, self.second = self.cases = self._made(profile, later)
        self.queues = 2, 2
        self.away = False
        #: By how many more queues of each broker are written than read.
        self.more_written = 0

    def _made(
        self, profile: Profile, later: Callable[[float, Callable[[], object]], Any] | None
    ) -> tuple[GroupCase, GroupCase]:
        first = _NamingCase(profile, later)
        first.named = self._named
        return first, GroupCase(profile, later, name=NAMES[SECOND])

    def open(self) -> str:
        """Open the TCP doors; the address of the name server."""
        self.second.open()
        return self.first.open()

    def stop(self) -> None:
        """Close the doors; twice does no harm."""
        for case in self.cases:
            case.broker.stop()

    def prepare(self, queues: tuple[int, int], shape: str, stored: int) -> None:
        """Have so many queues of a shape, with the same stored offset in each that a broker can have (-1: none)."""
        self.queues, self.away, self.more_written = queues, False, 0
        for case, most in zip(self.cases, MOST, strict=True):
            case.prepare(most, shape, stored)
        self._resize()

    def route(self, queues: tuple[int, int], more_written: int = 0) -> None:
        """The brokers have so many queues from now on, and by so many more are written, and the route names them; what
        a broker has no queues of may not be read there."""
        self.queues, self.more_written = queues, more_written
        self._resize()

    def go_away(self) -> None:
        """The second broker is gone: its connections are closed, and the route names it no more."""
        self.away = True
        self.second.broker.stop()

    def come_back(self) -> None:
        """The second broker is there again with all that it had, and without clients."""
        self.second.watch_anew()
        self.second.broker.consumers.begin({})
        self.away = False

    def reopen(self) -> None:
        """Open the TCP door of the second broker again."""
        self.second.broker.open()

    def send(self, number: int) -> None:
        """A message arrives in a queue."""
        broker, queue = place_of(number)
        self.cases[broker].send(queue)

    @property
    def there(self) -> tuple[GroupCase, ...]:
        """Those that have not gone away."""
        return self.cases[: 1 if self.away else 2]

    @property
    def named(self) -> tuple[int, ...]:
        """The numbers of the queues that the route names."""
        return numbers(self.queues, self.away)

    def times_sent(self, client: str, request: Request) -> int:
        """How often a client sent a kind of request, to whichever broker."""
        return sum(case.traffic.sent.get((client, int(request)), 0) for case in self.cases)

    def knows_all(self, clients: Sequence[str]) -> bool:
        """Do all brokers that are there have these clients as members of the group?"""
        return all(set(clients) <= set(case.broker.members(GROUP)) for case in self.there)

    def take_brought(self) -> list[Brought]:
        """The messages that clients were given since the last call, with the numbers of queues."""
        return [
            (client, queue if queue == RETURNED else number_of(at, queue), first, count)
            for at, case in enumerate(self.cases)
            for client, queue, first, count in case.take_brought()
        ]

    def given(self, brought: Sequence[Brought], said: SaidMessages | None) -> Sequence[Brought]:
        """What clients were given: what pulls ``brought``, and where they say so what they ``said`` of that."""
        if said is None:
            return brought
        carried = self.first.traffic.carried + self.second.traffic.carried
        return said.among(brought, carried, lambda number: place_of(number)[1])

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers; ``members`` are the numbers of those that run, by client id."""
        places: list[Value] = [(NO_OWNER, NOTHING)] * sum(MOST)
        for number in self.named:
            broker, queue = place_of(number)
            traffic = self.cases[broker].traffic
            waiting = sorted((members.get(client, STRANGER), offset) for client, offset in traffic.waiting(queue))
            places[number] = next(iter(waiting), places[number])
        stored = tuple(
            case.traffic.shown(queue, case.broker.state.stored.get((GROUP, TOPIC, queue), NOTHING))
            for case, most in zip(self.cases, MOST, strict=True)
            for queue in range(most)
        )
        return tuple(places), shown_messages(members, brought, False), stored

    def _named(self) -> list[tuple[str, str, Topic]]:
        counts = self.queues[: 1 if self.away else 2]
        return [
            (name, case.broker.address, self._settings(count))
            for name, case, count in zip(NAMES, self.cases, counts, strict=False)
        ]

    def _settings(self, count: int) -> Topic:
        """The topic at a broker that has so many queues."""
        return Topic(count, count + self.more_written) if count else Topic(1, 1, WRITE)

    def _resize(self) -> None:
        for case, count in zip(self.cases, self.queues, strict=True):
            case.set_topic(self._settings(count))
