"""What stepped consumers are made of is compared with what ``start()`` makes; differences have documented reasons."""

from __future__ import annotations

import re

import pytest
from places import ROOT

from rocketmq_conformance.conformance.proof import assembly
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.models.profile import Profile


def test_a_difference_without_a_reason_is_reported() -> None:
    stepped = {"inside.offsetStore": "RemoteBrokerOffsetStore", "consumer.namesrvAddr": "null", "consumer.gone": "1"}
    started = {"inside.offsetStore": "LocalFileOffsetStore", "consumer.namesrvAddr": "127.0.0.1:1"}
    assert assembly.differences(stepped, started) == {
        "consumer.gone": ("1", "no field"),
        "inside.offsetStore": ("RemoteBrokerOffsetStore", "LocalFileOffsetStore"),
    }


def test_a_setting_that_is_not_the_default_of_the_release_is_reported() -> None:
    started = {"consumer.consumeThreadMax": "64", "consumer.pullBatchSize": "32", "consumer.popBatchNums": "no field"}
    assert assembly.unset("orderly", Profile.of(client="4.5.0"), started) == {}
    assert assembly.unset("push", Profile.of(client="4.5.1"), started) == {"consumeThreadMax": ("20", "64")}


def test_every_reason_is_documented() -> None:
    page = (ROOT / "docs" / "explanation" / "java-client.md").read_text("utf-8")
    documented = dict(re.findall(r"^\| `([a-z]+\.\w+)` \| (.*) \|$", page, re.MULTILINE))
    assert documented == dict(assembly.REASONS)


@pytest.mark.java
def test_stepped_consumers_are_made_of_what_start_makes() -> None:
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    tally = Tally("client", "4.1.0-incubating")  # proof-java asks the others
    assembly.prove(java_release("4.1.0-incubating"), tally)
    assert tally.cases == 12
    assert tally.examples == []


@pytest.mark.java
def test_a_store_that_start_would_not_make_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketmq_conformance.conformance.targets.java_client import consumer_making
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    monkeypatch.setitem(consumer_making.STORES, "BROADCASTING", "RemoteBrokerOffsetStore")
    found = assembly.compare(java_release("5.5.0"), "push", "BROADCASTING")
    assert found == {"inside.offsetStore": ("RemoteBrokerOffsetStore", "LocalFileOffsetStore")}
