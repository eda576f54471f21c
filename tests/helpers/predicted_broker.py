"""A fake broker with a topic of every kind of queue, for predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.profile import Profile

#: A topic whose queues are young, have expired messages, were never written, and have nothing but expired messages.
TOPIC, GROUP = "orders", "app"
#: 2023-11-14 22:13:20 UTC (ms since the epoch).
TIME = 1_700_000_000_000
QUEUES = (
    QueueLog(times=(TIME,) * 75),
    QueueLog(min=50, first=50, times=(TIME,) * 25),
    QueueLog(),
    QueueLog(min=30, first=30),
)


@contextmanager
def cluster(
    release: str = "5.5.0", stored: Mapping[int, int] | None = None, properties: Mapping[str, str] | None = None
) -> Iterator[FakeBroker]:
    """The broker while it runs; the group stored these offsets by queue."""
    broker = FakeBroker(Profile.of(broker=release), properties=properties or {})
    broker.load(TOPIC, QUEUES, {(GROUP, queue): offset for queue, offset in (stored or {}).items()})
    with broker:
        yield broker


def join(broker: FakeBroker, client: str = "10.0.0.1@1", version: int = 0) -> Connection:
    """A member that subscribes to the topic; it leaves when the connection is closed."""
    host, _, port = broker.address.rpartition(":")
    line = Connection(host, int(port))
    line.version = version or line.version
    asked = requests.heartbeat(client, GROUP, [TOPIC])
    assert line.call(asked.code, asked.ext, asked.body).code == 0
    return line
