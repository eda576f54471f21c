"""Waiting looks at once, as often as it says, and once more when the time is up."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.waiting import fair_looks, looks, wait_until


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now, self.looks = 100.0, 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float, /) -> None:
        self.now += seconds

    def done_after(self, seconds: float) -> bool:
        self.looks += 1
        return self.now >= 100.0 + seconds


@pytest.mark.parametrize(("after", "done", "often"), [(0, True, 1), (2, True, 3), (2.5, True, 4), (9, False, 4)])
def test_how_long_and_how_often(after: float, done: bool, often: int) -> None:
    clock = Clock()
    assert wait_until(lambda: clock.done_after(after), 3.0, 1.0, clock) is done
    assert clock.looks == often
    assert clock.now == 99 + often, "it pauses between two looks, and not after the last"


@pytest.mark.parametrize(("pause", "least", "often"), [(1.0, 0, 4), (1.0, 5, 6), (10.0, 0, 2), (10.0, 3, 4)])
def test_a_machine_that_is_too_busy_to_look_has_more_time(pause: float, least: int, often: int) -> None:
    clock, seen = Clock(), []
    for last in looks(3.0, clock, least):
        seen.append(last)
        clock.sleep(pause)
    assert seen == [False] * (often - 1) + [True]


@pytest.mark.parametrize(("pause", "often", "over"), [(0.5, 7, 3.5), (2.0, 4, 8.0), (3.0, 4, 12.0)])
def test_a_look_that_takes_long_counts_two_pauses(pause: float, often: int, over: float) -> None:
    clock = Clock()
    seen = [clock.sleep(pause) for _ in fair_looks(3.0, 0.5, 20.0, clock)]
    assert (len(seen), clock.now) == (often, 100 + over)


def test_a_machine_that_never_gets_its_turn_decides_nothing() -> None:
    clock = Clock()
    slow = (clock.sleep(11.0) for _ in fair_looks(3.0, 0.5, 20.0, clock))
    with pytest.raises(TimeoutError, match=r"not come within 20 s, on a machine that is busy"):
        list(slow)
    assert clock.now == 122.0
