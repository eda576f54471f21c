"""The port's whole push consumers at two brokers, or at two nodes of one: a member has a connection to each."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.fakes.whole_brokers import WholeBrokers
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush, never
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP

#: Requests that go to both.
TO_ALL = int(Request.HEART_BEAT), int(Request.UNREGISTER_CLIENT)


class _Door(Peer):
    """A member's connection to one of the two, where its queues have numbers from ``first`` on."""

    def __init__(self, line: Line, place: int, first: int) -> None:
        self.number = 2 * line.number + place
        self.address = line.address
        self._line, self._first = line, first

    def answer(self, request: Command, response: Command) -> None:
        number = str(int(request.ext["queueId"]) + self._first)
        self._line.answer(replace(request, ext={**request.ext, "queueId": number}), response)

    def send_request(self, command: Command) -> None:
        self._line.send_request(command)


class PairGroup(WholePush):
    """The members that run."""

    #: What makes the two of a case, and the number of the first queue of each.
    PAIR: ClassVar[type[WholeBrokers]] = WholeBrokers
    NUMBERED_FROM: ClassVar[tuple[int, int]] = (0, 0)
    #: The two of the case; begin_case makes them.
    pair: WholeBrokers

    _of: Profile | None = None

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        if self._of != case.profile:
            self.pair, self._of = self.PAIR(case.profile, never), case.profile
            #: The connections of each member that runs, by the number of its line.
            self._doors: dict[int, tuple[_Door, _Door]] = {}
        super().begin_case(case)

    # --- connections ----------------------------------------------------------------------------------------

    def door(self, line: Line, place: int) -> Peer:
        """A member's connection to one of the two, by its place among them."""
        if line.number not in self._doors:
            first, second = (_Door(line, one, self.NUMBERED_FROM[one]) for one in range(2))
            self._doors[line.number] = first, second
        return self._doors[line.number][place]

    def close_line(self, line: Line) -> None:
        """Close the connections of a member."""
        for place, case in enumerate(self.pair.cases):
            case.closed(self.door(line, place))
        del self._doors[line.number]

    def knows(self, client: str) -> bool:
        """Does one of those that are there list a member?"""
        return any(client in case.broker.members(GROUP) for case in self.pair.there)

    def learn_all(self) -> None:
        """The timers of routes and of heartbeats."""
        for consumer, line in zip(self.members, self._lines, strict=True):
            if consumer is not None and line is not None:
                self._line = line
                self.learn(consumer)
                self.beat(consumer, line)

    # --- operations -----------------------------------------------------------------------------------------

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs."""
        if self.members[member] is not None:
            self.end(member)
        return self.look()

    def send(self, queue: int) -> Result:
        """A message arrives in a queue that the route names, or in every one."""
        self.pair.send(queue)
        return self.look()

    def come_back(self) -> Result:
        """What went away comes back, if it was away."""
        if self.pair.away:
            self.pair.come_back()
            self.learn_all()
        return self.look()

    def end_pulls(self) -> None:
        """The time of pulls is up that are held where nothing was brought since the last operation."""
        for case in self.pair.there:
            case.end_idle_pulls()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic at both shows."""
        return self.pair.observed(running, self.pair.given(self.pair.take_brought(), self.say_given()))
