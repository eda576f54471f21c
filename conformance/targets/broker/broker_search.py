"""Plays the suite ``broker-search`` on a broker: sends messages, searches by time, asks for bounds."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.suites.broker_search import Earliest, Max, Min, Search, SendTimed

PART = Part(
    jobs={
        SendTimed: jobs.send_timed,
        Search: jobs.search,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        Earliest: jobs.earliest,
    },
    with_group=False,
)
