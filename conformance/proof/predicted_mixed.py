"""Proof of predictions for a cluster of two releases: what ``predict`` says of it, and what mqadmin then does there.

A broker of each release and a slave of the newer one, with one name server, in both orders of the route: mqadmin asks
one broker after the other. Groups with stored offsets on both brokers, on one or in some queues, known to the newer
broker or not, are reset to the end by real mqadmins of both releases. Then the master of the slave is killed, and
a group is reset, and consumed by a real consumer. Compared are where each queue stands, whether mqadmin fails, and how
many messages the consumer is given.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rocketmq_conformance.conformance.predict.api import consumer_of, read_group
from rocketmq_conformance.conformance.predict.reset import END, predict_reset
from rocketmq_conformance.conformance.predict.start import predict_start
from rocketmq_conformance.conformance.proof.predicted_starts import Agreement, agreement
from rocketmq_conformance.conformance.proof.routed_cluster import SHAPES, RoutedCluster, ask
from rocketmq_conformance.conformance.targets.broker import launch_config, requests, responses
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.targets.maven import class_path
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.release import NEWEST, Release

OLDER, NEWER = Release(4, 9, 7), NEWEST
TOPIC = "PREDICTED-MIXED"
#: In the order of the route, which is up to the name server.
BROKERS = ("broker-b", "broker-a")
_STORED = {"all": {0: 7, 1: 0, 2: 9, 3: 12}, "some": {0: 7}, "none": {}}
#: The groups of the slave, whose master is gone.
_RESET, _CONSUMED = "M-reset", "M-consumed"
#: Timeouts of mqadmin and of all messages (s).
_TOOL_LIMIT, _GIVEN_LIMIT = 120.0, 30.0
#: What mqadmin prints of a request that is refused.
_REFUSED = "CODE: "

#: Where queues stand, by broker and queue.
Stands = dict[tuple[str, int], int | None]


class MixedCase(NamedTuple):
    """One group: who resets it, what it stored on the older broker and on the newer one, and does that one know it?"""

    tool: Release
    older: str
    newer: str
    known: bool = True

    @property
    def group(self) -> str:
        """The group's name."""
        return f"M-{self.tool.major}-{self.older}-{self.newer}{'' if self.known else '-unknown'}"


def mixed_cases() -> list[MixedCase]:
    """Every case of an order of the route."""
    stored = (("all", "all"), ("all", "none"), ("none", "all"), ("some", "some"))
    tools = (OLDER, NEWER)
    return [
        *(MixedCase(tool, *each) for tool in tools for each in stored),
        *(MixedCase(tool, "all", "all", known=False) for tool in tools),
    ]


def prove_mixed() -> Iterator[Agreement]:
    """The agreement for both orders of the route."""
    for order in ((NEWER, OLDER), (OLDER, NEWER)):
        tools, brokers = f"mqadmin {OLDER} and {NEWER}", f"{order[0]} and {order[1]}, a slave"
        yield agreement(tools, brokers, len(mixed_cases()) + 2, partial(_prove, order))


class MixedCluster(RoutedCluster):
    """The brokers by name, and the slave; a context manager that starts and stops them."""

    topic = TOPIC

    def __init__(self, order: tuple[Release, Release], stored: Mapping[tuple[str, Release], Mapping[int, int]]) -> None:
        super().__init__()
        self._releases = dict(zip(BROKERS, order, strict=True))
        self._stored = stored
        #: The name of the broker that has a slave.
        self.newer = next(name for name, release in self._releases.items() if release == NEWER)

    def start(self) -> None:
        """Start the name server, the masters and the slave, and wait for their route."""
        super().start()
        self.masters = {name: self._started(name, brokerRole="ASYNC_MASTER") for name in BROKERS}
        self.slave = self._started(self.newer, brokerId="1", brokerRole="SLAVE")
        self.await_route({name: {"0", "1"} if name == self.newer else {"0"} for name in BROKERS})

    def _started(self, name: str, **properties: str) -> Broker:
        release = self._releases[name]
        stored = {group: offsets for (group, at), offsets in self._stored.items() if at == release}
        return self.broker(release, {"brokerName": name, **properties}, stored)

    def create(self, group: str) -> None:
        """Create a group on every broker."""
        for broker in (*self.masters.values(), self.slave):
            ask(broker, requests.create_group(group))

    def stands(self, group: str, masterless: bool = False) -> Stands:
        """What brokers answer to a group, the slave where its master is gone."""
        found: Stands = {}
        for name in BROKERS:
            broker = self.slave if masterless and name == self.newer else self.masters[name]
            for queue in range(len(SHAPES)):
                offset = responses.number(ask(broker, requests.query(group, TOPIC, queue, None)))
                found[name, queue] = None if isinstance(offset, Err) else offset
        return found


