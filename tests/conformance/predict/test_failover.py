"""What a fail-over does: where consumers start at the slave and once the master is back, and what comes again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from predicted_broker import GROUP, TOPIC, cluster

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.predict import answers
from rocketmq_conformance.conformance.predict.api import read_pair
from rocketmq_conformance.conformance.predict.failover import (
    FailoverPrediction,
    PairFacts,
    pair_of,
    predict_failover,
)
from rocketmq_conformance.conformance.predict.failover_page import failover_document, failover_page
from rocketmq_conformance.conformance.predict.start import Consumer, PredictError
from rocketmq_conformance.models.release import Release

Given = tuple[int | None, int | None, int]


def predicted(
    release: str, *queues: Given, acting: bool | None = None, meanwhile: int | None = None
) -> FailoverPrediction:
    """The prediction for a pair by hand."""
    return predict_failover(pair_of(Release.parse(release), queues), Consumer(), acting, meanwhile, others=False)


def rows(found: FailoverPrediction) -> list[tuple[int | None, int, int, int | None, int | None, int, int]]:
    """Of each queue: the start at the slave, what is given there and comes again, what each has stored; then the same
    once the master is back, and what is left out in all."""
    return [
        (
            queue.gone and queue.gone.start,
            queue.given,
            queue.again,
            queue.reached,
            queue.after,
            queue.again_then,
            queue.skips + queue.skips_then,
        )
        for queue in found.queues
    ]


def test_what_was_committed_to_the_slave_comes_again_once_the_master_is_back() -> None:
    queues: tuple[Given, ...] = ((7, 5, 10), (None, 3, 10), (9, None, 10), (3, 9, 10))
    assert rows(predicted("4.9.7", *queues)) == [
        (5, 5, 2, 10, 7, 3, 0),
        # the master has none, and takes message 0 to be in memory
        (3, 7, 0, 10, None, 10, 0),
        (0, 10, 9, 10, 9, 1, 0),
        (9, 1, 0, 10, 3, 7, 6),
    ]
    limited = predicted("4.9.7", *queues, meanwhile=1)
    assert [queue.reached for queue in limited.queues] == [6, 4, 1, 10]
    none = predicted("4.9.7", *queues, meanwhile=0)
    assert [queue.reached for queue in none.queues] == [5, 3, None, 9]
    assert [queue.again_then for queue in none.queues] == [0, 3, 0, 6]


def test_slaves_from_5_0_0_give_nothing_and_offsets_there_are_lost_all_the_same() -> None:
    found = predicted("5.5.0", (7, 5, 10), (3, 9, 10))
    assert rows(found) == [(5, 0, 0, 5, 7, 0, 0), (9, 0, 0, 9, 3, 6, 0)]
    assert failover_page(found).answer.text == (
        "While the master is gone nothing is given. Once it is back 6 messages come again, and 1 offset of the slave "
        "is lost."
    )


def test_a_master_that_takes_the_table_of_its_slave_loses_its_own_newer_offsets() -> None:
    found = predicted("5.5.0", (9, 5, 10), (3, 8, 10), (6, None, 10), acting=True)
    # consumers ask for the offset that the slave does not have, are answered 0, and commit that
    assert rows(found) == [(5, 0, 0, 5, 5, 4, 0), (8, 0, 0, 8, 8, 0, 0), (0, 0, 0, 0, 0, 6, 0)]
    # of a topic and group as a whole, and only where the slave has any
    unasked = predicted("5.5.0", (9, 5, 10), (6, None, 10), acting=True, meanwhile=0)
    assert [queue.after for queue in unasked.queues] == [5, None]
    assert [queue.after for queue in predicted("5.5.0", (9, None, 10), acting=True, meanwhile=0).queues] == [9]


def test_other_releases_are_told_apart_with_and_without_the_property() -> None:
    found = predict_failover(pair_of(Release.parse("4.9.7"), [(9, 5, 10)]), Consumer())
    assert found.others == (
        ("4.0.0–4.9.8", "4 again, 1 again once the master is back"),
        ("5.0.0–5.5.0", "nothing is given"),
    )
    assert found.acting_others == (("5.0.0–5.5.0", "nothing is given, 4 again once the master is back"),)
    document = failover_document(found)
    assert document["acting_others"] == [
        {"releases": "5.0.0–5.5.0", "does": "nothing is given, 4 again once the master is back"}
    ]
    assert document["queues"][0]["gone"] == {
        "start": 5,
        "served": True,
        "given": 5,
        "repeats": 4,
        "skips": 0,
        "stored": 10,
    }


@pytest.mark.parametrize(
    ("release", "consumer", "acting", "sentence"),
    [
        ("4.9.7", Consumer(), True, "enableSlaveActingMaster is there from 5.0.0 on"),
        ("5.5.0", Consumer(model="broadcasting"), None, "A broadcasting group keeps its offsets at its members"),
    ],
)
def test_what_cannot_be_predicted_is_one_sentence(
    release: str, consumer: Consumer, acting: bool | None, sentence: str
) -> None:
    with pytest.raises(PredictError, match=sentence):
        predict_failover(pair_of(Release.parse(release), [(1, 1, 1)]), consumer, acting)


@contextmanager
def pair(
    release: str, master: dict[int, int], slave: dict[int, int], **properties: str
) -> Iterator[tuple[FakeBroker, FakeBroker]]:
    """A master and its slave that have stored these offsets, as the name server knows them; each has the properties."""
    role = {"brokerRole": "SLAVE", "brokerId": "1"}
    with cluster(release, master, properties) as first, cluster(release, slave, role | properties) as second:
        named = {0: first.address, 1: second.address}
        with patch.object(answers, "_addresses", lambda data: named):
            yield first, second


def test_a_pair_of_a_cluster_is_read_at_both() -> None:
    acts = {"enableSlaveActingMaster": "true", "totalReplicas": "2"}
    found = {}
    for name, properties in (("default", {}), ("acting", acts), ("alone", {"enableSlaveActingMaster": "true"})):
        with pair("5.5.0", {0: 9}, {0: 5, 1: 60}, **properties) as (master, _):
            facts = read_pair(master.address, GROUP, [TOPIC])
        made = predict_failover(facts, Consumer(), others=False)
        found[name] = [queue.after for queue in made.queues], sorted(made.acting)
        assert [queue.slave.stored for queue in made.queues if queue.slave is not None] == [5, 60, None, None]
        assert not any("does not know" in note for note in made.notes)
    # a new group of the slave is answered 0 in queue 0 alone, and asks for a stored offset before it commits
    assert found == {
        "default": ([9, None, None, None], []),
        "acting": ([5, 60, None, None], ["broker-a"]),
        "alone": ([9, None, None, None], []),
    }


def test_a_pair_that_cannot_be_read_is_one_sentence() -> None:
    with cluster() as broker, pytest.raises(CannotRunError, match="The name server knows no slave"):
        read_pair(broker.address, GROUP, [TOPIC])
    with cluster() as broker, patch.object(answers, "_addresses", lambda data: {1: broker.address}):
        refused = pytest.raises(CannotRunError, match="The master of broker-a is gone already")
        with refused:
            read_pair(broker.address, GROUP, [TOPIC])


@pytest.mark.parametrize(
    ("role", "sentence"),
    [("ASYNC_MASTER", "Both brokers of the name broker-a are masters"), ("SLAVE", "brokerId 0 and runs as a slave")],
)
def test_two_of_one_role_are_no_pair(role: str, sentence: str) -> None:
    with pair("5.5.0", {}, {}, brokerRole=role) as (master, _), pytest.raises(CannotRunError, match=sentence):
        read_pair(master.address, GROUP, [TOPIC])


def test_a_newer_data_version_of_the_master_keeps_its_offsets() -> None:
    pair_facts = pair_of(Release.parse("5.5.0"), [(9, 5, 10)])
    newer = PairFacts(master=pair_facts.master, slave=pair_facts.slave, newer=frozenset({"broker"}))
    found = predict_failover(newer, Consumer(), True, others=False)
    assert [queue.after for queue in found.queues] == [9]
    assert any("counts more commits than its slave" in note for note in found.notes)


def test_a_master_of_5_5_0_stays_offline_when_its_slave_answered_a_pull() -> None:
    found = {}
    for release, reads in (("5.3.3", "true"), ("5.5.0", "true"), ("5.5.0", "false")):
        acts = {"enableSlaveActingMaster": "true", "totalReplicas": "2", "slaveReadEnable": reads}
        with pair(release, {0: 9}, {0: 5}, **acts) as (master, _):
            facts = read_pair(master.address, GROUP, [TOPIC])
        made = predict_failover(facts, Consumer(), others=False)
        found[release, reads] = (made.queues[0].offline, made.queues[0].after, made.queues[0].given)
        text = failover_page(made).answer.text
        assert text.endswith("It stays offline when it is started again.") == made.queues[0].offline
    assert found == {
        ("5.3.3", "true"): (False, 75, 70),
        ("5.5.0", "true"): (True, 9, 70),
        ("5.5.0", "false"): (False, 5, 0),
    }
