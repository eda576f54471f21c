"""Predictions, compared with real consumers on a real broker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.proof.predicted_starts import BROKERS, CLIENTS, Agreement, page_of, pairs


@pytest.mark.broker
@pytest.mark.java
@pytest.mark.parametrize(
    ("words", "row"),
    [
        (("--brokers", "5.5.0", "--few"), "| 5.5.0 | 5.5.0 | 4 | 80 | 0 |"),
        (("--failover", "--brokers", "4.9.7"), "| fail-over | 4.9.7, a slave | 8 | 32 | 0 |"),
        (("--pops", "--brokers", "5.3.1"), "| pops | 5.3.1 | 13 | 160 | 0 |"),
        (("--mixed",), "| mqadmin 4.9.7 and 5.5.0 | 4.9.7 and 5.5.0, a slave | 12 | 96 | 0 |"),
    ],
)
def test_it_happens_as_it_was_predicted(words: tuple[str, ...], row: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "rocketmq_conformance", "prove", "predict", *words, "--out", "page.md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 differences" in ended.stdout
    assert row in (tmp_path / "page.md").read_text("utf-8")


def test_ten_brokers_and_ten_clients_are_compared() -> None:
    assert len(BROKERS) == len(CLIENTS) == 10
    assert len(pairs()) == 19


def test_the_page_counts_what_differs_and_says_what_is_missing() -> None:
    found = page_of(
        [
            Agreement(client="5.5.0", broker="4.9.7", groups=2, queues=40, differences=("one",)),
            Agreement(client="4.9.8", broker="5.5.0", missing="There is no Java."),
        ]
    )
    assert "| 5.5.0 | 4.9.7 | 2 | 40 | 1 |" in found
    assert "| 4.9.8 | 5.5.0 | There is no Java. | | |" in found
    assert "| all | | 2 | 40 | **1** |" in found
