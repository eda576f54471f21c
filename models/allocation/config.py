"""CONFIG: every member owns the configured queues, independent of the queues and members there are (ALLOC-CONF-1)."""

from __future__ import annotations

from rocketmq_conformance.models.allocation.check import Queues, Shares
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "ALLOC-CONF-1",
        "The configured queues, unfiltered and unchecked: neither the topic's queues nor the members matter. No "
        "configuration counts as no queues.",
        "AllocateMessageQueueByConfig#allocate @ 4.0.0, 5.5.0; RebalanceImpl#rebalanceByTopic @ 4.0.0, 5.5.0",
    ),
)

_CONFIGURED = Reason(("ALLOC-CONF-1",), "configured")
_UNSET = Reason(("ALLOC-CONF-1",), "not configured")


def by_config(configured: Queues | None) -> Shares:
    """The queues of any member. Java returns null when nothing is configured, which its caller takes for none."""
    return ((), _UNSET) if configured is None else (configured, _CONFIGURED)
