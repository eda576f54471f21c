"""Plays the suite ``broker-search-files`` on a broker with the store of long queues: searches by time, and bounds."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.suites.broker_search_files import Earliest, Max, Min, Search

PART = Part(
    jobs={
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        Earliest: jobs.earliest,
        Search: jobs.search,
    },
    needs=frozenset({Need.AGED_STORE}),
    with_topic=False,
    with_group=False,
)
