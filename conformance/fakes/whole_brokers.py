"""Two brokers of a case with whole consumers, the first of which is the name server, too; what their traffic shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.whole_brokers import MOST, SECOND, number_of, numbers, place_of
from rocketmq_conformance.models.client.whole_push import NO_OWNER
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, TOPIC

#: The names of the brokers, in their order.
NAMES = BROKER, "broker-b"


Later = Callable[[float, Callable[[], object]], Any] | None


class _NamingCase(GroupCase):
    """The broker that answers what routes are, too."""

    def __init__(self, profile: Profile, later: Later, route: Callable[[str, bool, RouteForm], bytes]) -> None:
        super().__init__(profile, later)
        self._wire, self._form = WireRules.of(profile), RouteForm.of(profile.broker)
        #: The route of a topic, with standard JSON or not; b"" for one that has none.
        self._route = route

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client."""
        route = b""
        if request.code == Request.GET_ROUTEINFO_BY_TOPIC:
            standard = self._wire.standard(request.version, request.ext.get("acceptStandardJsonOnly") == "true")
            route = self._route(request.ext["topic"], standard, self._form)
        if not route:
            return super().handle(peer, request)
        self.traffic.request(peer, request)
        return command((0, "", {}, route))


class WholeBrokers:
    """Two brokers with a topic and a group, without members at first; ``later`` replaces their timers."""

    #: The name of the second one.
    SECOND_NAME = NAMES[SECOND]

    def __init__(self, profile: Profile, later: Later = None) -> None:
        self.first = _NamingCase(profile, later, self._route)
        self.second = GroupCase(profile, later, name=self.SECOND_NAME)
        self.cases: tuple[GroupCase, GroupCase] = self.first, self.second
        #: The topic that each broker makes with its own name.
        self._own = {name: own_topics(profile.broker, name, CLUSTER, creates=False)[name] for name in NAMES}
        self.queues = 2, 2
        self.away = False
        #: By how many more queues of each broker are written than read.
        self.more_written = 0

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

    def send(self, queue: int) -> None:
        """A message arrives in a queue that the route names, or in every one."""
        for number in self.named:
            if queue in (number, EVERY):
                self._send(number)

    def _send(self, number: int) -> None:
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
        return said.among(brought, self.first.traffic.carried + self.second.traffic.carried, self.said_queue)

    def said_queue(self, number: int) -> int:
        """How a message names a queue: by its id at its broker."""
        return place_of(number)[1]

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers; ``members`` are the numbers of those that run, by client id."""
        places: list[Value] = []
        stored: list[Value] = []
        for case, queue, is_named in self._places():
            pulls = case.traffic.waiting(queue) if is_named else ()
            waiting = sorted((members.get(client, STRANGER), offset) for client, offset in pulls)
            places.append(next(iter(waiting), (NO_OWNER, NOTHING)))
            kept = case.broker.state.stored.get((GROUP, TOPIC, queue), NOTHING)
            stored.append(case.traffic.shown(queue, kept))
        return tuple(places), shown_messages(members, brought, False), tuple(stored)

    def _places(self) -> Iterator[tuple[GroupCase, int, bool]]:
        """Each queue that a step shows: where it is, its id there, and whether routes name it."""
        named = self.named
        for at, (case, most) in enumerate(zip(self.cases, MOST, strict=True)):
            for queue in range(most):
                yield case, queue, number_of(at, queue) in named

    def _route(self, topic: str, standard: bool, form: RouteForm) -> bytes:
        """The route of the topic, or of the topic that a broker makes with its own name."""
        brokers = self._named()
        if topic != TOPIC:
            brokers = [(name, address, self._own[name]) for name, address, _ in brokers if name == topic]
        return route_of_many(brokers, CLUSTER, standard, form) if brokers else b""

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
