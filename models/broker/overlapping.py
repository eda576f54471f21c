"""Requests that overlap: what a broker promises of them, and what it does not (BQ-ONCE-*).

Requests of several connections are handled by several threads. Most of them take effect at one moment between their
sending and their answer, so that a history of them is linearizable by the model of single requests: that is promised,
queue by queue. A few consist of steps with gaps between them. What comes of two of these at the same time is promised
nowhere: an answer that only such gaps explain decides nothing.

This module has both: a request as one effect, and as the steps that Java takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.lock import NO_LOCKS, Locks, lock_batch, unlock_batch
from rocketmq_conformance.models.broker.members import NO_GROUPS, Consumer, Groups, consumer_list, heartbeat, unregister
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.reset import ResetRequest, reset
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Stored
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.linearizability import Effect
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Expected, agrees
from rocketmq_conformance.models.rule import Level, Rule

RULES = (
    Rule(
        "BQ-ONCE-OFFSET",
        "Commits and queries of one queue's offset that overlap act as if each was done at one moment between its "
        "sending and its answer.",
        "ConsumerOffsetManager#commitOffset, #queryOffset @ 4.0.0, 4.9.7, 5.1.4, 5.5.0",
    ),
    Rule(
        "BQ-ONCE-FIRST",
        "Of the first commits of a group in a topic that overlap, one may undo what others have stored for other "
        "queues: each makes a table for the topic, and the last one stays.",
        "ConsumerOffsetManager#commitOffset @ 4.0.0, 4.9.7, 5.1.4, 5.5.0",
        level=Level.UNDEFINED,
    ),
    Rule(
        "BQ-ONCE-RESET",
        "A reset of one queue by the broker that overlaps with pulls and other resets of it acts as if done at one "
        "moment; of several pulls that overlap, one alone is sent to the new offset.",
        "ConsumerOffsetManager#assignResetOffset, #queryThenEraseResetOffset @ 5.1.0, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "BQ-ONCE-TORN",
        "A commit or query that overlaps with a reset of the queue may be done in part before and in part after it, as "
        "the reset is kept in two tables: a commit may replace the offset that was reset, and a query may fail.",
        "ConsumerManageProcessor#updateConsumerOffset, ConsumerOffsetManager#queryOffset, #assignResetOffset @ 5.1.0, "
        "5.5.0",
        releases="5.1.0+",
        level=Level.UNDEFINED,
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "BQ-ONCE-SEND",
        "Messages that are sent to one queue at the same time get an offset each, without gaps, in the order of "
        "moments between their sending and their answer.",
        "CommitLog#putMessage @ 4.0.0",
    ),
    Rule(
        "BQ-ONCE-SHOWN",
        "A message that was stored shows in max and in pulls at some later moment, after those before it; one that has "
        "shown stays.",
        "DefaultMessageStore#getMaxOffsetInQueue @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-ONCE-LOCK",
        "Of several clients that ask for a queue's lock at the same time one gets it; a request for several queues is "
        "done at one moment.",
        "RebalanceLockManager#tryLockBatch, #unlockBatch @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-ONCE-MEMBERS",
        "Heartbeats of several connections that overlap all register, and the list of members has those that were "
        "answered.",
        "ConsumerManager#registerConsumer, ConsumerGroupInfo#updateChannel @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-ONCE-LEAVE",
        "A member that registers while the last one leaves may be forgotten until its next heartbeat: the group is "
        "removed with it.",
        "ConsumerManager#unregisterConsumer @ 4.0.0, 4.9.7, 5.5.0",
        level=Level.UNDEFINED,
    ),
    Rule(
        "BQ-ONCE-CUT",
        "A request whose connection is cut before its answer takes effect once, at any later moment, or never; what "
        "others ask meanwhile is not changed by that.",
        "NettyRemotingAbstract#processRequestCommand @ 4.0.0, 4.9.7, 5.5.0",
        level=Level.UNDEFINED,
    ),
    Rule(
        "BQ-ONCE-FREEZE",
        "Requests that reach a broker that is frozen (SIGSTOP) and goes on are handled then, each once, as if others "
        "had only been slow.",
        "NettyRemotingAbstract#processRequestCommand @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-ONCE-KILL",
        "A broker that is killed while requests are under way, and started again, has every message whose sending was "
        "answered, for each queue an offset that was stored at some moment before, or none, and neither locks nor "
        "members.",
        "ConsumerOffsetManager#load, CommitLog#recoverAbnormally @ 4.0.0, 4.9.7, 5.5.0",
    ),
)

#: Kinds of requests.
COMMIT, QUERY, RESET, PULL, SEND, MAX = "commit", "query", "reset", "pull", "send", "max"
LOCK, UNLOCK, JOIN, LEAVE, LIST = "lock", "unlock", "join", "leave", "list"
#: What befalls a broker while requests are under way.
FREEZE, KILL = "freeze", "kill"
FAULTS = frozenset({FREEZE, KILL})
#: Requests whose connection may be cut: members are those of their connections.
_CAN_BE_CUT = frozenset({COMMIT, RESET, PULL, SEND, LOCK, UNLOCK})
#: The clients by their connections.
CLIENTS = ("one", "two", "three")
#: The group, the topic, and the queues.
GROUP, TOPIC, QUEUES = GROUPS[0], TOPICS[0], (0, 1)
#: Stands for an answer that is not known.
UNSEEN: Any = object()

_SMALL_ENTRY = StoredEntry(0)
#: Locks do not expire within a history.
_AGELESS = 0
#: The failure of a query whose reset was taken by a pull in between.
_FAILED = "SYSTEM_ERROR"


class Request(NamedTuple):
    """One request: its kind, the number of the client that sends it, and its arguments."""

    kind: str
    by: int
    args: tuple[Any, ...] = ()
    #: Is its connection cut once it is sent?
    cut: bool = False

    @property
    def heard(self) -> bool:
        """May it be answered?"""
        return not self.cut and (self.kind != COMMIT or bool(self.args[2]))

    def __str__(self) -> str:
        match self.kind, self.args:
            case "commit", (queue, offset, _):
                return f"commit {offset} to queue {queue}"
            case "reset", (queue, offset):
                return f"reset queue {queue} to {offset}"
            case "pull", (queue, offset):
                return f"pull queue {queue} from {offset}"
            case (("lock" | "unlock"), (queues,)):
                return f"{self.kind} {' and '.join(f'queue {queue}' for queue in queues)}"
            case _, (queue,):
                return f"{self.kind} queue {queue}"
            case _:
                return self.kind


def cut_last(asked: Sequence[Request], by: int) -> tuple[Request, ...] | None:
    """Requests of which a client's last one is sent over a connection that is cut then; None if it has none such."""
    for place, one in reversed([*enumerate(asked)]):
        if one.by == by and one.kind in _CAN_BE_CUT and one.heard:
            return (*asked[:place], one._replace(cut=True), *asked[place + 1 :])
    return None


