"""Order, text and hash of queues."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.message_queue import (
    MessageQueue,
    Queue,
    compare_queues,
    queue_hash,
    queue_text,
    sort_ids,
    sort_queues,
)

LOWEST, HIGHEST = -(2**31), 2**31 - 1
ANY_QUEUE = st.tuples(
    st.sampled_from(["T", "U", "\U0001f600", "\uff5e"]), st.sampled_from("ab"), st.integers(0, HIGHEST)
)


def test_text_is_javas() -> None:
    assert queue_text(("T", "b0", 7)) == "MessageQueue [topic=T, brokerName=b0, queueId=7]"


@pytest.mark.parametrize(
    ("queue", "hashed"), [(("T", "b0", 0), 2995521), (("T", "b0", -1), 2995490), (("", "", 0), 29791)]
)
def test_hash_is_javas(queue: Queue, hashed: int) -> None:
    assert queue_hash(queue) == hashed


def test_hash_wraps_at_32_bits() -> None:
    assert LOWEST <= queue_hash(("a rather long topic", "a rather long broker name", HIGHEST)) <= HIGHEST


def test_a_queue_equals_its_plain_tuple() -> None:
    assert MessageQueue("T", "b0", 1) == ("T", "b0", 1)
    assert queue_hash(MessageQueue("T", "b0", 0)) == 2995521


@every(
    ("left", "right", "sign"),
    [
        (("T", "b0", 2), ("T", "b0", 10), -1),
        (("T", "b1", 0), ("T", "b0", 9), 1),
        (("U", "b0", 0), ("T", "b9", 9), 1),
        (("T", "b0", 5), ("T", "b0", 5), 0),
        (("T", "B", 0), ("T", "a", 0), -1),
        (("\U0001f600", "b", 0), ("\uff5e", "b", 0), -1),
        (("T", "\U0001f600", 0), ("T", "\uff5e", 0), -1),
        (("T", "b0", LOWEST), ("T", "b0", 1), 1),
        (("T", "b0", HIGHEST), ("T", "b0", -1), -1),
        (("T", "b0", HIGHEST), ("T", "b0", 0), 1),
    ],
)
def test_compare_is_javas(left: Queue, right: Queue, sign: int) -> None:
    assert compare_queues(left, right) == sign


@given(st.lists(ANY_QUEUE, unique=True))
def test_real_ids_sort_by_topic_broker_and_number_from_every_input_order(queues: list[Queue]) -> None:
    ordered = sort_queues(queues)
    assert ordered is not None
    assert sorted(ordered) == sorted(queues)
    assert all(compare_queues(a, b) < 0 for a, b in pairwise(ordered))
    assert sort_queues(queues[::-1]) == ordered


def test_a_pair_too_far_apart_sorts_by_the_wrapped_difference() -> None:
    low, high = ("T", "b0", LOWEST), ("T", "b0", 1)
    assert sort_queues((low, high)) == sort_queues((high, low)) == (high, low)


@pytest.mark.parametrize("numbers", [(0, LOWEST), (LOWEST, -1, 2**30, 5), (HIGHEST, 5, LOWEST, -(2**30))])
def test_ids_in_a_circle_have_no_order(numbers: tuple[int, ...]) -> None:
    for shuffled in permutations(("T", "b0", number) for number in numbers):
        assert sort_queues(shuffled) is None


def test_far_ids_of_different_brokers_are_no_circle() -> None:
    assert sort_queues((("T", "b1", LOWEST), ("T", "b0", 0))) == (("T", "b0", 0), ("T", "b1", LOWEST))


def test_no_queues_sort_to_none() -> None:
    assert sort_queues(()) == ()


def test_ids_that_are_prefixes_sort_first() -> None:
    ids = ("10.0.0.2@1@STREAM", "10.0.0.2@1#5", "10.0.0.2@1", "10.0.0.10@1")
    assert sort_ids(ids) == ids[::-1]


def test_ids_sort_by_code_unit() -> None:
    assert sort_ids(("\uff5e", "\U0001f600", "a", "B")) == ("B", "a", "\U0001f600", "\uff5e")
