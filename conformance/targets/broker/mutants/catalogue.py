"""Mutants of brokers: the embedded broker with one deliberate fault each, after defects that others really had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.page_residency import Memory
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.responses import ConnectionHandler, command
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutants import broker_assignment, broker_process
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.pull import Codes, Pull
from rocketmq_conformance.models.broker.reset import Reset
from rocketmq_conformance.models.broker.state import ABSENT, Stored
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Result

#: Whose offset it is: group, topic, queue.
Key = tuple[str, str, int]

#: The suites that a fault in a part may show in.
SUITES: dict[str, tuple[str, ...]] = {
    "storage": ("broker-admin", "broker-offsets"),
    "consumers": ("broker-locks", "broker-admin"),
    "offsets": ("broker-admin", "broker-offsets", "broker-doubt"),
    "pulls": ("broker-admin",),
    "resets": ("broker-admin",),
    "assignments": ("broker-assignment",),
    "lifetime": ("broker-expired", "broker-restart", "broker-process"),
    "memory": ("broker-cold",),
    "unlocks": ("broker-locks",),
}
#: Parts whose faults are in strict mode.
STRICT = frozenset({"unlocks"})

# --- resets --------------------------------------------------------------------------------------------------


class NotStored(Resets):
    def reset(self, asked: Reset) -> Result:
        stored = self._storage.state.stored
        result = super().reset(asked)
        self._storage.state = self._storage.state._replace(stored=stored)
        return result


class NotPending(Resets):
    def reset(self, asked: Reset) -> Result:
        pending = self._storage.state.pending
        result = super().reset(asked)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


class NowByTime(Resets):
    """As a search of the old releases: the last message is the end."""

    def reset(self, asked: Reset) -> Result:
        if asked.timestamp >= 0 or asked.queue < 0 or asked.offset not in {None, -1}:
            return super().reset(asked)
        log = self._storage.state.logs.get((asked.topic, asked.queue), ABSENT)
        return super().reset(asked._replace(offset=max(log.max - 1, log.min)))


class WholeTopic(Resets):
    def reset(self, asked: Reset) -> Result:
        return super().reset(asked._replace(queue=-1))


class NeverForwards(Resets):
    def reset(self, asked: Reset) -> Result:
        before = self._storage.state
        result = super().reset(asked)
        if asked.force:
            return result
        kept = {key: old for key, old in before.stored.items() if self._storage.state.stored[key] > old}
        self._storage.state = self._storage.state._replace(stored={**self._storage.state.stored, **kept})
        return result


class NeedsMembers(Resets):
    def reset(self, asked: Reset) -> Result:
        if asked.group not in self._consumers.groups:
            return Err("CONSUMER_NOT_ONLINE")
        return super().reset(asked)


class UntilMax(Resets):
    def reset(self, asked: Reset) -> Result:
        log = self._storage.state.logs.get((asked.topic, asked.queue), ABSENT)
        known = asked.topic in self._storage.state.topics and asked.group in self._storage.state.groups
        if known and asked.queue >= 0 and asked.offset == log.max + 1:
            return Err("SYSTEM_ERROR")
        return super().reset(asked)


# --- clones --------------------------------------------------------------------------------------------------


class ClonesMax(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        super().clone(source, destination, topic, offline)
        state = self._storage.state
        stored = {
            key: state.logs.get(key[1:], ABSENT).max if key[:2] == (destination, topic) else offset
            for key, offset in state.stored.items()
        }
        self._storage.state = state._replace(stored=stored)


class BlankIsAll(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        topics = {key[1] for key in self._storage.state.stored if key[0] == source}
        for each in [topic] if topic else sorted(topics):
            super().clone(source, destination, each, offline)


class Merges(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        before = self._storage.state.stored
        super().clone(source, destination, topic, offline)
        self._storage.state = self._storage.state._replace(stored={**before, **self._storage.state.stored})


class EveryTopic(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        for each in sorted(self._storage.state.topics):
            super().clone(source, destination, each, offline)


# --- deletions -----------------------------------------------------------------------------------------------


class TopicKeepsResets(Storage):
    def delete_topic(self, topic: str) -> None:
        pending = self.state.pending
        super().delete_topic(topic)
        self.state = self.state._replace(pending=pending)


class GroupKeepsResets(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        pending = self.state.pending
        super().delete_group(group, flag)
        self.state = self.state._replace(pending=pending)


class AlwaysCleans(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        super().delete_group(group, CLEAN_OFFSET if self.rules.clean_offset else REMOVE_OFFSET)


class NeverCleans(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        super().delete_group(group, KEEP)


# --- commits, queries, pulls ---------------------------------------------------------------------------------


class CommitsOverResets(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        pending = self._storage.state.pending
        self._storage.state = self._storage.state._replace(pending={})
        result = super().commit(group, topic, queue, committed)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


class CommitEndsReset(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        result = super().commit(group, topic, queue, committed)
        pending = {key: to for key, to in self._storage.state.pending.items() if key != (group, topic, queue)}
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


class Shadowed(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        pending = self._storage.state.pending
        marked = any(key[:2] == (group, topic) for key in pending)
        if marked and queue is not None and (group, topic, queue) not in pending:
            return Err("QUERY_NOT_FOUND")
        return super().query(group, topic, queue, set_zero)


class QueryEndsReset(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        result = super().query(group, topic, queue, set_zero)
        pending = {key: to for key, to in self._storage.state.pending.items() if key != (group, topic, queue)}
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


class KeepsTelling(Pulls):
    def find(self, asked: Pull, codes: Codes | Err) -> Result:
        pending = self._storage.state.pending
        result = super().find(asked, codes)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


class ResetWins(Pulls):
    def find(self, asked: Pull, codes: Codes | Err) -> Result:
        marked = (asked.group, asked.topic, asked.queue) in self._storage.state.pending
        return super().find(asked._replace(commit=None) if marked else asked, codes)


class _Strangers(Offsets):
    """Tells commits of connections that never committed before from others."""

    def __init__(self, storage: Storage, memory: Memory) -> None:
        super().__init__(storage, memory)
        self._known: set[Peer] = set()

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {int(Request.UPDATE_CONSUMER_OFFSET): self._commit_from}

    def _commit_from(self, peer: Peer, request: Command) -> Command:
        stranger = peer not in self._known
        self._known.add(peer)
        before = self._storage.state.stored
        answer = command(self._commit(request.code, request.ext, request.body))
        self.committed(stranger, before)
        return answer

    def committed(self, stranger: bool, before: Stored) -> None:
        """After every commit; ``before`` is what was stored before it."""


class CommitsTwice(_Strangers):
    """What a stranger commits is stored at once, and again after the next commit of the same queue."""

    def __init__(self, storage: Storage, memory: Memory) -> None:
        super().__init__(storage, memory)
        self._again: dict[Key, int] = {}

    def committed(self, stranger: bool, before: Stored) -> None:
        now = self._storage.state.stored
        for key in [key for key, offset in now.items() if before.get(key) != offset]:
            again = self._again.pop(key, None)
            if stranger:
                self._again[key] = now[key]
            elif again is not None:
                self._storage.state = self._storage.state._replace(stored={**now, key: again})


class TakesBack(_Strangers):
    """What a stranger commits is stored until somebody asks for it."""

    def __init__(self, storage: Storage, memory: Memory) -> None:
        super().__init__(storage, memory)
        self._until: dict[Key, int] = {}

    def committed(self, stranger: bool, before: Stored) -> None:
        for key, offset in self._storage.state.stored.items():
            if before.get(key) != offset:
                self._until.pop(key, None)
                if stranger and key in before:
                    self._until[key] = before[key]

    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        result = super().query(group, topic, queue, set_zero)
        key = group, topic, queue if queue is not None else -1
        if key in self._until:
            stored = {**self._storage.state.stored, key: self._until.pop(key)}
            self._storage.state = self._storage.state._replace(stored=stored)
        return result


class CountsFromZero(_Strangers):
    """What a stranger commits is stored as 0."""

    def committed(self, stranger: bool, before: Stored) -> None:
        now = self._storage.state.stored
        if stranger:
            changed = {key: min(value, 0) for key, value in now.items() if before.get(key) != value}
            self._storage.state = self._storage.state._replace(stored={**now, **changed})


# --- locks ---------------------------------------------------------------------------------------------------


class QueueIdIgnored(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        held = {
            (topic, broker)
            for (of, (topic, broker, _)), entry in self.locks.items()
            if of == group and client is not None and entry.client not in {client, None}
        }
        return super().lock(group, client, [queue for queue in queues if queue[:2] not in held])


class GroupIgnored(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        return super().lock(group.rpartition("-")[0], client, queues)

    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return super().unlock(group.rpartition("-")[0], client, queues)


class AllOrNothing(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        granted = super().lock(group, client, queues)
        return granted if isinstance(granted, Err) or len(granted) == len(queues) else ()


class AnyIsAll(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        granted = super().lock(group, client, queues)
        return tuple(queues) if granted and not isinstance(granted, Err) else granted


class NeverExpires(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        before, self.lease = self.lease, 1 << 62
        granted = super().lock(group, client, queues)
        self.lease = before
        return granted


class NotConfirmed(Consumers):
    """A lock lives from when it was taken, however often its owner asks again."""

    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        now = self._clock()
        old = {
            key: entry
            for key, entry in self.locks.items()
            if entry.client == client and now - entry.confirmed <= self.lease
        }
        granted = super().lock(group, client, queues)
        self.locks = {**self.locks, **old}
        return granted


class HalfTheLease(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        before, self.lease = self.lease, self.lease // 2
        granted = super().lock(group, client, queues)
        self.lease = before
        return granted


class FirstStaysLocked(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return super().unlock(group, client, queues[1:])


class UnlockIgnored(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        before = self.locks
        failed = super().unlock(group, client, queues)
        self.locks = before
        return failed


class UnlocksOthers(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        failed = super().unlock(group, client, queues)
        if failed is None:
            self.locks = {key: entry for key, entry in self.locks.items() if key[0] != group or key[1] not in queues}
        return failed


class NobodyIsRefused(Consumers):
    """A lock without client id fails, and leaves nothing behind."""

    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        if client is None and not any((group, queue) in self.locks for queue in queues):
            return lock.FAILED
        return super().lock(group, client, queues)


_of = Mutant.of

MUTANTS: tuple[Mutant, ...] = (
    _of("resets", "reset-not-stored", "D62", "A reset is forgotten once a pull has taken it.", NotStored),
    _of("resets", "reset-not-pending", "D63", "A reset is stored, and nobody is told of it.", NotPending),
    _of("resets", "reset-now-by-time", "D57", "A reset of a queue to max ends at the last message.", NowByTime),
    _of("resets", "reset-whole-topic", "D61", "A reset of one queue moves the others too.", WholeTopic),
    _of("resets", "reset-never-forwards", "D58", "A reset without force stores no larger offset.", NeverForwards),
    _of("resets", "reset-needs-members", "D58", "A group without members cannot be reset.", NeedsMembers),
    _of("resets", "reset-until-max", "D61", "A reset to max + 1 is refused.", UntilMax),
    _of("resets", "clone-copies-max", "D65", "A clone stores max, and skips what was not consumed.", ClonesMax),
    _of("resets", "clone-blank-is-all", "D66", "A clone without a topic clones all of them.", BlankIsAll),
    _of("resets", "clone-merges", "D67", "A clone leaves the destination's other queues as they were.", Merges),
    _of("resets", "clone-every-topic", "D67", "A clone ignores which topic it is asked for.", EveryTopic),
    _of("storage", "topic-keeps-resets", "D64", "A deleted topic leaves its pending resets.", TopicKeepsResets),
    _of(
        "storage", "group-keeps-resets", "D64", "A group deleted with its offsets leaves its resets.", GroupKeepsResets
    ),
    _of("storage", "group-always-cleans", "D69", "A deleted group loses its offsets unasked.", AlwaysCleans),
    _of("storage", "group-never-cleans", "D69", "A deleted group keeps its offsets, whatever is asked.", NeverCleans),
    _of("offsets", "commits-over-resets", "D60", "A commit is stored though a reset is pending.", CommitsOverResets),
    _of("offsets", "commit-ends-reset", "D60", "A commit takes a pending reset away.", CommitEndsReset),
    _of("offsets", "reset-shadows-queues", "D63", "A pending reset hides the offsets of other queues.", Shadowed),
    _of("offsets", "query-ends-reset", "D63", "A query takes a pending reset away.", QueryEndsReset),
    _of("pulls", "reset-told-for-ever", "D63", "A pull leaves the reset pending.", KeepsTelling),
    _of("pulls", "reset-over-commit-flag", "D40", "A pull that takes a reset ignores its commit flag.", ResetWins),
    _of("offsets", "unheard-commits-twice", "D70", "A commit over a lost connection is repeated.", CommitsTwice),
    _of("offsets", "unheard-taken-back", "D70", "A commit over a lost connection is taken back.", TakesBack),
    _of("offsets", "unheard-is-zero", "D28", "A commit over a lost connection stores 0.", CountsFromZero),
    _of("consumers", "lock-id-ignored", "D77", "A lock of one queue counts for all of its topic.", QueueIdIgnored),
    _of("consumers", "lock-group-ignored", "D77", "Locks of one group hold in another.", GroupIgnored),
    _of("consumers", "lock-all-or-nothing", "D77", "Nothing is granted unless everything is.", AllOrNothing),
    _of("consumers", "lock-any-is-all", "D77", "Everything is granted if anything is.", AnyIsAll),
    _of("consumers", "lock-never-expires", "D89", "A lock never expires.", NeverExpires),
    _of("consumers", "lock-not-confirmed", "D78", "A lock expires though its owner asked again.", NotConfirmed),
    _of("consumers", "lock-half-the-lease", "D78", "A lock expires after half of its time.", HalfTheLease),
    _of("consumers", "unlock-not-the-first", "D76", "The first queue of a request stays locked.", FirstStaysLocked),
    _of("consumers", "unlock-ignored", "D76", "Unlocking does nothing.", UnlockIgnored),
    _of("consumers", "unlock-of-others", "D78", "Anybody unlocks any queue.", UnlocksOthers),
    _of("consumers", "lock-nobody-refused", "D77", "A lock without client id leaves nothing behind.", NobodyIsRefused),
    *broker_assignment.MUTANTS,
    *broker_process.MUTANTS,
)
