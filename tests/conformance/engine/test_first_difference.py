"""Where the same plan parts two implementations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from broken_adapters import Slow

from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.engine.first_difference import (
    conforming_steps,
    differing_step,
    play_and_compare,
    steps_of,
)
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Numbered, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import UNDEFINED, Outcome, Unsupported, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.sampler import sampler

SUITE, SEED, STEPS = SUITES["remote-store"], 5, 12
ZERO, TOPIC = "mutant:asks-no-zero", "mutant:clone-ignores-topic"


class OffersNoReads(Slow):
    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return Unsupported("no reads") if operation.spec.name == "read" else outcome


@contextmanager
def playing(*adapters: str | Adapter) -> Iterator[list[Player]]:
    stages = [Stage(open_address(one) if isinstance(one, str) else one, Profile()) for one in adapters]
    try:
        yield [Player(stage, Judge(SUITE, Profile())) for stage in stages]
    finally:
        for stage in stages:
            stage.close()


def plans(count: int) -> list[Numbered]:
    draw = sampler(SUITE, Profile())
    return [(number, draw.case(SEED, number, STEPS)) for number in range(count)]


def observed(player: Player, plan: Numbered) -> list[object]:
    """What an implementation does, whatever the model says of it."""
    player.stage.begin(SUITE, plan[0])
    results: list[object] = []
    for row in plan[1]:
        outcome = player.stage.do(SUITE, row)
        assert not isinstance(outcome, Unsupported)
        results.append(result_of(outcome))
    return results


def test_two_that_differ_part_where_the_first_of_them_leaves_the_model() -> None:
    parted = 0
    with playing(ZERO, TOPIC) as (ours, theirs):
        for plan in plans(150):
            one, other = ours.one(*plan), theirs.one(*plan)
            found = differing_step(steps_of(ours, one), steps_of(theirs, other))
            pairs = zip(observed(ours, plan), observed(theirs, plan), strict=True)
            expected = [step.expected for step in ours.judge.expected(plan[1])]
            both = min(one.steps, other.steps)
            first = next(
                (
                    at
                    for at, (mine, hers) in enumerate(pairs, start=1)
                    if at <= both and expected[at - 1] is not UNDEFINED and mine != hers
                ),
                None,
            )
            assert (found[0] if found else None) == first, plan
            if found:
                parted += 1
                assert found[1].observed != found[1].expected
    assert parted > 10


def test_the_same_implementation_never_parts_from_itself() -> None:
    with playing(ZERO, ZERO) as (ours, theirs):
        for plan in plans(60):
            assert differing_step(steps_of(ours, ours.one(*plan)), steps_of(theirs, theirs.one(*plan))) is None


def test_what_one_of_them_does_not_offer_is_not_compared() -> None:
    with playing(Port(), OffersNoReads()) as (ours, theirs):
        reads = [at for at, op in enumerate(SUITE.operations) if op.spec.name == "read"]
        for number, rows in plans(60):
            if any(at in reads for at, _ in rows):
                assert differing_step(*(steps_of(one, one.one(number, rows)) for one in (theirs, ours))) is None


def test_a_plan_that_parts_them_diverges_at_that_step() -> None:
    diverged = 0
    with playing(Port(), ZERO) as (ours, theirs):
        for number, rows in plans(60):
            judged = play_and_compare(theirs, ours, rows, number)
            played = theirs.one(number, rows)
            assert judged.verdict == played.verdict
            if judged.verdict == DIVERGES:
                diverged += 1
                assert played.judged
                last = judged.steps[-1]
                assert len(judged.steps) == played.steps
                assert (last.observed, last.expected) == (played.judged.steps[-1].observed, last.expected)
                assert last.expected != last.observed
                assert judged.rows == rows[: len(judged.steps)]
            else:
                assert judged.verdict == CONFORMS
    assert diverged > 10


def test_what_the_model_says_stands_for_what_agreed_with_it() -> None:
    with playing(Port()) as (player,):
        for plan in plans(30):
            steps = conforming_steps(player.judge, plan[1])
            assert [step.row for step in steps] == plan[1]
            assert [step.observed for step in steps] == [step.expected for step in steps]
