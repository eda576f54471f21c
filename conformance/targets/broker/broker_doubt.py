"""Plays the suite ``broker-doubt`` on a broker: commits and queries, and commits whose response is lost."""

from __future__ import annotations

import socket

from rocketmq_conformance.conformance.remoting.frame import Command, encode
from rocketmq_conformance.conformance.targets.broker import jobs, requests
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.suites.broker_doubt import MIDDLE, Commit, CommitUnheard, CreateGroup, Query

#: Timeout of connecting to a broker (s).
_PATIENCE = 5.0


def send_and_cut(host: str, port: int, ask: requests.Ask, cut: str) -> None:
    """Send a request, or the first half of it, over a connection of its own, and close that."""
    frame = encode(Command(ask.code, ask.ext, ask.body, opaque=1))
    with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
        connection.sendall(frame[: len(frame) // 2] if cut == MIDDLE else frame)


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
