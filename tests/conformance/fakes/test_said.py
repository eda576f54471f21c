"""What members say that their listeners were given, beside what pulls brought them."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import RETURNED, Brought, Message, runs, said_queue
from rocketmq_conformance.models.client.whole_moves import RETRIES

ME = "me"
BROUGHT: list[Brought] = [(ME, 0, 7, 3)]
CARRIED: dict[Message, int] = {(ME, 0, 7): 1, (ME, 0, 8): 1, (ME, 0, 9): 2}


def given(
    *offsets: int,
    brought: list[Brought] = BROUGHT,
    carried: dict[Message, int] = CARRIED,
    open_: tuple[str | tuple[str, int], ...] = (),
) -> list[Brought]:
    """What a client was given that says so of these messages of queue 0."""
    said = SaidMessages()
    for offset in offsets:
        said.add(ME, 0, offset)
    return runs(said.among(brought, carried, said_queue, open_))


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((9, 7, 8), BROUGHT),
        ((7, 9), [(ME, 0, 7, 1), (ME, 0, 9, 1)]),
        ((), []),
        ((7, 8, 9, 7), [*BROUGHT, (ME, 0, 7, 1)]),
        # it was in another answer, which does not count as one that brought it
        ((7, 8, 9, 9), BROUGHT),
        ((7, 8, 9, 12), [*BROUGHT, (ME, 0, 12, 1)]),
    ],
)
def test_what_pulls_brought_is_given_as_often_as_it_is_said(offsets: tuple[int, ...], expected: list[Brought]) -> None:
    assert given(*offsets) == expected


def test_one_that_is_open_may_say_it_later_or_never() -> None:
    assert given(7, open_=(ME,)) == BROUGHT
    assert given(7, open_=((ME, 0),)) == BROUGHT
    assert given(7, open_=((ME, 1),)) == [(ME, 0, 7, 1)]


def test_the_retry_queue_is_named_by_its_id() -> None:
    brought = [(ME, 0, 7, 1), (ME, RETRIES, 7, 1)]
    twice = {(ME, 0, 7): 2}
    assert given(7, 7, brought=brought, carried=twice) == brought
    assert len(given(7, brought=brought, carried=twice)) == 1


def test_of_what_is_sent_back_nothing_is_said() -> None:
    returned = [(ME, RETURNED, 0, 2)]
    assert given(brought=returned) == returned


def test_what_was_said_before_counts_in_all() -> None:
    said = SaidMessages()
    said.add(ME, 0, 7)
    said.begin_step()
    assert said.among([], CARRIED, said_queue) == []
    said.add(ME, 0, 7)
    assert said.among([], CARRIED, said_queue) == [(ME, 0, 7, 1)]
    assert said.among(BROUGHT, {(ME, 0, 7): 2}, said_queue) == [(ME, 0, 7, 1)]
