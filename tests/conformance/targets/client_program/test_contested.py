"""A queue that its former owner pulled last: who has let go of it does not pull it again."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY, TOPIC

#: Long enough for a client to pull again.
TIMING = replace(BRIEF, margin=1.5)
PEERS: list[Any] = [SimpleNamespace(number=number) for number in range(2)]


class Held(GroupCase):
    """A broker that holds pulls of its only queue; once they are answered, some members pull it again."""

    def __init__(self, again: tuple[int, ...]) -> None:
        super().__init__(Profile())
        self.again = again
        self.held: list[tuple[Any, Command]] = []

    def pull(self, members: tuple[int, ...]) -> None:
        for member in members:
            self.traffic.clients[member] = ORDINARY.members[member]
            fields = {"topic": TOPIC, "queueId": "0", "queueOffset": "12", "suspendTimeoutMillis": "20000"}
            command = Command(int(Request.PULL_MESSAGE), fields)
            self.traffic.pull(PEERS[member], command)
            self.held.append((PEERS[member], command))

    def end_pulls(self, queues: Collection[int], first: bool = False) -> None:
        held, self.held = self.held, []
        for peer, command in held:
            self.traffic.ended(peer, command, Command(Response.PULL_NOT_FOUND))
        self.pull(self.again)


@pytest.mark.parametrize(
    ("pulling", "again", "place"),
    [
        # member 0 took it, and member 1, which had just pulled it once more, let go of it
        ((0, 1), (0,), (0, 12)),
        # member 1 did not let go of it
        ((0, 1), (0, 1), (1, 12)),
        # nor did member 0 take it
        ((1,), (1,), (1, 12)),
        # member 1 let go of it, and member 0 did not take it
        ((1,), (), (-1, -1)),
    ],
)
def test_its_owner_is_who_pulls_it_again(
    pulling: tuple[int, ...], again: tuple[int, ...], place: tuple[int, int]
) -> None:
    case = Held(again)
    group = PlayedGroup(
        operations.SUITE, Profile(), [""], TIMING, threading.Event(), lambda broadcasting: case, GivenAccess()
    )
    try:
        group.do(operations.Prepare(1, "young", 12, "CONSUME_FROM_LAST_OFFSET"))
        for member in range(2):
            group._expect(operations.Join(member))
            group.members.programs[member] = CommandLog()  # type: ignore[assignment]
            group.members.ids[member] = ORDINARY.members[member]
            group.members._known.add(ORDINARY.members[member])
        case.pull(pulling)
        outcome = group.do(operations.Look())
        assert isinstance(outcome, Ok)
        assert isinstance(outcome.value, tuple)
        assert outcome.value[0] == (place,)
    finally:
        group.close()
