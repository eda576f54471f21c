"""A first look at a consumer program: how far does one member get, and what is missing?"""

from __future__ import annotations

import time
from typing import NamedTuple

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.reports.text import count
from rocketmq_conformance.suites import whole_push

#: Seconds for everything that follows the first heartbeat.
LIMIT = 45.0
_PACE = 0.05


class Seen(NamedTuple):
    """One thing that a consumer does, whether it was seen, and what to do when it was not.

    Without what is ``needed`` there is nothing to judge; the lack of anything else is a difference.
    """

    what: str
    seen: bool
    hint: str
    needed: bool = False


def look_at(program: ClientProgram, limit: float = LIMIT) -> list[Seen]:
    """Start one member, send it messages, shut it down; what was seen, in order. CannotRunError when it does not
    connect."""
    program.hello()
    group = program.group(whole_push.SUITE)
    try:
        client = group.start(0)
        for number in range(group.case.queues):
            group.case.send(number)
        stored = [group.case.max_offset(queue) for queue in range(group.case.queues)]
        until = time.monotonic() + limit
        guard = group.case.guard
        while list(group.case.stored()) != stored and not guard.refused and time.monotonic() < until:
            time.sleep(_PACE)
        traffic, queues = group.case.traffic, group.case.queues
        pulled = sum(traffic.pulls.get((queue, ""), ("", 0))[0] == client for queue in range(queues))
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
            Seen("asked for the members of its group", lists, "queues are divided among the members that it lists"),
            Seen(f"pulled {pulled} of {queues} queues", pulled == queues, "one member owns every queue", needed=True),
            Seen("was given messages", bool(traffic.brought), "let its listener be called", needed=True),
            Seen(
                f"committed {committed} of {queues} queues",
                committed == queues,
                "let its listener succeed, and its timer commit",
            ),
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
        program.close()
    return found