def _prove(order: tuple[Release, Release]) -> tuple[int, list[str]]:
    """How many queues were compared, and what differs."""
    stored = {(case.group, OLDER): _STORED[case.older] for case in mixed_cases()}
    stored |= {(case.group, NEWER): _STORED[case.newer] for case in mixed_cases()}
    stored |= {(group, release): _STORED["all"] for group in (_RESET, _CONSUMED) for release in order}
    differences: list[str] = []
    with (
        TemporaryDirectory(prefix="rocketmq-conformance-") as home,
        MixedCluster(order, {key: each for key, each in stored.items() if each}) as cluster,
    ):
        for case in mixed_cases():
            if case.known:
                cluster.create(case.group)
            differences += _reset(cluster, case.group, case.tool, Path(home))
        for group in (_RESET, _CONSUMED):
            cluster.create(group)
        cluster.masters[cluster.newer].kill()
        cluster.await_route({name: {"1"} if name == cluster.newer else {"0"} for name in BROKERS})
        differences += _reset(cluster, _RESET, NEWER, Path(home), masterless=True)
        differences += _consumed(cluster)
    return (len(mixed_cases()) + 2) * len(BROKERS) * len(SHAPES), differences


def _reset(cluster: MixedCluster, group: str, tool: Release, home: Path, masterless: bool = False) -> Iterator[str]:
    """What differs when mqadmin of a release resets a group to the end."""
    prediction = predict_reset(read_group(cluster.name_server, group, [TOPIC]), TOPIC, END, others=False)
    before = cluster.stands(group, masterless)
    said = _mqadmin(tool, home, "skipAccumulatedMessage", "-n", cluster.name_server, "-g", group, "-t", TOPIC)
    after = cluster.stands(group, masterless)
    for queue in prediction.queues:
        key = queue.facts.broker, queue.facts.queue
        expected = before[key] if queue.after is None else queue.after
        if after[key] != expected:
            yield f"reset {group}, {key}: predicted {expected} ({queue.way} {queue.error}), was {after[key]}"
    if prediction.made == (_REFUSED in said):
        yield f"reset {group}: predicted {prediction.ways}, mqadmin {tool} said {said[:300]}"


def _consumed(cluster: MixedCluster) -> Iterator[str]:
    """What differs when a real consumer begins while the master of a slave is gone."""
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer, quick_release

    facts = read_group(cluster.name_server, _CONSUMED, [TOPIC])
    prediction = predict_start(facts, consumer_of(facts))
    due = Counter({queue.facts.queue: 0 for queue in prediction.queues})
    for queue in prediction.queues:
        due[queue.facts.queue] += (queue.lag or 0) if queue.served else 0
    name = f"mixed-{cluster.newer}"
    with WholeConsumer(
        quick_release(str(NEWER)), PUSH, cluster.name_server, _CONSUMED, TOPIC, LAST, client=name
    ) as consumer:
        wait_until(lambda: len(consumer.given) >= due.total(), _GIVEN_LIMIT, 0.1)
        time.sleep(3)  # for messages that it is not to get
        given = Counter(queue for queue, _ in consumer.given)
    for number, count in due.items():
        if given[number] != count:
            yield f"start {_CONSUMED}, queue {SHAPES[number]}: predicted {count} messages, got {given[number]}"


def _mqadmin(release: Release, home: Path, *words: str) -> str:
    """What mqadmin of a release prints."""
    path = class_path(("rocketmq-tools",), launch_config.maven_version(release))
    (home / "conf").mkdir(exist_ok=True)
    (home / "conf" / "logback_tools.xml").write_text("<configuration/>")
    flags = (*launch_config.SHORT_LIVED, f"-Duser.home={home}", f"-Drocketmq.home.dir={home}")
    main = "org.apache.rocketmq.tools.command.MQAdminStartup"
    command = [launch_config.java(), *flags, "-cp", ":".join(map(str, path)), main, *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_LIMIT, check=False)
    return ended.stdout + ended.stderr
