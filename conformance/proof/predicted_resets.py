"""Proof of predicted resets: what ``predict reset`` says of a real broker, and what it and real consumers then do.

Groups with stored offsets in every queue (inside, the first one, beyond max), in some and in none are reset to the end,
the beginning and a time, with a member that is connected and without. The facts are read from the running cluster as
the command reads them; then the request is sent that the tools send, with their commits where the broker answers that
no member is online. Compared are who moves the group, or the refusal, and where each queue is moved to. Then a real
consumer of each group that was moved without members begins, and the messages that it consumes again, and skips, are
compared with the numbers that were predicted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from typing import Any, NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.api import read_group
from rocketmq_conformance.conformance.predict.facts import GroupFacts
from rocketmq_conformance.conformance.predict.reset import (
    AT_TIME,
    BEGINNING,
    BY_BROKER,
    BY_MEMBERS,
    BY_TOOL,
    END,
    REFUSED,
    ResetPrediction,
    predict_reset,
)
from rocketmq_conformance.conformance.proof.predicted_starts import Agreement, agreement
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.broker.process import HOST
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.reset import OFFLINE
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.release import NEWEST, Release

TOPIC = "PREDICTED-RESETS"
#: Who asks for resets, in the place of a client.
TOOL = "mqadmin"
SHAPES = ("young", "empty", "expired", "gone")
#: What a group stored: everywhere, in some queues, nowhere.
_STORED = {
    "all": {0: 7, 1: 0, 2: 9, 3: 12},
    "first": dict.fromkeys(range(4), 0),
    "beyond": dict.fromkeys(range(4), 900),
    "some": {0: 7},
    "none": {},
}
#: Between the messages of every queue (ms since the epoch).
TIME = parse_timestamp("20240401000000", "UTC") or 0
AT = {END: -1, BEGINNING: 0, AT_TIME: TIME}
#: Timeout of a request, and of all messages (s): a consumer is sent elsewhere after 10 s and a round.
_PATIENCE, _GIVEN_LIMIT = 20.0, 60.0

#: Who moves a group, or the error's name, and where to, by queue.
Outcome = tuple[str, tuple[tuple[int, int | None], ...]]


class ResetCase(NamedTuple):
    """One reset of a group of its own."""

    stored: str
    target: str
    online: bool

    @property
    def group(self) -> str:
        """The group's name."""
        return f"R-{self.stored}-{self.target}-{'online' if self.online else 'offline'}"


def reset_cases() -> list[ResetCase]:
    """Every case of a broker."""
    return [ResetCase(*each) for each in product(_STORED, AT, (False, True))]


def prove_predicted_resets(broker: str) -> Agreement:
    """The agreement of resets on a broker of a release."""
    return agreement(TOOL, broker, len(reset_cases()), lambda: prove_resets(Release.parse(broker)))


def prove_resets(release: Release) -> tuple[int, list[str]]:
    """How many queues were compared on a broker of a release, and what differs; CannotRunError when it cannot run."""
    every = reset_cases()
    differences = []
    moved: dict[ResetCase, ResetPrediction] = {}
    with Cluster(release, lambda home: _fill(home, every), NEWEST) as cluster:
        cluster.await_route(TOPIC)
        for case in every:
            prediction, expected, observed = _played(cluster, case)
            if expected != observed:
                differences.append(f"reset {case.group}: predicted {expected}, was {observed}")
            elif prediction.made and not case.online:
                moved[case] = prediction
        differences += _consumed(cluster, moved)
    return len(every) * len(SHAPES), differences


