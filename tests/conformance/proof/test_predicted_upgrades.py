"""Predicted upgrades, compared with what the next broker shows: by hand, and on real brokers."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.predict.facts import BrokerFacts, GroupFacts, QueueFacts
from rocketmq_conformance.conformance.predict.other_brokers import on_release
from rocketmq_conformance.conformance.proof.predicted_upgrades import UpgradeAgreement, compare, page_of
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.release import Release

TIME = parse_timestamp("20240401000000", "UTC") or 0
JAVA = 17
OLD, NEW = Release.parse("4.9.7"), Release.parse("5.5.0")


def group(release: Release, **shown: int | None) -> GroupFacts:
    """A group that stored nothing of one queue."""
    seen: dict[str, int | None] = {"min": 0, "max": 12, "earliest": TIME - 5, "answer": 0, "found": 6, **shown}
    queue = QueueFacts(topic="T", broker="a", queue=0, stored=None, **seen)  # type: ignore[arg-type]
    return GroupFacts(group="G", brokers=(BrokerFacts(name="a", release=str(release)),), queues=(queue,), time=TIME)


#: A queue whose messages have all expired.
GONE_OLD = group(OLD, min=0, earliest=-1, found=0)
GONE_NEW = group(NEW, min=12, earliest=-1, answer=None, found=12)


def test_an_expired_queue_is_searched_by_the_rules_of_the_next_broker() -> None:
    assert on_release(GONE_OLD, NEW, JAVA).queues == GONE_NEW.queues
    assert on_release(GONE_NEW, OLD, JAVA).queues == GONE_OLD.queues


def test_what_the_next_broker_shows_otherwise_is_a_difference() -> None:
    agreed = compare([GONE_NEW], [GONE_OLD], OLD, JAVA)
    assert (agreed.groups, agreed.queues, agreed.starts, agreed.differences) == (1, 1, 9, ())
    moved = replace(GONE_OLD, queues=(replace(GONE_OLD.queues[0], min=3, answer=3),))
    differs = compare([GONE_NEW], [moved], OLD, JAVA).differences
    assert differs[0].startswith("G, queue 0: predicted QueueFacts(")
    assert any(", client 4.9.8 from CONSUME_FROM_LAST_OFFSET: predicted 0 (" in text for text in differs)


def test_a_search_by_other_rules_is_left_open() -> None:
    agreed = compare([group(OLD)], [group(NEW, found=7)], NEW, JAVA)
    assert (agreed.starts, agreed.differences) == (6, ())


def test_a_search_by_the_same_rules_is_taken_along() -> None:
    later = Release.parse("5.4.0")
    assert compare([group(later)], [group(NEW)], NEW, JAVA).differences == ()
    agreed = compare([group(later)], [group(NEW, found=7)], NEW, JAVA)
    # the queue, and client 5.0.0, which alone searches where a broker would answer 0
    assert (agreed.starts, len(agreed.differences)) == (9, 2)
    assert ", client 5.0.0 from CONSUME_FROM_TIMESTAMP: predicted 6 (" in agreed.differences[1]


def test_the_page_counts_what_differs_and_says_what_is_missing() -> None:
    found = page_of(
        [
            UpgradeAgreement(before="4.9.7", after="5.5.0", groups=4, queues=16, starts=120, differences=("one",)),
            UpgradeAgreement(before="5.5.0", after="4.9.7", missing="There is no Java."),
        ]
    )
    assert "| 4.9.7 | 5.5.0 | 4 | 16 | 120 | 1 |" in found
    assert "| 5.5.0 | 4.9.7 | There is no Java. | | | |" in found
    assert "| all | | 4 | 16 | 120 | **1** |" in found


@pytest.mark.broker
def test_brokers_on_the_store_of_one_another_show_what_was_predicted(tmp_path: Path) -> None:
    words = ("prove", "upgrades", "4.9.7,5.5.0,4.9.7", "--out", "page.md")
    ended = subprocess.run(
        [sys.executable, "-m", "rocketmq_conformance", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count(" 4 groups, 16 queues, ") == ended.stdout.count(", 0 differences") == 2
    assert "| 5.5.0 | 4.9.7 | 4 | 16 |" in (tmp_path / "page.md").read_text("utf-8")
