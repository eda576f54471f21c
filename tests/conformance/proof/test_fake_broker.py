"""The fake broker and a real one are sent the same requests, and must answer the same."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof import fake_broker
from rocketmq_conformance.models import rulebook

#: Those of proof-broker, which tells them the same stories, and others.
PROVEN, OTHERS = ["4.9.7", "5.5.0"], ["5.0.0", "5.1.4"]


@pytest.mark.parametrize("release", PROVEN)
def test_the_fake_broker_answers_every_request_of_the_proof(release: str) -> None:
    assert len(fake_broker.fake_answers(release)) > 100


def test_a_story_is_about_rules_of_the_book() -> None:
    assert {rule for rules in fake_broker.CHAPTERS.values() for rule in rules} <= set(rulebook.RULES)


def test_every_answer_counts_for_the_rules_of_its_chapter() -> None:
    chapters = {"lite": "checks", "binary True": "encodings"}
    expected_rows = {"lite": 1, "binary True": True}
    rows = fake_broker.rows("5.5.0", chapters, expected_rows, {"lite": 1, "binary True": False})
    assert [(row.rule, row.cases, row.differences) for row in rows] == [
        ("BQ-PULL-1", 1, 0), ("BQ-PULL-LITE", 1, 0), ("BQ-PULL-SUB", 1, 0), ("WIRE-FRAME-1", 1, 1),
    ]  # fmt: skip
    assert rows[-1].example == "binary True: the fake broker answers False, 5.5.0 True"


def test_an_answer_that_is_missing_is_a_difference() -> None:
    rows = fake_broker.rows("5.5.0", {"lite": "checks"}, {"lite": 1}, {})
    assert {row.differences for row in rows} == {1}


@pytest.mark.broker
@pytest.mark.java
@pytest.mark.parametrize("release", OTHERS)
def test_the_fake_broker_answers_as_the_real_one(release: str) -> None:
    try:
        rows = fake_broker.prove(release)
    except CannotRunError as error:
        pytest.skip(str(error))
    assert not [row.example for row in rows if row.differences]
