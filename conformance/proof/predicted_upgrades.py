"""Proof of predicted upgrades: what ``predict upgrade`` says of a real broker, and what the next release then answers.

A path is a row of releases. The first one starts on a store of young, never written and expired queues; each of them is
written to, read, and stopped, and the next one starts on the same store, to newer releases and back. Compared is what
the next broker shows of every queue to groups with and without stored offsets, and where consumers start by that.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.api import consumer_of, read_group
from rocketmq_conformance.conformance.predict.facts import GroupFacts, QueueFacts
from rocketmq_conformance.conformance.predict.other_brokers import on_release
from rocketmq_conformance.conformance.predict.start import queue_starts
from rocketmq_conformance.conformance.proof.predicted_starts import agreement_table
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.release import NEWEST, Release

#: To the neighbours, over the changes of answers, and back.
PATHS = (
    ("4.9.7", "5.1.4", "5.5.0", "5.1.4", "4.9.7"),
    ("4.9.7", "5.5.0", "4.9.7"),
    ("4.5.2", "4.9.4", "5.0.0", "5.1.1", "5.5.0"),
)
TOPIC = "PREDICTED-UPGRADES"
_SHAPES = ("young", "empty", "expired", "gone")
#: The queue that every release writes to, and the group that commits there.
_WRITTEN, _COMMITS = 0, "U-commits"
#: What a group stored before.
_STORED = {"U-new": {}, "U-inside": dict.fromkeys(range(4), 5), "U-beyond": dict.fromkeys(range(4), 100), _COMMITS: {}}
#: Between the messages of every queue.
_TIME = "20240401000000"
#: Every client side of the prediction: the rules of start positions differ between them.
_CLIENTS = tuple(map(Release.parse, ("4.9.8", "5.0.0", "5.5.0")))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeAgreement:
    """One step of a path: the predictions for the next release, and what came of them."""

    before: str
    after: str
    groups: int = 0
    #: What was compared: queues as the broker shows them, and starts of consumers.
    queues: int = 0
    starts: int = 0
    #: What differs, a sentence each.
    differences: tuple[str, ...] = ()
    seconds: float = 0.0
    #: Why it was not played; "" when it was.
    missing: str = ""

    def __str__(self) -> str:
        step = f"{self.before} to {self.after}"
        if self.missing:
            return f"{step}: {self.missing}"
        counted = f"{self.groups} groups, {self.queues} queues, {self.starts} starts"
        return f"{step}: {counted}, {len(self.differences)} differences, {self.seconds:.1f} s"


def prove(path: Sequence[str]) -> Iterator[UpgradeAgreement]:
    """The agreement of each step of a path of two releases or more, on one store that is taken along."""
    with TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
        kept = Path(folder) / "store"
        steps = list(pairwise(path))
        before: list[GroupFacts] = []
        for number, name in enumerate(path):
            began = time.monotonic()
            try:
                java, facts, left = _visit(Release.parse(name), kept, before_first=not number)
            except (CannotRunError, OSError) as error:
                for one, other in steps[max(number - 1, 0) :]:
                    yield UpgradeAgreement(before=one, after=other, missing=str(error))
                return
            if number:
                yield replace(
                    compare(before, facts, Release.parse(name), java),
                    before=path[number - 1],
                    after=name,
                    seconds=time.monotonic() - began,
                )
            before = left


def compare(before: Sequence[GroupFacts], after: Sequence[GroupFacts], release: Release, java: int) -> UpgradeAgreement:
    """What was predicted of groups, and what a broker of a release then showed."""
    differences = []
    queues = starts = 0
    for one, real in zip(before, after, strict=True):
        predicted = on_release(one, release, java)
        for expected, observed in zip(predicted.queues, real.queues, strict=True):
            queues += 1
            if _shown(expected) != _shown(observed, searched=expected.found is not None):
                differences.append(f"{one.group}, queue {expected.queue}: predicted {expected}, was {observed}")
        for client in _CLIENTS:
            for where in (LAST, FIRST, TIMESTAMP):
                consumer = consumer_of(one, client=client, where=where, timestamp=_TIME)
                pairs = zip(queue_starts(predicted, consumer), queue_starts(real, consumer), strict=True)
                for wanted, found in pairs:
                    if where == TIMESTAMP and wanted.facts.found is None and found.facts.max > found.facts.min:
                        continue  # the prediction leaves open what a search by other rules finds
                    starts += 1
                    if (wanted.start, wanted.first, wanted.rule) != (found.start, found.first, found.rule):
                        differences.append(
                            f"{one.group}, queue {wanted.facts.queue}, client {client} from {where}: predicted "
                            f"{wanted.start} ({wanted.rule}), was {found.start} ({found.rule})"
                        )
    return UpgradeAgreement(
        before="",
        after=str(release),
        groups=len(before),
        queues=queues,
        starts=starts,
        differences=tuple(differences),
    )


def page_of(agreements: Sequence[UpgradeAgreement]) -> str:
    """The page of agreements, in Markdown."""
    lines = [
        "# Predicted upgrades, and what the next broker then showed",
        "",
        "Written by `rocketmq-conformance prove upgrades --out docs/explanation/upgrade-agreement.md`;",
        "[Predict](../guides/predict-upgrade.md#what-an-upgrade-changes) says what is predicted. A broker is written",
        "to, read and stopped, and one of another release starts on the same store, also back again. This is compared:",
        "",
        "- what it shows of each queue: min, max, the stored offset, its answer to the group, a search by time. The",
        "  groups stored nothing, an offset inside, one beyond the end, and commits of every release;",
        "- where clients 4.9.8, 5.0.0 and 5.5.0 start by that, with each ConsumeFromWhere ([whether they",
        "  do](predict-agreement.md)).",
        "",
        "Where messages are left and the search has other rules than before, the prediction leaves open what it finds.",
        "That, and the starts at a time there, are not compared.",
        "",
    ]
    rows = [
        (one.before, one.after, one.missing, (one.groups, one.queues, one.starts, len(one.differences)))
        for one in agreements
    ]
    columns = ("from", "to", "groups", "queues", "starts", "differences")
    return "\n".join([*lines, *agreement_table(columns, rows)]) + "\n"


def _shown(queue: QueueFacts, searched: bool = True) -> tuple[int | None, ...]:
    """What a broker shows of a queue."""
    found = queue.found if searched else None
    return queue.queue, queue.min, queue.max, queue.earliest, queue.stored, queue.answer, found


def _visit(release: Release, kept: Path, before_first: bool) -> tuple[int, list[GroupFacts], list[GroupFacts]]:
    """Start a broker on the kept store, or the first one: its Java, what it shows, and what it shows once written to.

    Its store is kept.
    """

    def prepare(home: Path) -> None:
        if before_first:
            logs = [log_of_shape(shape) for shape in _SHAPES]
            write_store(home, {TOPIC: logs}, {(group, TOPIC): each for group, each in _STORED.items() if each})
        else:
            shutil.copytree(kept, home / "store")

    with Cluster(release, prepare, NEWEST) as cluster:
        cluster.await_route(TOPIC)
        if before_first:
            for group in _STORED:
                cluster.do(requests.create_group(group))
        first = _read(cluster)
        offset = cluster.send(TOPIC, _WRITTEN)
        cluster.do(requests.commit(_COMMITS, TOPIC, _WRITTEN, offset))
        left = _read(cluster)
        cluster.broker.stop()
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(cluster.broker.store, kept)
        return cluster.broker.java, first, left


def _read(cluster: Cluster) -> list[GroupFacts]:
    at = parse_timestamp(_TIME, "UTC")
    return [read_group(cluster.name_server, group, (TOPIC,), at).only(TOPIC) for group in _STORED]
