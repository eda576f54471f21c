"""The life of a broker: messages expire, it is stopped, killed and started again (BQ-MIN-*, BQ-COM-11, BQ-COM-12).

``expire`` and ``restart`` are plain changes of a broker's state. A killed broker is another matter: stored offsets are
written to disk periodically (BQ-COM-12), so several states are possible afterwards, and only the broker's answers
narrow them down. ``UncertainBroker`` carries them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, QueueLog, Stored
from rocketmq_conformance.models.outcome import Result, agrees
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

RULES = (
    Rule(
        "BQ-MIN-1",
        "min moves only when the broker deletes old files and when it starts.",
        "ConsumeQueue#correctMinOffset @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-MIN-2",
        "Up to 5.0.0-ALPHA min becomes the first retained message; when none is left it stays where it was, and "
        "after a restart it is 0.",
        "ConsumeQueue#correctMinOffset @ 4.9.7",
        releases="up to 5.0.0-ALPHA",
    ),
    Rule(
        "BQ-MIN-3",
        "From 5.0.0 min becomes the first retained message, and max when none is left.",
        "ConsumeQueue#correctMinOffset @ 5.0.0, 5.5.0",
        releases="5.0.0+",
    ),
    Rule(
        "BQ-COM-11",
        "A broker that is stopped keeps every stored offset: unclamped, negative ones and those of unknown names too.",
        "ConfigManager#persist, ConsumerOffsetManager#decode @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-COM-12",
        "Stored offsets are written to disk every flushConsumerOffsetInterval, first 10 s after the start: a broker "
        "that is killed knows those of one moment since. Topics and groups are written at once, messages survive.",
        "BrokerController#initialize @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-COM-LMQ",
        "With enableLmq stored offsets are in another file: a broker on which it is switched on knows none of those "
        "that were stored before, and one on which it is switched off has them back.",
        "LmqConsumerOffsetManager#configFilePath @ 4.9.7, 5.5.0",
        releases="4.9.4+",
    ),
    Rule(
        "BQ-TOPIC-5",
        "Messages of a deleted topic stay in the commit log, and a restart may give the topic some or all of them "
        "back: nothing is promised of its min, max and times from then on.",
        "DefaultMessageStore#recover @ 4.7.1, 5.5.0",
        level=Level.UNDEFINED,
    ),
    Rule(
        "RUN-RESTART-1",
        "A broker that was stopped or killed starts again on its store.",
        "BrokerController#shutdown, DefaultMessageStore#load @ 4.9.7, 5.5.0",
    ),
    Rule(
        "RUN-DYN-1",
        "accessMessageInMemoryMaxRatio can be changed while the broker runs: up to 5.0.0 a ratio of 0 makes every "
        "queue with an entry 0 cold at once (BQ-DISK-1), from 5.1.0 it changes nothing for queries (BQ-MEM-2).",
        "DefaultMessageStore#checkInDiskByConsumeOffset @ 4.9.7, 5.0.0",
    ),
)

_EXPIRED = {
    False: {kind: Reason(("BQ-MIN-1", "BQ-MIN-2"), kind) for kind in ("all kept", "head expired", "all expired")},
    True: {kind: Reason(("BQ-MIN-1", "BQ-MIN-3"), kind) for kind in ("all kept", "head expired", "all expired")},
}
_RESTARTED = Reason(("RUN-RESTART-1",), "stopped")
_KILLED = {kind: Reason(("RUN-RESTART-1",), kind) for kind in ("killed, all on disk", "killed, some not on disk")}
_SAVED = Reason(("BQ-COM-12",), "written to disk")
_RATIO = {kind: Reason(("RUN-DYN-1",), kind) for kind in ("not looked at", "cold", "hot")}
STOP, KILL = "stop", "kill"


def expire(
    rules: BrokerRules, state: BrokerState, firsts: Mapping[tuple[str, int], int]
) -> tuple[BrokerState, dict[tuple[str, int], Reason]]:
    """The broker deleted its oldest files: ``firsts`` is the first retained offset of each (topic, queue)."""
    logs, whys = dict(state.logs), {}
    for key, first in firsts.items():
        log = logs.get(key, ABSENT)
        first = min(max(first, log.first), log.max)
        left = log.times[first - log.first :]
        kind = "all expired" if not left and first else "head expired" if first > log.first else "all kept"
        nothing_left = log.max if rules.empty_moves_min else log.min
        logs[key] = log._replace(min=first if left else nothing_left, first=first, times=left)
        whys[key] = _EXPIRED[rules.empty_moves_min][kind]
    return state._replace(logs=logs), whys


def reopened(rules: BrokerRules, log: QueueLog) -> QueueLog:
    """A queue after its broker started: min is determined again."""
    if log.times:
        return log._replace(min=log.first)
    return log._replace(min=log.max if rules.empty_moves_min else 0)


def restart(rules: BrokerRules, state: BrokerState) -> BrokerState:
    """The broker after it was stopped and started."""
    logs = {key: reopened(rules, log) for key, log in state.logs.items()}
    return state._replace(logs=logs, pending={})  # BQ-RESET-3


def with_memory(rules: BrokerRules, state: BrokerState, hot: bool) -> BrokerState:
    """RUN-DYN-1: every queue hot or cold, in releases whose answer depends on the ratio."""
    if rules.empty_is_unknown:
        return state
    hot = hot and rules.hot
    return state._replace(logs={key: log._replace(hot=hot) for key, log in state.logs.items()})


class UncertainBroker(NamedTuple):
    """A broker whose state is uncertain.

    ``possible`` are the states it may be in, the likeliest first; ``saved`` the stored offsets that may be on disk.
    ``deleted`` are topics that lost messages by deletion since the start, ``haunted`` those before it (BQ-TOPIC-5).
    ``hot`` is the effect of the ratio on new messages. ``how`` is the way the broker ended last (STOP, KILL), and
    ``survivors`` are the offsets stored before that and not since, by (group, topic, queue).
    """

    possible: tuple[BrokerState, ...]
    saved: tuple[Stored, ...]
    deleted: frozenset[str] = frozenset()
    haunted: frozenset[str] = frozenset()
    hot: bool = True
    how: str = ""
    survivors: frozenset[tuple[str, str, int]] = frozenset()

    @classmethod
    def of(cls, state: BrokerState) -> UncertainBroker:
        """A broker whose state is known and on disk."""
        return cls((state,), (state.stored,))


def step(
    forked: UncertainBroker, observed: Result, handler: Callable[[BrokerState], Answer[BrokerState]]
) -> Answer[UncertainBroker]:
    """One operation: the states that would have answered ``observed`` remain; when there are none, all of them do."""
    answers = [handler(state) for state in forked.possible]
    right = [answer for answer in answers if agrees(answer[1], observed)] or answers
    states = tuple(state for state, _, _ in right)
    _, expected, why = right[0]
    if states == forked.possible:
        return forked, expected, why
    saved = _distinct((*forked.saved, *(state.stored for state in states)))
    return forked._replace(possible=_distinct_states(states), saved=saved), expected, why


def one_of(forked: UncertainBroker, states: Iterable[BrokerState]) -> UncertainBroker:
    """The broker is in one of these states; they differ in stored offsets only."""
    possible = _distinct_states(states)
    saved = _distinct((*forked.saved, *(state.stored for state in possible)))
    return forked._replace(possible=possible, saved=saved)


def save(forked: UncertainBroker) -> Answer[UncertainBroker]:
    """BQ-COM-12: time passed until stored offsets were on disk."""
    return forked._replace(saved=_distinct(state.stored for state in forked.possible)), None, _SAVED


def stop(rules: BrokerRules, forked: UncertainBroker) -> Answer[UncertainBroker]:
    """BQ-COM-11: the broker was stopped and started."""
    return save(_started(rules, forked, forked.possible, STOP))[0], None, _RESTARTED


def kill(rules: BrokerRules, forked: UncertainBroker) -> Answer[UncertainBroker]:
    """BQ-COM-12: the broker was killed and started."""
    known = forked.possible[0]
    # the newest is the likeliest: the interval between writes is short
    states = tuple(known._replace(stored=stored) for stored in reversed(forked.saved))
    why = _KILLED["killed, all on disk" if len(states) == 1 else "killed, some not on disk"]
    return _started(rules, forked, states, KILL), None, why


def on_disk(forked: UncertainBroker, how: str) -> tuple[Stored, ...]:
    """BQ-COM-11, BQ-COM-12: the tables of stored offsets of which one is on disk, once it has ended."""
    return forked.saved if how == KILL else _distinct(state.stored for state in forked.possible)


def with_tables(forked: UncertainBroker, tables: tuple[Stored, ...]) -> UncertainBroker:
    """BQ-COM-LMQ: a broker that has ended, and finds one of these tables of stored offsets when it starts."""
    known = forked.possible[0]
    return forked._replace(possible=tuple(known._replace(stored=table) for table in tables), saved=tables)


def set_memory(rules: BrokerRules, forked: UncertainBroker, hot: bool) -> Answer[UncertainBroker]:
    """RUN-DYN-1: the ratio was set to 0 (not ``hot``) or back to what is configured."""
    if rules.empty_is_unknown:
        return forked, None, _RATIO["not looked at"]
    states = tuple(with_memory(rules, state, hot) for state in forked.possible)
    return forked._replace(possible=states, hot=hot), None, _RATIO["hot" if hot else "cold"]


def _started(rules: BrokerRules, forked: UncertainBroker, states: tuple[BrokerState, ...], how: str) -> UncertainBroker:
    """A started broker has its ordinary ratio, and may have messages of deleted topics."""
    fresh = tuple(with_memory(rules, restart(rules, state), hot=True) for state in states)
    survivors = frozenset(key for stored in forked.saved for key in stored)
    return UncertainBroker(fresh, forked.saved, frozenset(), forked.haunted | forked.deleted, True, how, survivors)


def with_deleted(forked: UncertainBroker, topic: str) -> UncertainBroker:
    """BQ-TOPIC-5: remember that ``topic`` is about to lose its messages."""
    lost = topic in forked.haunted or any(name == topic and log.max for (name, _), log in _logs(forked))
    if not lost:
        return forked
    return forked._replace(deleted=forked.deleted | {topic}, haunted=forked.haunted - {topic})


def _logs(forked: UncertainBroker) -> list[tuple[tuple[str, int], QueueLog]]:
    return list(forked.possible[0].logs.items())


def _distinct(tables: Iterable[Stored]) -> tuple[Stored, ...]:
    return tuple({frozenset(stored.items()): stored for stored in tables}.values())


def _distinct_states(states: Iterable[BrokerState]) -> tuple[BrokerState, ...]:
    """The states, each once; states of one broker differ in stored offsets only."""
    return tuple({frozenset(state.stored.items()): state for state in states}.values())
