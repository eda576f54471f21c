"""The broker of suite broker-process: its process runs, is frozen, or is down (RUN-DOWN-1, RUN-FREEZE-*).

Requests to a frozen broker wait: a commit that timed out may still be applied once the process goes on. That makes the
broker's state uncertain (:class:`~rocketmq_conformance.models.broker.lifecycle.Forked`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rocketmq_conformance.models.broker import lifecycle
from rocketmq_conformance.models.broker.broker_restart import RestartModel
from rocketmq_conformance.models.broker.lifecycle import Forked
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Level, Rule, Why

RUNNING, FROZEN, DOWN = "running", "frozen", "down"
#: The outcome of a request to a broker that is down, and to one that is frozen.
UNREACHABLE, SILENT = Err("UNREACHABLE"), Err("TIMEOUT")
#: Commits to a frozen broker at most, each of which may be applied or not.
MOST_PENDING = 4

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

_DOWN = Why(("RUN-DOWN-1",), "down")
_SILENT = Why(("RUN-FREEZE-1",), "frozen")
_FROZEN = Why(("RUN-FREEZE-1",), "freezes")
_GOES_ON = {
    False: Why(("RUN-FREEZE-2",), "goes on, nothing committed meanwhile"),
    True: Why(("RUN-FREEZE-2",), "goes on, commits may be taken"),
}
_STARTED = Why(("RUN-RESTART-1",), "started")


class Pending(NamedTuple):
    """A commit that was sent to a frozen broker: group, topic, queue and offset."""

    group: int
    topic: int
    queue: int
    offset: int


class Life(NamedTuple):
    """A broker and its process: ``broker`` is its state now, or once it is started."""

    broker: Forked
    place: str = RUNNING
    pending: tuple[Pending, ...] = ()


class ProcessModel:
    """The rules of a broker whose process is ended, frozen and started, for one profile; every method is pure."""

    __slots__ = ("restarts",)

    def __init__(self, profile: Profile) -> None:
        self.restarts = RestartModel(profile)

    def initial(self) -> Life:
        """The initial state: a running broker on the aged store, with topic 0 and group 0."""
        return Life(self.restarts.initial())

    def stop(self, life: Life, observed: Result) -> Answer[Life]:
        """BQ-COM-11: a frozen broker goes on first, as it cannot receive the signal."""
        after, _, why = lifecycle.stop(self.restarts.broker.rules, self._taken(life))
        return Life(after, DOWN), None, why

    def kill(self, life: Life, observed: Result) -> Answer[Life]:
        """BQ-COM-12: requests that wait at a frozen broker are lost."""
        after, _, why = lifecycle.kill(self.restarts.broker.rules, life.broker)
        return Life(after, DOWN), None, why

    def start(self, life: Life, observed: Result) -> Answer[Life]:
        """RUN-RESTART-1."""
        return life._replace(place=RUNNING), None, _STARTED

    def pause(self, life: Life, observed: Result) -> Answer[Life]:
        """RUN-FREEZE-1."""
        return life._replace(place=FROZEN), None, _FROZEN

    def resume(self, life: Life, observed: Result) -> Answer[Life]:
        """RUN-FREEZE-2."""
        return Life(self._taken(life)), None, _GOES_ON[bool(life.pending)]

    def save(self, life: Life, observed: Result) -> Answer[Life]:
        """BQ-COM-12."""
        return self._asked(life, lambda broker: self.restarts.save(broker, observed))

    def send(self, life: Life, observed: Result, topic: int, queue: int, count: int, apart: bool) -> Answer[Life]:
        """BQ-SEND-1."""
        return self._asked(life, lambda broker: self.restarts.send(broker, observed, topic, queue, count, apart))

    def commit(self, life: Life, observed: Result, group: int, topic: int, queue: int, offset: int) -> Answer[Life]:
        """BQ-UPDATE-*, RUN-FREEZE-2."""
        if life.place == FROZEN:
            pending = (*life.pending, Pending(group, topic, queue, offset))
            return life._replace(pending=pending), SILENT, _SILENT
        return self._asked(life, lambda broker: self.restarts.commit(broker, observed, group, topic, queue, offset))

    def query(
        self, life: Life, observed: Result, group: int, topic: int, queue: int, set_zero: bool | None
    ) -> Answer[Life]:
        """BQ-QUERY-*."""
        return self._asked(life, lambda broker: self.restarts.query(broker, observed, group, topic, queue, set_zero))

    def query_kept(self, life: Life, observed: Result, queue: int, set_zero: bool | None) -> Answer[Life]:
        """BQ-COM-11."""
        return self._asked(life, lambda broker: self.restarts.query_kept(broker, observed, queue, set_zero))

    def max(self, life: Life, observed: Result, topic: int, queue: int) -> Answer[Life]:
        """BQ-STORE-MAX."""
        return self._asked(life, lambda broker: self.restarts.max(broker, observed, topic, queue))

    def min(self, life: Life, observed: Result, topic: int, queue: int) -> Answer[Life]:
        """BQ-STORE-MIN."""
        return self._asked(life, lambda broker: self.restarts.min(broker, observed, topic, queue))

    @staticmethod
    def _asked(life: Life, handler: Callable[[Forked], Answer[Forked]]) -> Answer[Life]:
        """A request: only a running broker answers."""
        if life.place == DOWN:
            return life, UNREACHABLE, _DOWN
        if life.place == FROZEN:
            return life, SILENT, _SILENT
        after, expected, why = handler(life.broker)
        return life._replace(broker=after), expected, why

    def _taken(self, life: Life) -> Forked:
        """The broker after it went on: each pending commit was applied, or not."""
        broker, model = life.broker, self.restarts.broker
        for commit in life.pending:
            states: list[BrokerState] = [model.commit(state, *commit)[0] for state in broker.possible]
            # applied is the likelier
            broker = lifecycle.either(broker, (*states, *broker.possible))
        return broker
