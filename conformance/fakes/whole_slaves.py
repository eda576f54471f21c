"""A master and its slave in a case with whole consumers; the slave's process is the name server, too, and stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocketmq_conformance.conformance.fakes.broker import CLUSTER
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.responses import command
from rocketmq_conformance.conformance.fakes.routes import RouteForm, route_of_nodes
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import Brought, said_queue
from rocketmq_conformance.conformance.fakes.watched_case import STRANGER, shown_messages
from rocketmq_conformance.conformance.fakes.whole_brokers import WholeBrokers
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.client.whole_push import NO_OWNER
from rocketmq_conformance.models.client.whole_slaves import MASTER, MOST, SLAVE, place_number
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, TOPIC

Later = Callable[[float, Callable[[], object]], Any] | None


class _SlaveCase(GroupCase):
    """The slave, which answers what the route of each of its topics is."""

    def __init__(self, profile: Profile, later: Later) -> None:
        super().__init__(profile, later)
        self._wire, self._form = WireRules.of(profile), RouteForm.of(profile.broker)
        #: The addresses of the nodes that routes name, by number.
        self.nodes: Callable[[], dict[int, str]] = dict

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client."""
        asks = request.code == Request.GET_ROUTEINFO_BY_TOPIC
        settings = self.broker.state.topics.get(request.ext["topic"]) if asks else None
        if settings is None:
            return super().handle(peer, request)
        self.traffic.request(peer, request)
        standard = self._wire.standard(request.version, request.ext.get("acceptStandardJsonOnly") == "true")
        return command((0, "", {}, route_of_nodes(BROKER, CLUSTER, self.nodes(), settings, standard, self._form)))


class SlavePair(WholeBrokers):
    """A slave, which comes first, and its master, which goes away; what arrives is at both."""

    def __init__(self, profile: Profile, later: Later = None) -> None:
        super().__init__(profile, later)
        self.count = MOST

    def _made(self, profile: Profile, later: Later) -> tuple[GroupCase, GroupCase]:
        slave = _SlaveCase(profile, later)
        slave.nodes = self.nodes
        return slave, GroupCase(profile, later)

    def nodes(self) -> dict[int, str]:
        """The addresses of the nodes that are there, by number."""
        there = {} if self.away else {MASTER: self.second.broker.address}
        return {**there, SLAVE: self.first.broker.address}

    def begin(self, queues: int, stored: int) -> None:
        """Have so many young queues at both nodes, with the same stored offset in each (-1: none)."""
        self.count, self.away = queues, False
        for case in self.cases:
            case.prepare(queues, "young", stored)
        self.suggest(MASTER)

    def suggest(self, node: int) -> None:
        """Answers to pulls suggest a node from now on."""
        for case in self.cases:
            case.broker.suggest(node)

    def synchronise(self) -> None:
        """The slave takes the offsets that its master has stored, unless that is away."""
        if not self.away:
            slave, stored = self.first.broker.storage, self.second.broker.state.stored
            slave.state = slave.state._replace(stored={**slave.state.stored, **stored})

    def send(self, number: int) -> None:
        """A message arrives in a queue at both nodes."""
        for case in self.cases:
            case.send(number)

    @property
    def named(self) -> tuple[int, ...]:
        """The numbers of the topic's queues."""
        return tuple(range(self.count))

    def take_brought(self) -> list[Brought]:
        """The messages that clients were given since the last call, by whichever node."""
        for case, other in zip(self.cases, self.cases[::-1], strict=True):
            case.traffic.confirm(other.traffic)
        return [one for case in self.cases for one in case.take_brought()]

    def given(self, brought: Sequence[Brought], said: SaidMessages | None) -> Sequence[Brought]:
        """What clients were given: what pulls ``brought``, and where they say so what they ``said`` of that."""
        if said is None:
            return brought
        return said.among(brought, self.first.traffic.carried + self.second.traffic.carried, said_queue)

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers; ``members`` are the numbers of those that run, by client id."""
        places: list[Value] = [(NO_OWNER, NOTHING)] * (2 * MOST)
        stored: list[Value] = []
        for node, case in ((MASTER, self.second), (SLAVE, self.first)):
            for queue in range(MOST):
                number = place_number(node, queue)
                if case in self.there:
                    waiting = sorted((members.get(client, STRANGER), at) for client, at in case.traffic.waiting(queue))
                    places[number] = next(iter(waiting), places[number])
                kept = case.broker.state.stored.get((GROUP, TOPIC, queue), NOTHING)
                stored.append(case.traffic.shown(queue, kept))
        return tuple(places), shown_messages(members, brought, False), tuple(stored)
