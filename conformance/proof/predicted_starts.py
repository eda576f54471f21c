"""Proof of predictions: what ``predict start`` says of a real cluster, and what real consumers then do there.

Each pair of a client and a broker is tried in every combination at once: the queues of one topic have their first
message, were never written to, or lost some or all of their messages to expiry, each with every kind of stored offset;
each kind of consumer, message model and ConsumeFromWhere is a group of its own. The facts are read from the running
cluster as the command reads them, then the consumers start. Compared are the offset of each queue's first pull and the
first message that the listener gets.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.api import consumer_of, read_group
from rocketmq_conformance.conformance.predict.facts import (
    BROADCASTING,
    CLUSTERING,
    LITE,
    ORDERLY,
    PUSH,
    GroupFacts,
    retry_topic,
)
from rocketmq_conformance.conformance.predict.start import QueueStart, predict_start
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.configuration import MEMORY_RATIO
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.broker.switches import EMPTY_IS_UNKNOWN, SERVER_RESET
from rocketmq_conformance.models.client import whole
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.start import DEPRECATED, FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.release import NEWEST, Release
from rocketmq_conformance.reports.markdown_table import markdown_table

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: Ten releases of clients and of brokers, each with the newest release of the other side.
CLIENTS = ("4.1.0-incubating", "4.5.2", "4.7.1", "4.9.3", "4.9.8", "5.0.0", "5.1.0", "5.1.4", "5.3.3", "5.5.0")
BROKERS = ("4.1.0", "4.5.2", "4.7.1", "4.9.4", "4.9.7", "5.0.0", "5.1.1", "5.1.4", "5.2.0", "5.5.0")
#: The topic, the one of groups whose retry topic is looked at, and the kinds of its queues.
TOPIC, BESIDE = "PREDICTED", "BESIDE"
_SHAPES = ("young", "empty", "expired", "gone")
#: No stored offset, the first one, one inside, max, one beyond.
_STORED = (None, 0, 5, 12, 100)
_QUEUES = tuple(product(_SHAPES, _STORED))
_RETRY = ("young", "expired")
#: Between the messages of every queue.
TIME = "20240401000000"
#: Timeouts of all first pulls and of all first messages (s): an old client corrects an offset after 10 s and a round of
#: rebalance, and a broadcasting one twice, because its file does not have the correction yet.
_PULL_LIMIT, _GIVEN_LIMIT = 60.0, 100.0
_KINDS = {PUSH: whole.PUSH, ORDERLY: whole.ORDERLY, LITE: whole.LITE}


class Case(NamedTuple):
    """One group."""

    kind: str
    model: str
    where: str
    #: "" for the ordinary topic; "retry": its retry topic; "cold": the broker takes every message to be on the disk;
    #: "reset": it was reset to the end before.
    special: str = ""
    #: The number of the client.
    number: int = 0

    @property
    def group(self) -> str:
        """The group's name."""
        return "-".join(("P", self.kind, self.model, self.where, self.special, str(self.number)))

    @property
    def topic(self) -> str:
        """The topic that it subscribes to."""
        return BESIDE if self.special == "retry" else TOPIC

    @property
    def looked_at(self) -> str:
        """The topic whose starts are compared."""
        return retry_topic(self.group) if self.special == "retry" else TOPIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The predictions for one pair, and what came of them."""

    client: str
    broker: str
    groups: int = 0
    queues: int = 0
    #: What differs, a sentence each.
    differences: tuple[str, ...] = ()
    seconds: float = 0.0
    #: Why it was not played; "" when it was.
    missing: str = ""

    def __str__(self) -> str:
        pair = f"client {self.client} on broker {self.broker}"
        if self.missing:
            return f"{pair}: {self.missing}"
        counted = f"{self.groups} groups, {self.queues} queues, {len(self.differences)} differences"
        return f"{pair}: {counted}, {self.seconds:.1f} s"


def agreement(client: str, broker: str, groups: int, compared: Callable[[], tuple[int, Sequence[str]]]) -> Agreement:
    """The agreement of so many groups, by how many queues are ``compared``, and what differs of them."""
    began = time.monotonic()
    try:
        queues, differences = compared()
    except (CannotRunError, OSError, subprocess.TimeoutExpired) as error:
        return Agreement(client=client, broker=broker, missing=str(error))
    return Agreement(
        client=client,
        broker=broker,
        groups=groups,
        queues=queues,
        differences=tuple(differences),
        seconds=time.monotonic() - began,
    )


def pairs() -> list[tuple[str, str]]:
    """(client, broker): ten brokers with the newest client, and ten clients with the newest broker."""
    newest = str(NEWEST)
    return list(dict.fromkeys([*((newest, broker) for broker in BROKERS), *((client, newest) for client in CLIENTS)]))


def cases(client: Release, broker: Release, number: int = 0) -> list[Case]:
    """Every case of a pair."""
    wheres = (LAST, FIRST, TIMESTAMP)
    kinds = [PUSH, ORDERLY, *([LITE] if LITE_PULL.on(client) else [])]
    found = [Case(kind, CLUSTERING, where) for kind, where in product(kinds, wheres)]
    found += [Case(PUSH, CLUSTERING, where) for where in DEPRECATED]
    found += [Case(PUSH, BROADCASTING, where) for where in wheres]
    found += [Case(PUSH, CLUSTERING, where, "retry") for where in wheres]
    if SERVER_RESET.on(broker):
        found += [Case(PUSH, CLUSTERING, LAST, "reset")]
    if not EMPTY_IS_UNKNOWN.on(broker):
        found += [Case(PUSH, CLUSTERING, where, "cold") for where in wheres]
    return [case._replace(number=number) for case in found]


def page_of(agreements: Sequence[Agreement]) -> str:
    """The page of agreements, of starts and of resets, in Markdown."""
    lines = [
        "# Predictions, and what real consumers then did",
        "",
        "Written by `rocketmq-conformance prove predict --out docs/explanation/predict-agreement.md`;",
        "[predict.md](../guides/predict.md) says what is predicted.",
        "",
        "Each pair of a client and a broker is tried in every combination of:",
        "",
        "- queues that have their first message, were never written to, lost their first messages to expiry, or lost",
        "  all of them;",
        "- no stored offset, the first one, one inside, max, one beyond;",
        "- push, orderly and lite pull consumers, clustering and broadcasting, with every ConsumeFromWhere;",
        "- retry topics, groups that were reset, and brokers that take every message to be on the disk.",
        "",
        "Compared are the offset of each queue's first pull and the first message that the listener gets. So are the",
        "groups and topics of the broker before and after it was read: reading creates none.",
        "",
        "Rows of `mqadmin` are resets to the end, the beginning and a time. The groups have stored offsets in every",
        "queue (inside, the first one, beyond max), in some and in none, with a member and without. Compared are who",
        "moves the group, or the refusal, and where to. Of groups that were moved without members it is also how many",
        "messages a client of the newest release then consumes again, and skips.",
        "",
        "Rows of lite pull are the same resets of groups with a lite pull consumer that runs. One is polled all the",
        "time and has consumed everything; another one has everything cached and is polled half a minute later.",
        "Compared are every message that it is given afterwards, and where the group stands before and after that.",
        "",
        "Rows of two brokers are one cluster, in the order of its route, with a slave of the newer one. `mqadmin`",
        "of both releases, from Maven, resets groups that have stored offsets at both brokers, at one, in some",
        "queues, and that the newer broker does not know. Then the master of the slave is killed. Compared are",
        "where each queue stands, whether `mqadmin` fails, and how many messages a real consumer is given.",
        "",
        "Rows of a fail-over are a master and its slave of one release, as they are by default, with",
        "`slaveReadEnable` (read), and with `enableSlaveActingMaster` (acting). Newer is a master that counts every",
        "commit. Groups have stored the same at both, more at one of them, at one alone, at each in other queues,",
        "beyond max, and nothing. The master is killed, and real consumers take what the slave gives and commit. Then",
        "the master is started, and consumers start again. Compared are the messages that they are given at either",
        "time, and what is stored.",
        "",
        "Rows of pops are brokers alone. The groups pop as push consumers in POP mode do, and as the gRPC proxy does,",
        "from the same queues, and from topics of messages that came back; also with",
        "`initPopOffsetByCheckMsgInMem` off. Compared are where each first pop starts and what it gives, also to real",
        "consumers in POP mode. Then groups are reset, with such a consumer and without, while a message is in flight.",
        "Compared are who moves the group, what is given next, and whether that message comes back.",
        "",
    ]
    rows = [(one.client, one.broker, one.missing, (one.groups, one.queues, len(one.differences))) for one in agreements]
    return "\n".join([*lines, *agreement_table(("client", "broker", "groups", "queues", "differences"), rows)]) + "\n"


def agreement_table(columns: Sequence[str], rows: Sequence[tuple[str, str, str, Sequence[int]]]) -> Iterator[str]:
    """A table of rows (who, with whom, why not, counts with that of differences last), and of their sums."""
    cells = [(*pair, *([why, *[""] * len(counts[1:])] if why else map(str, counts))) for *pair, why, counts in rows]
    *sums, differences = map(sum, zip(*(counts for *_, counts in rows), strict=True))
    cells.append(("all", "", *(f"{number:,}" for number in sums), f"**{differences}**"))
    return markdown_table(columns, cells, columns[2:])


def prove(wanted: Sequence[tuple[str, str]], few: bool = False) -> Iterator[Agreement]:
    """The agreement of pairs (client, broker), each broker started once; ``few`` leaves out most cases."""
    for broker in dict.fromkeys(broker for _, broker in wanted):
        clients = [client for client, other in wanted if other == broker]
        release = Release.parse(broker)
        by_client = [_cases(Release.parse(one), release, number, few) for number, one in enumerate(clients)]
        every = [case for each in by_client for case in each]
        try:
            with Cluster(release, lambda home, every=every: _fill(home, every), NEWEST) as cluster:  # type: ignore[misc]
                cluster.await_route(TOPIC)
                for number, client in enumerate(clients):
                    own = by_client[number]
                    yield agreement(client, broker, len(own), partial(_pair, client, cluster, own))
        except (CannotRunError, OSError) as error:
            yield from (Agreement(client=client, broker=broker, missing=str(error)) for client in clients)


def _fill(home: Any, every: Sequence[Case]) -> None:
    """The store: the topics, and what every group stored."""
    topics: dict[str, Sequence[QueueLog]] = {
        TOPIC: [log_of_shape(shape) for shape, _ in _QUEUES],
        BESIDE: [log_of_shape("empty")],
    }
    stored = {}
    for case in every:
        if case.special == "retry":
            topics[case.looked_at] = [log_of_shape(shape) for shape in _RETRY]
        else:
            offsets = {queue: offset for queue, (_, offset) in enumerate(_QUEUES) if offset is not None}
            stored[case.group, TOPIC] = offsets
    write_store(home, topics, stored)


@dataclass(slots=True)
class _Pulls:
    """The first pull of every queue, by group, topic and queue id."""

    first: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def seen(self, asked: Any) -> None:
        """A pull is sent."""
        key = str(asked.getConsumerGroup()), str(asked.getTopic()), int(asked.getQueueId())
        self.first.setdefault(key, int(asked.getQueueOffset()))


def _cases(client: Release, broker: Release, number: int, few: bool) -> list[Case]:
    return [case for case in cases(client, broker, number) if not few or (case.where == LAST and not case.special)]


def _pair(client: str, cluster: Cluster, every: Sequence[Case]) -> tuple[int, list[str]]:
    """How many queues of a client's cases were compared, and what differs."""
    from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    classes = quick_release(client)
    offset_folder(classes)
    differences: list[str] = []
    queues = 0
    # what is cold comes last: the broker takes every message to be on disk then
    for round_ in ([case for case in every if case.special != "cold"], [c for c in every if c.special == "cold"]):
        if round_ and round_[0].special == "cold":
            cluster.do(requests.set_property(MEMORY_RATIO, "0"))
        compared, found = _round(classes, cluster, round_)
        queues += compared
        differences += found
    if any(case.special == "cold" for case in every):
        cluster.do(requests.set_property(MEMORY_RATIO, "40"))
    return queues, differences


