"""Plays the suite ``broker-restart`` on a broker that the kit started, one case at a time."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.suites.broker_restart import (
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    Earliest,
    Max,
    Memory,
    Min,
    Query,
    QueryKept,
    Restart,
    Save,
    Search,
    SendTimed,
)

PART = Part(
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        CreateGroup: jobs.create_group,
        DeleteGroup: jobs.delete_group,
        SendTimed: jobs.send_timed,
        Commit: jobs.commit,
        Query: jobs.query,
        QueryKept: jobs.query_kept,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        Earliest: jobs.earliest,
        Search: jobs.search,
    },
    controls={
        Restart: ProcessControl.restart,
        Save: ProcessControl.save,
        Memory: ProcessControl.set_memory,
    },
    lanes=1,
    needs=frozenset({Need.PROCESS}),
)
