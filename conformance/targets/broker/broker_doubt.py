"""Plays the suite ``broker-doubt`` on a broker: commits and queries, and commits whose response is lost."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs, requests
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.suites.broker_doubt import Commit, CommitUnheard, CreateGroup, Query


def commit_unheard(names: CaseNames, group: int, topic: int, queue: int, offset: int | None, cut: str) -> Requests:
    """Commit an offset over a connection that is cut before the response arrives."""
    names.send_and_cut(requests.commit(names.used_group(group), names.topic(topic), queue, offset), cut)
    yield 0.0  # let other jobs go on first: the broker may or may not have handled the commit by the next request
    raise TimeoutError("the connection was cut before the answer came")


PART = Part(
    jobs={
        CreateGroup: jobs.create_group,
        Commit: jobs.commit,
        CommitUnheard: commit_unheard,
        Query: jobs.query,
    }
)
