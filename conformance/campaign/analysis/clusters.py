"""Clusters: divergences that differ only in values, each with its shortest case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, without_dictionaries

#: What divergences of a cluster share.
KEY = ["suite", "address", "against", "fingerprint"]


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Divergences of one suite and address, from the model or from another address, with one fingerprint."""

    suite: str
    address: str
    #: "model", or the address that it differs from.
    against: str
    fingerprint: str
    #: Cases.
    count: int
    #: The exemplar: the case whose divergence comes after the fewest steps, the smallest of them.
    case: int
    #: Its first step that differs; 1 is the first one judged.
    step: int
    operation: str
    rules: tuple[str, ...]
    state_kind: str
    #: Of two addresses: what the other one did.
    expected: str
    observed: str
    expected_class: str
    observed_class: str


def clusters(campaign: Campaign) -> list[Cluster]:
    """All clusters of a campaign: by suite, address and what it differs from as the campaign names them, then the
    largest first."""
    return ordered(campaign, cluster_rows(campaign.read("divergences")))


def ordered(campaign: Campaign, found: Iterable[Cluster]) -> list[Cluster]:
    """Clusters by suite, address and what they differ from as the campaign names them, then the largest first."""
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


def cluster_rows(divergences: pa.Table) -> list[Cluster]:
    """The clusters of rows of ``divergences`` (with ``suite``), the largest first; rows may come in any order."""
    if not divergences.num_rows:
        return []
    order = pc.sort_indices(divergences, [("step", "ascending"), ("case", "ascending")])
    rows = (
        without_dictionaries(divergences)
        .take(order)
        .append_column("row", pa.array(range(divergences.num_rows), pa.int64()))
    )
    grouped = rows.group_by(KEY).aggregate([("row", "min"), ("case", "count_distinct")])
    exemplars = rows.take(grouped["row_min"]).to_pylist()
    found = [
        Cluster(
            suite=row["suite"],
            address=row["address"],
            against=row["against"],
            fingerprint=row["fingerprint"],
            count=count,
            case=row["case"],
            step=row["step"],
            operation=row["operation"],
            rules=tuple(row["rules"]),
            state_kind=row["state_kind"],
            expected=row["expected"],
            observed=row["observed"],
            expected_class=row["expected_class"],
            observed_class=row["observed_class"],
        )
        for row, count in zip(exemplars, grouped["case_count_distinct"].to_pylist(), strict=True)
    ]
    return sorted(found, key=lambda one: (-one.count, one.suite, one.address, one.against, one.fingerprint))
