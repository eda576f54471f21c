"""Messages with a time of their own: TIMER_DELAY_SEC, TIMER_DELAY_MS, TIMER_DELIVER_MS (BQ-TIMER-*).

Such a message waits in a topic of the broker's own, rmq_sys_wheel_timer, until its time comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-TIMER-1",
        "From 5.0.0 a message with one of the properties TIMER_DELAY_SEC, TIMER_DELAY_MS and TIMER_DELIVER_MS, of "
        "which the first one counts, waits until that time rounded down to a second, or, where it is a whole one, "
        "until the second before. It does not when the time is over, or when it has TIMER_OUT_MS.",
        "HookUtils#handleScheduleMessage, #transformTimerMessage @ 5.0.0, 5.1.4, 5.5.0",
        releases="5.0.0+",
    ),
    Rule(
        "BQ-TIMER-LEVEL",
        "Of a message with a delay level, too, the level counts, and the message loses these properties.",
        "HookUtils#checkIfTimerMessage @ 5.0.0, 5.1.4, 5.5.0",
        releases="5.0.0+",
    ),
    Rule(
        "BQ-TIMER-ILLEGAL",
        "A time that is no number of 64 bits, or more than timerMaxDelaySec (three days) away, is refused with "
        "MESSAGE_ILLEGAL. A delay that is so large that the time overflows is over.",
        "HookUtils#transformTimerMessage @ 5.0.0, 5.1.4, 5.5.0",
        releases="5.0.0+",
    ),
    Rule(
        "BQ-TIMER-COPY",
        "When its time comes the message is stored in the queue that it was sent to, with its properties, when it was "
        "to come (TIMER_OUT_MS), and the names of topic and queue (REAL_TOPIC, REAL_QID).",
        "TimerMessageStore#convertMessage @ 5.0.0, 5.1.4, 5.5.0",
        releases="5.0.0+",
    ),
    Rule(
        "BQ-TIMER-OFF",
        "A broker without a timer wheel (timerWheelEnable=false) refuses every message that has one of these "
        "properties and no delay level, whatever the time is: SERVICE_NOT_AVAILABLE, from 5.1.1 SYSTEM_ERROR.",
        "HookUtils#handleScheduleMessage @ 5.0.0, 5.1.4, 5.5.0; SendMessageProcessor#handlePutMessageResult @ 5.1.0, "
        "5.1.1, 5.5.0",
        releases="5.0.0+",
        needs="timerWheelEnable=false; true by default",
    ),
)

#: Properties of messages, by RocketMQ's names.
DELAY_SECONDS, DELAY_MS, DELIVER_MS = "TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"
TIMERS = (DELAY_SECONDS, DELAY_MS, DELIVER_MS)
#: The property with the time until which a message waits, or has waited.
OUT = "TIMER_OUT_MS"
#: How long a second lasts (ms), and the longest delay in seconds (timerMaxDelaySec).
SECOND, MAX_DELAY = 1_000, 3 * 86_400

_ILLEGAL = Err("MESSAGE_ILLEGAL")
_OFF = {False: Err("SERVICE_NOT_AVAILABLE"), True: Err("SYSTEM_ERROR")}
_WAITS = reasons_by_kind(("BQ-TIMER-1", "BQ-TIMER-COPY"), *TIMERS)
_AT_ONCE = reasons_by_kind(("BQ-TIMER-1",), "a time that is over", "a message that has waited")
_REFUSED = reasons_by_kind(("BQ-TIMER-ILLEGAL",), "no number", "too far")
_OVERFLOWS = Reason(("BQ-TIMER-1", "BQ-TIMER-ILLEGAL"), "a time that overflows")
_SWITCHED_OFF = Reason(("BQ-TIMER-OFF",), "no timer wheel")
_LEVEL = Reason(("BQ-TIMER-LEVEL",), "a level, too")


class Timed(NamedTuple):
    """What becomes of a message: until when it waits (ms since the epoch) or that it does not, or the error; and why,
    where that is the work of these rules."""

    due: int | Err | None = None
    why: Reason | None = None


def timed(rules: BrokerRules, properties: Mapping[str, str], level: int, now: int, second: int = SECOND) -> Timed:
    """What becomes of a message with these properties that waits at a delay ``level`` (0: at none), ``now`` in ms since
    the epoch. A ``second`` lasts so many ms."""
    first = next((name for name in TIMERS if properties.get(name)), None)
    if first is None or not rules.has_timers:
        return Timed()
    if level > 0:
        return Timed(None, _LEVEL)
    if properties.get(OUT):
        return Timed(None, _AT_ONCE["a message that has waited"])
    if not rules.timer_wheel:
        return Timed(_OFF[rules.timer_refusal_named], _SWITCHED_OFF)
    number = parse_number(properties[first], 64)
    if number is None:
        return Timed(_ILLEGAL, _REFUSED["no number"])
    delay = number if first != DELAY_SECONDS else _wrapped(number * second)
    due = number if first == DELIVER_MS else _wrapped(now + delay)
    if due <= now:
        return Timed(None, _OVERFLOWS if number > 0 and first != DELIVER_MS else _AT_ONCE["a time that is over"])
    if _wrapped(due - now) > MAX_DELAY * second:
        return Timed(_ILLEGAL, _REFUSED["too far"])
    return Timed(rounded(due, second), _WAITS[first])


def rounded(due: int, second: int = SECOND) -> int:
    """BQ-TIMER-1: until when a message waits that names this time."""
    return due - second if due % second == 0 else due // second * second


def without_timers(properties: Mapping[str, str]) -> dict[str, str]:
    """BQ-TIMER-LEVEL: the properties of a message that has a delay level."""
    return {name: value for name, value in properties.items() if name not in TIMERS}


def _wrapped(number: int) -> int:
    """A number as Java's arithmetic of 64 bits has it."""
    return (number + 2**63) % 2**64 - 2**63