class Overlapped(NamedTuple):
    """A broker that requests of several clients reach.

    ``shown`` is how many messages of each queue show. ``table`` and ``group`` are the numbers of the tables that hold
    the offsets and the members, as one that was replaced may still be written to.
    """

    broker: BrokerState = initial_state()
    locks: Locks = NO_LOCKS
    members: Groups = NO_GROUPS
    shown: Mapping[int, int] = MappingProxyType({})
    #: The number of the table of offsets: 0 before the first commit.
    table: int = 0
    #: The number of the group's table of members, and how many were made.
    group: int = 0
    groups: int = 0


def key(state: Overlapped) -> Hashable:
    """Equal for states that answer alike."""
    broker = state.broker
    members = state.members.get(GROUP)
    return (
        frozenset(broker.stored.items()),
        frozenset(broker.pending.items()),
        tuple([len(log.times) for _, log in sorted(broker.logs.items())]),
        frozenset(state.shown.items()),
        frozenset((queue, held.client) for queue, held in state.locks.items()),
        frozenset(members.members) if members else None,
        state.table,
        state.group,
    )


def touched(rules: BrokerRules, request: Request) -> frozenset[Hashable]:
    """What a request has to do with: requests that touch nothing in common answer the same in any order."""
    match request.kind, request.args:
        case (("lock" | "unlock"), (queues,)):
            return frozenset(("lock", queue) for queue in queues)
        case (("join" | "leave" | "list"), _):
            return frozenset({"members"})
        case "reset", _ if not rules.reset_stores:  # whether it is stored depends on other queues (BQ-COM-5)
            return frozenset(QUEUES)
    return frozenset({request.args[0]})


