"""Enumeration on Spark finds what one process finds, and its plans judge an address as a run does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import kit

from rocketmq_conformance.conformance.campaign.enumeration import enumerated_on, played_on
from rocketmq_conformance.conformance.engine.enumeration import NotListedError, enumerated
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNSUPPORTED
from rocketmq_conformance.suites.declare.discovery import SUITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MANY = 1_000_000


@pytest.mark.parametrize(("name", "steps"), [("rebalance-service", 6), ("broker-expired", 9)])
def test_spark_finds_the_same_plans_in_the_same_order(spark: SparkSession, name: str, steps: int) -> None:
    here = enumerated(SUITES[name], Profile(), steps=steps, values=2, most=MANY)
    assert enumerated_on(spark, name, Profile(), steps=steps, values=2, most=MANY) == here


def test_what_cannot_be_listed_is_said_alike(spark: SparkSession) -> None:
    with pytest.raises(NotListedError, match="more than 100 transitions"):
        enumerated_on(spark, "remote-store", Profile(), steps=2, values=2, most=100)


def test_every_plan_is_played_and_each_kind_of_difference_has_its_first_plan(spark: SparkSession) -> None:
    plans = enumerated(SUITES["remote-store"], Profile(), steps=2, values=3, most=MANY).plans
    assert played_on(spark, "port", "remote-store", plans, {}).verdicts == {CONFORMS: len(plans)}
    played = played_on(spark, "mutant:zero-is-none", "remote-store", plans, {})
    assert sum(played.verdicts.values()) == len(plans)
    assert played.verdicts[DIVERGES] >= len(played.examples) >= 1


def test_an_address_that_cannot_be_opened_or_refuses_the_suite_gives_its_reason(spark: SparkSession) -> None:
    plans = enumerated(SUITES["broker-expired"], Profile(), steps=1, values=1, most=MANY).plans
    refused = played_on(spark, "port", "broker-expired", plans, {})
    assert refused.verdicts == {UNSUPPORTED: len(plans)}
    unknown = played_on(spark, "nothing:x", "broker-expired", plans, {})
    assert unknown.verdicts == {COULD_NOT_RUN: len(plans)}
    assert [reason for one in (refused, unknown) for reason in one.examples.values() if not reason] == []


def test_the_command_plays_differences_here_again(spark: SparkSession, tmp_path: Path) -> None:
    bound = ("--steps", "2", "--values", "3", "--master", "local[2]")
    conforming = kit("enumerate", "remote-store", "port", *bound, cwd=tmp_path)
    assert conforming.returncode == 0
    assert conforming.stdout.endswith("Verdict: conforms (exit code 0).\n")
    diverging = kit("enumerate", "remote-store", "mutant:zero-is-none", *bound, cwd=tmp_path)
    assert diverging.returncode == 1
    assert "Divergence 1: remote-store" in diverging.stdout
    unknown = kit("enumerate", "remote-store", *bound[:-1], "nothing", cwd=tmp_path)
    assert unknown.returncode == 2
