"""How a whole consumer ends, and what its traffic shows of it until then.

A member that is shut down commits, unlocks what it has locked, unregisters from its group, and closes its connection;
one that crashes does none of these. What is seen stands in the answer of the step that shuts it down:

=============  =======================================================  ==============
connections    over how many it sent heartbeats: a broker lists a       TIMER-BEAT
               client once for each (BQ-LIST-1), and whoever divides
               queues among the members leaves some of them out
unregistered   did it unregister from its group?                        TIMER-END
commits        how they were sent, at any time                          REB-PERSIST-1
unlocks        how an orderly member unlocked its queues at its end     TIMER-END
=============  =======================================================  ==============

A broker knows a client by the connection over which its heartbeats come. Of one that it may not know when that is shut
down nothing is said, and nothing of the connections of one that has lost one.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.whole import BROADCAST, ORDERLY
from rocketmq_conformance.models.outcome import Expected, Value
from rocketmq_conformance.models.rule import Reason

#: How requests were sent.
ONE_WAY, AWAITED = "one way", "awaited"
#: The number of connections, whether the member unregistered, and how commits and requests to unlock were sent (None:
#: not seen).
Ended = tuple[Value, Value, Value, Value]
#: Of a member that did not run, or was not shut down.
NOT_ENDED: Ended = (None, None, None, None)
#: The parts of an answer that show the end of a member, and the rules that decide each.
PARTS = {
    "connections": ("TIMER-BEAT",),
    "unregistered": ("TIMER-END",),
    "commits": ("REB-PERSIST-1",),
    "unlocks": ("TIMER-END",),
}
#: The parts that no offset depends on: a commit that is awaited is the same request, and brokers store the same
#: (RemoteBrokerOffsetStore#updateConsumeOffsetToBroker @ 4.9.8, which takes either way).
SHOULD = ("commits",)
#: The rules of consumers in a cluster, and of broadcasting ones, which commit nothing.
RULES_OF_ENDS = ("TIMER-END", "TIMER-BEAT", "REB-PERSIST-1")
RULES_OF_BROADCAST_ENDS = RULES_OF_ENDS[:2]
#: They stand behind the first parts of what whole consumers show: places, messages, stored offsets.
PLACE = 3


def ended(kind: str) -> Ended:
    """What a member of a kind shows that is shut down."""
    return 1, True, None if kind == BROADCAST else ONE_WAY, AWAITED if kind == ORDERLY else None


def with_end(seen: Expected, end: Ended) -> Value:
    """What is seen of a group, and of the end of a member."""
    assert isinstance(seen, tuple)
    return (*seen[:PLACE], *end, *seen[PLACE:])


def end_of(seen: Expected) -> Ended:
    """The end of a member in what ``with_end`` made."""
    assert isinstance(seen, tuple)
    connections, unregistered, commits, unlocks = seen[PLACE : PLACE + len(PARTS)]
    return connections, unregistered, commits, unlocks


def end_reason(why: Reason, end: Ended) -> Reason:
    """Why a group, and a member that is shut down, show what they show: the parts that are not null have rules."""
    deciding = {rule for value, rules in zip(end, PARTS.values(), strict=True) if value is not None for rule in rules}
    return replace(why, rules=(*why.rules, *(rule for rule in RULES_OF_ENDS if rule in deciding)))
