"""Sending: the queue a message goes to, and the guarantees about its offset and store time (BQ-SEND-1, BQ-TOPIC-2).

The store time comes from the broker's own clock and cannot be predicted: ``send_observed`` takes the observed times and
checks what can be checked.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.slave import refuses_messages
from rocketmq_conformance.models.broker.state import ABSENT, INHERIT, WRITE, BrokerState, Topic
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-SEND-1",
        "A message gets its queue's max as offset, and a store time not before that of the message in front of it.",
        "CommitLog#asyncPutMessage, SendMessageProcessor#processRequest @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-TOPIC-2",
        "A message for an unknown topic is refused with TOPIC_NOT_EXIST when the default topic that it names does "
        "not exist either; one for a queue beyond the topic's queues with SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER.",
        "AbstractSendMessageProcessor#msgCheck @ 4.9.7, 5.3.2, 5.5.0",
    ),
    Rule(
        "BQ-TOPIC-INHERIT",
        "A message for an unknown topic makes it when the default topic that it names may be copied (permission with "
        "1), whichever that is: with as many queues as the message asks for, at most those that the default topic has "
        "to write and none for a negative number, and with its permission but for that bit.",
        "TopicConfigManager#createTopicInSendMessageMethod @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-SEND-BOUNDS",
        "A message may go to any queue below the larger of the topic's two numbers, one that is only read as well; the "
        "topic's permission is not looked at, so that a topic which may only be read takes messages.",
        "AbstractSendMessageProcessor#msgCheck @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-SEND-ANY",
        "A message for a negative queue id goes to one of the queues that are written, at random; without any it is "
        "refused with SYSTEM_ERROR. 4.7.0 to 4.9.1 and 5.0.0-PREVIEW draw negative queues too, above minus their "
        "number: such a message is stored where no pull gets it.",
        "SendMessageProcessor#sendMessage @ 4.0.0, 4.6.1, 4.7.0, 4.9.1, 4.9.2, 5.0.0-ALPHA, 5.3.3; "
        "#randomQueueId @ 4.7.0, 4.9.1, 4.9.2, 5.0.0-ALPHA, 5.3.3",
    ),
)

NO_TOPIC = Err("TOPIC_NOT_EXIST")
BAD_QUEUE = {False: Err("SYSTEM_ERROR"), True: Err("INVALID_PARAMETER")}

NO_QUEUE = Err("SYSTEM_ERROR")

_REFUSED = {kind: Reason(("BQ-TOPIC-2",), kind) for kind in ("unknown topic", "no such queue")}
_SENT = {
    kind: Reason(("BQ-SEND-1", "BQ-STORE-MAX"), kind)
    for kind in ("first message", "next message", "after everything expired")
}
_SENT_AGAINST = {
    why: {kind: Reason((*sent.rules, "BQ-SEND-BOUNDS"), f"{kind}, {why}") for kind, sent in _SENT.items()}
    for why in ("not a written queue", "no permission to write")
}
_INHERITED = reasons_by_kind(("BQ-TOPIC-INHERIT",), "not to be copied", "as many as asked", "fewer than asked", "none")
_ANYWHERE = reasons_by_kind(
    ("BQ-SEND-ANY", "BQ-SEND-1"), "no written queue", "one queue", "one of several queues", "a negative queue"
)


def inherit(
    rules: BrokerRules, state: BrokerState, topic: str, default: str, queues: int
) -> tuple[BrokerState, Reason | None]:
    """BQ-TOPIC-INHERIT: the state once a message for the topic has come that names a default topic and a number of
    queues, and the reason where that makes the topic."""
    copied = state.topics.get(default)
    if topic in state.topics or copied is None:
        return state, None
    if not copied.perm & INHERIT:
        return state, _INHERITED["not to be copied"]
    number = max(min(queues, copied.write_queues), 0)
    kind = "as many as asked" if number == queues else "fewer than asked" if queues > 0 else "none"
    made = Topic(number, number, copied.perm & ~INHERIT)
    return state._replace(topics={**state.topics, topic: made}), _INHERITED[kind]


def send(
    rules: BrokerRules, state: BrokerState, topic: str, queue: int, times: tuple[int, ...], hot: bool = True
) -> Answer[BrokerState]:
    """The offsets of messages stored at ``times`` (ms since the epoch), or the error when they are refused.

    ``hot`` is whether the broker will take message 0 to be in memory.
    """
    refused = refuses_messages(rules, at_once=True)
    if refused is not None:
        return state, *refused
    settings = state.topics.get(topic)
    if settings is None:
        return state, NO_TOPIC, _REFUSED["unknown topic"]
    if queue >= settings.read_queues and queue >= settings.write_queues:
        return state, BAD_QUEUE[rules.invalid_parameter], _REFUSED["no such queue"]
    refused = refuses_messages(rules, at_once=False)
    if refused is not None:
        return state, *refused
    log = state.logs.get((topic, queue), ABSENT)
    reasons = _SENT if queue < settings.write_queues and settings.perm & WRITE else _SENT_AGAINST[_against(settings)]
    why = reasons["next message" if log.times else "after everything expired" if log.first else "first message"]
    # from 5.1.0 on the ratio is not looked at (RUN-DYN-1)
    longer = log._replace(times=log.times + times, hot=log.hot and hot and (rules.hot or rules.empty_is_unknown))
    logs = {**state.logs, (topic, queue): longer}
    after = BrokerState(state.topics, state.groups, logs, state.stored, state.pending, state.disabled)
    return after, tuple(range(log.max, longer.max)), why


def _against(settings: Topic) -> str:
    return "not a written queue" if settings.perm & WRITE else "no permission to write"


def send_anywhere(
    rules: BrokerRules, state: BrokerState, observed: Result, topic: str, time: int
) -> Answer[BrokerState]:
    """BQ-SEND-ANY: the (queue, offset) of a message for no queue in particular, stored at ``time``, or the error.

    The broker draws the queue: the one observed is right if it can be drawn.
    """
    settings = state.topics.get(topic)
    if settings is None:
        return state, NO_TOPIC, _REFUSED["unknown topic"]
    if not settings.write_queues:
        return state, NO_QUEUE, _ANYWHERE["no written queue"]
    queue = observed[0] if isinstance(observed, tuple) and observed else None
    least = 1 - settings.write_queues if rules.draws_negative else 0
    if type(queue) is not int or not least <= queue < settings.write_queues:
        queue = 0
    after, offsets, _ = send(rules, state, topic, queue, (time,))
    assert isinstance(offsets, tuple)  # a written queue takes messages
    kind = "a negative queue" if queue < 0 else "one queue" if settings.write_queues == 1 else "one of several queues"
    return after, (queue, *offsets), _ANYWHERE[kind]


def send_observed(
    rules: BrokerRules, state: BrokerState, observed: Result, topic: str, queue: int, count: int, hot: bool = True
) -> Answer[BrokerState]:
    """The (offset, store time) pairs of ``count`` messages: the times are those observed, corrected where impossible.

    The expected value equals the observed one if and only if that is acceptable.
    """
    seen = _times(observed, count)
    times: list[int] = []
    log = state.logs.get((topic, queue), ABSENT)
    latest = log.times[-1] if log.times else 0
    for time in seen:
        latest = max(latest, time)
        times.append(latest)
    after, offsets, why = send(rules, state, topic, queue, tuple(times), hot)
    if not isinstance(offsets, tuple):
        return after, offsets, why
    return after, tuple(zip(offsets, times, strict=True)), why


def _times(observed: Result, count: int) -> list[int]:
    """The second item of each pair; 0 where the observation does not look like ``count`` pairs of numbers."""
    if isinstance(observed, tuple) and len(observed) == count:
        pairs = [pair for pair in observed if isinstance(pair, tuple) and len(pair) == 2]
        times = [time for _, time in pairs if type(time) is int]
        if len(times) == count:
            return times
    return [0] * count
