"""The broker of suite broker-fields: header fields as texts, and names of every kind.

A broker reads numbers from texts. What it makes of an unusual one, of one that it cannot read, and of a field that is
not sent is the same for all requests; what it makes of a name differs by release (names.py).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker import names
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.correction import correction_offsets
from rocketmq_conformance.models.broker.fixtures import QUEUES
from rocketmq_conformance.models.broker.own_names import CHECKPOINT, HALF, HALF_OP, MAX_TIME, ROCKS, SCHEDULE_TOPIC
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, response_code
from rocketmq_conformance.models.broker.pull_fields import FAILED, PullFields, missing_error
from rocketmq_conformance.models.broker.search import max_offset, min_offset, search
from rocketmq_conformance.models.broker.send import BAD_QUEUE, NO_TOPIC, send
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.java_text import parse_boolean, parse_number
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-NUMBER",
        "Numbers in fields are decimal digits of any script after at most one sign, leading zeros included, within 32 "
        "bits (queue ids, maxMsgNums) or 64 bits (offsets, times).",
        "RemotingCommand#decodeCommandCustomHeader @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-NUMBER-LOST",
        "A number that cannot be read counts as not sent: one with letters, spaces, points or underscores, without "
        "digits, or beyond its bits.",
        "RemotingCommand#decodeCommandCustomHeader @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-SETZERO-TEXT",
        "setZeroIfNotFound is true for the text true in any case, and false for every other text.",
        "RemotingCommand#decodeCommandCustomHeader @ 5.0.0, 5.3.3",
        releases="5.0.0-ALPHA+",
    ),
)

#: Store time of every message (ms since the epoch): searches are for times before and after it.
STORED_AT = 1_000_000_000_000
#: The characters that fill a long name.
FILLER = "x"


class Name(NamedTuple):
    """A name of every case: ``{}`` stands for what makes it the case's own; filled to a length (characters), if any."""

    template: str
    length: int = 0

    def of(self, case: str) -> str:
        """The name in a case."""
        return self.template.format(case).ljust(self.length, FILLER)


#: Names by what plans call them.
TOPICS = {
    "T0": Name("{}T0"),
    "T0@b": Name("{0}T0@{0}b"),
    "T.1": Name("{}T.1"),
    "T|%2": Name("{}T|%2"),
    "127 long": Name("{}T", 127),
    "128 long": Name("{}T", 128),
    "retry, 255 long": Name("%RETRY%{}", 255),
    "rmq_sys_T": Name("rmq_sys_{}T"),
}
#: Names of topics that no plan creates: of RocketMQ's own, and one that is blank.
OTHERS = {name: Name(name) for name in (SCHEDULE_TOPIC, HALF, HALF_OP, MAX_TIME, CHECKPOINT, *ROCKS)} | {
    "blank": Name(" "),
}
GROUPS = {
    "G0": Name("{}G0"),
    "b@G0": Name("{0}b@{0}G0"),
    "G 1": Name("{}G 1"),
    "G|%2": Name("{}G|%2"),
    "120 long": Name("{}G", 120),
    "121 long": Name("{}G", 121),
    "255 long": Name("{}G", 255),
    "256 long": Name("{}G", 256),
    "system": Name("CID_RMQ_SYS_{}G"),
}
#: Names of groups that a question for correction offsets leaves out.
LEFT_OUT = {"b": Name("{}b"), "G0": GROUPS["G0"], "b@G0": GROUPS["b@G0"]}
_LEFT_OUT = {name: template.of("") for name, template in LEFT_OUT.items()}
_TOPIC = {name: template.of("") for name, template in (TOPICS | OTHERS).items()}
_GROUP = {name: template.of("") for name, template in GROUPS.items()}

#: A queue that no topic has.
NO_QUEUE = 1_000_000

_NO_QUEUE = Reason(("BQ-TOPIC-2",), "no such queue")
_NOT_SENT = Reason(("BQ-FIELD",), "a field is missing")
_UNREADABLE = Reason(("BQ-FIELD-PULL",), "unreadable")
_SMALL_ENTRY = StoredEntry(0)