class Answers:
    """How a broker of some rules answers requests: as one effect, or step by step as Java does."""

    __slots__ = ("rules",)

    def __init__(self, rules: BrokerRules) -> None:
        self.rules = rules

    def answer(self, state: Overlapped, request: Request) -> tuple[Overlapped, Expected]:
        """The state after a request that no other one overlaps with, and the answer; an error is its code's name."""
        broker = state.broker
        match request.kind, request.args:
            case "commit", (queue, offset, _):
                after, result, _ = commit_offset(self.rules, broker, GROUP, TOPIC, queue, offset)
            case "query", (queue,):
                after, result, _ = query_offset(self.rules, _seen(state), GROUP, TOPIC, queue)
                after = broker
            case "reset", (queue, offset):
                asked = ResetRequest(GROUP, TOPIC, -1, True, queue, offset)
                after, result, _ = reset(self.rules, _seen(state), asked, online=False)
                after = after._replace(logs=broker.logs)
                result = result if isinstance(result, Err) else None
            case "pull", (queue, offset):
                after, result = self._pull(_seen(state), queue, offset)
                after = after._replace(logs=broker.logs)
            case "send", (queue,):
                after, result, _ = send(self.rules, broker, TOPIC, queue, (0,))
            case "max", (queue,):
                after, result = broker, state.shown.get(queue, 0)
            case _:
                return self._of_clients(state, request)
        return state._replace(broker=after), _said(result)

    def alone(self, state: Overlapped, request: Request) -> tuple[Overlapped, Expected]:
        """The same once all messages show."""
        *_, shown = _showing(state, request)
        return self.answer(shown, request)

    def _of_clients(self, state: Overlapped, request: Request) -> tuple[Overlapped, Expected]:
        client = CLIENTS[request.by]
        match request.kind:
            case "freeze":
                return state, None
            case "kill":
                return next(killed({})(state, None))
            case "lock":
                locks, result, _ = lock_batch(state.locks, GROUP, client, _queues(request), _AGELESS)
                granted = cast("tuple[Queue, ...]", result)
                return state._replace(locks=locks), tuple(sorted(number for _, _, number in granted))
            case "unlock":
                locks, result, _ = unlock_batch(state.locks, GROUP, client, _queues(request))
                return state._replace(locks=locks), _said(result)
            case "join":
                members, _, _ = heartbeat(self.rules, state.members, request.by, client, Consumer(GROUP))
                return state._replace(members=members), None
            case "leave":
                members, _, _ = unregister(self.rules, state.members, request.by, GROUP)
                return state._replace(members=members), None
        _, result, _ = consumer_list(state.members, GROUP)
        return state, tuple(sorted(cast("tuple[str, ...]", result))) if isinstance(result, tuple) else _said(result)

    def _pull(self, broker: BrokerState, queue: int, offset: int) -> tuple[BrokerState, Expected]:
        """(Response code's name, next offset, offsets of the messages found), or the error."""
        log = broker.logs.get((TOPIC, queue), ABSENT)
        request = PullMessageRequest(GROUP, TOPIC, queue, offset)
        after, result, _ = pull(self.rules, broker, request, None, [_SMALL_ENTRY] * len(log.times))
        if isinstance(result, Err):
            return after, result
        status, following, _, _, found = cast(PullResult, result)
        return after, (response_code(status, offset), following, found)

    def at_once(self, request: Request, observed: Expected) -> tuple[Effect, ...]:
        """A request that takes effect at one moment; ``observed`` may be ``UNSEEN``. It remembers its answer."""
        return (lambda state, memory: self._possible(state, request, observed),)

    def _possible(self, state: Overlapped, request: Request, observed: Expected) -> Iterator[tuple[Overlapped, Any]]:
        for shown in _showing(state, request):
            after, result = self.answer(shown, request)
            if observed is UNSEEN or agrees(result, observed):
                yield after, result

    # --- step by step ---------------------------------------------------------------------------------------------

    def in_steps(self, request: Request, observed: Expected) -> tuple[Effect, ...]:
        """A request as Java does it, where that is in steps: with gaps in which others take effect."""
        wanted = _wanted(observed)
        match request.kind, request.args:
            case "commit", (queue, offset, _):
                return _commit_in_steps(queue, offset, wanted)
            case "query", (queue,):
                return (_looks_for_reset(queue), self._reads_offset(request, wanted))
            case "reset", _:
                return self._reset_in_steps(request, observed)
            case "join", _:
                return (_finds_group, _registers(self.rules, request.by))
            case "leave", _:
                return (_unregisters(self.rules, request.by), _sees_whether_empty, _removes_group)
            case "list", _:
                return (lambda state, memory: _listed(state, wanted),)
        return self.at_once(request, observed)

    def _reads_offset(self, request: Request, wanted: Callable[[Expected], bool]) -> Effect:
        (queue,) = request.args

        def read(state: Overlapped, was_reset: Any) -> Iterator[tuple[Overlapped, Any]]:
            offset = state.broker.pending.get((GROUP, TOPIC, queue))
            if was_reset:
                answer: Expected = _FAILED if offset is None else offset
                if wanted(answer):
                    yield state, answer
                return
            # what was reset meanwhile is not looked at any more
            unset = state._replace(broker=state.broker._replace(pending={}))
            for shown in _showing(unset, request):
                after, answer = self.answer(shown, request)
                if wanted(answer):
                    yield after._replace(broker=after.broker._replace(pending=state.broker.pending)), answer

        return read

    def _reset_in_steps(self, request: Request, observed: Expected) -> tuple[Effect, ...]:
        queue, offset = request.args
        target = (GROUP, TOPIC, queue)

        def checked(state: Overlapped, memory: Any) -> Iterator[tuple[Overlapped, Any]]:
            for shown, answer in self._possible(state, request, observed):
                yield state._replace(shown=shown.shown), answer

        def pending(state: Overlapped, answer: Any) -> Iterator[tuple[Overlapped, Any]]:
            if answer is not None:  # it was refused
                yield state, answer
                return
            yield state._replace(broker=state.broker._replace(pending={**state.broker.pending, target: offset})), answer

        def stored(state: Overlapped, answer: Any) -> Iterator[tuple[Overlapped, Any]]:
            if answer is not None or not (state.table or self.rules.reset_stores):
                yield state, answer
                return
            after = {**state.broker.stored, target: offset}
            yield state._replace(broker=state.broker._replace(stored=after), table=state.table or 1), answer

        return (checked, pending, stored)


