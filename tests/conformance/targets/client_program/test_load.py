"""A case of the suite of load: what its members are told, and what is seen of those that stop, starve or give again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_load import PlayedLoad
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_load as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

ME = ORDINARY.members[0]


class Pulling(GroupCase):
    """A broker whose one member has pulled all queues to offset 12, and pulls ``most`` messages of each from then on,
    but nothing of those that it ``starves``."""

    def __init__(self, most: int, starves: frozenset[int]) -> None:
        super().__init__(Profile())
        self.most, self.starves = most, starves
        self.at = dict.fromkeys(range(4), 12)
        self.peer: Any = type("Line", (), {"number": 1, "address": "", "answer": lambda *_: None})()

    def begin_member(self) -> None:
        self.traffic.clients[1] = ME
        for queue in self.at:
            self.pull(queue)

    def pull(self, queue: int) -> None:
        fields = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": str(queue), "queueOffset": str(self.at[queue])}
        more = {"maxMsgNums": "32", "sysFlag": "6", "commitOffset": "0", "suspendTimeoutMillis": "15000"}
        self.handle(self.peer, Command(int(Request.PULL_MESSAGE), {**fields, **more, "subscription": "*"}))

    def send(self, queue: int) -> None:
        super().send(queue)
        if queue not in self.starves and self.at[queue] < 12 + self.most:
            self.at[queue] += 1
            self.pull(queue)


@pytest.fixture
def group(request: pytest.FixtureRequest) -> Iterator[PlayedLoad]:
    program: Any = CommandLog()
    program.got, program.read = deque(), {}
    case = Pulling(*request.param)
    timing = replace(BRIEF, margin=0.3)
    made = PlayedLoad(*(operations.SUITE, Profile(), [""], timing, threading.Event(), lambda _: case, GivenAccess()))
    made._expect(operations.Join(0))
    made.members.programs[0], made.members.ids[0] = program, ME
    case.begin_member()
    case.take_brought()
    yield made
    made.close()


def seen_of(group: PlayedLoad, operation: Any) -> Any:
    """Where queue 0 waits, and what was given."""
    seen = group.do(operation)
    assert isinstance(seen, Ok)
    assert isinstance(seen.value, tuple)
    places, given, *_ = seen.value
    return places[0], given  # type: ignore[index]


@pytest.mark.parametrize("group", [(9, frozenset())], indirect=True)
def test_the_member_that_has_the_queue_is_told_with_which_message_to_hang(group: PlayedLoad) -> None:
    assert seen_of(group, operations.Hang(0)) == ((0, 13), ((0, 0, 12, 1),))
    seen_of(group, operations.Free())
    log: Any = group.members.programs[0]
    assert log.commands == [{"hold": [TOPIC, 0, 12]}, {"listen": "succeeds"}]


@pytest.mark.parametrize(
    ("group", "place"),
    [((1100, frozenset()), (-1, -1)), ((9999, frozenset()), (0, 1512))],
    indirect=["group"],
)
def test_a_queue_that_is_pulled_no_more_shows_nothing_before_listeners_return(group: PlayedLoad, place: Any) -> None:
    case: Any = group.case
    if place == (-1, -1):
        # its last pull was answered, and it sends no other one
        group._wait = lambda done, limit: case.traffic.unanswered()  # type: ignore[method-assign]
    assert seen_of(group, operations.Fill(0)) == (place, ())


@pytest.mark.parametrize(
    ("group", "given"),
    [
        ((99, frozenset()), [(0, 12, 50), (1, 12, 1), (2, 12, 1), (3, 12, 1)]),
        ((99, frozenset({2})), [(0, 12, 50), (1, 12, 1), (3, 12, 1)]),
    ],
    indirect=["group"],
)
def test_what_is_not_given_while_a_load_lasts_does_not_show(group: PlayedLoad, given: Any) -> None:
    case: Any = group.case
    send = case.send

    def sends(queue: int) -> None:
        send(queue)
        if group._aside.starved:
            # the load is over: it serves the others
            case.starves = frozenset()
            case.pull(2)
            case.at[2] += 1
            case.pull(2)

    case.send = sends
    _, found = seen_of(group, operations.Load(0))
    assert [one[1:] for one in found] == given
