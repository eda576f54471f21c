"""The broker of suite broker-polling: pulls that are held until a message passes, or until their time is up.

A broker looks at its held pulls when a message arrives, and besides at every *check*, which comes at intervals of its
own. A test cannot know when a check comes, nor how fast a broker is. So the answer to a held pull is judged by what may
have led to it: some of the messages that arrived since, its time, and a check. Times are lower bounds only: a pull is
not answered before its time, and a queue is not checked twice within an interval, which shows in a queue without any
message: a broker may be late in judging a pull, and in announcing a message, and then answers without a check. That a
message wakes a pull at once is an order: its answer comes before that of a pull that waits for the next check.

Times are in thousandths of the interval since the case began.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker import admin
from rocketmq_conformance.models.broker.broadcast import NOTHING_PULLED, SUFFIX, pulled
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.correction import correction_offsets
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.members import PASSIVELY, RegisteredGroup
from rocketmq_conformance.models.broker.names import created_by_look_up
from rocketmq_conformance.models.broker.pull import (
    SUSPEND,
    PullMessageRequest,
    PullResult,
    is_held,
    pull,
    response_code,
)
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import READ, WRITE, BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import (
    UNSUBSCRIBED,
    RegisteredSubscription,
    StoredEntry,
    carried_codes,
    passes_filter,
    registered_codes,
)
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-PULL-CHECK",
        "Held pulls are looked at every 5 s: those that have new messages, whether or not these pass, and those whose "
        "time is up are judged again and answered. A time of 0 or less is up at once, and still waits for that.",
        "PullRequestHoldService#run, #checkHoldRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-PULL-SHORT",
        "With longPollingEnable=false a pull is held for shortPollingTimeMills, whatever time it asks for, held pulls "
        "are looked at as often, and no message wakes them.",
        "PullMessageProcessor#processRequest, PullRequestHoldService#run, "
        "DefaultMessageStore.ReputMessageService#doReput @ 4.0.0, 4.9.7, 5.3.3",
        needs="longPollingEnable=false",
    ),
    Rule(
        "BQ-PULL-AGAIN",
        "A held pull is judged anew, as it comes up, by the settings of its group and topic, and by the subscription "
        "that its group has then: a pull that was held may be refused in the end, or find nothing in a message that "
        "woke it.",
        "PullMessageProcessor#executeRequestWhenWakeup @ 4.0.0, 4.9.7, 5.5.0",
    ),
)

#: The interval, and a time to wait that no case takes.
INTERVAL, FOREVER = 1000, 1_000_000
#: The shortest time between two checks, as a clock of whole ms shows it.
_APART = 980
#: Slots for held pulls, each with a connection of its own.
SLOTS = 2
HELD = "held"
#: What changes while a pull waits: its group's settings or its topic's, or, where it has no subscription of its own,
#: that of its group. Nothing changes in the first two.
NOTHING, REGISTERED = "nothing", "nothing, registered"
DISABLED, DELETED, UNREADABLE, NO_QUEUE = "group disabled", "group deleted", "topic not read", "queue not read"
OTHER_TAGS, LEFT = "other tags", "member left"
CHANGES = (NOTHING, REGISTERED, DISABLED, DELETED, UNREADABLE, NO_QUEUE, OTHER_TAGS, LEFT)
#: The settings of the topic of such a pull, before and after.
BEFORE = Topic.of(1)
AFTER = {UNREADABLE: Topic(1, 1, WRITE), NO_QUEUE: Topic(0, 1, READ | WRITE)}
#: The tag that is subscribed to, the other one, and versions of subscriptions.
TAG, OTHER_TAG, OLD, NEW = "A", "B", 1, 2
#: How the members of a group pull whose offsets the broker may keep: after ordinary heartbeats that broadcast, at once
#: and held; after other heartbeats; over a connection that is no member's; refused, as they know a newer subscription;
#: before the first one leaves; and both by one client id.
BROADCASTING, WAITING, CLUSTERING, ACTIVELY = "broadcasting", "waiting", "clustering", "actively"
ELSEWHERE, REFUSED, LEAVING, ONE_ID = "elsewhere", "refused", "leaving", "one client id"
WAYS = (BROADCASTING, WAITING, CLUSTERING, ACTIVELY, ELSEWHERE, REFUSED, LEAVING, ONE_ID)
#: Messages of each queue of such a group's topic, and the consume type of members that pull by themselves.
BROADCAST, CONSUMES_ACTIVELY = 3, "CONSUME_ACTIVELY"
#: The store time of every message (ms since the epoch); it is not observed.
_STORED_AT = 1_000_000_000_000
_SMALL = 100

_HOLD = reasons_by_kind(("BQ-PULL-10",), "held", "held, short", "nothing to suspend")
_HOLD_UP = Reason(("BQ-PULL-10", "BQ-PULL-CHECK"), "held, and its time is up")
_WOKEN = Reason(("BQ-PULL-10", "BQ-PULL-TAGS"), "woken by a message that passes")
_AT_ONCE = {
    True: Reason(("BQ-PULL-10", "BQ-PULL-TAGS"), "woken before a check"),
    False: Reason(("BQ-PULL-10", "BQ-PULL-CHECK", "BQ-PULL-SHORT"), "not woken before a check"),
}
_STILL = reasons_by_kind(("BQ-PULL-10", "BQ-PULL-TAGS"), "still held", "still held, messages that do not pass")
_CHECKED = reasons_by_kind(("BQ-PULL-10", "BQ-PULL-CHECK"), "messages that do not pass", "time is up")
_SHORT = reasons_by_kind(("BQ-PULL-10", "BQ-PULL-CHECK", "BQ-PULL-SHORT"), "messages", "time is up")
_CHANGED = reasons_by_kind(("BQ-PULL-10", "BQ-PULL-AGAIN"), *CHANGES)
_EMPTY = Reason(("BQ-PULL-10",), "no pull in the slot")
_KEPT = reasons_by_kind(("BQ-BROADCAST-1", "BQ-BROADCAST-2", "BQ-CORRECT-1"), *WAYS)
_NOT_KEPT = Reason(("BQ-CORRECT-1",), "offsets of groups that broadcast are not kept")


class HeldPull(NamedTuple):
    """A pull that waits: its queue, offset and expression, for how long at least, and when it was sent."""

    queue: int
    offset: int
    expression: str
    wait: int
    sent: int


class Check(NamedTuple):
    """A check that was seen: it came at ``low`` or later, at ``high`` or before."""

    low: int
    high: int


class BrokerPollingState(NamedTuple):
    """The broker, the tags of its messages by queue, the held pulls by slot, and the last check seen by queue."""

    broker: BrokerState = initial_state()
    tags: Mapping[int, tuple[str, ...]] = MappingProxyType({})
    held: Mapping[int, HeldPull] = MappingProxyType({})
    checks: Mapping[int, Check] = MappingProxyType({})


#: What a pull is answered: the response code's name, the next offset, the offsets of messages.
PullAnswer = tuple[str, int, tuple[int, ...]]


class BrokerPollingModel:
    """The rules of suite broker-polling; every method is pure."""

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def send(self, state: BrokerPollingState, queue: int, tags: tuple[str, ...]) -> Answer[BrokerPollingState]:
        """BQ-SEND-1: the offsets of messages with these tags."""
        broker, result, why = send(self.rules, state.broker, TOPICS[0], queue, (_STORED_AT,) * len(tags))
        after = {**state.tags, queue: (*state.tags.get(queue, ()), *tags)}
        return state._replace(broker=broker, tags=after), result, why

    def hold(
        self,
        state: BrokerPollingState,
        observed: Result,
        slot: int,
        queue: int,
        distance: int,
        expression: str,
        wait: int,
        suspends: bool,
    ) -> Answer[BrokerPollingState]:
        """BQ-PULL-10: HELD or the answer, then when the pull was sent and when that was seen.

        The pull is from ``distance`` messages beyond max. What was in the slot is gone with its connection.
        """
        sent, seen = _times(observed)
        offset = max(len(state.tags.get(queue, ())) + distance, 0)
        others = {at: held for at, held in state.held.items() if at != slot}
        state = state._replace(held=others)
        held = HeldPull(queue, offset, expression, self._wait(wait), sent)
        answer, why = self._judge(state, held, None)
        if isinstance(answer, Err) or not is_held(answer[0], SUSPEND if suspends else 0):
            if isinstance(answer, tuple) and answer[0] == "PULL_NOT_FOUND":
                why = _HOLD["nothing to suspend"]
            return state, answer if isinstance(answer, Err) else (answer, sent, seen), why
        why = _HOLD["held, short"] if not self.rules.long_polling else _HOLD["held"] if wait > 0 else _HOLD_UP
        if isinstance(observed, tuple) and observed[0] != HELD:
            # the next check may have come at once
            after = self._answered(state, held, cast(PullAnswer, observed[0]), seen)
            if after is not None:
                return after[0], (observed[0], sent, seen), after[1]
        return state._replace(held={**others, slot: held}), (HELD, sent, seen), why

    def look(self, state: BrokerPollingState, observed: Result, slot: int) -> Answer[BrokerPollingState]:
        """BQ-PULL-10, BQ-PULL-CHECK: the answer to a held pull, or HELD; then the same times."""
        return self._look(state, observed, slot, waited=False)

    def wait(self, state: BrokerPollingState, observed: Result, slot: int) -> Answer[BrokerPollingState]:
        """The same after the next check, and after the time that the pull waits for."""
        return self._look(state, observed, slot, waited=True)

    def wake(self, state: BrokerPollingState, expression: str, tag: str) -> Answer[BrokerPollingState]:
        """BQ-PULL-10, BQ-PULL-SHORT: the answer to a pull from offset 0 that has a message, and whether it comes before
        that of a pull that waits for a check. The queues are not those of the other operations."""
        held = HeldPull(0, 0, expression, FOREVER, 0)
        one = state._replace(broker=initial_state(), tags={})
        answer, why = self._judge(self.send(one, 0, (tag,))[0], held, None)
        if isinstance(answer, Err):
            return state, answer, why
        at_once = self.rules.long_polling
        return state, (answer, at_once), _AT_ONCE[at_once]

    def change(self, state: BrokerPollingState, change: str) -> Answer[BrokerPollingState]:
        """BQ-PULL-AGAIN: the answer to a pull from offset 0 of a new group, which is held until a message comes that
        passes its filter, after a change; or the error. Nothing else uses its topic."""
        group, topic, rules = GROUPS[0], TOPICS[0], self.rules
        broker = BrokerState(topics={topic: AFTER.get(change, BEFORE)}, groups=frozenset({group}))
        if change == DISABLED:
            broker = admin.create_group(rules, broker, group, enabled=False)[0]
        elif change == DELETED:
            broker = admin.delete_group(rules, broker, group, admin.CLEAN_OFFSET)[0]
            if created_by_look_up(rules, group):
                broker = broker._replace(groups=broker.groups | {group})
        broker, _, _ = send(rules, broker, topic, 0, (_STORED_AT,))
        codes = carried_codes(rules, OTHER_TAG if change == OTHER_TAGS else TAG, "TAG")
        asked = PullMessageRequest(group, topic, 0, 0)
        codes = UNSUBSCRIBED if change == LEFT else codes
        result = pull(rules, broker, asked, codes, [StoredEntry(_SMALL, TAG)])[1]
        if isinstance(result, Err):
            return state, result, _CHANGED[change]
        status, following, _, _, found = cast(PullResult, result)
        return state, (response_code(status, 0), following, found), _CHANGED[change]

    def broadcast(
        self, state: BrokerPollingState, way: str, pulls: tuple[tuple[int, int], ...]
    ) -> Answer[BrokerPollingState]:
        """BQ-BROADCAST-*: the offset of a new group by its broadcast name, or the error's code, and the smallest one
        that is stored for its topic, if any, after these (member, offset) pulls. Nothing else uses its topic."""
        group, topic, rules = GROUPS[0], TOPICS[0], self.rules
        key = group, topic, 0
        held = RegisteredSubscription(None, OLD)
        codes = registered_codes(rules, held, NEW if way == REFUSED else OLD)
        members = {0: "C0", 1: "C0" if way == ONE_ID else "C1"}
        kind = CONSUMES_ACTIVELY if way == ACTIVELY else PASSIVELY
        registered = RegisteredGroup(members, {topic: held}, way != CLUSTERING, kind)
        broker = BrokerState(topics={topic: Topic.of(2)}, groups=frozenset({group}))
        broker = send(rules, broker, topic, 0, (_STORED_AT,) * BROADCAST)[0]
        kept = NOTHING_PULLED
        for member, offset in pulls:
            asked = PullMessageRequest(group, topic, 0, offset)
            result = pull(rules, broker, asked, codes, [StoredEntry(_SMALL)] * BROADCAST)[1]
            if isinstance(result, tuple):
                status, following, *_ = cast(PullResult, result)
                moved = response_code(status, offset) == "PULL_OFFSET_MOVED"
                connection = len(members) if way == ELSEWHERE else member
                broker, kept = pulled(rules, broker, kept, registered, connection, key, following if moved else offset)
        found = query_offset(rules, broker, group + SUFFIX, topic, 0)[1]
        smallest = cast("tuple[tuple[int, int], ...]", correction_offsets(rules, broker, topic, frozenset(), "")[1])
        answer = found.code if isinstance(found, Err) else cast(int, found)
        return state, (answer, dict(smallest).get(0)), _KEPT[way] if rules.keeps_broadcast else _NOT_KEPT

    def _look(self, state: BrokerPollingState, observed: Result, slot: int, waited: bool) -> Answer[BrokerPollingState]:
        held = state.held.get(slot)
        if held is None:
            return state, None, _EMPTY
        _, seen = _times(observed)
        tags = self._new(state, held)
        others = {at: other for at, other in state.held.items() if at != slot}
        if isinstance(observed, tuple) and observed[0] != HELD:
            after = self._answered(state._replace(held=others), held, cast(PullAnswer, observed[0]), seen)
            if after is not None:
                return after[0], (observed[0], held.sent, seen), after[1]
        if any(self._passes(held, tag) for tag in tags) or (waited and (tags or held.wait < FOREVER)):
            answer, why = self._judge(state, held, len(tags))
            assert not isinstance(answer, Err)
            return state._replace(held=others), (answer, held.sent, seen), why
        return state, (HELD, held.sent, seen), _STILL["still held, messages that do not pass" if tags else "still held"]

    def _answered(
        self, state: BrokerPollingState, held: HeldPull, answer: PullAnswer, seen: int
    ) -> tuple[BrokerPollingState, Reason] | None:
        """The state after an answer, and the reason for it; None when nothing can have led to it."""
        tags = self._new(state, held)
        up = seen - held.sent >= held.wait
        for count in range(len(tags) + 1):
            found, why = self._judge(state, held, count)
            if found != answer or (count == 0 and not up):
                continue
            if count or held.offset:
                # judged late, woken, or looked at when a message was announced late: none of these is a check
                return state, why
            check, last = Check(held.sent, seen), state.checks.get(held.queue)
            if last is not None and check.low >= last.high and check.high - last.low < _APART:
                return None
            return state._replace(checks={**state.checks, held.queue: check}), why
        return None

    def _judge(self, state: BrokerPollingState, held: HeldPull, count: int | None) -> tuple[PullAnswer | Err, Reason]:
        """The answer to a pull that sees so many of the messages that came since it was sent, all when None."""
        codes = carried_codes(self.rules, held.expression, "TAG")
        tags = state.tags.get(held.queue, ())
        kept = tags if count is None else tags[: held.offset + count]
        key = TOPICS[0], held.queue
        logs = dict(state.broker.logs)
        if key in logs:
            logs[key] = logs[key]._replace(times=logs[key].times[: len(kept)])
        asked = PullMessageRequest(GROUPS[0], TOPICS[0], held.queue, held.offset)
        entries = [StoredEntry(_SMALL, tag) for tag in kept]
        _, result, why = pull(self.rules, state.broker._replace(logs=logs), asked, codes, entries)
        if isinstance(result, Err):
            return result, why
        status, following, _, _, found = cast(PullResult, result)
        if count is not None:
            why = self._reason(count, found)
        return (response_code(status, held.offset), following, found), why

    def _reason(self, count: int, found: tuple[int, ...]) -> Reason:
        if not self.rules.long_polling:
            return _SHORT["messages" if count else "time is up"]
        return _WOKEN if found else _CHECKED["messages that do not pass" if count else "time is up"]

    def _new(self, state: BrokerPollingState, held: HeldPull) -> tuple[str, ...]:
        """The tags of the messages that came since the pull was sent."""
        return state.tags.get(held.queue, ())[held.offset :]

    def _passes(self, held: HeldPull, tag: str) -> bool:
        codes = carried_codes(self.rules, held.expression, "TAG")
        return not isinstance(codes, Err) and passes_filter(self.rules, codes, StoredEntry(_SMALL, tag))

    def _wait(self, wait: int) -> int:
        """BQ-PULL-SHORT: how long a pull is held at least."""
        return wait if self.rules.long_polling else INTERVAL


def _times(observed: Result) -> tuple[int, int]:
    """When a pull was sent, and when its outcome was seen; 0 and 0 when the outcome does not tell."""
    if isinstance(observed, tuple) and len(observed) == 3:
        _, sent, seen = observed
        if type(sent) is int and type(seen) is int:
            return sent, seen
    return 0, 0


def show(state: BrokerPollingState) -> str:
    """The tags of each queue and the held pulls in one line."""
    held = {slot: f"queue {one.queue} from {one.offset} by {one.expression!r}" for slot, one in state.held.items()}
    return f"messages {dict(state.tags)}, held {held}"
