"""How a whole consumer ends, and what its traffic shows of it until then (WHOLE-UNREGISTER, -ONE-WAY, -CONNECTION).

A member that is shut down commits, unlocks what it has locked, unregisters from its group, and closes its connection;
one that crashes does none of these. What is seen stands in the answer of the step that shuts it down.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.whole import BROADCAST, ORDERLY
from rocketmq_conformance.models.outcome import Expected, Value
from rocketmq_conformance.models.rule import Level, Reason, Rule

RULES = (
    Rule(
        "WHOLE-UNREGISTER",
        "A consumer that is shut down unregisters from its group at the broker before it closes its connection.",
        "DefaultMQPushConsumerImpl#shutdown, MQClientInstance#unregisterConsumer @ 4.0.0, 4.9.8, 5.5.0",
        level=Level.SHOULD,
    ),
    Rule(
        "WHOLE-ONE-WAY",
        "A consumer sends all commits one way: by its timer, when it loses a queue, and when it is shut down. An "
        "orderly one that is shut down waits for the answer when it unlocks its queues.",
        "RemoteBrokerOffsetStore#updateConsumeOffsetToBroker, RebalanceImpl#unlockAll @ 4.0.0, 4.9.8, 5.5.0",
        level=Level.SHOULD,
    ),
    Rule(
        "WHOLE-CONNECTION",
        "A consumer sends its heartbeats to a broker over one connection: over several, the broker would list it "
        "several times (BQ-LIST-1), and whoever divides queues among the members would leave some of them out.",
        "NettyRemotingClient#createChannel @ 4.0.0, 4.9.8, 5.5.0",
    ),
)

#: How a request was sent.
ONE_WAY, AWAITED = "one way", "awaited"
#: What is seen of a member that is shut down: over how many connections it sent heartbeats, did it unregister, and how
#: were its commits sent, and its requests to unlock when it ended (None: not seen).
Ended = tuple[Value, Value, Value, Value]
#: Of one that did not run, or was not shut down.
NOT_ENDED: Ended = (None, None, None, None)
#: The parts of an answer that show it, and the rules that decide each.
PARTS = {
    "connections": ("WHOLE-CONNECTION",),
    "unregistered": ("WHOLE-UNREGISTER",),
    "commits": ("WHOLE-ONE-WAY",),
    "unlocks": ("WHOLE-ONE-WAY",),
}
RULE_IDS = tuple(rule.id for rule in RULES)
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


def end_reason(why: Reason, kind: str) -> Reason:
    """Why a group, and a member of a kind that is shut down, show what they show."""
    # a broadcasting one has no commits
    rules = (rule for rule in RULE_IDS if kind != BROADCAST or rule != "WHOLE-ONE-WAY")
    return Reason((*why.rules, *rules), why.kind)
