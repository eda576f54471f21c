"""Plays the suite ``broker-offsets`` on a broker: creates topics and groups, sends, commits, queries."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.suites.broker_offsets import (
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    Max,
    Min,
    Query,
    Send,
)

#: A broker writes all its topics, or all its groups, whenever one of them is made or deleted: with twice as many cases
#: at a time that takes twice as long.
_LANES = 32

PART = Part(
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        CreateGroup: jobs.create_group,
        DeleteGroup: jobs.delete_group,
        Send: jobs.send,
        Commit: jobs.commit,
        Query: jobs.query,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
    },
    lanes=_LANES,
)
