"""The same plans for every implementation: those of the corpus, and drawn ones.

What a suite offers differs between releases. Drawn cases take turns through every set of operations that a published
release offers, so they do not depend on which implementations are compared, and old releases get cases of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.plan import steps_text
from rocketmq_conformance.conformance.engine.player import Numbered
from rocketmq_conformance.conformance.predict.releases import RELEASES
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Drawn cases of a suite by default: beside the corpus, which is made to part implementations.
CASES = 10


@dataclass(frozen=True, slots=True)
class Plans:
    """The cases of one suite by number; those of the corpus have negative ones."""

    suite: Suite
    seed: int
    cases: tuple[Numbered, ...]
    #: Equal for equal cases.
    digest: str


def plans_of(suites: Iterable[Suite], seed: int, cases: int = CASES, *, with_corpus: bool = True) -> list[Plans]:
    """The plans of suites, drawn from a seed."""
    chosen = list(suites)
    stored = corpus.cases(corpus.folders(), chosen) if with_corpus else {}
    plans = []
    for suite in chosen:
        kept = {-at: case.rows for at, case in enumerate(stored.get(suite.name, []), start=1)}
        plans.append(given_plans(suite, seed, kept | _drawn(suite, seed, cases)))
    return plans


def given_plans(suite: Suite, seed: int, cases: Mapping[int, list[Row]]) -> Plans:
    """The plans of cases that are there already."""
    text = "\n".join(f"{number} {steps_text(suite, rows)}" for number, rows in cases.items())
    return Plans(suite, seed, tuple(cases.items()), blake2b(text.encode(), digest_size=16).hexdigest())


def _drawn(suite: Suite, seed: int, cases: int) -> dict[int, list[Row]]:
    kinds = _kinds(suite)
    return {
        number: sampler(suite, kinds[number % len(kinds)]).case(seed, number, suite.steps) for number in range(cases)
    }


@cache
def _kinds(suite: Suite) -> tuple[Profile, ...]:
    """A profile for each set of operations that published releases offer, the newest first."""
    found: dict[tuple[int, ...], Profile] = {}
    for release in reversed(RELEASES):
        profile = Profile(client=release, broker=release)
        found.setdefault(tuple(suite.offered(profile)), profile)
    return tuple(profile for offered, profile in found.items() if offered)
