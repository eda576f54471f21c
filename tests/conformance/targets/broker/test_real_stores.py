"""Real brokers whose queues or tables are in RocksDB: what they keep when they are ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from waiting import wait_until

from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.outcome import Err

pytestmark = pytest.mark.broker
RELEASE = "5.5.0"
TOPIC, GROUP = "kept-topic", "kept-group"
UNKNOWN = "QUERY_NOT_FOUND"


class Asked:
    """A broker, asked by single requests."""

    def __init__(self, broker: StartedBroker) -> None:
        self.broker = broker

    def do(self, *asks: requests.Ask) -> None:
        with Connection("127.0.0.1", self.broker.port) as connection:
            assert [connection.call(*ask).code for ask in asks] == [0] * len(asks)

    def offsets(self) -> list[int | str]:
        """Those of queues 0 to 2."""
        with Connection("127.0.0.1", self.broker.port) as connection:
            answers = [responses.number(connection.call(*requests.query(GROUP, TOPIC, at, False))) for at in range(3)]
        return [answer.code if isinstance(answer, Err) else answer for answer in answers]


@contextmanager
def broker_with(properties: str) -> Iterator[Asked]:
    """A broker with offset 2 committed for queues 0 and 1, and queues 1 and 2 reset to 1."""
    adapter = open_address(f"broker:{RELEASE}?{properties}")
    assert isinstance(adapter, BrokerAdapter)
    try:
        assert {"broker-expired", "broker-tables"} <= adapter.hello().unsupported.keys()
        assert isinstance(adapter.source, StartedBroker)
        asked = Asked(adapter.source)
        now = int(time.time() * 1000)
        asked.do(requests.create_topic(TOPIC, Topic.of(3)), requests.create_group(GROUP))
        asked.do(*(requests.send(TOPIC, queue, now) for queue in (0, 1, 2) for _ in range(3)))
        port = adapter.source.port
        wait_until(lambda: _all_there(port))
        asked.do(*(requests.commit(GROUP, TOPIC, queue, 2) for queue in (0, 1)), *map(_reset, (1, 2)))
        assert asked.offsets() == [2, 1, 1]
        adapter.disconnect()
        yield asked
    finally:
        adapter.close()


def _all_there(port: int) -> bool:
    with Connection("127.0.0.1", port) as connection:
        return all(responses.number(connection.call(*requests.max_offset(TOPIC, at))) == 3 for at in range(3))


def _reset(queue: int) -> requests.Ask:
    ext = {"topic": TOPIC, "group": GROUP, "timestamp": "-1", "isForce": "true", "queueId": str(queue), "offset": "1"}
    return requests.Ask(Request.INVOKE_BROKER_TO_RESET_OFFSET, ext)


@pytest.mark.parametrize(
    ("properties", "kept"),
    [("set=configManagerVersion=v2", [2, 2, UNKNOWN]), ("set=storeType=defaultRocksDB", [2, 1, 1])],
)
def test_tables_of_the_second_kind_keep_no_reset(properties: str, kept: list[int | str]) -> None:
    with broker_with(properties) as asked:
        asked.broker.stop()
        asked.broker.start()
        assert asked.offsets() == kept
        assert _all_there(asked.broker.port)
