"""Nothing breaks in where nothing may, and what arrived meanwhile is raised in the end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from rocketmq_conformance.conformance.alarm import Alarm, Overdue, undisturbed


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    made = Alarm()
    yield made
    made.unset()
    made.remove()


def interrupted(done: list[str]) -> None:
    """Be interrupted in the middle."""
    with undisturbed():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")


def overdue(done: list[str]) -> None:
    """Be overdue in the middle."""
    with undisturbed():
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        until = time.monotonic() + 30
        while signal.getitimer(signal.ITIMER_REAL)[0] and time.monotonic() < until:
            time.sleep(0.001)
        done.append("all of it")


def test_ctrl_c_waits_for_the_end() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(done)
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_alarm_waits_for_the_end(alarm: Alarm) -> None:
    done: list[str] = []
    alarm.set(60)
    with pytest.raises(Overdue):
        overdue(done)
    assert done == ["all of it"]


def test_another_thread_is_not_disturbed_anyway() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            done.append("all of it")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["all of it"]
