"""Enumeration on Spark: the model is searched, and its plans are played, by the processes of a session."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.enumeration import Enumeration, Expanded, Search, Way, enumerated
from rocketmq_conformance.conformance.engine.handshake import introduce
from rocketmq_conformance.conformance.engine.judge import Judge, fingerprint_of
from rocketmq_conformance.conformance.engine.player import BROKEN, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNSUPPORTED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Partitions for every core: ways of very different length still end together.
_PER_CORE = 8
#: Work of a partition at least: ways to expand, plans to play.
_WAYS, _PLANS = 16, 64


@dataclass(frozen=True, slots=True)
class PlayedPlans:
    """How the plans of an enumeration ended."""

    #: Plans by verdict.
    verdicts: Mapping[str, int] = field(default_factory=dict)
    #: The first plan of each kind that does not conform, by its number, and the reason.
    examples: Mapping[int, str] = field(default_factory=dict)


def enumerated_on(
    spark: SparkSession, suite: str, profile: Profile, *, steps: int, values: int, most: int
) -> Enumeration:
    """What ``enumerated`` finds, searched by the processes of a session; its errors, and CannotRunError of Spark's."""
    task = partial(_expand, suite, profile, values)

    def expand(ways: Sequence[Way]) -> Iterable[Expanded]:
        return _on(spark, task, ways, _WAYS)

    return enumerated(SUITES[suite], profile, steps=steps, values=values, most=most, expand=expand)


def played_on(
    spark: SparkSession, address: str, suite: str, plans: Sequence[Sequence[Row]], releases: Mapping[str, str]
) -> PlayedPlans:
    """Play plans, numbered from 1, on an address that each process opens for itself; CannotRunError of Spark's.

    ``releases`` judge a side, by side.
    """
    task = partial(_play, address, suite, tuple(sorted(releases.items())))
    verdicts, kinds = Counter[str](), dict[str, tuple[int, str]]()
    for number, verdict, kind, reason in _on(spark, task, list(enumerate(plans, start=1)), _PLANS):
        verdicts[verdict] += 1
        if verdict != CONFORMS:
            kinds.setdefault(kind, (number, reason))
    return PlayedPlans(dict(verdicts), dict(sorted(kinds.values())))


def _on(spark: SparkSession, task: Any, work: Sequence[Any], least: int) -> list[Any]:
    """Do a task for all of some work, in its order."""
    context: Any = spark.sparkContext
    slices = max(1, min(_PER_CORE * context.defaultParallelism, len(work) // least))
    try:
        return list(context.parallelize(work, slices).mapPartitions(task).collect())
    except Exception as error:
        raise CannotRunError(f"Spark gave up: {failure_sentence(error)}") from error


# --- in the processes of Spark ------------------------------------------------------------------------------------


@cache
def _search(suite: str, profile: Profile, values: int) -> Search:
    return Search(SUITES[suite], profile, values)


def _expand(suite: str, profile: Profile, values: int, ways: Iterable[Way]) -> Iterator[Expanded]:
    return map(_search(suite, profile, values).expand, ways)


@cache
def _player(address: str, suite: str, releases: tuple[tuple[str, str], ...]) -> Player | tuple[str, str]:
    """Plays the suite on an address that this process has opened; or the verdict that there is instead, and why."""
    try:
        stage = Stage(open_address(address), Profile())
        atexit.register(stage.close)
        hello, profile = introduce(stage, dict(releases))
    except (AddressError, *BROKEN) as error:
        return COULD_NOT_RUN, str(error)
    chosen = SUITES[suite]
    refused = hello.refuses(chosen)
    if refused:
        return UNSUPPORTED, refused
    return Player(stage, Judge(chosen, profile.judged(), quirks=hello.quirks), Doubts(hello))


def _play(
    address: str, suite: str, releases: tuple[tuple[str, str], ...], plans: Iterable[tuple[int, Sequence[Row]]]
) -> Iterator[tuple[int, str, str, str]]:
    """Number, verdict, kind and reason of every plan."""
    player = _player(address, suite, releases)
    if isinstance(player, tuple):
        verdict, reason = player
        yield from ((number, verdict, verdict, reason) for number, _ in plans)
        return
    for played in player.play((number, list(rows)) for number, rows in plans):
        kind = played.verdict
        if played.verdict == DIVERGES and played.judged:
            kind = fingerprint_of(player.suite, played.judged.steps[-1])
        yield played.number, played.verdict, kind, played.reason
