"""Clusters: which divergences belong together, how many, and which of them is the shortest."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from campaign_maker import make

from rocketmq_conformance.conformance.campaign.analysis.clusters import cluster_rows, clusters
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.models.profile import Profile

pytestmark = pytest.mark.tables
ONE, OTHER = "mutant:freeze-ignored", "mutant:clone-ignores-topic"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("campaign")
    profiles = {OTHER: Profile.of(client="5.3.0")}
    return make(folder, ONE, OTHER, suites=("remote-store", "start-pull"), cases=150, profiles=profiles)


def test_divergences_are_grouped_and_reported_by_the_shortest(campaign: Campaign) -> None:
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in campaign.read("divergences").to_pylist():
        groups[row["suite"], row["address"], row["against"], row["fingerprint"]].append(row)
    found = clusters(campaign)
    assert len(found) == len(groups)
    for one in found:
        rows = groups[one.suite, one.address, one.against, one.fingerprint]
        shortest = min(rows, key=lambda row: (row["step"], row["case"]))
        assert one.count == len(rows)
        assert (one.case, one.step) == (shortest["case"], shortest["step"])
        for name in ("operation", "state_kind", "expected", "observed", "expected_class", "observed_class"):
            assert getattr(one, name) == shortest[name]
        assert list(one.rules) == shortest["rules"]


def test_they_come_by_address_and_what_it_differs_from_the_largest_first(campaign: Campaign) -> None:
    found = clusters(campaign)
    order = [(campaign.addresses.index(one.address), one.against != "model") for one in found]
    assert order == sorted(order)
    assert {(one.address, one.against) for one in found} == {(ONE, "model"), (OTHER, "model"), (OTHER, ONE)}
    counts = [one.count for one in found if (one.address, one.against) == (ONE, "model")]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) > 3


def test_the_order_of_the_rows_does_not_matter(campaign: Campaign) -> None:
    rows = campaign.read("divergences")
    order = list(range(rows.num_rows))
    random.Random(3).shuffle(order)
    assert cluster_rows(rows.take(pa.array(order))) == cluster_rows(rows)


def test_a_case_that_is_reported_twice_counts_once(campaign: Campaign) -> None:
    rows = campaign.read("divergences")
    assert cluster_rows(pa.concat_tables([rows, rows])) == cluster_rows(rows)


def test_without_divergences_there_are_none(tmp_path: Path) -> None:
    assert clusters(make(tmp_path, "port", suites=("start-pull",), cases=10)) == []