def _round(classes: JavaRelease, cluster: Cluster, every: Sequence[Case]) -> tuple[int, list[str]]:
    """How many queues were compared, and what differs."""
    from rocketmq_conformance.conformance.targets.java_client.whole import WholeConsumer

    for case in every:
        if case.special == "reset":
            cluster.do(requests.create_group(case.group))
            cluster.do(requests.reset(case.group, TOPIC, -1, True, None, None))
    before = _known(cluster)
    predicted = {case: _predicted(classes, cluster, case) for case in every}
    pulls = _Pulls()
    hook = _hook(classes, pulls)
    differences = [f"reading created or removed {name}" for name in sorted(before ^ _known(cluster))]
    with ExitStack() as running:

        def begin(case: Case) -> WholeConsumer:
            consumer = WholeConsumer(
                classes,
                _KINDS[case.kind],
                cluster.name_server,
                case.group,
                case.topic,
                case.where,
                TIME,
                f"predict-{cluster.release}-{case.number}",
                pulls=hook,
                broadcasting=case.model == BROADCASTING,
            )
            return consumer.__enter__()

        with ThreadPoolExecutor(len(every) or 1) as pool:
            started = dict(zip(every, pool.map(begin, every), strict=True))
        for consumer in started.values():
            running.push(consumer)
        keys = {
            (case.group, case.looked_at, start.facts.queue): (case, start)
            for case, starts in predicted.items()
            for start in starts
        }
        wait_until(
            lambda: all(key in pulls.first for key, (_, start) in keys.items() if start.start is not None),
            _PULL_LIMIT,
            0.05,
        )
        due = {
            case: {(start.facts.queue, start.first) for start in starts if _gives(start)}
            for case, starts in predicted.items()
        }
        wait_until(lambda: all(due[case] <= set(started[case].given) for case in every), _GIVEN_LIMIT, 0.05)
        for key, (case, start) in keys.items():
            observed = pulls.first.get(key)
            given = [offset for queue, offset in started[case].given if queue == start.facts.queue]
            first = min(given, default=None) if given else None
            expected = start.first if _gives(start) else None
            if observed != start.start or first != expected:
                shape = _RETRY[key[2]] if case.special == "retry" else _QUEUES[key[2]]
                differences.append(
                    f"{case.group}, queue {shape}: predicted {start.start} and message {expected}, "
                    f"pulled from {observed} and got {first}"
                )
    return len(keys), differences