def killed(offsets: Mapping[int, Collection[int]]) -> Callable[[Overlapped, Any], Iterator[tuple[Overlapped, Any]]]:
    """The broker once it was killed and started: each queue has one of these offsets, or none (BQ-ONCE-KILL).

    One without any keeps what it has.
    """

    def kill(state: Overlapped, memory: Any) -> Iterator[tuple[Overlapped, Any]]:
        for chosen in product(*((None, *found) for found in offsets.values())):
            on_disk = {(GROUP, TOPIC, queue): offset for queue, offset in zip(offsets, chosen, strict=True)}
            stored = {key: offset for key, offset in {**state.broker.stored, **on_disk}.items() if offset is not None}
            broker = state.broker._replace(stored=stored, pending={})
            table = 1 if stored else 0
            yield state._replace(broker=broker, locks=NO_LOCKS, members=NO_GROUPS, table=table, group=0), None

    return kill


def _commit_in_steps(queue: int, offset: int, wanted: Callable[[Expected], bool]) -> tuple[Effect, ...]:
    """Is a reset pending? Which table is there? Then the offset is written to that one, or to one of its own."""
    target = (GROUP, TOPIC, queue)
    discarded = -1

    def sees_reset(state: Overlapped, memory: Any) -> Iterator[tuple[Overlapped, Any]]:
        if wanted(None):
            yield state, discarded if target in state.broker.pending else None

    def finds_table(state: Overlapped, memory: Any) -> Iterator[tuple[Overlapped, Any]]:
        yield state, discarded if memory == discarded else state.table

    def writes(state: Overlapped, table: Any) -> Iterator[tuple[Overlapped, Any]]:
        stored: Stored | None = None
        number = state.table
        if table == 0:  # its own table takes the place of whichever is there
            stored, number = {target: offset}, state.table + 1
        elif table == state.table:
            stored = {**state.broker.stored, target: offset}
        if stored is None:
            yield state, None
        else:
            yield state._replace(broker=state.broker._replace(stored=stored), table=number), None

    return (sees_reset, finds_table, writes)


