"""Answers to whole consumers that never come, or come late, and connections that are lost (WHOLE-*).

Requests that are refused are in ``whole_group``. Here the client has to see by itself that no answer comes, or has to
connect again; what follows is the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models.client.whole_moves import CLOSING, COMMIT, HEARTBEAT, PULL, ROUTE, Fail
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "WHOLE-SILENT",
        "A pull that is never answered is given up after 30 s (consumerTimeoutMillisWhenSuspend) and sent again 3 s "
        "later: nothing is lost, and the consumer keeps its connection. No commit waits for an answer.",
        "DefaultMQPushConsumerImpl#pullMessage, MQClientAPIImpl#pullMessageAsync @ 4.9.8, 5.5.0",
    ),
    Rule(
        "WHOLE-CUT",
        "A consumer whose connection is closed, sends what is no frame, or does not answer it in time, connects again, "
        "and is a member again with its next heartbeat: it does then what it would have done at first.",
        "MQClientInstance#sendHeartbeatToAllBrokerWithLock @ 4.9.8, 5.5.0",
    ),
    Rule(
        "WHOLE-LATE",
        "An answer that comes a second late counts like any other: consumers wait 3 s for routes, members, max and "
        "searches, 5 s for a stored offset, and 30 s for a pull.",
        "RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker, MQClientInstance#findConsumerIdList @ 4.9.8, 5.5.0",
    ),
)

LATE_ANSWERS = Reason(("WHOLE-LATE",), "answers are late")
_SILENT = Reason(("WHOLE-SILENT",), "not answered")
_CUT = Reason(("WHOLE-CUT",), "connects again")


def loses_members(fails: Mapping[str, Fail]) -> bool:
    """Do requests fail so that the broker may not know every member?"""
    return any(request in (ROUTE, HEARTBEAT) or _closes(move) for request, move in fails.items())


def loses_connections(fails: Mapping[str, Fail]) -> bool:
    """Do requests fail so that clients lose their connections?"""
    return any(_closes(move) for move in fails.values())


def mended_reasons(fails: Mapping[str, Fail]) -> tuple[Reason, ...]:
    """Why members go on once requests are answered that were not."""
    return tuple(_CUT if _closes(move) else _SILENT for move in fails.values() if move.fault in CLOSING)


def _closes(move: Fail) -> bool:
    # no client waits for an answer to a commit, and one to a pull may take long
    return move.fault in CLOSING and move.request not in (PULL, COMMIT)
