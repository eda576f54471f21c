"""The broker of suite broker-retry: messages that are sent back, what becomes of them, and the settings they depend on.

The rules are in ``send_back``; here indexes become names, and copies become messages that can be sent back again. The
messages of a case are numbered in the order in which they showed; one in a queue that cannot be read shows by its
offset only, and nobody can send it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker import admin
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.delay_level import SHORT_LEVELS, parse_levels
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.send_back import (
    DELAY,
    ORIGIN,
    REAL_QUEUE,
    REAL_TOPIC,
    RETRY_TOPIC,
    WAIT,
    BackRequest,
    Filing,
    KeptMessage,
    RetrySettings,
    send_back,
    send_copy,
)
from rocketmq_conformance.models.broker.state import ABSENT, DEAD, READ, RETRY, BrokerState, Topic, shown
from rocketmq_conformance.models.broker.timer import (
    DELAY_MS,
    DELAY_SECONDS,
    DELIVER_MS,
    OUT,
    SECOND,
    TIMERS,
    rounded,
    timed,
    without_timers,
)
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-BACK-STATS",
        "The retry topic and the dead-letter topic of a group have as many queues as they were made with, and "
        "TOPIC_NOT_EXIST answers for one that was never needed.",
        "AdminBrokerProcessor#getTopicStatsInfo @ 4.0.0, 4.9.7, 5.3.3",
    ),
)

#: Times of the broker's delay levels, in thousandths of the first one, which takes a second in brokers that the kit
#: starts.
LEVELS = parse_levels(SHORT_LEVELS)
#: What stands for the group that locks a queue and sends a copy: each such step has one of its own.
LOCKED = "locked"
#: Queues of a retry topic that are looked at.
MOST_QUEUES = 2
#: Properties of a copy that are compared, in this order.
COMPARED = (RETRY_TOPIC, ORIGIN, DELAY, REAL_TOPIC, REAL_QUEUE, WAIT, "TAGS", "KEYS")
#: Properties of the messages that are sent, by kind: none, those of an application, those of a copy of another broker.
KINDS: tuple[Mapping[str, str], ...] = (
    MappingProxyType({}),
    MappingProxyType({"TAGS": "red", "KEYS": "k"}),
    MappingProxyType({RETRY_TOPIC: "elsewhere", ORIGIN: "FIRST"}),
)
#: Times of messages that are sent, by their names: the properties, with texts as they are, or times from now on in
#: seconds (a number).
TIMES: Mapping[str, Mapping[str, str | float]] = MappingProxyType(
    {
        "1 s": {DELAY_SECONDS: "1"},
        "1.5 s in ms": {DELAY_MS: 1.5},
        "at 3 s": {DELIVER_MS: 3.0},
        "1 s, then x": {DELAY_SECONDS: "1", DELAY_MS: "x", DELIVER_MS: "x"},
        "0 s": {DELAY_SECONDS: "0"},
        "-5 s": {DELAY_SECONDS: "-5"},
        "long ago": {DELIVER_MS: "1"},
        "overflows": {DELAY_MS: str(2**63 - 1)},
        "no text": {DELAY_SECONDS: ""},
        "waited": {DELAY_SECONDS: "1", OUT: "1"},
        "x": {DELAY_SECONDS: "x", DELAY_MS: "1"},
        "beyond 64 bits": {DELAY_MS: str(2**63)},
        "4 days": {DELAY_SECONDS: str(4 * 86_400)},
        "the last ms": {DELIVER_MS: str(2**63 - 1)},
    }
)
#: What stands for a time that the broker writes into a message's properties.
WRITTEN = "written"
#: The names of topics that a request may name: the first one of the message, the one in which it lies, or none.
FIRST, HERE = "first", "here"

#: A time at which messages with a time are sent (ms since the epoch), and the properties with times.
_NOW = 1_000_000_000_123
_TIMES = (*TIMERS, OUT)
_ASKED = reasons_by_kind(("BQ-BACK-STATS",), "no such topic", "topic there")
_SETTINGS = Reason(("BQ-GROUP-1",), "settings for retries")
_NO_TOPIC = Err("TOPIC_NOT_EXIST")


class RetryState(NamedTuple):
    """A broker, the groups with other settings for retries than the default, and the messages that can be sent back."""

    broker: BrokerState = initial_state()
    retries: Mapping[str, RetrySettings] = MappingProxyType({})
    messages: tuple[KeptMessage, ...] = ()


class BrokerRetryModel:
    """The rules of suite broker-retry; every method is pure. Topics and groups are indexes of the fixtures."""

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def create_topic(self, state: RetryState, topic: int, queues: int) -> Answer[RetryState]:
        """BQ-TOPIC-1: None."""
        return _of_broker(state, admin.create_topic(self.rules, state.broker, TOPICS[topic], Topic.of(queues)))

    def delete_topic(self, state: RetryState, topic: int) -> Answer[RetryState]:
        """BQ-TOPIC-3: None. The messages stay in the broker's log."""
        return _of_broker(state, admin.delete_topic(self.rules, state.broker, TOPICS[topic]))

    def set_own_topic(self, state: RetryState, group: int, dead: bool, queues: int, perm: int) -> Answer[RetryState]:
        """BQ-TOPIC-RW: None."""
        settings = Topic(queues, queues, perm)
        return _of_broker(state, admin.create_topic(self.rules, state.broker, own_topic(group, dead), settings))

    def set_group(self, state: RetryState, group: int, queues: int, most: int) -> Answer[RetryState]:
        """BQ-GROUP-1: None."""
        after, result, _ = _of_broker(state, admin.create_group(self.rules, state.broker, GROUPS[group]))
        retries = {**state.retries, GROUPS[group]: RetrySettings(queues, most)}
        return after._replace(retries=retries), result, _SETTINGS

    def delete_group(self, state: RetryState, group: int, flag: str) -> Answer[RetryState]:
        """BQ-GROUP-2: None. A group that is created again has the default settings."""
        retries = {name: settings for name, settings in state.retries.items() if name != GROUPS[group]}
        after, result, why = _of_broker(state, admin.delete_group(self.rules, state.broker, GROUPS[group], flag))
        return after._replace(retries=retries), result, why

    def send_one(self, state: RetryState, topic: int, kind: int) -> Answer[RetryState]:
        """BQ-SEND-1: the offset of a message in queue 0, or the error."""
        after, offsets, why = send(self.rules, state.broker, TOPICS[topic], 0, (0,))
        if not isinstance(offsets, tuple):
            return _of_broker(state, (after, offsets, why))
        return _with_message(state, after, KeptMessage(TOPICS[topic], 0, KINDS[kind])), offsets[0], why

    def own_queues(self, state: RetryState, group: int, dead: bool) -> Answer[RetryState]:
        """BQ-BACK-STATS: the number of queues of a group's retry topic or dead-letter topic, or the error."""
        settings = state.broker.topics.get(own_topic(group, dead))
        if settings is None:
            return state, _NO_TOPIC, _ASKED["no such topic"]
        return state, settings.write_queues, _ASKED["topic there"]

    def back(
        self,
        state: RetryState,
        observed: Result,
        group: int,
        message: int,
        level: int,
        most: int | None,
        origin: str | None,
        old: bool,
    ) -> Answer[RetryState]:
        """BQ-BACK-*, BQ-DEAD-*: None when it was dropped, the error, or where the copy showed (``_shown``).

        ``message`` counts from the newest one; ``old``: the client is older than 3.4.9.
        """
        found = newest(state.messages, message)
        name = GROUPS[group]
        settings = state.retries.get(name, RetrySettings())
        asked = BackRequest(name, level, most, named_topic(found, origin))
        broker, result, why = send_back(
            self.rules, state.broker, settings, found, asked, len(LEVELS), names_limit=not old
        )
        if isinstance(result, Filing):
            return self._shown(state, broker, observed, result, why)
        return state._replace(broker=broker), result, why

    def copy(
        self, state: RetryState, observed: Result, group: int, times: int, most: int | None, level: int, old: bool
    ) -> Answer[RetryState]:
        """BQ-COPY-*: the error, or where the copy showed."""
        name = GROUPS[group]
        properties = {RETRY_TOPIC: TOPICS[0]} | ({DELAY: str(level)} if level else {})
        settings = state.retries.get(name, RetrySettings())
        broker, result, why = send_copy(
            self.rules,
            state.broker,
            settings,
            name,
            KeptMessage(RETRY + name, times, properties),
            most,
            len(LEVELS),
            names_limit=not old,
        )
        if isinstance(result, Filing):
            return self._shown(state, broker, observed, result, why)
        return state._replace(broker=broker), result, why

    def locked_copy(self, state: RetryState, observed: Result, holds: bool, level: int) -> Answer[RetryState]:
        """BQ-COPY-LOCKED: where the copy showed. Its group is a new one that holds a lock, or gave it back."""
        kept = KeptMessage(RETRY + LOCKED, 1, {RETRY_TOPIC: TOPICS[0]} | ({DELAY: str(level)} if level else {}))
        broker, result, why = send_copy(
            self.rules, BrokerState(), RetrySettings(), LOCKED, kept, RetrySettings().most, len(LEVELS), locked=holds
        )
        if isinstance(result, Filing):
            return state, *self._shown(state, broker, observed, result, why)[1:]
        return state, result, why

    def timed(self, state: RetryState, topic: int, time: str, level: int | None) -> Answer[RetryState]:
        """BQ-TIMER-*: the offset of a message in queue 0, its properties, and 0 for not too early; or the error."""
        after, offsets, why = send(self.rules, state.broker, TOPICS[topic], 0, (0,))
        if not isinstance(offsets, tuple):
            return _of_broker(state, (after, offsets, why))
        properties = sent(time, level, _NOW, SECOND)
        outcome = timed(self.rules, properties, level or 0, _NOW)
        if isinstance(outcome.due, Err):
            return state, outcome.due, outcome.why or why
        kept = without_timers(properties) if level and self.rules.has_timers else properties
        if level or outcome.due is not None:
            kept = {**kept, REAL_TOPIC: TOPICS[topic], REAL_QUEUE: "0"}
        if outcome.due is not None:
            kept[OUT] = str(outcome.due)
        after_it = _with_message(state, after, KeptMessage(TOPICS[topic], 0, kept))
        return after_it, (offsets[0], timed_compared(kept, properties), 0), outcome.why or why

    def _shown(
        self, state: RetryState, broker: BrokerState, observed: Result, filing: Filing, why: Reason
    ) -> Answer[RetryState]:
        """("retry" or "dead", queue, offset, then the error of a pull or times, properties and time until it showed).

        The queue is the observed one where it can be drawn, and the time, in thousandths of that of level 1, the
        observed one if it is long enough.
        """
        seen = observed if isinstance(observed, tuple) else ()
        queue = seen[1] if len(seen) > 1 and type(seen[1]) is int and 0 <= seen[1] < filing.queues else 0
        copy = filing.stored(queue)
        log = broker.logs.get((filing.topic, queue), ABSENT)
        logs = {**broker.logs, (filing.topic, queue): log._replace(times=(*log.times, 0))}
        broker = broker._replace(logs=logs)
        where = "dead" if filing.topic.startswith(DEAD) else "retry"
        settings = broker.topics[filing.topic]
        if not settings.perm & READ or queue >= settings.read_queues:
            error = "INVALID_PARAMETER" if self.rules.invalid_parameter else "SYSTEM_ERROR"
            error = error if settings.perm & READ else "NO_PERMISSION"
            return state._replace(broker=broker), (where, queue, log.max, error), why
        least = LEVELS[filing.level - 1] if filing.level else 0
        waited = seen[-1] if len(seen) == 6 and type(seen[-1]) is int and seen[-1] >= least else least
        after = _with_message(state, broker, copy)
        return after, (where, queue, log.max, copy.times, compared(copy.properties), waited), why


