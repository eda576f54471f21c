"""The port's whole push consumers of a broker that has a slave: a member has a connection to each node."""

from __future__ import annotations

import json
from contextlib import suppress

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.whole_slaves import SlavePair
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.pair_group import TO_ALL, PairGroup
from rocketmq_conformance.conformance.targets.port.routes import routed
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites import whole_slaves as operations
from rocketmq_conformance.suites.declare.topologies import TOPIC

MASTER, SLAVE = 0, 1
_PULL, _ROUTE = int(Request.PULL_MESSAGE), int(Request.GET_ROUTEINFO_BY_TOPIC)


class WholeSlaves(PairGroup):
    """The members that run."""

    PAIR = SlavePair
    pair: SlavePair

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The nodes that the last route named, and the one that each member's last answer suggested, by queue.
        self.nodes: tuple[int, ...] = ()
        self.suggested: dict[tuple[int, str], int] = {}

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        super().begin_case(case)
        self.nodes = ()
        self.suggested.clear()
        self.prepare_nodes(2, NOTHING)

    # --- connections ----------------------------------------------------------------------------------------

    def to_broker(self, line: Line, command: Command) -> Command | None:
        """Send a request to the node that is to have it, or to every node that is known."""
        if command.code in TO_ALL:
            answer = None
            for node in self.registered_at():
                with suppress(ConnectionError):
                    answer = self.sent_to(node, line, command)
            return answer
        return self.sent_to(self.node_of(line, command), line, command)

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue from where its owner is, once its node can be reached."""
        with suppress(ConnectionError):
            super().ask(consumer, line, queue, owned)

    def node_of(self, line: Line, command: Command) -> int:
        """The node to which a request goes."""
        if command.code == _ROUTE:
            return SLAVE  # its process is the name server
        if command.code == _PULL:
            wanted = self.wanted(line, command.ext["queueId"])
            return wanted if wanted in self.nodes else self.nodes[0]
        return self.for_group(command.code)

    def wanted(self, line: Line, queue: str) -> int:
        """The node that is to be asked for messages of a queue."""
        return self.suggested.get((line.number, queue), MASTER)

    def for_group(self, code: int) -> int:
        """The node that is asked for offsets and members."""
        return self.nodes[0]

    def registered_at(self) -> tuple[int, ...]:
        """The nodes that are sent heartbeats."""
        return self.nodes

    def sent_to(self, node: int, line: Line, command: Command) -> Command | None:
        """Send a request to a node; ConnectionError when it is away."""
        if node == MASTER and self.pair.away:
            raise ConnectionError("the master")
        place = int(node == MASTER)  # the slave is the first one
        return self.pair.cases[place].handle(self.door(line, place), command)

    # --- routes, and what answers suggest -------------------------------------------------------------------

    def refresh(self, consumer: Consumer) -> Result:
        """Ask the name server for the route of the topic: its nodes, and its queues."""
        route = self.transport.route(TOPIC)
        self.nodes = self.learned(
            tuple(sorted(int(node) for node in json.loads(route)["brokerDatas"][0]["brokerAddrs"]))
        )
        consumer.routes[TOPIC] = routed(TOPIC, route)
        return None

    def learned(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        """The nodes that are known once a route names these."""
        return nodes

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        """A pull was answered: the node that it suggests is asked next."""
        self.follow(line, str(self.said_queue(queue)), response)
        super().answered(consumer, line, queue, owned, response)

    def follow(self, line: Line, queue: str, response: Command) -> None:
        """Ask the suggested node from now on."""
        self.suggested[line.number, queue] = int(response.ext["suggestWhichBrokerId"])

    # --- operations -----------------------------------------------------------------------------------------

    def prepare_nodes(self, queues: int, stored: int) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self.pair.begin(queues, stored)
        return None

    def suggest(self, node: int) -> Result:
        """Answers suggest a node from now on."""
        self.pair.suggest(node)
        return self.look()

    def synchronise(self) -> Result:
        """The slave asks its master."""
        self.pair.synchronise()
        return self.look()

    def go_away(self) -> Result:
        """The master goes away."""
        if not self.pair.away:
            self.pair.go_away()
            self.learn_all()
            self.ask_again()
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = super().calls()
        return {
            operations.Prepare: self.prepare_nodes,
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Crash: methods[group.Crash],
            operations.Send: self.send,
            operations.Look: methods[group.Look],
            operations.Suggest: self.suggest,
            operations.Synchronise: self.synchronise,
            operations.GoAway: self.go_away,
            operations.ComeBack: self.come_back,
        }


PART = WholeSlaves