def _consumed(cluster: Cluster, moved: Mapping[ResetCase, ResetPrediction]) -> list[str]:
    """What differs when a real consumer of each group begins: the messages that it consumes again, and skips."""
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer, quick_release

    classes, client = quick_release(str(NEWEST)), f"resets-{cluster.release}"
    differences = []
    with ExitStack() as running:
        started = {
            case: running.enter_context(
                WholeConsumer(classes, PUSH, cluster.name_server, case.group, TOPIC, LAST, client=client)
            )
            for case in moved
        }
        wait_until(
            lambda: all(len(set(started[case].given)) >= prediction.lag for case, prediction in moved.items()),
            _GIVEN_LIMIT,
            0.1,
        )
        time.sleep(1)  # for messages that none of them is to get
        for case, prediction in moved.items():
            given = set(started[case].given)
            for each in prediction.queues:
                facts, stored = each.facts, each.facts.stored
                if stored is None:
                    continue
                there = set(range(facts.oldest, facts.max))
                got = {offset for queue, offset in given if queue == facts.queue}
                again = len({offset for offset in got if offset < stored})
                skipped = len({offset for offset in there - got if offset >= stored})
                if (each.repeats, each.skips) != (again, skipped):
                    differences.append(
                        f"reset {case.group}, queue {SHAPES[facts.queue]}: predicted {each.repeats} again and "
                        f"{each.skips} skipped, were {again} and {skipped}"
                    )
    return differences


def _fill(home: Any, every: Sequence[ResetCase]) -> None:
    stored = {(case.group, TOPIC): _STORED[case.stored] for case in every if _STORED[case.stored]}
    write_store(home, {TOPIC: [log_of_shape(shape) for shape in SHAPES]}, stored)


def _played(cluster: Cluster, case: ResetCase) -> tuple[ResetPrediction, Outcome, Outcome]:
    """The prediction, what it says in short, and what happened."""
    cluster.do(requests.create_group(case.group))
    with Connection(HOST, cluster.broker.port, _PATIENCE) as member:
        if case.online:
            beat = requests.heartbeat(f"127.0.0.1@{case.group}", case.group, [TOPIC])
            if member.call(beat.code, beat.ext, beat.body).code:
                raise CannotRunError(f"Broker {cluster.release} refused a heartbeat.")
        facts = read_group(cluster.name_server, case.group, [TOPIC], TIME)
        prediction = predict_reset(facts, TOPIC, case.target, others=False)
        queues = [queue for queue in prediction.queues if queue.facts.topic == TOPIC]
        ways = {queue.error if queue.way == REFUSED else queue.way for queue in queues}
        expected = " and ".join(sorted(ways)), tuple((queue.facts.queue, queue.after) for queue in queues)
        return prediction, expected, _reset(cluster, case, facts)


def _reset(cluster: Cluster, case: ResetCase, facts: GroupFacts) -> Outcome:
    """Reset the group as the tools do; who moved it, or the error, and where it stands, or is sent."""
    queues = [queue for queue in facts.queues if queue.topic == TOPIC]
    answer = cluster.ask(requests.reset(case.group, TOPIC, AT[case.target], True, None, None))
    error = responses.refused(answer)
    if error is not None and error.code == OFFLINE.code:
        for queue in queues:
            to = {END: queue.max, BEGINNING: queue.min}.get(case.target, queue.found)
            cluster.do(requests.commit(case.group, TOPIC, queue.queue, to))
        return BY_TOOL, stands(cluster, case.group)
    if error is not None:
        return error.code, tuple((queue.queue, None) for queue in queues)
    pairs = responses.offset_pairs(answer.body)
    if isinstance(pairs, Err):
        raise CannotRunError(f"Broker {cluster.release} answers a reset without offsets ({pairs.detail}).")
    after = stands(cluster, case.group)
    # a broker that asked the members has stored nothing
    before = tuple((queue.queue, queue.answer) for queue in queues)
    if after == before and after != tuple(pairs):
        return BY_MEMBERS, tuple(pairs)
    return BY_BROKER, after


def stands(cluster: Cluster, group: str) -> tuple[tuple[int, int | None], ...]:
    """What the broker answers to the group, by queue."""
    found = []
    for queue in range(len(SHAPES)):
        offset = responses.number(cluster.ask(requests.query(group, TOPIC, queue, None)))
        found.append((queue, None if isinstance(offset, Err) else offset))
    return tuple(found)
