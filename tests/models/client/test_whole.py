"""Whole consumers, as the model sees them: the first message, and what is committed in the end."""

from __future__ import annotations

from itertools import product

import pytest

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.initial_broker import initial_broker, reshaped
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.whole import LITE, PUSH, consume
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

#: Messages of every queue of the initial broker.
MAX = 12


def broker(shape: str, stored: int | None = None) -> BrokerState:
    made = reshaped(initial_broker(ORDINARY), ORDINARY.places[0], shape)
    return made if stored is None else made._replace(stored={(GROUP, TOPIC, 0): stored})


def naive(release: str, shape: str, where: str, stored: int | None) -> int:
    """The first message, written down without the models' rules."""
    least, most = {"young": (0, MAX), "empty": (0, 0), "expired": (4, MAX), "gone": (MAX, MAX)}[shape]
    old = release < "5.1.0"
    if stored is not None:
        if stored > most and least == 0 and release == "4.7.1":
            return 0
        return min(max(stored, least), most)
    zero = shape == "young" or (shape == "empty" and old)
    if release == "5.0.0":
        zero = False
    if zero or where == FIRST:
        return least
    return most


def test_the_first_message_is_the_one_that_a_naive_table_names() -> None:
    offenders = []
    for release in ("4.7.1", "4.9.7", "5.0.0", "5.1.4", "5.5.0"):
        model = StartModel(Profile.of(release, release), ORDINARY)
        for kind, shape, where, stored in product(
            (PUSH, LITE), ("young", "empty", "expired", "gone"), (LAST, FIRST), (None, 0, 2, 7, MAX, 99)
        ):
            done = consume(model, RemoteStore(broker=broker(shape, stored)), kind, 0, where, 2)
            end = 2 if shape == "empty" else MAX + 2
            first = naive(release, shape, where, stored)
            if (done.first, done.committed, done.messages) != (first, end, end - first):
                offenders.append((release, kind, shape, where, stored, done))
    assert not offenders, offenders[:5]


def test_a_time_leads_to_the_message_that_was_stored_then() -> None:
    model = StartModel(Profile.of("5.5.0", "5.5.0"), ORDINARY)
    state = RemoteStore(broker=broker("expired"))
    done = consume(model, state, PUSH, 0, TIMESTAMP, 1, "20240701000000")
    assert (done.start, done.first) == (6, 6)


@pytest.mark.parametrize(("kind", "rule"), [(PUSH, "WHOLE-MOVED"), (LITE, "WHOLE-MOVED-LITE")])
def test_who_begins_below_min_is_sent_to_it(kind: str, rule: str) -> None:
    model = StartModel(Profile.of("5.5.0", "5.5.0"), ORDINARY)
    done = consume(model, RemoteStore(broker=broker("expired")), kind, 0, FIRST, 1)
    assert (done.start, done.first) == (0, 4)
    assert rule in {rule for why in done.reasons for rule in why.rules}
    assert "OFFSET_TOO_SMALL" in {why.kind for why in done.reasons}


def test_a_pull_that_finds_nothing_left_goes_on_behind_it() -> None:
    """A 4.x broker whose messages all expired still reports 0 as min (BQ-MIN-2)."""
    made = broker("gone")
    logs = {**made.logs, (TOPIC, 0): made.logs[TOPIC, 0]._replace(min=0)}
    done = consume(
        StartModel(Profile.of("4.9.7", "4.9.7"), ORDINARY),
        RemoteStore(broker=made._replace(logs=logs)),
        PUSH,
        0,
        LAST,
        1,
    )
    assert (done.start, done.first, done.messages) == (0, MAX, 1)
    assert not {"WHOLE-MOVED"} & {rule for why in done.reasons for rule in why.rules}
