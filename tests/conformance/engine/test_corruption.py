"""Power at the boundary: answers are corrupted in every way that fits them, and what is not noticed has a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import Adapter, Hello
from rocketmq_conformance.conformance.api import corrupt
from rocketmq_conformance.conformance.engine import boundary_power
from rocketmq_conformance.conformance.engine.boundary_power import PROMISED_NOTHING, QUIRK
from rocketmq_conformance.conformance.engine.corruption import ANSWERS, LATE, TWICE, UNFIT
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.measurement_event import CorruptionEnded, CorruptionJudged
from rocketmq_conformance.suites.declare.discovery import SUITES

RECORD: Result = (("T", 0), ((1, 2), (3, 4)), (), True)


@every(
    ("way", "result", "corrupted"),
    [
        ("off by one", 5, 6),
        ("off by one", True, UNFIT),
        ("off by one", None, UNFIT),
        ("off by one", RECORD, (("T", 1), ((1, 2), (3, 4)), (), True)),
        ("-1 for 0", 0, -1),
        ("-1 for 0", 5, UNFIT),
        ("-1 for 0", RECORD, (("T", -1), ((1, 2), (3, 4)), (), True)),
        ("negated", RECORD, (("T", 0), ((1, 2), (3, 4)), (), False)),
        ("negated", 1, UNFIT),
        ("stale", 5, 7),
        ("stale", 7, UNFIT),
        ("dropped", (1, 2, 3), (1, 2)),
        ("dropped", RECORD, (("T",), ((1, 2), (3, 4)), (), True)),
        ("dropped", (), UNFIT),
        ("dropped", 3, UNFIT),
        ("swapped", (1, 1, 2), (1, 2, 1)),
        ("swapped", (1, 1), UNFIT),
        ("swapped", ((1, 1), (2, 3)), ((1, 1), (3, 2))),
        ("other code", 5, Err("SYSTEM_ERROR")),
        ("other code", Err("SYSTEM_ERROR"), Err("NO_PERMISSION")),
        ("off by one", Err("X"), UNFIT),
        ("dropped", Err("X"), UNFIT),
    ],
)
def test_an_answer_is_corrupted_in_one_way(way: str, result: Result, corrupted: Result) -> None:
    assert ANSWERS[way](result, 7) == corrupted


def measured(target: str | Adapter, *suites: str, cases: int = 10) -> tuple[list[CorruptionJudged], CorruptionEnded]:
    events: list[Event] = list(corrupt(target, [SUITES[name] for name in suites], seed=1, cases=cases))
    last = events[-1]
    assert isinstance(last, CorruptionEnded)
    return [one for one in events if isinstance(one, CorruptionJudged)], last


def test_everything_that_a_store_may_answer_wrongly_is_noticed() -> None:
    cells, end = measured("port", "remote-store", cases=20)
    assert (end.tried, end.exit_code) == (end.noticed, 0)
    assert {one.way for one in cells} >= {"off by one", "-1 for 0", "stale", "dropped", "swapped", "other code", LATE}
    assert {one.rule for one in cells} <= set(SUITES["remote-store"].rules)


def test_what_is_done_twice_is_noticed_where_it_makes_a_difference() -> None:
    cells, _ = measured("port", "rebalance")
    twice = [one for one in cells if one.way == TWICE]
    assert twice
    assert [one for one in twice if one.noticed < one.tried] == []
    assert TWICE not in {one.way for one in measured("port", "allocation")[0]}  # every operation is pure


def test_an_answer_that_nothing_is_promised_of_is_not_noticed_and_explained() -> None:
    cells, end = measured("port", "allocation", cases=40)
    missed = [one for one in cells if one.noticed < one.tried]
    assert {(one.rule, one.reason) for one in missed} == {("ALLOC-ROOM-1-NULL", PROMISED_NOTHING)}
    assert all("became" in one.example for one in missed)
    assert (end.explained, end.exit_code) == (end.tried - end.noticed, 0)


class PortWithoutQuirks(Port):
    """The port, which does not say that it follows Java in its accidents."""

    def hello(self) -> Hello:
        return replace(super().hello(), quirks=False)


def test_accidents_of_java_are_not_noticed_where_they_are_not_judged_and_explained() -> None:
    cells, end = measured(PortWithoutQuirks(), "remote-store", cases=20)
    missed = [one for one in cells if one.noticed < one.tried]
    assert {(one.rule, one.reason) for one in missed} == {("OFF-VAL-1", QUIRK)}
    assert end.exit_code == 0


def test_what_nothing_explains_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundary_power, "_reason", lambda *_: "")
    _, end = measured("port", "allocation", cases=40)
    assert (end.explained, end.exit_code) == (0, 1)


def test_cases_that_diverge_are_no_basis_and_without_any_other_nothing_is_concluded() -> None:
    cells, end = measured("mutant:memory-first-stays", "remote-store", cases=1)
    assert (cells, end.tried, end.exit_code) == ([], 0, 3)


def test_an_interrupted_measurement_concludes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(boundary_power, "_play", interrupted)
    _, end = measured("port", "remote-store")
    assert (end.stopped, end.exit_code) == ("interrupted", 3)


def test_a_broker_s_answers_are_corrupted_too() -> None:
    _, end = measured("broker", "broker-offsets", "broker-search-files", cases=4)
    assert end.tried > 50
    assert end.exit_code == 0
