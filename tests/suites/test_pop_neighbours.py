"""Each 5.x broker, judged by the rules of the next release: it differs exactly where a switch says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.proof.predicted_pops import RELEASES
from rocketmq_conformance.models.broker import switches
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release, changes, switches_of
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Cases from a seed, beside the covering plans of both releases.
_CASES = 100
#: Switches of these suites' rules that show elsewhere: with a property off its default, in an operation that one of the
#: two releases does not have, in queues that these suites do not make, or in what a real broker brings back in time.
_ELSEWHERE = frozenset({"POP-CHECK", "POP-ACK-12", "BQ-PULL-7-BOUND", "BQ-TOPIC-TIMER", "POP-ACK-1"})


@pytest.mark.parametrize("name", ["broker-pop-start", "broker-pop-expired", "broker-pop-ack"])
def test_a_release_differs_from_the_next_one_exactly_where_a_switch_says_so(name: str) -> None:
    suite = SUITES[name]
    differ, said = set(), {}
    for pair in pairwise(RELEASES):
        one, other = (Profile.of(broker=release) for release in pair)
        if any(_differs(suite, one, other, rows) for rows in _cases(suite, one, other)):
            differ.add(pair)
        found = changes(switches_of(switches), *map(Release.parse, pair), suite.rules)
        said[pair] = {switch.id for switch in found} - _ELSEWHERE
    assert {pair: said[pair] for pair in differ} == {pair: ids for pair, ids in said.items() if ids}


def _cases(suite: Suite, one: Profile, other: Profile) -> Iterator[Sequence[Row]]:
    for profile in (one, other):
        yield from (case.rows for case in covering_plans.cases(suite, profile))
    drawn = sampler(suite, one)
    yield from (drawn.case(1, number, suite.steps) for number in range(_CASES))


def _differs(suite: Suite, one: Profile, other: Profile, rows: Sequence[Row]) -> bool:
    """Does a broker of a release give an answer that the rules of another one do not expect?"""
    broker, judge = suite.bind(one), suite.bind(other)
    state, known = broker.initial, judge.initial
    for at, args in rows:
        observes = suite.operations[at].spec.observes
        state, answer, _ = broker.by_position[at](state, *((None, *args) if observes else args))
        known, expected, _ = judge.by_position[at](known, *((answer, *args) if observes else args))
        if answer != expected:
            return True
    return False
