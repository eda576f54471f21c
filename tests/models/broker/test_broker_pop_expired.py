"""The broker of suite broker-pop-expired: pops from the aged store."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.aged_store import aged_broker
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_pop_expired import BrokerPopExpiredModel
from rocketmq_conformance.models.broker.pop import MAX, MIN
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile

NEW = BrokerPopExpiredModel(Profile())
STORE = aged_broker(NEW.rules)


@pytest.mark.parametrize(
    ("queue", "mode", "expected"),
    [
        (0, MIN, (10, (10, 11))),
        (0, MAX, (14, (14,))),
        (1, MAX, Err("POLLING_TIMEOUT")),
        (2, MAX, (0, (0, 1))),
        (3, MIN, Err("POLLING_TIMEOUT")),
        (9, MIN, Err("INVALID_PARAMETER")),
    ],
)
def test_a_new_group_begins_at_the_last_message_where_older_ones_expired(
    queue: int, mode: int, expected: Expected
) -> None:
    assert NEW.pop(STORE, queue, 2, mode)[1] == expected


def test_a_stored_offset_below_min_is_corrected() -> None:
    state = NEW.commit(STORE, 0, AGED_TOPIC, 0, 4)[0]
    state, result, _ = NEW.pop(state, 0, 1, MAX)
    assert result == (4, (10,))
    assert NEW.query(state, 0, AGED_TOPIC, 0, False)[1] == 11
