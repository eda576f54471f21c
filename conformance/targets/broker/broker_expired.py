"""Plays the suite ``broker-expired`` on a broker with the aged store: commits, queries, searches, bounds."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.suites.broker_expired import Commit, Earliest, Max, Min, Query, QueryKept, Search

PART = Part(
    jobs={
        Commit: jobs.commit,
        Query: jobs.query,
        QueryKept: jobs.query_kept,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        Earliest: jobs.earliest,
        Search: jobs.search,
    },
    needs=frozenset({Need.AGED_STORE}),
    with_topic=False,
)
