"""The broker of suite broker-process: its process runs, is frozen, or is down (RUN-DOWN-1, RUN-FREEZE-*).

Requests to a frozen broker wait: a commit that timed out may still be applied once the process goes on. That makes the
broker's state uncertain (:class:`~rocketmq_conformance.models.broker.lifecycle.UncertainBroker`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rocketmq_conformance.models.broker import lifecycle
from rocketmq_conformance.models.broker.broker_restart import BrokerRestartModel
from rocketmq_conformance.models.broker.lifecycle import UncertainBroker
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

RUNNING, FROZEN, DOWN = "running", "frozen", "down"
#: The outcome of a request to a broker that is down, and to one that is frozen.
UNREACHABLE, SILENT = Err("UNREACHABLE"), Err("TIMEOUT")
#: Commits to a frozen broker at most, each of which may be applied or not.
MAX_PENDING = 4

RULES = (
    Rule(
        "RUN-DOWN-1",
        "Nobody listens on the port of a broker that was stopped or killed.",
        "NettyRemotingServer#shutdown @ 4.9.7, 5.5.0",
    ),
    Rule(
        "RUN-FREEZE-1",
        "A frozen broker (SIGSTOP, docker pause) answers nothing; clients still connect, as its system accepts for it.",
        "NettyRemotingServer#start @ 4.9.7, 5.5.0",
    ),
    Rule(
        "RUN-FREEZE-2",
        "A frozen broker that goes on has forgotten nothing, and takes up what it was asked meanwhile: a commit that "
        "timed out may be done. When it is killed instead, such commits are lost.",
        "NettyRemotingAbstract#processRequestCommand @ 4.9.7, 5.5.0",
        level=Level.UNDEFINED,
    ),
)

_DOWN = Reason(("RUN-DOWN-1",), "down")
_SILENT = Reason(("RUN-FREEZE-1",), "frozen")
_FROZEN = Reason(("RUN-FREEZE-1",), "freezes")
_GOES_ON = {
    False: Reason(("RUN-FREEZE-2",), "goes on, nothing committed meanwhile"),
    True: Reason(("RUN-FREEZE-2",), "goes on, commits may be taken"),
}
_STARTED = Reason(("RUN-RESTART-1",), "started")


class PendingCommit(NamedTuple):
    """A commit that was sent to a frozen broker: group, topic, queue and offset."""

    group: int
    topic: int
    queue: int
    offset: int


class BrokerProcessState(NamedTuple):
    """A broker and its process: ``broker`` is its state now, or once it is started."""

    broker: UncertainBroker
    status: str = RUNNING
    pending: tuple[PendingCommit, ...] = ()


class BrokerProcessModel:
    """The rules of a broker whose process is ended, frozen and started, for one profile; every method is pure."""

    __slots__ = ("restarts",)

    def __init__(self, profile: Profile) -> None:
        self.restarts = BrokerRestartModel(profile)

    def initial(self) -> BrokerProcessState:
        """The initial state: a running broker on the aged store, with topic 0 and group 0."""
        return BrokerProcessState(self.restarts.initial())

    def stop(self, life: BrokerProcessState, observed: Result) -> Answer[BrokerProcessState]:
        """BQ-COM-11: a frozen broker goes on first, as it cannot receive the signal."""
        after, _, why = lifecycle.stop(self.restarts.broker.rules, self._resumed(life))
        return BrokerProcessState(after, DOWN), None, why

    def kill(self, life: BrokerProcessState, observed: Result) -> Answer[BrokerProcessState]:
        """BQ-COM-12: requests that wait at a frozen broker are lost."""
        after, _, why = lifecycle.kill(self.restarts.broker.rules, life.broker)
        return BrokerProcessState(after, DOWN), None, why

    def start(self, life: BrokerProcessState, observed: Result) -> Answer[BrokerProcessState]:
        """RUN-RESTART-1."""
        return life._replace(status=RUNNING), None, _STARTED

    def pause(self, life: BrokerProcessState, observed: Result) -> Answer[BrokerProcessState]:
        """RUN-FREEZE-1."""
        return life._replace(status=FROZEN), None, _FROZEN

    def resume(self, life: BrokerProcessState, observed: Result) -> Answer[BrokerProcessState]:
        """RUN-FREEZE-2."""
        return BrokerProcessState(self._resumed(life)), None, _GOES_ON[bool(life.pending)]

    def save(self, life: BrokerProcessState, observed: Result) -> Answer[BrokerProcessState]:
        """BQ-COM-12."""
        return self._answered(life, lambda broker: self.restarts.save(broker, observed))

    def send(
        self, life: BrokerProcessState, observed: Result, topic: int, queue: int, count: int, apart: bool
    ) -> Answer[BrokerProcessState]:
        """BQ-SEND-1."""
        return self._answered(life, lambda broker: self.restarts.send(broker, observed, topic, queue, count, apart))

    def commit(
        self, life: BrokerProcessState, observed: Result, group: int, topic: int, queue: int, offset: int
    ) -> Answer[BrokerProcessState]:
        """BQ-UPDATE-*, RUN-FREEZE-2."""
        if life.status == FROZEN:
            pending = (*life.pending, PendingCommit(group, topic, queue, offset))
            return life._replace(pending=pending), SILENT, _SILENT
        return self._answered(life, lambda broker: self.restarts.commit(broker, observed, group, topic, queue, offset))

    def query(
        self, life: BrokerProcessState, observed: Result, group: int, topic: int, queue: int, set_zero: bool | None
    ) -> Answer[BrokerProcessState]:
        """BQ-QUERY-*."""
        return self._answered(life, lambda broker: self.restarts.query(broker, observed, group, topic, queue, set_zero))

    def query_kept(
        self, life: BrokerProcessState, observed: Result, queue: int, set_zero: bool | None
    ) -> Answer[BrokerProcessState]:
        """BQ-COM-11."""
        return self._answered(life, lambda broker: self.restarts.query_kept(broker, observed, queue, set_zero))

    def max(self, life: BrokerProcessState, observed: Result, topic: int, queue: int) -> Answer[BrokerProcessState]:
        """BQ-STORE-MAX."""
        return self._answered(life, lambda broker: self.restarts.max(broker, observed, topic, queue))

    def min(self, life: BrokerProcessState, observed: Result, topic: int, queue: int) -> Answer[BrokerProcessState]:
        """BQ-STORE-MIN."""
        return self._answered(life, lambda broker: self.restarts.min(broker, observed, topic, queue))

    @staticmethod
    def _answered(
        life: BrokerProcessState, handler: Callable[[UncertainBroker], Answer[UncertainBroker]]
    ) -> Answer[BrokerProcessState]:
        """A request: only a running broker answers."""
        if life.status == DOWN:
            return life, UNREACHABLE, _DOWN
        if life.status == FROZEN:
            return life, SILENT, _SILENT
        after, expected, why = handler(life.broker)
        return life._replace(broker=after), expected, why

    def _resumed(self, life: BrokerProcessState) -> UncertainBroker:
        """The broker after it went on: each pending commit was applied, or not."""
        broker, model = life.broker, self.restarts.broker
        for commit in life.pending:
            states: list[BrokerState] = [model.commit(state, *commit)[0] for state in broker.possible]
            # applied is the likelier
            broker = lifecycle.one_of(broker, (*states, *broker.possible))
        return broker
