"""Starts: what is under way is reported, from outside to inside and back, and the time they may take ends them."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.alarm import Overdue
from rocketmq_conformance.conformance.startup import (
    allow,
    more_time,
    phase,
    report_progress,
    start_limit,
    starting,
    time_left,
)


class Watch:
    """A clock that is set, and a listener that keeps what it is told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.shown: list[tuple[str, str]] = []

    def clock(self) -> float:
        return self.now

    def __call__(self, text: str, detail: str) -> None:
        self.shown.append((text, detail))


def test_phases_are_reported_from_outside_to_inside_and_back() -> None:
    watch = Watch()
    with starting(10, watch, watch.clock):
        report_progress("building")
        with phase("waiting"), phase("downloading") as describe:
            describe("1 MB")
    assert watch.shown == [
        ("building", ""),
        ("waiting", ""),
        ("downloading", ""),
        ("downloading", "1 MB"),
        ("waiting", ""),
        ("building", ""),
        ("", ""),
    ]


def test_outside_of_a_start_nothing_is_reported_or_limited() -> None:
    with phase("downloading") as describe:
        describe("1 MB")
        report_progress("building")
        assert time_left(20) == 20
    assert more_time() == ""


def test_a_start_inside_another_is_part_of_it() -> None:
    watch = Watch()
    with starting(10, watch, watch.clock), starting(1000):
        watch.now = 4
        assert time_left(20) == 6
        assert more_time() == " (the whole start may take 10 s: --start-timeout allows more)"
        watch.now = 11
        assert time_left(20) == 0


def test_a_start_without_a_limit_leaves_phases_their_own() -> None:
    watch = Watch()
    with starting(None, watch, watch.clock):
        watch.now = 1e6
        assert time_left(20) == 20
        assert more_time() == ""


def test_a_start_has_the_time_of_the_one_that_it_is_part_of_else_what_its_process_allows() -> None:
    try:
        assert start_limit(180) == 180
        allow(5)
        assert start_limit(180) == 5
        with starting(None):
            assert start_limit(180) == 5
        with starting(10):
            assert start_limit(180) == 10
    finally:
        allow(None)


def hang(watch: Watch) -> None:
    with starting(5, watch, watch.clock), phase("downloading") as describe:
        describe("1 MB")
        watch.now = 7
        raise Overdue  # as the alarm does


def test_a_start_that_does_not_come_back_is_ended_with_what_it_did() -> None:
    with pytest.raises(CannotRunError) as caught:
        hang(Watch())
    assert str(caught.value) == (
        "The implementation was not ready after 5 s: for the last 7 s it was downloading (1 MB). See what keeps it, or "
        "allow more time with --start-timeout."
    )
