"""Decision tables on a real broker, whose cases go on while it is stopped, killed and started again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rocketmq_conformance.conformance.proof import broker_tables as tables
from rocketmq_conformance.conformance.proof.broker_suites import describe, observed_result
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.models.broker import lifecycle
from rocketmq_conformance.models.broker.aged_store import aged_broker
from rocketmq_conformance.models.broker.broker_restart import SURVIVAL_REASONS
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import (
    broker_offsets,
    broker_restart,
)
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.values.broker import show


class Table:
    """Cases that continue over restarts of the broker, each in its lane, with the model's state of each."""

    def __init__(self, adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
        self.adapter = adapter
        self.rules = BrokerRules.of(profile)
        self.handlers = tables.handlers(profile)
        self.tally = tally
        self.states: list[BrokerState] = []
        #: How the broker ended since the offsets were stored (STOP, KILL).
        self.how = ""

    def begin(self, lanes: int) -> None:
        """Begin so many new cases."""
        self.adapter.reset_many([(lane, broker_offsets.SUITE) for lane in range(lanes)])
        old, new = aged_broker(self.rules), initial_state()
        self.states = [old._replace(topics={**old.topics, **new.topics})] * lanes

    def play(self, cases: Sequence[Sequence[Operation]]) -> None:
        """Play operations in each lane, all lanes side by side."""
        played = self.adapter.play_many([(lane, case) for lane, case in enumerate(cases) if case])
        for lane, (case, outcomes) in enumerate(zip([case for case in cases if case], played, strict=True)):
            self.states[lane] = self._check(self.states[lane], case, outcomes)

    def _check(self, state: BrokerState, case: Sequence[Operation], outcomes: Sequence[Outcome]) -> BrokerState:
        for operation, outcome in zip(case, outcomes, strict=True):
            observed = observed_result(outcome)
            handler = self.handlers[type(operation)]
            given = (observed, *operation.args) if operation.spec.observes else operation.args
            after, expected, why = handler(state, *given)
            if self.how and why.rules == ("BQ-QUERY-1",):
                why = SURVIVAL_REASONS[self.how]
            self.tally.add(expected, why, observed, partial(describe, operation, show(state)))
            state = after
        return state

    def play_all(self, cases: Sequence[Sequence[Operation]], lanes: int) -> None:
        """Play new cases, so many side by side."""
        for at in range(0, len(cases), lanes):
            some = cases[at : at + lanes]
            self.begin(len(some))
            self.play(some)

    def change(self, change: Callable[[BrokerState], BrokerState]) -> None:
        """Record an event of the whole broker, such as a restart."""
        self.states = [change(state) for state in self.states]


def prove_tables(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The decision tables; stored offsets must survive a stop and a kill."""
    lanes = adapter.lanes(broker_offsets.SUITE)
    table = Table(adapter, profile, tally)
    for cases in (tables.commits(), tables.deletions(), tables.searches()):
        table.play_all(cases, lanes)
    table.begin(len(tables.STORED))
    table.play(tables.stored())
    asked: list[Operation] = [*tables.queries(), *tables.bounds()]
    everywhere = [asked] * len(tables.STORED)
    table.play(everywhere)
    for hot in (False, True):
        adapter.apply(broker_restart.Memory(hot))
        table.change(partial(lifecycle.with_memory, table.rules, hot=hot))
        table.play(everywhere)
    for how in (STOP, KILL):
        adapter.apply(broker_restart.Save())
        adapter.apply(broker_restart.Restart(how))
        table.change(partial(lifecycle.restart, table.rules))
        table.how = how
        table.play(everywhere)
