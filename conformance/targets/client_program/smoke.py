"""A first look at a consumer program: how far does one member get, and what is missing?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.required_consumers import (
    AUTOMATIC,
    CLUSTERING,
    REQUIRED_CONSUMERS,
)
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.reports.text import count
from rocketmq_conformance.suites import whole_broadcast, whole_lite, whole_orderly, whole_push
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite

#: The kinds of consumers that may be looked at, by the suite that judges them: the first that the program can be.
KINDS = (whole_push.SUITE, whole_orderly.SUITE, whole_lite.SUITE, whole_broadcast.SUITE)
#: Seconds for everything that follows the first heartbeat.
LIMIT = 45.0
_POLL_INTERVAL = 0.05
_COMMITS = "let its listener succeed, and its timer commit"


class Seen(NamedTuple):
    """One thing that a consumer does, whether it was seen, and what to do when it was not.

    Without what is ``needed`` there is nothing to judge; the lack of anything else is a difference.
    """

    what: str
    seen: bool
    hint: str
    needed: bool = False


class FirstLook(NamedTuple):
    """What was seen of a program, in order, and the suite that judges this kind of consumer."""

    seen: list[Seen]
    suite: str


def kinds_of(suites: Iterable[Suite]) -> tuple[Suite, ...]:
    """The kinds of consumers that suites are about, in the order of KINDS; none, when no program plays these."""
    wanted = {REQUIRED_CONSUMERS[one.name][0]._replace(commit=AUTOMATIC) for one in suites if one.side is Side.WHOLE}
    return tuple(kind for kind in KINDS if REQUIRED_CONSUMERS[kind.name][0] in wanted)


def look_at(program: ClientProgram, limit: float = LIMIT, kinds: Sequence[Suite] = KINDS) -> FirstLook:
    """Start one member of the first of these kinds that the program can be. CannotRunError when it does not connect, or
    can be none of them."""
    for suite in kinds:
        seen, reason = _look_at_member(program, suite, limit)
        if not reason:
            return FirstLook(seen, suite.name)
    raise CannotRunError(
        f"The program says that it is no consumer of {' or '.join(one.name for one in kinds)}: {reason}"
    )


def _look_at_member(program: ClientProgram, suite: Suite, limit: float) -> tuple[list[Seen], str]:
    """Start one member, send it messages, shut it down: what was seen, or why it cannot be this kind of consumer."""
    group = program.case(suite)
    try:
        client = group.start(0)
        unsupported = group.members.programs[0].unsupported
        if unsupported:
            return [], unsupported
        for number in range(group.case.queues):
            group.case.send(number)
        stored = [group.case.max_offset(queue) for queue in range(group.case.queues)]
        guard = group.case.guard
        traffic, queues = group.case.traffic, group.case.queues
        # who broadcasts commits nothing, and asks for no members
        divides = group.consumer.model == CLUSTERING

        def done() -> bool:
            if divides:
                return list(group.case.stored()) == stored
            return {one[1] for one in traffic.brought} >= {*range(queues)}

        wait_until(lambda: done() or bool(guard.refused), limit, _POLL_INTERVAL)
        pulled = len({queue for queue, _ in traffic.pulls} & {*range(queues)})
        committed = sum(offset == end for offset, end in zip(group.case.stored(), stored, strict=True))
        lists = traffic.has_sent(client, Request.GET_CONSUMER_LIST_BY_GROUP)
        wrong = group.members.wrong_line()
        got, takes = len(group.members.programs[0].got), group.members.programs[0].takes
        stopped = group.stop(0)
        group.case.settle()
        found = [
            Seen("connected and sent a heartbeat", True, "", needed=True),
            Seen(
                "subscribed to the topic",
                client in traffic.subscribed,
                "subscribe to ROCKETMQ_TOPIC in the group ROCKETMQ_GROUP",
                needed=True,
            ),
            *([Seen("asked for the members of its group", lists, "queues are divided among these")] if divides else []),
            Seen(f"pulled {pulled} of {queues} queues", pulled == queues, "one member owns every queue", needed=True),
            Seen("was given messages", bool(traffic.brought), "let its listener be called", needed=True),
            *([Seen(f"committed {committed} of {queues} queues", committed == queues, _COMMITS)] if divides else []),
            Seen("ended on SIGTERM", stopped, "shut the consumer down when the signal comes"),
            Seen(
                "unregistered from its group",
                traffic.ends.shown(client)[1] is True,
                "shut the consumer down before the process ends; if it is, the client does not tell the broker",
            ),
            *([Seen(f"wrote `got` lines of {count(got, 'message')}", True, "")] if got else []),
            *([Seen(f"takes {', '.join(sorted(takes))}", True, "")] if takes else []),
            *([Seen("wrote lines of the right shape", False, wrong, needed=True)] if wrong else []),
        ]
        if guard.account is not None:
            found.append(Seen("signed every request", not guard.refused, guard.sentence, needed=True))
    finally:
        group.close()
    return found, ""
