"""The common belief "a new group with CONSUME_FROM_LAST_OFFSET starts at the end", step by step. It is mostly wrong.

The client asks the broker first, and a broker that still has a queue's first message in memory answers 0 for a group
that never committed: the group starts at the first message. Only once the first messages are gone does the broker
answer that it has no offset, and then the client asks for max. The remedy is to give the group offsets before it
starts: create it, clone the offsets of some other group, and reset it to -1, which is max. Brokers that reset by way of
the members refuse that for a group that has no offsets (hence the clone), and for one without members (hence the
commit of max, which is what the administration tool does then).

There is a step for each of these, and no rules of its own: every step is judged by the rules of the client and
of the broker. The queues of its topic are all alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from rocketmq_conformance.models.broker import switches as broker_switches
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.clone import clone_offsets
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.reset import OFFLINE, ResetRequest, reset
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.client import switches as client_switches
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole import PUSH, consume
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Switch
from rocketmq_conformance.models.rule import Reason

#: Messages of the topic, spread evenly over so many queues; the number of expired messages in each queue of the aged
#: topic, and of those that arrive in each queue once a consumer runs.
MESSAGES, QUEUE_COUNT, EXPIRED, ARRIVING = 300, 4, 50, 1
MESSAGES_EACH = MESSAGES // QUEUE_COUNT
#: The group whose offsets are cloned, and its offset in each queue.
DONOR, DONOR_OFFSET = "DONOR", 5
GROUP, TOPIC = "G", "T"
TOPOLOGY = Topology(
    name="a new group",
    group=GROUP,
    topic=TOPIC,
    queues=tuple(MessageQueue(TOPIC, "broker-a", number) for number in range(QUEUE_COUNT)),
)


class FolkloreStep(NamedTuple):
    """A step: its operation, and the answer by the common belief."""

    name: str
    sentence: str
    #: The answer by the common belief; "" where it has none.
    claim: Value


class ProfileRules(NamedTuple):
    """The switches of both sides."""

    client: ClientRules
    broker: BrokerRules

    @classmethod
    def of(cls, profile: Profile) -> ProfileRules:
        """The switches of a profile."""
        return cls(ClientRules.of(profile), BrokerRules.of(profile))


class Prediction(NamedTuple):
    """The model's answer to a step, and the reasons without repetition, in order."""

    expected: Value
    reasons: tuple[Reason, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of the reasons, without repetition."""
        return tuple(dict.fromkeys(rule for why in self.reasons for rule in why.rules))


def consumption_answer(first: int, messages: int, committed: int) -> Value:
    """The answer of a consumer that does the same with every queue."""
    return tuple((queue, first, messages, committed) for queue in range(QUEUE_COUNT))


_FROM_THE_END = consumption_answer(MESSAGES_EACH, ARRIVING, MESSAGES_EACH + ARRIVING)

STEPS = (
    FolkloreStep("new group", "A new group starts on a topic that has all of its messages.", _FROM_THE_END),
    FolkloreStep("expired", "A new group starts on a topic whose first messages have expired.", _FROM_THE_END),
    FolkloreStep("reset alone", "A group that has no offsets is reset to -1.", ""),
    FolkloreStep("remedy", "A group is created, given the offsets of another one, and reset to -1.", ""),
    FolkloreStep("remedied", "That group starts on the topic that has all of its messages.", _FROM_THE_END),
)
#: Steps in which a consumer runs.
CONSUMING_STEPS = frozenset({"new group", "expired", "remedied"})


def predict(rules: ProfileRules, step: str) -> Prediction:
    """The model's answer to a step of ``STEPS``.

    A consumer's answer has (queue, first message, messages, committed offset) for each queue. A reset's is the
    error's name or the (queue, offset) pairs; the remedy's is that and the offsets that the group then stands at.
    """
    match step:
        case "new group":
            return _consumption(rules, _broker())
        case "expired":
            return _consumption(rules, _broker(EXPIRED))
        case "reset alone":
            answer, why = reset(rules.broker, _broker(), ResetRequest(GROUP, TOPIC, -1), online=False)[1:]
            return Prediction(_reset_answer(answer), (why,))
    broker, answers, whys = _remedy(rules)
    if step == "remedy":
        return Prediction(answers, whys)
    return _consumption(rules, broker)


def deciding_switches(rules: ProfileRules, other: ProfileRules, step: str) -> tuple[Switch, ...]:
    """The switches that decide: set as on the ``other`` side, each of them alone changes the expected answer."""
    usual = predict(rules, step).expected
    found: list[Switch] = []
    for side, module in (("client", client_switches), ("broker", broker_switches)):
        mine, others = getattr(rules, side), getattr(other, side)
        for field in fields(mine):
            switch = getattr(module, field.name.upper(), None)
            value = getattr(others, field.name)
            if switch is None or value == getattr(mine, field.name):
                continue
            changed = rules._replace(**{side: replace(mine, **{field.name: value})})
            if predict(changed, step).expected != usual:
                found.append(switch)
    return tuple(found)


def format_answer(answer: Value) -> str:
    """An answer in words."""
    match answer:
        case str():
            return answer
        case ((int(), int(), int(), _), *_):
            return _format_rows(
                answer, lambda first, messages, committed: f"from {first}: {messages}, commits {committed}"
            )
        case ((int(), int() | str()), *_):
            return _format_rows(answer, str)
        case (how, offsets):
            return f"{format_answer(how)}; the group stands at {format_answer(offsets)}"
    return str(answer)


def _format_rows(rows: Sequence[Value], write: Callable[..., str]) -> str:
    """Rows that begin with a queue's id; once for all queues when they are alike."""
    texts = [write(*row[1:]) for row in rows if isinstance(row, tuple)]
    if len(set(texts)) == 1:
        return f"every queue {texts[0]}"
    return ", ".join(f"queue {row[0]} {text}" for row, text in zip(rows, texts, strict=True) if isinstance(row, tuple))


def _broker(expired: int = 0) -> BrokerState:
    log = QueueLog(min=expired, first=expired, times=(0,) * (MESSAGES_EACH - expired))
    return BrokerState(
        topics={TOPIC: Topic.of(QUEUE_COUNT)},
        groups=frozenset({GROUP, DONOR}),
        logs={(TOPIC, queue): log for queue in range(QUEUE_COUNT)},
        stored={(DONOR, TOPIC, queue): DONOR_OFFSET for queue in range(QUEUE_COUNT)},
    )


def _consumption(rules: ProfileRules, broker: BrokerState) -> Prediction:
    model = StartModel(Profile(), TOPOLOGY)
    model.client = model.store.client = rules.client
    model.store.broker = rules.broker
    rows: list[Value] = []
    whys: list[Reason] = []
    for queue in range(QUEUE_COUNT):
        done = consume(model, RemoteStore(broker=broker), PUSH, queue, LAST, ARRIVING)
        rows.append((queue, done.first, done.messages, done.committed))
        whys += done.reasons
    return Prediction(tuple(rows), tuple(dict.fromkeys(whys)))


def _remedy(rules: ProfileRules) -> tuple[BrokerState, Value, tuple[Reason, ...]]:
    broker, _, cloned = clone_offsets(_broker(), DONOR, GROUP, TOPIC, passed_over=False)
    broker, answer, moved = reset(rules.broker, broker, ResetRequest(GROUP, TOPIC, -1), online=False)
    whys = [cloned, moved]
    offsets: list[Value] = []
    for queue in range(QUEUE_COUNT):
        if answer == OFFLINE:
            broker, _, why = commit_offset(rules.broker, broker, GROUP, TOPIC, queue, MESSAGES_EACH)
            whys.append(why)
        _, stands, why = query_offset(rules.broker, broker, GROUP, TOPIC, queue)
        assert not isinstance(stands, Err)  # it has an offset by now
        whys.append(why)
        assert isinstance(stands, int)
        offsets.append((queue, stands))
    return broker, (_reset_answer(answer), tuple(offsets)), tuple(dict.fromkeys(whys))


def _reset_answer(answer: object) -> Value:
    """The answer of a reset: its error's name, or its pairs."""
    if isinstance(answer, Err):
        return answer.code
    assert isinstance(answer, tuple)
    pairs: Value = answer[0]
    return pairs
