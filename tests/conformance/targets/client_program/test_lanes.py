"""The lanes that the suites of a program share."""

from __future__ import annotations

import threading
from concurrent.futures import wait

from rocketmq_conformance.conformance.targets.client_program.lanes import Lanes


def test_a_lane_is_free_again_when_its_case_has_ended() -> None:
    lanes, ends = Lanes(1), threading.Event()
    assert lanes.take(waits=False)
    case = lanes.begin(ends.wait)
    assert not lanes.take(waits=False)
    assert lanes.under_way == {case}
    ends.set()
    wait([case])
    assert lanes.under_way == frozenset()
    assert lanes.take(waits=False)
    lanes.leave()
    assert lanes.take(waits=True)
    lanes.close()


def test_who_waits_for_a_lane_has_the_next_one() -> None:
    lanes, ends, has = Lanes(1), threading.Event(), threading.Event()
    assert lanes.take(waits=False)
    case = lanes.begin(ends.wait)

    def waits() -> None:
        lanes.take(waits=True)
        has.set()

    waiting = threading.Thread(target=waits)
    waiting.start()
    while not lanes._awaited:
        has.wait(0.01)
    ends.set()
    wait([case])
    assert not lanes.take(waits=False), "it is for the one that waits"
    assert has.wait(10)
    waiting.join()
    lanes.close()
