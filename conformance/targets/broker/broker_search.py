"""Plays the suite ``broker-search`` on a broker: sends messages, searches by time, asks for bounds."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.suites.broker_search import Earliest, Max, Min, Search, SendTimed

#: Most of a case is waiting until the broker shows what was sent to it.
_LANES = 256

PART = Part(
    jobs={
        SendTimed: jobs.send_timed,
        Search: jobs.search,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        Earliest: jobs.earliest,
    },
    lanes=_LANES,
    with_group=False,
)
