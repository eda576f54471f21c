"""Clusters: divergences that differ only in values, each with its shortest case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain

import pyarrow as pa

from rocketmq_conformance.conformance.campaign.analysis.parts import (
    IN_PROCESS,
    Engine,
    Kind,
    Part,
    joined,
    kinds,
    parts_of,
)
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, without_dictionaries

#: What divergences of a cluster share.
KEY = ["suite", "address", "against", "fingerprint"]


@dataclass(frozen=True, kw_only=True)
class Cluster(Kind):
    """Divergences of one suite and address, from the model or from another address, with one fingerprint.

    The exemplar is the case whose divergence comes after the fewest steps.
    """

    suite: str
    address: str
    #: "model", or the address that it differs from.
    against: str
    fingerprint: str
    operation: str
    rules: tuple[str, ...]
    state_kind: str
    #: Of two addresses: what the other one did.
    expected: str
    observed: str
    expected_class: str
    observed_class: str


def clusters(campaign: Campaign, engine: Engine = IN_PROCESS) -> list[Cluster]:
    """All clusters of a campaign: by suite, address and what it differs from as the campaign names them, then the
    largest first."""
    parts = parts_of(campaign, engine.size)
    found = engine.by_suite([campaign], parts, ["divergences"], _look, partial(joined, join=Cluster.joined))
    return _ordered(campaign, chain.from_iterable(some.values() for some in found.values()))


def _look(part: Part, campaign: Campaign) -> dict[tuple[str, ...], Cluster]:
    return cluster_rows(campaign.read("divergences", None, part.suite, part.blocks[0]))


def cluster_rows(divergences: pa.Table) -> dict[tuple[str, ...], Cluster]:
    """The clusters of rows of ``divergences`` (with ``suite``) by KEY; rows may come in any order."""
    if not divergences.num_rows:
        return {}
    found = list(kinds(divergences.select([*KEY, "case", "step"]).to_pandas(), KEY))
    exemplars = without_dictionaries(divergences.take(pa.array([at for at, _ in found]))).to_pylist()
    clusters = {}
    for row, (_, kind) in zip(exemplars, found, strict=True):
        row |= {"count": kind.count, "some": kind.some, "rules": tuple(row["rules"])}
        clusters[tuple(row[name] for name in KEY)] = Cluster(**row)
    return clusters


def _ordered(campaign: Campaign, found: Iterable[Cluster]) -> list[Cluster]:
    suites, addresses = campaign.suites, campaign.addresses
    against = ("model", *addresses)
    return sorted(
        found,
        key=lambda one: (
            suites.index(one.suite),
            addresses.index(one.address),
            against.index(one.against),
            -one.count,
            one.fingerprint,
        ),
    )
