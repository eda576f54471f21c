"""The port's whole push consumers of a topic on two brokers.

A member has a connection to each. Inside it a queue has a number, as in the answers of the suite; what goes over a
connection names the queue by its id at that broker.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.whole_brokers import NAMES
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.pair_group import TO_ALL, PairGroup
from rocketmq_conformance.conformance.targets.port.rebalance import LAST
from rocketmq_conformance.conformance.targets.port.routes import of_topic
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_brokers as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

#: The number of the first queue of each broker.
FIRST = {NAMES[0]: 0, NAMES[1]: 3}
#: The bit of a permission by which a topic may be read.
_READABLE = 4


class WholeBrokersGroup(PairGroup):
    """The members that run."""

    NUMBERED_FROM = FIRST[NAMES[0]], FIRST[NAMES[1]]

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        super().begin_case(case)
        self.prepare_brokers(2, 2, "young", NOTHING, LAST)

    # --- connections ----------------------------------------------------------------------------------------

    def to_broker(self, line: Line, command: Command) -> Command | None:
        """Send a request to the broker of its queue, to every broker, or to the first one."""
        ext = command.ext
        if "queueId" in ext:
            number = int(ext["queueId"])
            command = replace(command, ext={**ext, "queueId": str(number - FIRST[home_of(number)])})
            return self.sent_to(self.broker_of(number, command.code), line, command)
        names = self.registered_at() if command.code in TO_ALL else NAMES[:1]
        response = self.sent_to(names[0], line, command)
        for name in names[1:]:
            self.sent_to(name, line, command)
        return response

    def sent_to(self, name: str, line: Line, command: Command) -> Command | None:
        """Send a request to a broker; ConnectionError when it is away."""
        if name not in self.there():
            raise ConnectionError(name)
        place = NAMES.index(name)
        return self.pair.cases[place].handle(self.door(line, place), command)

    def there(self) -> tuple[str, ...]:
        """The brokers that are there."""
        return NAMES[:1] if self.pair.away else NAMES

    def registered_at(self) -> tuple[str, ...]:
        """The brokers that are sent heartbeats."""
        return self.there()

    def broker_of(self, number: int, code: int) -> str:
        """The broker to which a request about a queue goes."""
        return home_of(number)

    def knows(self, client: str) -> bool:
        """Does the first broker list a member?"""
        return client in self.pair.first.broker.members(GROUP)

    # --- routes ---------------------------------------------------------------------------------------------

    def refresh(self, consumer: Consumer) -> Result:
        """Ask the name server for the route of the topic: its queues, by the names of brokers and their ids."""
        data = json.loads(self.transport.route(TOPIC))["queueDatas"]
        self.routed(consumer, {one["brokerName"]: self.readable(one) for one in data})
        return None

    def readable(self, data: dict[str, Any]) -> int:
        """How many queues of the topic are read at a broker, by what the route says of it."""
        return int(data["readQueueNums"]) if data["perm"] & _READABLE else 0

    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        """A route names so many queues of each broker."""
        places = of_topic(TOPIC)
        consumer.routes[TOPIC] = tuple(
            places[FIRST[name] + at] for name in sorted(counts) for at in range(counts[name])
        )

    # --- operations -----------------------------------------------------------------------------------------

    def prepare_brokers(self, first: int, second: int, shape: str, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self._where = where
            self.pair.prepare((first, second), shape, stored)
        return None

    def route(self, first: int, second: int) -> Result:
        """The brokers have so many queues from now on, unless one is away."""
        if not self.pair.away:
            self.pair.route((first, second))
            self.learn_all()
        return self.look()

    def go_away(self) -> Result:
        """The second broker goes away, if a member runs."""
        if any(self.members):
            self.pair.go_away()
            self.learn_all()
        return self.look()

    def fail_at(self, broker: int, request: str) -> Result:
        """From now on a request is refused by one broker."""
        self.mend_all()
        self.pair.cases[broker].fail(Request[request], "SYSTEM_ERROR")
        return self.look()

    def mend(self) -> Result:
        """Every request is answered again."""
        self.mend_all()
        return self.look()

    def mend_all(self) -> None:
        """Both brokers answer every request."""
        for case in self.pair.cases:
            case.mend()

    def said_queue(self, queue: int) -> int:
        """A message names the queue by its id at its broker."""
        number = super().said_queue(queue)
        return number - FIRST[home_of(number)]

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Prepare: self.prepare_brokers,
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Crash: methods[group.Crash],
            operations.Send: self.send,
            operations.Look: methods[group.Look],
            operations.Route: self.route,
            operations.GoAway: self.go_away,
            operations.ComeBack: self.come_back,
            operations.FailAt: self.fail_at,
            operations.Mend: methods[group.Mend],
        }


def home_of(number: int) -> str:
    """The broker that has a queue."""
    return NAMES[number >= FIRST[NAMES[1]]]


PART = WholeBrokersGroup
