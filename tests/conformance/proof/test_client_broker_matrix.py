"""Pairs of a real client and a real broker: their rows, their table, and the real thing."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from places import ROOT

from rocketmq_conformance.conformance.proof.client_broker_matrix import RELEASES
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.proof_docs import proof_page
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.reports.proof import PAIR, ProofRow, pairs, render

ROWS = [
    ProofRow("OFF-R-READ", PAIR, "5.5.0", 40, 0, "", "4.9.7"),
    ProofRow("START-PUSH-1", PAIR, "5.5.0", 2, 1, "it differs", "4.9.7"),
    ProofRow("OFF-R-READ", PAIR, "4.9.7", 1000, 0, "", "5.5.0"),
]


def test_the_table_has_a_line_per_client_and_a_column_per_broker() -> None:
    assert pairs(ROWS).splitlines() == [
        "| client \\ broker | 4.9.7 | 5.5.0 |",
        "|---|--:|--:|",
        "| 4.9.7 | – | 0 of 1,000 |",
        "| 5.5.0 | **1** of 42 | – |",
    ]
    assert pairs([ProofRow("OFF-R-READ", "client", "5.5.0", 1, 0)]) == ""


def test_a_pair_confirms_no_rule_of_one_side() -> None:
    assert "pair" not in render([], ROWS)
    text = proof_page(RULES.values(), ROWS)
    assert "## Pairs\n" in text
    assert "| OFF-R-READ | MUST | derived from source | **unproven** | 0 | 0 |" in text
    assert "## Pairs\n" not in proof_page(RULES.values(), [])


def test_every_pair_was_compared_and_nothing_differs() -> None:
    rows = [row for row in KeptRows(ROOT / "docs" / "proof").rows() if row.against]
    assert {row.side for row in rows} == {PAIR}
    assert {(row.release, row.against) for row in rows} == set(product(RELEASES, RELEASES))
    assert [row for row in rows if row.differences] == []
    assert {row.rule for row in rows} <= RULES.keys()


#: One client is judged by the rules of the broker that it meets, the other by those of another one: a proof that could
#: not fail would find no difference there either.
CHILD = """
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.release import java_release
from rocketmq_conformance.conformance.proof.client_broker_matrix import TOPIC, logs, prove_pair
from rocketmq_conformance.models.release import Release

right, wrong = java_release("4.9.7"), java_release("5.5.0")
with Cluster(Release(5, 5, 0), lambda home: write_store(home, {TOPIC: logs()}, {})) as cluster:
    cluster.await_route(TOPIC)
    tally = prove_pair(right, cluster, 17)
    print(tally.cases, tally.differences, tally.examples[:1], flush=True)
    cluster.release = Release(4, 9, 7)
    tally = prove_pair(wrong, cluster, 17)
    print(tally.cases, tally.differences, flush=True)
jvm.end(0)
"""


@pytest.mark.broker
@pytest.mark.java
def test_a_real_pair_agrees_with_its_own_rules_and_differs_from_others(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    agreeing, mistaken = done.stdout.splitlines()
    assert re.fullmatch(r"6\d\d 0 \[\]", agreeing)
    cases, differences = map(int, mistaken.split())
    assert 0 < differences < cases