def own_topic(group: int, dead: bool) -> str:
    """The retry topic of a group, or its topic of dead letters."""
    return (DEAD if dead else RETRY) + GROUPS[group]


def compared(properties: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The properties of a copy that are compared."""
    return tuple((name, properties[name]) for name in COMPARED if name in properties)


def sent(time: str, level: int | None, now: int, second: int) -> dict[str, str]:
    """The properties of a message with one of ``TIMES``, at ``now`` (ms since the epoch); a ``second`` is so long."""
    texts = {
        name: value if isinstance(value, str) else str(int(value * second) + (now if name == DELIVER_MS else 0))
        for name, value in TIMES[time].items()
    }
    return {**texts, **({} if level is None else {DELAY: str(level)})}


def is_over(sent: Mapping[str, str], began: int, came: int) -> bool:
    """Was the time over that a message was sent for when it ``began``, once it ``came`` (ms since the epoch)?"""
    return began < (parse_number(sent.get(DELIVER_MS), 64) or 0) <= came


def least(sent: Mapping[str, str], second: int, now: int) -> int:
    """Before when a message that waits does not come, by the clock that shows ``now`` when it is sent (ms since the
    epoch). One whose time is no number is to be refused: where it is taken it may come at once."""
    if int(sent.get(DELAY, "0")):
        return now + second
    first = next(name for name in TIMERS if name in sent)
    due = (parse_number(sent[first], 64) or 0) * (second if first == DELAY_SECONDS else 1)
    return rounded(due if first == DELIVER_MS else now + due, second)


def timed_compared(properties: Mapping[str, str], sent: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The properties of a message with a time that are compared: a time is as it was sent, or was written."""
    times = {name: "sent" if properties[name] == sent.get(name) else WRITTEN for name in _TIMES if properties.get(name)}
    return (*compared(properties), *times.items())


def newest(messages: tuple[KeptMessage, ...], message: int) -> KeptMessage | None:
    """A message by its number, 0 for the newest one; None when there are not so many."""
    return messages[-1 - message] if message < len(messages) else None


def named_topic(found: KeptMessage | None, origin: str | None) -> str | None:
    """The topic that a request names (originTopic)."""
    if found is None or origin is None:
        return None if origin is None else TOPICS[0]
    return found.properties.get(RETRY_TOPIC, found.topic) if origin == FIRST else found.topic


def message_id(number: int) -> str:
    """What stands for the id of a message in an answer: an id contains the broker's address."""
    return f"message {number}"


def _with_message(state: RetryState, broker: BrokerState, message: KeptMessage) -> RetryState:
    """The state with one more message, whose id is its number."""
    numbered = message._replace(id=message_id(len(state.messages)))
    return state._replace(broker=broker, messages=(*state.messages, numbered))


def _of_broker(state: RetryState, answer: Answer[BrokerState]) -> Answer[RetryState]:
    after, result, why = answer
    return state._replace(broker=after), result, why


def show(state: RetryState) -> str:
    """The retries of groups and the messages, in one line."""
    groups = {name: f"queues {queues}, most tries {most}" for name, (queues, most) in state.retries.items()}
    messages = [f"{message.topic} after {message.times}" for message in state.messages]
    topics = {name: shown(settings) for name, settings in state.broker.topics.items()}
    return f"topics {topics}, groups {sorted(state.broker.groups)}, retries {groups}, messages {messages}"