class BrokerFieldsModel:
    """The rules of suite broker-fields; every method is pure. Names are keys of ``TOPICS`` and ``GROUPS``.

    None for a field is one that is not sent.
    """

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def create_topic(self, state: BrokerState, topic: str) -> Answer[BrokerState]:
        """BQ-NAME-TOPIC, BQ-TOPIC-1: None, or the error."""
        return names.create_topic(self.rules, state, _TOPIC[topic], Topic.of(QUEUES))

    def delete_topic(self, state: BrokerState, topic: str) -> Answer[BrokerState]:
        """BQ-NAME-DELETE, BQ-TOPIC-3, BQ-COM-AT: None, or the error."""
        return names.delete_topic(self.rules, state, _TOPIC[topic])

    def create_group(self, state: BrokerState, group: str) -> Answer[BrokerState]:
        """BQ-NAME-GROUP, BQ-GROUP-1: None, or the error."""
        return names.create_group(self.rules, state, _GROUP[group])

    def delete_group(self, state: BrokerState, group: str, flag: str) -> Answer[BrokerState]:
        """BQ-GROUP-2, BQ-COM-AT: None."""
        return names.delete_group(self.rules, state, _GROUP[group], flag)

    def correction(self, state: BrokerState, topic: str, left_out: tuple[str, ...]) -> Answer[BrokerState]:
        """BQ-CORRECT-1, BQ-COM-10: sorted (queue, offset) pairs."""
        groups = frozenset(_LEFT_OUT[name] for name in left_out)
        return correction_offsets(self.rules, state, _TOPIC[topic], groups, "")

    def send_to(self, state: BrokerState, observed: Result, topic: str) -> Answer[BrokerState]:
        """BQ-NAME-SEND, BQ-SEND-1: the offset of a message in queue 0, or the error.

        A topic that no plan creates may be there all the same: brokers make some when they are stopped, or once they
        are used. The message is for a queue that it does not have.
        """
        queue = NO_QUEUE if topic in OTHERS else 0
        after, result, why = names.send_named(self.rules, state, _TOPIC[topic], queue, (STORED_AT,))
        if topic in OTHERS and result == NO_TOPIC and observed == BAD_QUEUE[self.rules.invalid_parameter]:
            return state, observed, _NO_QUEUE
        return after, result, why

    def send(self, state: BrokerState, queue: int, count: int) -> Answer[BrokerState]:
        """BQ-SEND-1: the offsets of messages to topic T0, or the error."""
        return send(self.rules, state, _TOPIC["T0"], queue, (STORED_AT,) * count)

    def commit(
        self, state: BrokerState, group: str | None, topic: str, queue: str | None, offset: str | None
    ) -> Answer[BrokerState]:
        """BQ-NUMBER*, BQ-UPDATE-*, BQ-COM-AT, BQ-NAME-NULL: None, or the error."""
        name = None if group is None else _GROUP[group]
        answer = names.commit_named(
            self.rules, state, name, _TOPIC[topic], parse_number(queue, 32), parse_number(offset, 64)
        )
        return _with_texts(answer, (queue, 32), (offset, 64))

    def query(
        self, state: BrokerState, group: str | None, topic: str | None, queue: str | None, set_zero: str | None
    ) -> Answer[BrokerState]:
        """BQ-NUMBER*, BQ-QUERY-*, BQ-SETZERO-TEXT, BQ-COM-AT, BQ-NAME-NULL: the offset, or the error."""
        wanted = None if set_zero is None else parse_boolean(set_zero)
        answer = names.query_named(
            self.rules,
            state,
            None if group is None else _GROUP[group],
            None if topic is None else _TOPIC[topic],
            parse_number(queue, 32),
            wanted,
        )
        after, result, why = _with_texts(answer, (queue, 32))
        if set_zero not in (None, "true", "false") and self.rules.set_zero:
            why = _with(why, "BQ-SETZERO-TEXT", "another text" if not wanted else "true in capitals")
        return after, result, why

    def max(self, state: BrokerState, topic: str | None, queue: str | None) -> Answer[BrokerState]:
        """BQ-NUMBER*, BQ-FIELD, BQ-STORE-MAX."""
        number = parse_number(queue, 32)
        if topic is None or number is None:
            return _with_texts((state, FAILED, _NOT_SENT), (queue, 32))
        return _with_texts(max_offset(state, _TOPIC[topic], number), (queue, 32))

    def min(self, state: BrokerState, topic: str | None, queue: str | None) -> Answer[BrokerState]:
        """BQ-NUMBER*, BQ-FIELD, BQ-STORE-MIN."""
        number = parse_number(queue, 32)
        if topic is None or number is None:
            return _with_texts((state, FAILED, _NOT_SENT), (queue, 32))
        return _with_texts(min_offset(state, _TOPIC[topic], number), (queue, 32))

    def search(
        self, state: BrokerState, topic: str | None, queue: str | None, timestamp: str | None
    ) -> Answer[BrokerState]:
        """BQ-NUMBER*, BQ-FIELD, BQ-TIME-*: the offset for a time (ms since the epoch)."""
        number, time = parse_number(queue, 32), parse_number(timestamp, 64)
        texts = (queue, 32), (timestamp, 64)
        if topic is None or number is None or time is None:
            return _with_texts((state, FAILED, _NOT_SENT), *texts)
        return _with_texts(search(self.rules, state, _TOPIC[topic], number, time), *texts)

    def pull(
        self,
        state: BrokerState,
        group: str | None,
        topic: str | None,
        queue: str | None,
        offset: str | None,
        most: str | None,
        commit: str | None,
    ) -> Answer[BrokerState]:
        """BQ-NUMBER*, BQ-FIELD, BQ-NAME-LOOKUP, BQ-PULL-*: (code, next offset, offsets found), or the error.

        The request has the commit flag if ``commit`` is not None.
        """
        texts = (queue, 32), (offset, 64), (most, 32), (commit, 64)
        at, number, limit = parse_number(offset, 64), parse_number(queue, 32), parse_number(most, 32)
        committed = parse_number(commit, 64)
        if self.rules.pull_fails_at_once and any(
            text is not None and parse_number(text, bits) is None for text, bits in texts
        ):
            return state, FAILED, _UNREADABLE
        name = None if group is None else _GROUP[group]
        known, looked_up = self._look_up(state, name)
        if name is None or topic is None or at is None or number is None or limit is None:
            asked = PullFields(name, None if topic is None else _TOPIC[topic], number, at, limit)
            answer: Answer[BrokerState] = known, missing_error(self.rules, known, asked), _NOT_SENT
        else:
            answer = self._pull(known, PullMessageRequest(name, _TOPIC[topic], number, at, limit, committed))
        after, result, why = answer
        if looked_up:
            why = _with(why, *looked_up)
        return _with_texts((after, result, why), *texts)

    def _pull(self, state: BrokerState, request: PullMessageRequest) -> Answer[BrokerState]:
        """What a pull with all its fields finds, of a group that was looked up."""
        entries = [_SMALL_ENTRY] * len(state.logs.get((request.topic, request.queue), ABSENT).times)
        after, result, why = names.pull_named(self.rules, state, request, None, entries)
        if isinstance(result, Err):
            return after, result, why
        status, following, _, _, found = cast(PullResult, result)
        return after, (response_code(status, request.offset), following, found), why

    def _look_up(self, state: BrokerState, group: str | None) -> tuple[BrokerState, tuple[str, str] | None]:
        """The state after a look-up of a group, and the rule by which it did something, with the kind of state."""
        if group is None or group in state.groups or not self.rules.readable:
            return state, None
        if not names.created_by_look_up(self.rules, group):
            return state, ("BQ-NAME-LOOKUP", "name not allowed") if self.rules.creates_groups else None
        rule = "BQ-GROUP-LOOKUP" if self.rules.creates_groups else "BQ-GROUP-SYSTEM"
        return state._replace(groups=state.groups | {group}), (rule, "group created")


def _with_texts(answer: Answer[BrokerState], *texts: tuple[str | None, int]) -> Answer[BrokerState]:
    """The answer with the rule by which its fields were read, where one of them is unusual."""
    after, result, why = answer
    for text, bits in texts:
        if text is not None:
            number = parse_number(text, bits)
            if number is None:
                return after, result, _with(why, "BQ-NUMBER-LOST", "unreadable")
            if text != str(number):
                why = _with(why, "BQ-NUMBER", "unusual digits")
    return after, result, why


@cache
def _with(why: Reason, rule: str, kind: str) -> Reason:
    """The same reason with one more rule; one object for each. A rule that is there already stays alone."""
    return why if rule in why.rules else Reason((*why.rules, rule), f"{why.kind}, {kind}")
