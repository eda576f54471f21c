"""Cases side by side: each is judged when it has ended, while others are played."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future

from rocketmq_conformance.conformance.adapter import AdapterError, Case, Hello, Play, T
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES
from rocketmq_conformance.suites import broker_offsets
from rocketmq_conformance.suites.broker_offsets import Min
from rocketmq_conformance.suites.declare.judged_step import drive
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite

SUITE = broker_offsets.SUITE
#: A step of case n asks for the first offset of queue n % 4, which is 0 as long as nothing was deleted.
LANES = 3


class Lanes:
    """Plays three cases side by side; some answer wrongly, and some break everything that is under way."""

    def __init__(self, wrong: Sequence[int] = (), breaking: Sequence[int] = (), fails_at_once: int = 0) -> None:
        self.wrong, self.breaking, self.fails_at_once = wrong, list(breaking), fails_at_once
        self.events: list[str] = []
        self.begun = 0
        self.under_way = 0

    def hello(self) -> Hello:
        return Hello("lanes", "1")

    def reset(self, case: Case) -> None:
        assert not self.under_way, "a case of another kind begins while some are under way"

    def apply(self, operation: Operation) -> Outcome:
        return Ok(1)

    def close(self) -> None:
        pass

    exclusive = True

    def lanes(self, suite: Suite) -> int:
        return LANES

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        if self.fails_at_once:
            self.fails_at_once -= 1
            raise AdapterError("nobody is there")
        waiting, under_way = iter(cases), list[tuple[int, Play[T]]]()
        try:
            while True:
                while len(under_way) < LANES and (case := next(waiting, None)) is not None:
                    under_way.append((self.begun, case))
                    self.events.append(f"begin {self.begun}")
                    self.begun += 1
                    self.under_way = len(under_way)
                if not under_way:
                    return
                number, play = under_way[0]
                if number in self.breaking:
                    self.breaking.remove(number)
                    raise AdapterError("the connection breaks")
                ended: Future[T] = Future()
                ended.set_result(drive(play(), lambda _, number=number: Ok(1) if number in self.wrong else Ok(0)))
                yield ended
                under_way.pop(0)
        finally:
            self.under_way = 0


def numbered(count: int) -> Iterator[tuple[int, list[Row]]]:
    return ((number, [SUITE.row(Min(0, number % 4))]) for number in range(count))


def play(adapter: Lanes, count: int) -> list[Played]:
    """Play cases, and record when each is handed over."""
    played = []
    stage = Stage(adapter, Profile.of(broker="5.5.0"))
    for case in Player(stage, Judge(SUITE, stage.profile)).play(numbered(count)):
        adapter.events.append(f"{case.verdict} {case.number}")
        played.append(case)
    return played


def test_a_case_begins_when_the_first_of_those_under_way_was_judged() -> None:
    adapter = Lanes()
    assert [case.number for case in play(adapter, 5)] == [0, 1, 2, 3, 4]
    assert adapter.events == [
        *("begin 0", "begin 1", "begin 2"),
        *("conforms 0", "begin 3"),
        *("conforms 1", "begin 4"),
        *("conforms 2", "conforms 3", "conforms 4"),
    ]


def test_those_under_way_end_before_one_that_differs_is_handed_over() -> None:
    adapter = Lanes(wrong=(1,))
    assert [case.verdict for case in play(adapter, 6)] == [CONFORMS, DIVERGES, *[CONFORMS] * 4]
    assert adapter.events == [
        *("begin 0", "begin 1", "begin 2"),
        *("conforms 0", "begin 3"),
        *("diverges 1", "conforms 2", "conforms 3"),
        *("begin 4", "begin 5"),
        *("conforms 4", "conforms 5"),
    ]


def test_one_that_breaks_takes_those_under_way_with_it_and_no_others() -> None:
    played = play(Lanes(wrong=(1,), breaking=(2,)), 7)
    assert [(case.number, case.verdict) for case in played] == [
        *((0, CONFORMS), (1, DIVERGES)),
        *((2, COULD_NOT_RUN), (3, COULD_NOT_RUN)),
        *((4, CONFORMS), (5, CONFORMS), (6, CONFORMS)),
    ]
    assert {case.reason for case in played if case.verdict == COULD_NOT_RUN} == {"the connection breaks"}


def test_where_none_can_begin_each_is_said_to_be_broken() -> None:
    played = play(Lanes(fails_at_once=2), 4)
    assert [(case.number, case.verdict, case.reason) for case in played] == [
        *((number, COULD_NOT_RUN, "nobody is there") for number in (0, 1)),
        *((number, CONFORMS, "") for number in (2, 3)),
    ]
