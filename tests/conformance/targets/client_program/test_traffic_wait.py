"""Looks at clients that show things at once, or later, on a clock that is played."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import (
    Clock,
    Interrupted,
    Limits,
    wait_for_traffic,
)
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.whole import BROADCAST, ORDERLY
from rocketmq_conformance.models.client.whole_deadlines import due, waits_of
from rocketmq_conformance.models.client.whole_moves import MEMBERS, PULL, SILENT, Fail
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

NEVER = 1e9


class PlayedClock(Clock):
    """Time passes when somebody waits."""

    def __init__(self) -> None:
        super().__init__(threading.Event())
        self.time = 1000.0

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float, /) -> None:
        self.time += seconds


def seen(limits: Limits, owners: float, stored: float, until: float = NEVER) -> tuple[bool, float]:
    """Was it seen of a client that shows owners and stored offsets after so many seconds; and how long that took."""
    clock = PlayedClock()
    began = clock.time

    def passed() -> float:
        return clock.time - began

    def has_owners() -> bool:
        return owners <= passed() < until

    shown = wait_for_traffic(clock, limits, has_owners, lambda: has_owners() and stored <= passed(), lambda: False)
    return shown, passed()


#: (what failed before, the rule that fired, seconds in which a right client shows owners, and one that does the same
#: only in its next round, timer or try).
STEPS: list[tuple[str, Mapping[str, Fail], str, float, float]] = [
    ("at once", {}, "WHOLE-SHARE", 1.0, 20.0),
    ("ten seconds later", {}, "WHOLE-RESET", 11.0, 30.0),
    ("a correction", {}, "WHOLE-MOVED", 30.0, 50.0),
    ("the next round", {MEMBERS: Fail(MEMBERS)}, "WHOLE-SHARE", 21.0, 40.0),
    ("the next try", {PULL: Fail(PULL)}, "WHOLE-PULL", 3.0, 23.0),
    ("the end of a pull", {PULL: Fail(PULL, SILENT)}, "WHOLE-SILENT", 33.0, 66.0),
]


@pytest.mark.parametrize(("failed", "rule", "right", "wrong"), [step[1:] for step in STEPS], ids=[x[0] for x in STEPS])
@pytest.mark.parametrize("pace", [1.0, 20.0])
def test_what_comes_a_round_late_is_noticed(
    failed: Mapping[str, Fail], rule: str, right: float, wrong: float, pace: float
) -> None:
    timing, promised = Timing.of(pace), due(failed, {}, "", [rule])
    limits = Limits(promised.owners / pace + timing.margin, promised.stored / pace + timing.margin, timing.quiet)
    # a busy machine makes a right client later by less than the margin
    for delay in (0.0, timing.margin - 1.0):
        shown, _ = seen(limits, right / pace + delay / 2, (right + 5.0) / pace + delay / 2)
        assert shown
    if pace == 1.0:
        shown, took = seen(limits, wrong, wrong)
        assert not shown
        assert took == pytest.approx(limits.owners, abs=0.1)


#: (kind, client, the rule that fired, seconds as above).
KINDS: list[tuple[str, str, str, str, float, float]] = [
    ("a refused lock is asked for again at once", ORDERLY, "5.5.0", "WHOLE-SHARE", 1.0, 20.0),
    ("in the next round", ORDERLY, "4.9.8", "WHOLE-SHARE", 20.0, 40.0),
    ("by the lock timer", ORDERLY, "5.5.0", "REB-LOCK-3", 20.0, 40.0),
    ("by force", ORDERLY, "5.5.0", "REB-REM-3", 20.0, 40.0),
    ("corrected once", BROADCAST, "5.5.0", "WHOLE-MOVED", 30.0, 60.0),
]


@pytest.mark.parametrize(
    ("kind", "client", "rule", "right", "wrong"), [x[1:] for x in KINDS], ids=[x[0] for x in KINDS]
)
def test_who_waits_longer_than_consumers_of_its_kind_is_noticed(
    kind: str, client: str, rule: str, right: float, wrong: float
) -> None:
    timing = Timing()
    listens = rule == "REB-REM-3"
    waits = waits_of(kind, ClientRules.of(Profile(client=Release.parse(client))), listens)
    promised = due({}, {}, "", [rule], waits=waits)
    limits = Limits(promised.owners + timing.margin, promised.stored + timing.margin, timing.quiet)
    assert seen(limits, right, right + 5.0)[0]
    assert not seen(limits, wrong, wrong)[0]


def test_offsets_that_are_stored_a_round_late_are_noticed() -> None:
    limits = Limits(10.0, 15.0, 1.0)
    assert seen(limits, 1.0, 6.0) == (True, pytest.approx(7.0, abs=0.1))
    assert seen(limits, 1.0, 26.0)[0] is False


def test_what_does_not_last_was_not_shown() -> None:
    assert seen(Limits(10.0, 15.0, 1.0), 1.0, 1.0, until=1.5)[0] is False


def test_a_member_that_ends_ends_the_look() -> None:
    clock = PlayedClock()
    assert not wait_for_traffic(clock, Limits(10.0, 15.0, 1.0), lambda: True, lambda: False, lambda: clock.time >= 1003)
    assert clock.time == pytest.approx(1003, abs=0.1)


def test_the_end_of_a_run_ends_every_wait() -> None:
    interrupted = threading.Event()
    interrupted.set()
    with pytest.raises(Interrupted):
        Clock(interrupted).wait(lambda: False, 60.0)


def test_a_member_that_waits_for_a_timer_has_the_time_of_that_more() -> None:
    for later in (31.0, 0.0):
        clock = PlayedClock()
        began = clock.time

        def pulls(clock: Clock = clock, began: float = began) -> bool:
            return clock.monotonic() - began >= 35.0

        limits = Limits(10.0, 15.0, 1.0, heartbeat=31.0)
        assert wait_for_traffic(clock, limits, pulls, pulls, lambda: False, lambda later=later: later) is bool(later)
