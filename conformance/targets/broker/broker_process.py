"""Plays the suite ``broker-process`` on a broker that the kit started, one case at a time."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.suites.broker_process import Commit, Kill, Pause, Resume, Save, SendTimed, Start, Stop
from rocketmq_conformance.suites.broker_restart import Max, Min, Query, QueryKept

PART = Part(
    jobs={
        SendTimed: jobs.send_timed,
        Commit: jobs.commit,
        Query: jobs.query,
        QueryKept: jobs.query_kept,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
    },
    controls={
        Stop: ProcessControl.stop,
        Kill: ProcessControl.kill,
        Start: ProcessControl.start,
        Pause: ProcessControl.pause,
        Resume: ProcessControl.resume,
        Save: ProcessControl.save,
    },
    lanes=1,
    needs=frozenset({Need.PROCESS}),
)
