"""Rules that the suites of groups share: ids, for ``Suite.rules``, and where they can fire."""

from __future__ import annotations

from rocketmq_conformance.suites.declare.rule_limit import RuleLimit

#: Every round: the topics, the list of members, the share, and the table that becomes it.
ROUND = (
    "REB-DO-1",
    "REB-CLU-1",
    "REB-CLU-3",
    "REB-CLU-4",
    "REB-CLU-ROUTE",
    "REB-BC-1",
    "REB-DROP-1",
    "REB-TRUNC-1",
    "REB-RET-1",
    "REB-DROP-EXPIRY",
    "REB-BEGIN-1",
    "REB-ROUTE-1",
    "REB-BC-STORE",
    "OFF-L-LOAD",
)
#: Queues that are added, and dropped with their offsets, by a push consumer.
PUSH = (
    "REB-ADD-1",
    "REB-ADD-START",
    "REB-REM-1",
    "REB-SUB-1",
    "START-PUSH-1",
    "REB-BC-REM",
    "START-BC-1",
    "START-PUSH-ERROR",
    "START-CHECKED",
)
#: Offsets in memory, and those that timers and a shutdown send, or write into the file of a broadcasting member.
OFFSETS = ("REB-END-1", "REB-PERSIST-1", "OFF-UPD-1", "OFF-R-PALL", "OFF-L-PALL")
#: Where a strategy can refuse, and where looking for the list can make a member learn a route.
LIMITS = (
    RuleLimit(
        rules=("REB-CLU-3",),
        client="up to 5.4.0",
        because="from 5.5.0 on the queues or the list of such a topic count as unknown instead",
    ),
    RuleLimit(
        rules=("REB-CLU-ROUTE",),
        client="up to 5.4.0",
        because="from 5.5.0 on nobody is asked for the list while no queues are known",
    ),
)
