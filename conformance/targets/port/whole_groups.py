"""The port's programs with whole push consumers of two groups, which share a connection and a heartbeat.

Each group is one as in ``whole_push``; the consumers of a program send their requests over the same door.
"""

from __future__ import annotations

import json
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.whole_groups import WholeGroups
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.rebalance import LAST
from rocketmq_conformance.conformance.targets.port.transport import Calls, Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush, never
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_groups as operations
from rocketmq_conformance.suites import whole_push
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_GROUP, TOPIC


class _Door(Peer):
    """The connection of a program; the responses to pulls that were held go to the consumer of their group."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.address = f"127.0.0.1:{number}"
        #: The inboxes of its consumers, by group.
        self.lines: dict[str, Line] = {}

    def answer(self, request: Command, response: Command) -> None:
        self.lines[request.ext["consumerGroup"]].answer(request, response)

    def send_request(self, command: Command) -> None:
        """Groups that have changed have a round anyway."""


class OneGroup(WholePush):
    """The consumers of one group, by the numbers of their programs."""

    #: Their group, and all programs.
    group = GROUP
    programs: WholeGroupsPrograms

    def to_broker(self, line: Line, command: Command) -> Command | None:
        """Send a request for the group."""
        door = self.programs.door(line.number)
        door.lines[self.group] = line
        if "consumerGroup" in command.ext:
            named = self.programs.group_for(self.group, command.code)
            command = replace(command, ext={**command.ext, "consumerGroup": named})
        return self.programs.world.handle(door, command)

    def start_in(self, member: int, program: int) -> None:
        """Start a consumer in a program, by the number of that."""
        self._opened = program - 1
        self.start(member)

    def rebalance(self, consumer: Consumer) -> Result:
        """A round, if the program has one for the group."""
        return super().rebalance(consumer) if self.programs.rebalances(self.group, consumer) else None

    def beat(self, consumer: Consumer, line: Line) -> bool:
        """Send the heartbeat of the program."""
        self.programs.beat_of(ORDINARY.members.index(consumer.client), line.number)
        return self.knows(consumer.client)

    def knows(self, client: str) -> bool:
        """Does the broker list a member?"""
        return client in self.programs.world.broker.members(self.group)

    def close_line(self, line: Line) -> None:
        """A consumer has ended, and its program perhaps, too."""
        self.programs.close_door(line.number)


class SecondGroup(OneGroup):
    """The consumers of the second one."""

    group = OTHER_GROUP

    def __init__(self, programs: WholeGroupsPrograms) -> None:
        super().__init__(Calls())
        self.programs = programs

    def follow(self, case: Case) -> None:
        """Begin a case at the broker of the first one; listeners are those of all programs."""
        self._world, self._profile, self.given = self.programs.world, case.profile, self.programs.given
        self.begin_case(case)

    def prepare(self, queues: int, shape: str, stored: int, where: str) -> Result:
        """The programs choose how a case begins."""
        self._where = where
        return None


class WholeGroupsPrograms(OneGroup):
    """The programs that run; as a group, the consumers of the first one."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.programs = self
        self.second = SecondGroup(self)
        self.groups: tuple[OneGroup, OneGroup] = self, self.second
        self._doors: dict[int, _Door] = {}
        #: The number of each program that has run, by its member.
        self._numbers: dict[int, int] = {}
        self._started = 0

    def make_world(self, profile: Profile) -> GroupCase:
        """The broker of a profile's cases."""
        return WholeGroups(profile, never)

    def begin_case(self, case: Case) -> None:
        """Begin a case: no program runs."""
        super().begin_case(case)
        self.second.follow(case)
        self.choose(NOTHING, NOTHING, LAST)

    # --- what consumers share -------------------------------------------------------------------------------

    def door(self, program: int) -> _Door:
        """The connection of a program."""
        return self._doors.setdefault(program, _Door(program))

    def close_door(self, program: int) -> None:
        """Close the connection of a program that has no consumer any more."""
        lines = [line for group in self.groups for line in group._lines if line is not None]
        if program in self._doors and all(line.number != program for line in lines):
            self.world.closed(self._doors.pop(program))

    def group_for(self, group: str, code: int) -> str:
        """The group that a request of a group's consumer names."""
        return group

    def rebalances(self, group: str, consumer: Consumer) -> bool:
        """Does a round of a program divide the queues of a group, too?"""
        return True

    def beat_of(self, member: int, program: int) -> None:
        """Send the heartbeat of a program."""
        subscription = {"topic": TOPIC, "subString": "*", "subVersion": 1}
        data = {"consumeType": self.kind, "messageModel": self.model, "subscriptionDataSet": [subscription]}
        consumers = [{**data, "groupName": group} for group in self.beats_for(member)]
        body = {"clientID": ORDINARY.members[member], "consumerDataSet": consumers}
        self.world.handle(self.door(program), Command(int(Request.HEART_BEAT), {}, json.dumps(body).encode()))

    def beats_for(self, member: int) -> tuple[str, ...]:
        """The groups that the heartbeats of a program name."""
        return tuple(one.group for one in self.of(member))

    def of(self, member: int) -> list[OneGroup]:
        """The groups of which a program has consumers."""
        return [group for group in self.groups if group.members[member] is not None]

    # --- turns ----------------------------------------------------------------------------------------------

    def turns(self) -> None:
        """Every consumer takes a turn."""
        super().turns()
        self.second.turns()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, of all programs that run."""
        return super().observed({name: at for at, name in enumerate(ORDINARY.members) if self.of(at)})

    # --- operations -----------------------------------------------------------------------------------------

    def choose(self, first: int, second: int, where: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self._where = self.second._where = where
            world = self.world
            assert isinstance(world, WholeGroups)
            world.prepare_groups(first, second, where)
        return None

    def join_group(self, member: int) -> Result:
        """A program starts with a consumer of the first group, unless it runs."""
        if not self.of(member):
            self._begun = True
            self._started += 1
            self._numbers[member] = self._started
            self.start_in(member, self._started)
        return self.look()

    def also(self, member: int) -> Result:
        """A consumer of the other group starts, if a program has one alone."""
        if len(self.of(member)) == 1:
            (lacking,) = (group for group in self.groups if group.members[member] is None)
            lacking.start_in(member, self._numbers[member])
        return self.look()

    def end_one(self, member: int, group: int) -> Result:
        """The consumer of a group is shut down, if its program has both."""
        if len(self.of(member)) == len(self.groups):
            self.groups[group].end(member)
        return self.look()

    def leave_group(self, member: int) -> Result:
        """A program is shut down, if it runs."""
        for group in self.of(member):
            group.end(member)
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = super().calls()
        return {
            operations.Prepare: self.choose,
            operations.Join: self.join_group,
            operations.Also: self.also,
            operations.End: self.end_one,
            operations.Leave: self.leave_group,
            operations.Send: self.send,
            operations.Look: methods[whole_push.Look],
        }


PART = WholeGroupsPrograms
