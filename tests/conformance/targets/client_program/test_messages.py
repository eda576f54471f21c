"""A case of the suite of messages: what its member says that it reads, and what stays open without that."""

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
from rocketmq_conformance.conformance.targets.client_program.played_messages import PlayedMessages
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_messages as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

READS = {"WHOLE-MSG-READ", "WHOLE-MSG-TYPE"}


class Consuming(GroupCase):
    """A broker whose one member pulls what arrives in queue 0, and says what it was given and read."""

    def __init__(self, program: Any, says: int, given: tuple[int, ...]) -> None:
        super().__init__(Profile())
        self.program, self.says, self.shows = program, says, given
        self.peer: Any = type("Line", (), {"number": 1, "address": "", "answer": lambda *_: None})()

    def send_as(self, form: str, queue: int) -> range:
        offsets = super().send_as(form, queue)
        fields = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "queueOffset": "12", "maxMsgNums": "32"}
        more = {"sysFlag": "6", "commitOffset": "0", "suspendTimeoutMillis": "15000", "subscription": "*"}
        self.traffic.clients[1] = ORDINARY.members[0]
        for offset in ("12", "15"):
            self.handle(self.peer, Command(int(Request.PULL_MESSAGE), fields | more | {"queueOffset": offset}))
        for offset in self.shows if self.says else ():
            self.program.got.append((TOPIC, 0, offset))
            if self.says > 1:
                self.program.read[TOPIC, 0, offset] = 80, ""
        return offsets


@pytest.fixture
def group(request: pytest.FixtureRequest) -> Iterator[PlayedMessages]:
    program: Any = CommandLog()
    program.got, program.read = deque(), {}
    case = Consuming(program, *request.param)
    timing = replace(BRIEF, margin=0.3)
    made = PlayedMessages(
        *(operations.SUITE, Profile(), [""], timing, threading.Event(), lambda _: case, GivenAccess())
    )
    made._expect(operations.Join(0))
    made.members.programs[0], made.members.ids[0] = program, ORDINARY.members[0]
    yield made
    made.close()


@pytest.mark.parametrize(
    ("group", "brought", "read", "unshown"),
    [
        ((2, (12, 13, 14)), ((0, 0, 12, 3),), ((0, 0, 13, 80, ""),), set()),
        ((1, (12, 13, 14)), ((0, 0, 12, 3),), None, READS),
        ((0, ()), None, None, READS),
        # what is not given, and was not read
        ((2, (12, 14)), ((0, 0, 12, 1), (0, 0, 14, 1)), (), set()),
    ],
    indirect=["group"],
)
def test_what_members_say_is_seen_and_what_they_do_not_stays_open(
    group: PlayedMessages, brought: Any, read: Any, unshown: set[str]
) -> None:
    seen = group.do(operations.SendTyped(0, "LZ4"))
    assert isinstance(seen, Ok)
    assert isinstance(seen.value, tuple)
    assert (seen.value[0][0], seen.value[1], seen.value[3]) == ((0, 15), brought, read)  # type: ignore[index]
    assert seen.unshown & READS == unshown & {"WHOLE-MSG-TYPE"}


@pytest.mark.parametrize(("group", "mended"), [((2, (12,)), False), ((2, (12, 14)), True)], indirect=["group"])
def test_what_comes_behind_a_message_that_cannot_be_read_may_be_given(group: PlayedMessages, mended: bool) -> None:
    seen = group.do(operations.SendAs(0, "broken"))
    assert isinstance(seen, Ok)
    assert (group._bound is group._mended) == mended