def _known(cluster: Cluster) -> set[str]:
    """The groups and topics that the broker knows."""
    groups = cluster.do(requests.Ask(Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, {}))
    topics = cluster.do(requests.topic_configs())
    tables = {
        "group": java_json.loads(groups.body.decode())["subscriptionGroupTable"],
        "topic": java_json.loads(topics.body.decode())["topicConfigTable"],
    }
    return {f"{kind} {name}" for kind, table in tables.items() for name in table}


def _gives(start: QueueStart) -> bool:
    """Is there a message to be given?"""
    return start.first is not None and start.first < start.facts.max and start.facts.earliest >= 0


def _predicted(classes: JavaRelease, cluster: Cluster, case: Case) -> tuple[QueueStart, ...]:
    """The prediction, read from the cluster as the command does."""
    at = parse_timestamp(TIME, "UTC") if case.where == TIMESTAMP else None
    facts: GroupFacts = read_group(cluster.name_server, case.group, (case.looked_at,), at)
    consumer = consumer_of(
        facts,
        client=classes.release,
        kind=case.kind,
        model=case.model,
        where=case.where,
        timestamp=TIME if at is not None else None,
    )
    found = predict_start(facts, consumer).queues
    return tuple(start for start in found if start.facts.topic == case.looked_at)


def _hook(classes: JavaRelease, pulls: _Pulls) -> Any:
    from rocketmq_conformance.conformance.targets.java_client.whole import PULLS, PullCounter

    class FirstPulls(PullCounter):
        """Keeps the first pull of every queue."""

        def doBeforeRequest(self, address: Any, request: Any) -> None:  # noqa: N802 - Java's name
            """Called before a request is sent."""
            super().doBeforeRequest(address, request)
            if int(request.getCode()) in PULLS:
                pulls.seen(request.readCustomHeader())

    return FirstPulls(classes)
