"""The brokers of suite broker-slave: a master and its slave, of one name (SLV-*).

Topics and groups are made at the master before a case begins: the slave knows none of them before it asks. Topic 0 is
never deleted, and topic 1 has no messages, so that both brokers have the same messages. What the master holds survives
its end: it is killed only once its offsets are on the disk. A master that stays offline once it is started
(SLV-ACT-OFFLINE) counts as one that is down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker import admin, lifecycle, names
from rocketmq_conformance.models.broker.broker_process import UNREACHABLE
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.group_stats import (
    NOT_PULLED,
    GoneOn,
    pulled,
    without_group,
    without_topic,
)
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.reset import ResetRequest, reset
from rocketmq_conformance.models.broker.search import search
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.slave import (
    FENCED,
    IN_VAIN,
    OFFLINE,
    granted,
    refuses_changes,
    refuses_pulls,
    slave_rules,
    synchronised,
    taken_back,
    takes_both,
    unread,
)
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: Which of the two is asked.
MASTER_NODE, SLAVE_NODE = "master", "slave"
#: The topic that is created and deleted, and its queues.
OTHER_TOPIC, OTHER_QUEUES = 1, 1
_DOWN = Reason(("RUN-DOWN-1",), "the master is down")
_ENDED = Reason(("RUN-RESTART-1", "SLV-GONE"), "the master ended")
_BACK = Reason(("RUN-RESTART-1",), "the master is back")
_LOCKED = {
    (strict, up): Reason(("SLV-LOCK-STRICT" if strict else "SLV-LOCK",), "both run" if up else "the master is down")
    for strict in (False, True)
    for up in (False, True)
}
_BOUNDS = {
    at: Reason(("BQ-STORE-MIN", "BQ-STORE-MAX", *more), at)
    for at, more in ((MASTER_NODE, ()), (SLAVE_NODE, ("SLV-QUERY", "SLV-MESSAGES")))
}
#: Times of a search: before every message, and after it.
EARLY, LATE = -1, 1
#: A message of the suite, as filters see it.
_ENTRY = StoredEntry(100, None)


#: A (group, topic, queue), a group or a topic, and what became of it.
Marks = Mapping[tuple[str, str, int] | str, str]
NOT_MARKED: Marks = MappingProxyType({})


class Pair(NamedTuple):
    """The two brokers, and whether the master runs; ``master`` is its state now, or once it is started."""

    master: BrokerState
    slave: BrokerState
    up: bool = True
    #: Where pulls at the master go on, since it was started, and those at the slave.
    gone_on: GoneOn = NOT_PULLED
    slave_gone_on: GoneOn = NOT_PULLED
    #: What became of offsets at the slave last, and of groups and topics, where only a later answer shows it.
    marks: Marks = NOT_MARKED


class BrokerSlaveModel:
    """The rules of a master and its slave for one profile; every method is pure."""

    __slots__ = ("rules", "slave_rules")

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)
        self.slave_rules = slave_rules(profile)

    def initial(self) -> Pair:
        """The initial state: topic 0 and group 0 at the master, and a slave that has not asked for them."""
        return Pair(initial_state(), BrokerState())

    # --- the two ----------------------------------------------------------------------------------------------

    def synchronise(self, pair: Pair) -> Answer[Pair]:
        """SLV-SYNC-*, SLV-GONE: the slave has asked its master for everything."""
        if not pair.up:
            return pair._replace(marks=dict.fromkeys(pair.slave.stored, "asked in vain")), None, IN_VAIN
        before = pair.slave
        slave, expected, why = synchronised(before, pair.master, unread(self.rules, pair.gone_on))
        marks: Marks = {
            **dict.fromkeys(before.stored.keys() - slave.stored.keys(), "taken away"),
            **dict.fromkeys(before.groups - slave.groups, "group taken away"),
            **dict.fromkeys(before.topics.keys() - slave.topics.keys(), "topic taken away"),
            **dict.fromkeys(pair.master.pending.keys() & slave.stored.keys(), "reset at the master"),
        }
        return pair._replace(slave=slave, marks=marks), expected, why

    def end(self, pair: Pair, how: str) -> Answer[Pair]:
        """SLV-GONE: the master was stopped, or killed once its offsets were on the disk."""
        return pair._replace(up=False), None, _ENDED

    def start(self, pair: Pair) -> Answer[Pair]:
        """RUN-RESTART-1, SLV-ACT-*: the master is back, with what it had or what it takes of its slave."""
        master, why = lifecycle.restart(self.rules, pair.master), _BACK
        if self.rules.slave_acts:
            if unread(self.rules, pair.slave_gone_on):
                return pair._replace(master=master), *OFFLINE
            master, _, why = taken_back(master, pair.slave)
        return pair._replace(master=master, up=True, gone_on=NOT_PULLED), None, why

    def lock(self, pair: Pair, queue: int) -> Answer[Pair]:
        """SLV-LOCK, SLV-LOCK-STRICT: does a member get the lock of a queue of the master, and does another one get it
        of the slave then? None for a master that is down."""
        strict, asked = takes_both(self.rules), (queue,)
        first = bool(granted(self.rules, asked, asked)) if pair.up else None
        # what the master granted with the slave, that one has given away
        own = () if strict and first else asked
        second = bool(granted(self.rules, own, asked if pair.up else None))
        return pair, (first, second), _LOCKED[strict, pair.up]

    def send(self, pair: Pair, at: str, queue: int, count: int) -> Answer[Pair]:
        """BQ-SEND-1, SLV-SEND, SLV-MESSAGES: the offsets of messages to topic 0, which the slave has, too."""
        after, result, why = self._at(pair, at, lambda rules, state: send(rules, state, TOPICS[0], queue, (0,) * count))
        if at == MASTER_NODE and not isinstance(result, Err):
            return (
                after._replace(slave=after.slave._replace(logs=after.master.logs)),
                result,
                _with(why, "SLV-MESSAGES"),
            )
        return after, result, why

    # --- one of them ------------------------------------------------------------------------------------------

    def create_topic(self, pair: Pair, at: str) -> Answer[Pair]:
        """BQ-TOPIC-1, SLV-ADMIN: None, or the error."""
        settings = Topic.of(OTHER_QUEUES)
        return self._changed(
            pair, at, lambda rules, state: admin.create_topic(rules, state, TOPICS[OTHER_TOPIC], settings)
        )

    def delete_topic(self, pair: Pair, at: str) -> Answer[Pair]:
        """BQ-TOPIC-3, SLV-ADMIN: None, or the error."""
        topic = TOPICS[OTHER_TOPIC]
        after, result, why = self._changed(pair, at, lambda rules, state: admin.delete_topic(rules, state, topic))
        return (
            self._gone_on(after, at, lambda on: without_topic(self.rules, on, topic, _of(pair, at).stored)),
            result,
            why,
        )

    def create_group(self, pair: Pair, at: str, group: int) -> Answer[Pair]:
        """BQ-GROUP-1, SLV-ADMIN: None, or the error."""
        return self._changed(pair, at, lambda rules, state: admin.create_group(rules, state, GROUPS[group]))

    def delete_group(self, pair: Pair, at: str, group: int, flag: str) -> Answer[Pair]:
        """BQ-GROUP-2, SLV-ADMIN: None, or the error."""
        name = GROUPS[group]
        after, result, why = self._changed(pair, at, lambda rules, state: admin.delete_group(rules, state, name, flag))
        removed = admin.removes_offsets(self.rules, flag)
        return self._gone_on(after, at, lambda on: without_group(self.rules, on, name, removed)), result, why

    def commit(self, pair: Pair, at: str, group: int, topic: int, queue: int, offset: int) -> Answer[Pair]:
        """BQ-UPDATE-*, SLV-UPDATE: None, or the error."""
        key = GROUPS[group], TOPICS[topic], queue
        return self._marked(
            key, at, self._at(pair, at, lambda rules, state: commit_offset(rules, state, *key, offset), "SLV-UPDATE")
        )

    def query(self, pair: Pair, at: str, group: int, topic: int, queue: int, set_zero: bool | None) -> Answer[Pair]:
        """BQ-QUERY-*, SLV-QUERY: the offset, or the error."""
        key = GROUPS[group], TOPICS[topic], queue
        return self._marked(
            key, at, self._at(pair, at, lambda rules, state: query_offset(rules, state, *key, set_zero), "SLV-QUERY")
        )

    def bounds(self, pair: Pair, at: str, topic: int, queue: int) -> Answer[Pair]:
        """BQ-STORE-MIN, BQ-STORE-MAX, SLV-MESSAGES: (min, max)."""

        def look(rules: BrokerRules, state: BrokerState) -> Answer[BrokerState]:
            log = state.logs.get((TOPICS[topic], queue), ABSENT)
            return state, (log.min, log.max), _BOUNDS[at]

        return self._at(pair, at, look)

    def pull(
        self, pair: Pair, at: str, group: int, topic: int, queue: int, offset: int, commit: int | None
    ) -> Answer[Pair]:
        """BQ-PULL-*, SLV-PULL-*: (response code, next offset, offsets of the messages), or the error."""
        request = PullMessageRequest(GROUPS[group], TOPICS[topic], queue, offset, commit=commit)

        def look(rules: BrokerRules, state: BrokerState) -> Answer[BrokerState]:
            if not refuses_pulls(rules) and names.created_by_look_up(rules, request.group):
                state = state._replace(groups=state.groups | {request.group})
            entries = (_ENTRY,) * len(state.logs.get((request.topic, queue), ABSENT).times)
            state, result, why = pull(rules, state, request, None, entries)
            if not isinstance(result, tuple):
                return state, result, why
            status, following, _, _, found = cast(PullResult, result)
            return state, (response_code(status, offset, rules), following, found), why

        after, result, why = self._at(pair, at, look)
        if isinstance(result, tuple):
            # that there was one counts, and not where it goes on
            key = request.group, request.topic, queue
            after = self._gone_on(after, at, lambda on: pulled(self.rules, on, key, 0))
            if at == SLAVE_NODE and commit is not None:
                after = after._replace(marks={**after.marks, key: "pulled"})
        return after, result, why

    def reset(self, pair: Pair, at: str, group: int, topic: int, queue: int, offset: int) -> Answer[Pair]:
        """BQ-RESET-*, SLV-RESET: (the pairs of queue and offset, None without members), or the error."""
        request = ResetRequest(GROUPS[group], TOPICS[topic], -1, True, queue, offset)
        return self._at(pair, at, lambda rules, state: reset(rules, state, request, False))

    def search(self, pair: Pair, at: str, queue: int, late: bool) -> Answer[Pair]:
        """BQ-TIME-*, SLV-QUERY: the offset of a queue of topic 0 for a time before or after all messages."""
        time = LATE if late else EARLY
        return self._at(pair, at, lambda rules, state: search(rules, state, TOPICS[0], queue, time, ""), "SLV-QUERY")

    def _gone_on(self, pair: Pair, at: str, change: Callable[[GoneOn], GoneOn]) -> Pair:
        """SLV-SYNC-PULLED, SLV-ACT-OFFLINE: the pair once that has changed which pulls one of them answered, where it
        matters."""
        if not self.rules.slave_unread:
            return pair
        if at == SLAVE_NODE:
            return pair._replace(slave_gone_on=change(pair.slave_gone_on)) if self.rules.slave_acts else pair
        return pair._replace(gone_on=change(pair.gone_on)) if pair.up else pair

    def _marked(self, key: tuple[str, str, int], at: str, answer: Answer[Pair]) -> Answer[Pair]:
        """The answer about an offset, with what became of it at the slave."""
        pair, result, why = answer
        if at != SLAVE_NODE:
            return answer
        mark = next((pair.marks[one] for one in (key, *key[:2]) if one in pair.marks), "")
        if "SLV-UPDATE" in why.rules and key in pair.marks:
            pair = pair._replace(marks={**pair.marks, key: f"committed, {mark.removeprefix('committed, ')}"})
        return pair, result, _called(why, mark) if mark else why

    def _changed(
        self, pair: Pair, at: str, handler: Callable[[BrokerRules, BrokerState], Answer[BrokerState]]
    ) -> Answer[Pair]:
        """The answer to a change of topics or groups, which some slaves refuse (SLV-ADMIN)."""
        return self._at(
            pair, at, lambda rules, state: (state, *FENCED) if refuses_changes(rules) else handler(rules, state)
        )

    def _at(
        self,
        pair: Pair,
        at: str,
        handler: Callable[[BrokerRules, BrokerState], Answer[BrokerState]],
        at_slave: str = "",
    ) -> Answer[Pair]:
        """The answer of one of the two; ``at_slave`` is a rule that counts at the slave besides."""
        if at == SLAVE_NODE:
            after, result, why = handler(self.slave_rules, pair.slave)
            return pair._replace(slave=after), result, _with(why, at_slave) if at_slave else why
        if not pair.up:
            return pair, UNREACHABLE, _DOWN
        after, result, why = handler(self.rules, pair.master)
        return pair._replace(master=after), result, why


def _of(pair: Pair, at: str) -> BrokerState:
    return pair.slave if at == SLAVE_NODE else pair.master


@cache
def _called(why: Reason, mark: str) -> Reason:
    """The same reason of what was marked; one object for each."""
    return Reason(why.rules, f"{why.kind}, {mark}")


@cache
def _with(why: Reason, rule: str) -> Reason:
    """The same reason with a rule of the slave; one object for each."""
    return Reason((*why.rules, rule), f"{why.kind}, slave")
