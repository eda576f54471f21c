"""Waiting looks at once, as often as it says, and once more when the time is up."""

from __future__ import annotations

import time

import pytest

from rocketmq_conformance.conformance.waiting import wait_until


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.looks = 100.0, 0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def done_after(self, seconds: float) -> bool:
        self.looks += 1
        return self.now >= 100.0 + seconds


@pytest.mark.parametrize(("after", "done", "looks"), [(0, True, 1), (2, True, 3), (3.5, True, 5), (9, False, 5)])
def test_how_long_and_how_often(after: float, done: bool, looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    assert wait_until(lambda: clock.done_after(after), 3.0, 1.0, clock.sleep) is done
    assert clock.looks == looks
