"""A difference on a real clock is played again before it counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice

from rocketmq_conformance.conformance.adapter import REAL, Case, Hello, Play, T
from rocketmq_conformance.conformance.api import judge as judge_address
from rocketmq_conformance.conformance.engine.control import control
from rocketmq_conformance.conformance.engine.handshake import hello_of
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.client.whole_push import Seen
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED, DivergenceFound
from rocketmq_conformance.suites import whole_push
from rocketmq_conformance.suites.declare.answer_parts import first_difference
from rocketmq_conformance.suites.declare.judged_step import drive
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite

NOTHING_SEEN: Seen = (((-1, -1),) * 4, (), (-1,) * 4)
PLACED, GIVEN, STORED = ((0, 12),) * 4, ((0, 0, 0, 12),), (12,) * 4


class Differs:
    """Answers wrongly in the first ``wrong`` plays of a case, and then as the model does; ``ahead`` are under way."""

    def __init__(self, wrong: int, lanes: int, ahead: int = 1) -> None:
        self.wrong, self._lanes, self._ahead, self.plays = wrong, lanes, ahead, 0

    def hello(self) -> Hello:
        return Hello("it", "1", sides=("whole",), clock=REAL)

    def reset(self, case: Case) -> None:
        """Nothing to begin."""

    def apply(self, operation: Operation) -> Outcome:
        self.plays += 1
        return Ok("wrong" if self.plays <= self.wrong else None)

    def close(self) -> None:
        """Nothing to release."""

    exclusive = False

    def lanes(self, suite: Suite) -> int:
        return self._lanes

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        waiting = iter(cases)
        under_way: deque[Future[T]] = deque()
        while True:
            for play in islice(waiting, self._ahead - len(under_way)):
                under_way.append(Future())
                under_way[-1].set_result(drive(play(), self.apply))
            if not under_way:
                return
            yield under_way.popleft()


class Flickers(Differs):
    """Answers each play of a look at four young queues, which nobody consumes, by its next answer."""

    def __init__(self, lanes: int, *answers: Seen) -> None:
        super().__init__(0, lanes)
        self._answers = iter(answers)

    def apply(self, operation: Operation) -> Outcome:
        return Ok(next(self._answers))


def prepared() -> list[Row]:
    """A case of one step, which never proves a rule."""
    return [whole_push.SUITE.row(whole_push.Prepare(4, "young", 7, "CONSUME_FROM_LAST_OFFSET"))]


def verdict(wrong: int, lanes: int) -> tuple[str, str, int]:
    """(verdict, reason, plays) of a case."""
    adapter = Differs(wrong, lanes)
    stage = Stage(adapter, Profile())
    hello_of(stage)
    judge = Judge(whole_push.SUITE, Profile())
    player = Player(stage, judge)
    (played,) = player.play([(0, prepared())])
    stage.close()
    assert judge.unproven["WHOLE-SHARE"] == 1
    return played.verdict, played.reason, adapter.plays


def test_a_difference_that_shows_every_time_is_a_divergence() -> None:
    for lanes in (1, 4):
        assert verdict(3, lanes) == (DIVERGES, "", 3)


def test_a_kind_that_has_shown_every_time_is_not_played_again() -> None:
    for lanes in (1, 4):
        adapter = Differs(10, lanes)
        stage = Stage(adapter, Profile())
        hello_of(stage)
        found = list(Player(stage, Judge(whole_push.SUITE, Profile())).play([(0, prepared()), (1, prepared())]))
        stage.close()
        assert [played.verdict for played in found] == [DIVERGES, DIVERGES]
        assert adapter.plays == 4


class Races(Differs):
    """Answers wrongly in the third play alone."""

    def apply(self, operation: Operation) -> Outcome:
        self.plays += 1
        return Ok("wrong" if self.plays == 3 else None)


def test_a_plan_whose_difference_takes_luck_is_tried_as_often_as_its_suite_says() -> None:
    for tries, wanted, plays in ((1, CONFORMS, 1), (2, CONFORMS, 2), (5, DIVERGES, 3)):
        adapter, suite = Races(0, 1), replace(whole_push.SUITE, tries=tries)
        stage = Stage(adapter, Profile())
        hello_of(stage)
        found = Player(stage, Judge(suite, Profile())).execute(prepared())
        stage.close()
        assert (found.verdict, adapter.plays) == (wanted, plays)


def test_such_a_kind_counts_in_a_play_that_was_to_confirm_another_one() -> None:
    rows = [whole_push.SUITE.row(whole_push.Look())]
    places, given, stored = NOTHING_SEEN
    always, once = (places, given, STORED), (PLACED, given, stored)
    for lanes in (1, 4):
        stage = Stage(Flickers(lanes, *[always] * 3, once, NOTHING_SEEN, always), Profile())
        hello_of(stage)
        player = Player(stage, Judge(whole_push.SUITE, Profile()))
        found = [played for number in range(2) for played in player.play([(number, rows)])]
        stage.close()
        assert [played.verdict for played in found] == [DIVERGES, DIVERGES]
        assert found[1].differences[-1].steps[-1].observed == always


def test_cases_come_in_their_order_after_one_that_is_played_again() -> None:
    adapter = Differs(1, 4, ahead=2)
    stage = Stage(adapter, Profile())
    hello_of(stage)
    cases = [(number, prepared()) for number in range(3)]
    found = [
        (played.number, played.verdict) for played in Player(stage, Judge(whole_push.SUITE, Profile())).play(cases)
    ]
    stage.close()
    assert found == [(0, UNDECIDED), (1, CONFORMS), (2, CONFORMS)]
    assert adapter.plays == 5


def test_a_difference_that_does_not_repeat_is_undecided_with_its_counts() -> None:
    for lanes in (1, 4):
        for wrong in (1, 2):
            found, reason, plays = verdict(wrong, lanes)
            assert (found, plays) == (UNDECIDED, 3)
            assert reason.startswith(f"it differed in {wrong} of 3 plays: prepare(")


def test_what_differs_every_time_counts_though_another_part_does_so_at_times() -> None:
    rows = [whole_push.SUITE.row(whole_push.Look())]
    places, given, _ = NOTHING_SEEN
    answers = [(PLACED, given, STORED), (places, GIVEN, STORED), (PLACED, GIVEN, STORED)]
    for lanes in (1, 4):
        for first in range(3):
            stage = Stage(Flickers(lanes, *answers[first:], *answers[:first]), Profile())
            hello_of(stage)
            (played,) = Player(stage, Judge(whole_push.SUITE, Profile())).play([(0, rows)])
            stage.close()
            (difference,) = played.differences
            assert played.verdict == DIVERGES
            assert first_difference(whole_push.SUITE, difference.steps[-1]) == ("stored", (-1,) * 4, STORED)
            assert difference.steps[-1].observed == (places, given, STORED)


def test_parts_of_which_none_differs_every_time_are_undecided() -> None:
    rows = [whole_push.SUITE.row(whole_push.Look())]
    places, given, stored = NOTHING_SEEN
    answers = [(PLACED, given, STORED), (places, GIVEN, STORED), (PLACED, GIVEN, stored)]
    stage = Stage(Flickers(1, *answers), Profile())
    hello_of(stage)
    (played,) = Player(stage, Judge(whole_push.SUITE, Profile())).play([(0, rows)])
    stage.close()
    assert (played.verdict, played.differences) == (UNDECIDED, [])
    assert played.reason.startswith("it differed in 2 of 3 plays: look(")


def test_the_control_is_no_worse_for_a_difference_that_does_not_repeat() -> None:
    for wrong in range(4):
        stage = Stage(Differs(wrong, 1), Profile())
        hello_of(stage)
        assert control(stage, Judge(whole_push.SUITE, Profile()), prepared()) is (wrong < 3)
        stage.close()


def test_a_difference_that_nobody_reports_is_not_played_again() -> None:
    adapter = Differs(1, 1)
    stage = Stage(adapter, Profile())
    hello_of(stage)
    (played,) = Player(stage, Judge(whole_push.SUITE, Profile()), known=lambda judged: True).play([(0, prepared())])
    stage.close()
    assert (played.verdict, adapter.plays) == (DIVERGES, 1)


def test_stored_plans_are_played_once_each_in_lanes_or_not() -> None:
    for lanes in (1, 4):
        stage = Stage(Differs(1, lanes), Profile())
        hello_of(stage)
        judge = Judge(whole_push.SUITE, Profile())
        found = list(Player(stage, judge).replay([prepared(), prepared()]))
        stage.close()
        assert [one.verdict for one in found if isinstance(one, Judged)] == [DIVERGES, CONFORMS]
        assert not judge.coverage.rows()


def test_a_part_that_differs_at_times_stops_no_shrinking() -> None:
    look = whole_push.SUITE.row(whole_push.Look())
    places, given, _ = NOTHING_SEEN
    always, both = (places, given, STORED), (PLACED, given, STORED)
    answers = [NOTHING_SEEN, always] * 3 + [both] * 3
    options = Options("it", 0, plans={"whole-push": {0: [look, look]}})
    (found,) = [
        one
        for one in judge_address(Flickers(1, *answers), [whole_push.SUITE], options)
        if isinstance(one, DivergenceFound)
    ]
    assert (len(found.steps), found.unshrunk) == (1, "")
    assert [name for name, _, _ in found.parts] == ["stored, queues 0 to 3"]
