"""Plays the suite ``broker-pop-expired`` on a broker with the aged store: pops, commits and queries as jobs."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.broker_pop_start import pop
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.suites.broker_pop_expired import Commit, PopAged, Query


def pop_aged(names: CaseNames, queue: int, most: int, mode: int) -> Requests:
    """Pop from a queue of the aged topic."""
    return (yield from pop(names, 0, AGED_TOPIC, queue, most, mode, "*"))


PART = Part(
    jobs={Commit: jobs.commit, Query: jobs.query, PopAged: pop_aged},
    needs=frozenset({Need.AGED_STORE, Need.CHECK_POINTS}),
    with_topic=False,
)
