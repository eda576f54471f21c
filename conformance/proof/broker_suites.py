"""Suites on a real broker: random cases, each until its first difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import product
from types import MappingProxyType

from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.launch_config import java_showing_pages
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.outcome import Err, Outcome, Result, Unsupported, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    broker_cold,
    broker_search_files,
    broker_tables,
)
from rocketmq_conformance.suites.declare.indeterminate import Possibility, TooMany, narrowed, unanswered
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: Random cases of a suite that needs no restarts.
CASES = 96
_COLD_CASES = 12
_SEED = 1
#: How often a case that differs is played again.
_MORE = 2


def prove_suite(
    adapter: BrokerAdapter, profile: Profile, tally: Tally, suite: Suite, cases: int, steps: int | None = None
) -> None:
    """Play random cases of one suite; a case ends at its first difference.

    A case that differs is played again, as in a run: one that does not differ each time confirms and contradicts
    nothing. Of a suite that luck has a part in one time more is enough.
    """
    drawn, bound = sampler(suite, profile), suite.bind(profile)

    def found(number: int, plan: Sequence[Row], outcomes: Sequence[Outcome] | None) -> Tally:
        counted = Tally(tally.side, tally.release)
        with suppress(TooMany):
            prove_case(suite, bound, plan, doing(adapter, suite, outcomes), counted, f"{suite.name} case {number}")
        return counted

    plans = [drawn.case(_SEED, number, steps or suite.steps) for number in range(cases)]
    differing: list[tuple[int, Tally]] = []
    for number, (plan, outcomes) in enumerate(zip(plans, _played(adapter, suite, plans), strict=True)):
        once = found(number, plan, outcomes)
        if once.differences:
            differing.append((number, once))
        else:
            tally.take(once)
    for number, once in differing:
        plan = plans[number]
        more = (found(number, plan, outcomes) for _ in range(_MORE) for outcomes in _played(adapter, suite, [plan]))
        differ = (bool(again.differences) for again in more)
        if all(differ) if suite.repeatable else any(differ):
            tally.take(once)
        else:
            tally.unsteady.append(once.examples[0])


def _played(adapter: BrokerAdapter, suite: Suite, plans: Sequence[Sequence[Row]]) -> Iterator[list[Outcome] | None]:
    """The outcomes of each case; None for one that has only begun, where cases are played one by one."""
    if adapter.lanes(suite) > 1:
        yield from adapter.play_cases(suite, [[suite.operation(row) for row in plan] for plan in plans])
        return
    for _ in plans:
        adapter.reset_many([(0, suite)])
        yield None


def doing(adapter: BrokerAdapter, suite: Suite, outcomes: Sequence[Outcome] | None) -> Callable[[int, Row], Outcome]:
    """The outcome of a step of a plan: the recorded one, or that of playing it now."""
    if outcomes is not None:
        return lambda step, row: outcomes[step]
    return lambda step, row: adapter.apply(suite.operation(row))


def prove_case(
    suite: Suite, bound: BoundModel, plan: Sequence[Row], do: Callable[[int, Row], Outcome], tally: Tally, name: str
) -> None:
    """Play one case until its first difference; TooMany when too many of its outcomes are indeterminate."""
    possible = [Possibility(bound.initial)]
    for step, row in enumerate(plan):
        spec = suite.operations[row[0]].spec
        if spec.guard is not None and not all(spec.guard(one.state) for one in possible):
            continue
        outcome = do(step, row)
        if isinstance(outcome, Unsupported):  # with this configuration
            continue
        observed = observed_result(outcome)
        if isinstance(observed, Err) and not observed.definite:
            if not spec.may_be_indeterminate:  # too busy, or a timeout: nothing can be concluded
                return
            possible = unanswered(bound, possible, row)
            continue
        (one, *_), possible = narrowed(bound, possible, row, observed, observes=spec.observes)
        place = f"{suite.show(one.before.state)}, {name} step {step}"
        tally.add(one.expected, one.why, observed, partial(describe, suite.operation(row), place))
        if not possible:
            return


def prove_every_search(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """Every step that the suite ``broker-search-files`` has."""
    suite = broker_search_files.SUITE
    adapter.reset_many([(0, suite)])
    for at, operation in enumerate(suite.operations):
        columns = operation.spec.columns() or ()
        plan: list[Row] = [(at, args) for args in product(*map(dict.fromkeys, columns))]
        (outcomes,) = adapter.play_many([(0, [suite.operation(row) for row in plan])])
        do = doing(adapter, suite, outcomes)
        prove_case(suite, suite.bind(profile), plan, do, tally, f"{suite.name}, every {operation.spec.name}")


def prove_files(adapter: BrokerAdapter, profile: Profile, tally: Tally, plan: Sequence[Operation]) -> None:
    """Files of tables that are damaged between starts."""
    suite = broker_tables.SUITE
    adapter.reset_many([(0, suite)])
    rows = [suite.row(operation) for operation in plan]
    prove_case(suite, suite.bind(profile), rows, doing(adapter, suite, None), tally, f"{suite.name}, damaged files")


def prove_cold(adapter: BrokerAdapter, tally: Tally) -> bool:
    """The suite ``broker-cold``, on the Java that the broker has; False where pages cannot be paged out of memory."""
    hello = adapter.hello()
    if broker_cold.SUITE.name in hello.unsupported:
        return False
    profile = Profile.of(broker=tally.release, java=hello.java or 17)
    prove_suite(adapter, profile, tally, broker_cold.SUITE, _COLD_CASES)
    return True


def prove_seen_cold(tally: Tally) -> bool:
    """The same on a broker of its own, whose Java sees which pages are in memory; False where there is no such Java."""
    java = java_showing_pages()
    if not java:
        return False
    with own_broker(tally, java=java) as (adapter, _):
        return prove_cold(adapter, tally)


@contextmanager
def own_broker(
    tally: Tally, properties: Mapping[str, str] = MappingProxyType({}), *, java: int = 0
) -> Iterator[tuple[BrokerAdapter, Profile]]:
    """A broker of the tally's release that starts with these properties, and the profile that judges it.

    ``java`` is a feature release to run on, in the place of what the broker would be started by.
    """
    adapter = BrokerAdapter(StartedBroker(Release.parse(tally.release), java=java, properties=properties))
    try:
        hello = adapter.hello()
        yield adapter, Profile.of(broker=tally.release, java=hello.java or 17).configured(properties)
    finally:
        adapter.close()


def observed_result(outcome: Outcome) -> Result:
    """What is compared with the model's answer; a proof plays nothing that is unsupported."""
    assert not isinstance(outcome, Unsupported), outcome
    return result_of(outcome)


def describe(operation: Operation, place: str) -> str:
    """The step of a difference, as its row has it."""
    return f"{operation} on {place}"
