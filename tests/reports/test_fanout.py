"""Many reports from one stream: one that fails takes no other down."""

from __future__ import annotations

import pytest

from rocketmq_conformance.reports.event import Event, Progress
from rocketmq_conformance.reports.fanout import Fanout

EVENT = Progress(suite="allocation", cases=1, of=2, steps=3, seconds=0.5)


class Kept:
    """Keeps what it gets."""

    def __init__(self) -> None:
        self.got: list[Event] = []
        self.closed = 0

    def __call__(self, event: Event) -> None:
        self.got.append(event)

    def close(self) -> None:
        self.closed += 1


class FullDisk(Kept):
    def __call__(self, event: Event) -> None:
        super().__call__(event)
        raise OSError("No space left on device")


class FullDiskAtEnd(Kept):
    def close(self) -> None:
        super().close()
        raise OSError("No space left on device")


class Interrupted(Kept):
    def __call__(self, event: Event) -> None:
        raise KeyboardInterrupt


def test_every_report_gets_every_event_in_order() -> None:
    one, other = Kept(), Kept()
    fanout = Fanout([one, other])
    fanout(EVENT)
    fanout(Progress(suite="allocation", cases=2, of=2, steps=6, seconds=1.0))
    fanout.close()
    assert one.got == other.got == [EVENT, Progress(suite="allocation", cases=2, of=2, steps=6, seconds=1.0)]
    assert (one.closed, other.closed, fanout.faults) == (1, 1, [])


@pytest.mark.parametrize("position", [0, 1])
def test_a_report_that_fails_is_named_and_left_out(position: int) -> None:
    broken, whole = FullDisk(), Kept()
    fanout = Fanout([broken, whole] if position == 0 else [whole, broken])
    fanout(EVENT)
    fanout(EVENT)
    fanout.close()
    assert (len(broken.got), len(whole.got)) == (1, 2)
    assert (broken.closed, whole.closed) == (1, 1)
    assert fanout.faults == ["The report FullDisk stopped: OSError: No space left on device"]


def test_a_report_that_fails_at_its_end_is_named() -> None:
    broken, whole = FullDiskAtEnd(), Kept()
    fanout = Fanout([broken, whole])
    fanout.close()
    assert whole.closed == 1
    assert fanout.faults == ["The report FullDiskAtEnd stopped: OSError: No space left on device"]


def test_ctrl_c_passes_through() -> None:
    fanout = Fanout([Interrupted()])
    with pytest.raises(KeyboardInterrupt):
        fanout(EVENT)
    assert fanout.faults == []
