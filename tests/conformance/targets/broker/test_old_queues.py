"""Real brokers whose commit log was made shorter by hand while they were stopped: where a new group then begins."""

from __future__ import annotations

import time

import pytest

from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import expire, restart
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.search import min_offset
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: Size of a file of the commit log, and of messages that fill it (bytes); two files in all.
_FILE, _FILLER = 1 << 20, 100_000
_FILLERS = 2 * _FILE // _FILLER + 5
#: Messages of each queue before those, and of queue 0 after them.
_BEFORE, _AFTER = 10, 6


@pytest.mark.broker
@pytest.mark.parametrize("version", ["4.9.7", "5.1.4", "5.5.0"])
def test_a_group_is_new_to_a_queue_once_files_of_the_commit_log_are_gone(version: str) -> None:
    """In a queue of which nothing is left it begins at 0 all the same, up to 4.9.8: min does not move (BQ-MIN-3)."""
    with Broker(Release.parse(version), sizes={"FileSizeCommitLog": _FILE}) as broker:
        with Connection("127.0.0.1", broker.port, 20.0) as connection:
            _fill(connection)
            assert [_start(connection, queue) for queue in (0, 1)] == [(0, 0), (0, 0)]
        broker.stop()
        for old in sorted((broker.store / "commitlog").iterdir())[:-1]:
            old.unlink()
        broker.start()
        with Connection("127.0.0.1", broker.port, 20.0) as connection:
            found = [_start(connection, queue) for queue in (0, 1)]
            stats = responses.topic_stats(_ask(connection, requests.topic_stats("T")))
    assert found == [_modelled(version, queue) for queue in (0, 1)]
    assert isinstance(stats, tuple)
    assert [time > 0 for *_, time in stats] == [True, False]  # the last message of queue 1 is gone


def _ask(connection: Connection, asked: Ask) -> Command:
    return connection.call(asked.code, asked.ext, asked.body)


def _fill(connection: Connection) -> None:
    for topic, queues in (("T", 2), ("FILLER", 1)):
        assert not _ask(connection, requests.create_topic(topic, Topic.of(queues))).code
    filler = requests.send("FILLER", 0, _now())._replace(body=b"x" * _FILLER)
    sent = [requests.send("T", at % 2, _now()) for at in range(2 * _BEFORE)]
    sent += [filler] * _FILLERS + [requests.send("T", 0, _now())] * _AFTER
    assert not any(_ask(connection, each).code for each in sent)
    deadline = time.monotonic() + 20.0
    while responses.number(_ask(connection, requests.max_offset("T", 0))) != _BEFORE + _AFTER:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _now() -> int:
    return int(time.time() * 1000)


def _start(connection: Connection, queue: int) -> tuple[Result, Result]:
    """Min, and what a group without an offset is answered."""
    asked = (requests.min_offset("T", queue), requests.query("NEW", "T", queue, None))
    low, offset = (responses.number(_ask(connection, each)) for each in asked)
    return low, offset


def _modelled(version: str, queue: int) -> tuple[object, object]:
    """The same by the model, of a queue whose first messages expired before the broker was started again."""
    rules = BrokerRules.of(Profile.of(broker=version))
    high = _BEFORE + (_AFTER if queue == 0 else 0)
    known = BrokerState({"T": Topic.of(2)}, logs={("T", queue): QueueLog(times=(1,) * high)})
    state = restart(rules, expire(rules, known, {("T", queue): _BEFORE})[0])
    return min_offset(state, "T", queue)[1], query_offset(rules, state, "NEW", "T", queue, None)[1]
