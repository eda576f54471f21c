"""The power of the start suites: faults planted into the model are noticed within three hundred cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from rocketmq_conformance.models.client import timestamp
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason
from rocketmq_conformance.suites import start_lite_pull, start_push
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

PUSH, LITE = start_push.SUITE, start_lite_pull.SUITE
METHODS = {PUSH.name: "push", LITE.name: "lite_pull"}
CASES = 300

Decide = Callable[..., Answer[Any]]


def played(suite: Suite) -> list[tuple[Expected, Reason]]:
    """Result and reason of every step."""
    bound, drawn = suite.bind(Profile()), sampler(suite, Profile())
    steps = []
    for case in range(CASES):
        state = bound.initial
        for at, args in drawn.case(5, case, suite.steps):
            state, result, why = bound.by_position[at](state, *args)
            steps.append((result, why))
    return steps


def differs(right: list[tuple[Expected, Reason]], suite: Suite) -> bool:
    """Does a suite answer otherwise now?"""
    return any(one[0] != other[0] for one, other in zip(right, played(suite), strict=True))


def utc(decide: Decide) -> Decide:
    """The zone of the process is not looked at."""
    return lambda state, queue, where, text, zone, *more: decide(state, queue, where, text, "UTC", *more)


def winter(decide: Decide) -> Decide:
    """The zone's offset of January, whatever the date."""
    fixed = {"America/New_York": "Etc/GMT+5", "Australia/Lord_Howe": "Etc/GMT-11"}
    return lambda state, queue, where, text, zone, *more: decide(
        state, queue, where, text, fixed.get(zone, zone), *more
    )


def strict(decide: Decide) -> Decide:
    """Only texts of 14 characters are times."""
    return lambda state, queue, where, text, *more: decide(
        state, queue, where, text if text and len(text) == 14 else None, *more
    )


def first_is_last(decide: Decide) -> Decide:
    return lambda state, queue, where, *more: decide(state, queue, LAST if where == FIRST else where, *more)


def time_is_last(decide: Decide) -> Decide:
    return lambda state, queue, where, *more: decide(state, queue, LAST if where == TIMESTAMP else where, *more)


def no_retry(decide: Decide) -> Decide:
    """The retry topic is a topic like any other."""
    return lambda state, queue, *more: decide(state, 0 if queue == 3 else queue, *more)


def unchecked(decide: Decide) -> Decide:
    return lambda state, queue, where, text, zone, checked, *more: decide(state, queue, where, text, zone, False, *more)


FAULTS = (utc, winter, strict, first_is_last, time_is_last, no_retry, unchecked)


@pytest.mark.parametrize("suite", [PUSH, LITE], ids=lambda suite: suite.name)
def test_every_planted_fault_is_noticed(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    method, right = METHODS[suite.name], played(suite)
    model = getattr(StartModel, method)
    unnoticed = []
    for fault in FAULTS:
        wrong = lambda self, *args: fault(lambda *more: model(self, *more))(*args)  # noqa: B023, E731
        with monkeypatch.context() as planted:
            planted.setattr(StartModel, method, wrong)
            if not differs(right, suite):
                unnoticed.append(fault.__name__)
    assert unnoticed == []


def test_a_real_minimum_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StartModel.push

    def wrong(self: StartModel, state: Any, queue: int, where: str, *more: Any) -> Answer[Any]:
        return right(self, state, queue, FIRST if where == "CONSUME_FROM_MIN_OFFSET" else where, *more)

    before = played(PUSH)
    monkeypatch.setattr(StartModel, "push", wrong)
    assert differs(before, PUSH)


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("suite", [PUSH, LITE], ids=lambda suite: suite.name)
def test_an_hour_that_is_skipped_or_had_twice_is_noticed(
    suite: Suite, fold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def always(wall: int, zone: Any) -> int:
        moment = (timestamp.datetime(1970, 1, 1) + timestamp.timedelta(seconds=wall)).replace(tzinfo=zone, fold=fold)
        offset = moment.utcoffset()
        assert offset is not None
        return int(offset.total_seconds())

    before = played(suite)
    timestamp.parse_timestamp.cache_clear()
    monkeypatch.setattr(timestamp, "_at", always)
    try:
        assert differs(before, suite)
    finally:
        timestamp.parse_timestamp.cache_clear()


@pytest.mark.parametrize("suite", [PUSH, LITE], ids=lambda suite: suite.name)
def test_searches_by_time_are_frequent(suite: Suite) -> None:
    kinds = Counter(why.kind for _, why in played(suite))
    assert kinds["no offset, timestamp: search"] >= CASES