def _looks_for_reset(queue: int) -> Effect:
    return lambda state, memory: [(state, (GROUP, TOPIC, queue) in state.broker.pending)]


def _finds_group(state: Overlapped, memory: Any) -> Iterator[tuple[Overlapped, Any]]:
    """The group's table of members; made if there is none."""
    if not state.group:
        state = state._replace(group=state.groups + 1, groups=state.groups + 1)
    yield state, state.group


def _registers(rules: BrokerRules, by: int) -> Effect:
    def register(state: Overlapped, group: Any) -> Iterator[tuple[Overlapped, Any]]:
        if group == state.group:
            members, *_ = heartbeat(rules, state.members, by, CLIENTS[by], Consumer(GROUP))
            state = state._replace(members=members)
        yield state, None

    return register


def _unregisters(rules: BrokerRules, by: int) -> Effect:
    def leave(state: Overlapped, memory: Any) -> Iterator[tuple[Overlapped, Any]]:
        if not state.group:
            yield state, None
            return
        members, *_ = unregister(rules, state.members, by, GROUP)
        yield state._replace(members=members), state.group

    return leave


def _sees_whether_empty(state: Overlapped, group: Any) -> Iterator[tuple[Overlapped, Any]]:
    # a table that was replaced was empty when it was
    yield state, group is not None and (group != state.group or GROUP not in state.members)


def _removes_group(state: Overlapped, empty: Any) -> Iterator[tuple[Overlapped, Any]]:
    yield (state._replace(members=NO_GROUPS, group=0) if empty else state), None


def _listed(state: Overlapped, wanted: Callable[[Expected], bool]) -> Iterator[tuple[Overlapped, Any]]:
    _, result, _ = consumer_list(state.members, GROUP)
    answer = tuple(sorted(result)) if isinstance(result, tuple) else _said(result)  # type: ignore[type-var]
    if wanted(answer):
        yield state, answer


def _wanted(observed: Expected) -> Callable[[Expected], bool]:
    return lambda answer: observed is UNSEEN or agrees(answer, observed)


def _said(result: Expected) -> Expected:
    """An answer of which an error is the name of its code; a single offset is itself."""
    if isinstance(result, Err):
        return result.code
    return result[0] if type(result) is tuple and len(result) == 1 else result


def _queues(request: Request) -> list[Queue]:
    (queues,) = request.args
    return [(TOPIC, "", queue) for queue in queues]


# --- messages that show later -----------------------------------------------------------------------------------------


def _stored_in(state: Overlapped, queue: int) -> int:
    return state.broker.logs.get((TOPIC, queue), ABSENT).max


def _showing(state: Overlapped, request: Request) -> Iterator[Overlapped]:
    """The state, and those in which more of the messages show that are in the queue (BQ-ONCE-SHOWN)."""
    if request.kind not in (QUERY, RESET, PULL, MAX):
        yield state
        return
    queue = request.args[0]
    target = (GROUP, TOPIC, queue)
    if request.kind == QUERY and (target in state.broker.pending or state.broker.stored.get(target, -1) >= 0):
        yield state
        return
    for shown in range(state.shown.get(queue, 0), _stored_in(state, queue) + 1):
        yield state._replace(shown={**state.shown, queue: shown})


def _seen(state: Overlapped) -> BrokerState:
    """The broker as far as its messages show."""
    logs = {
        (topic, queue): log._replace(times=log.times[: state.shown.get(queue, 0)])
        for (topic, queue), log in state.broker.logs.items()
    }
    return state.broker._replace(logs=logs)
