"""A consumer while resets that a broker pushed are under way: its queues, and the stages that a reset goes through."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.outcome import Value

PUSH, ORDERLY, PULL, LITE = "push", "orderly", "pull", "lite"
#: The number of the member, and its queues.
MEMBER, SHARE = 1, (0, 1, 2, 3)
#: Forms of a request's body: as for Java clients, as for those in C++, and none.
JAVA, CPP, NO_BODY = "java", "c++", "none"
#: What happens while the broker's answer to a round is on its way: another round; before it another member commits, or
#: after it messages are consumed.
ROUND, COMMITS, CONSUMES = "another round", "a commit, another round", "another round, messages"
#: The offset of that commit; how many messages.
COMMITTED, CONSUMED = 9, 2

#: Ms that a consumer sleeps, and that an orderly one waits for a listener at most, before it commits.
SLEEP = 10_000
#: Ms that it waits for a listener after that, up to 5.1.4 and from 5.2.0.
UNLOCK_WAIT, SHORT_UNLOCK_WAIT = 1_000, 500
#: The age of a lock (ms) beyond which it does not wait after the commit.
FORCE_UNLOCK = 20_000
#: Ms for which a granted lock is relied on.
LOCK_EXPIRY = 30_000

#: Stages of a reset: behind another one, asleep, waiting for a listener before and after the commit.
QUEUED, SLEEPING, LISTENER, UNLOCKING = range(4)


class Owned(NamedTuple):
    """A process queue: its number, its first offset, and what happened to it. Times are ms of the case's clock."""

    number: int
    offset: int
    locked: bool
    #: When the lock was granted last, or when it was made.
    confirmed: int
    dropped: bool = False
    #: Was its start asked for once more at the first pull? Only of orderly consumers.
    corrected: bool = False


class PendingReset(NamedTuple):
    """A reset that did not end yet."""

    #: (queue, offset) of the topic's queues that the request names.
    offsets: tuple[tuple[int, int], ...]
    stage: int = QUEUED
    #: When its wait is over.
    due: int = 0
    #: The queues that are left, once it does not sleep any more.
    left: tuple[int, ...] = ()
    #: Does the request concern a push consumer?
    applies: bool = True


class PushedResetState(NamedTuple):
    """A consumer, and the group's offsets at the broker."""

    kind: str = PUSH
    now: int = 0
    memory: Mapping[int, int] = MappingProxyType({})
    table: Mapping[int, Owned] = MappingProxyType({})
    stored: Mapping[int, int] = MappingProxyType({})
    #: By queue: the number of the process queue that a listener is busy with, and the offset of the message.
    busy: Mapping[int, tuple[int, int]] = MappingProxyType({})
    paused: bool = False
    #: In the order of their arrival.
    resets: tuple[PendingReset, ...] = ()
    #: Process queues made so far.
    made: int = 0


class ResetConsumer:
    """The consumer while an operation is played: everything may change."""

    def __init__(self, rules: ClientRules, state: PushedResetState) -> None:
        self.client = rules
        self.kind = state.kind
        self.now = self.began = state.now
        self.memory = dict(state.memory)
        self.table = dict(state.table)
        self.stored = dict(state.stored)
        self.busy = dict(state.busy)
        self.paused = state.paused
        self.resets = list(state.resets)
        self.made = state.made
        self.commits: list[tuple[int, int]] = []
        #: The pull requests that begin, by the ms since the operation began.
        self.pulls: dict[int, list[tuple[int, int]]] = {}
        self.rules: list[str] = []

    def state(self) -> PushedResetState:
        """What it is now."""
        return PushedResetState(
            self.kind,
            self.now,
            self.memory,
            self.table,
            self.stored,
            self.busy,
            self.paused,
            tuple(self.resets),
            self.made,
        )

    def answer(self) -> tuple[Value, Value]:
        """The pull requests that begin, by ms, and the commits."""
        pulls = tuple((millis, tuple(sorted(begun))) for millis, begun in self.pulls.items())
        return pulls, tuple(sorted(self.commits))

    def note(self, *rules: str) -> None:
        """These rules decided something."""
        self.rules += [rule for rule in rules if rule not in self.rules]

    # --- queues -----------------------------------------------------------------------------------------------

    def rebalance(self) -> None:
        """RST-RESUME: add the queues that are missing."""
        born_locked = self.kind != ORDERLY or self.client.born_locked
        for queue in SHARE:
            if queue not in self.table:
                self.made += 1
                self.memory.pop(queue, None)
                offset = self.start_of(queue)
                self.table[queue] = Owned(self.made, offset, born_locked, self.now)
                self.pulls.setdefault(self.now - self.began, []).append((queue, offset))

    def start_of(self, queue: int) -> int:
        """The start of a queue, by CONSUME_FROM_FIRST_OFFSET: memory keeps what the broker answers, if it does."""
        offset = self.stored.get(queue)
        if offset is None and self.client.asks_no_zero:
            return 0
        self.memory[queue] = offset or 0
        return offset or 0

    def commit(self, queue: int) -> None:
        """Send the offset in memory."""
        self.stored[queue] = self.memory[queue]
        self.commits.append((queue, self.memory[queue]))

    def is_busy(self, queue: int) -> bool:
        """Has a listener the lock of the queue's process queue?"""
        owned, busy = self.table.get(queue), self.busy.get(queue)
        return self.kind == ORDERLY and owned is not None and busy is not None and busy[0] == owned.number

    # --- resets -----------------------------------------------------------------------------------------------

    def begin(self, at: int) -> None:
        """Begin the reset at this place."""
        pending = self.resets[at]
        if not pending.applies:
            self.end(at)
            return
        self.paused = True
        for queue, _ in pending.offsets:
            if queue in self.table:
                self.table[queue] = self.table[queue]._replace(dropped=True)
        if self.kind == ORDERLY and self.client.resets_at_once:
            self.let_go_of_all(at)
        else:
            self.resets[at] = pending._replace(stage=SLEEPING, due=self.now + SLEEP)

    def let_go_of_all(self, at: int) -> None:
        """RST-PUSH: it need not sleep, or did."""
        pending = self.resets[at]
        left = tuple(queue for queue, _ in pending.offsets if queue in self.table)
        self.resets[at] = pending._replace(left=left)
        self.go_on(at)

    def go_on(self, at: int) -> None:
        """Let go of the queues that are left, until one has to be waited for."""
        while (pending := self.resets[at]).left:
            queue = pending.left[0]
            if self.client.resets_at_once and self.is_busy(queue) and pending.stage != LISTENER:
                self.resets[at] = pending._replace(stage=LISTENER, due=self.now + SLEEP)
                return
            self.note("RST-PUSH")
            self.memory[queue] = dict(pending.offsets)[queue]
            self.commit(queue)
            if not self.client.unlocks_idle:
                del self.memory[queue]
            wait = self.unlock_wait(queue)
            if wait:
                self.resets[at] = pending._replace(stage=UNLOCKING, due=self.now + wait)
                return
            self.let_go(at, unlocked=True)
        self.end(at)

    def unlock_wait(self, queue: int) -> int:
        """RST-UNLOCK: how long the listener is waited for after the commit."""
        if not self.is_busy(queue):
            return 0
        self.note("RST-UNLOCK")
        if not self.client.unlocks_idle:
            return UNLOCK_WAIT
        return 0 if self.now - self.table[queue].confirmed > FORCE_UNLOCK else SHORT_UNLOCK_WAIT

    def let_go(self, at: int, *, unlocked: bool) -> None:
        """RST-TWICE: remove the queue that the offset was committed of."""
        pending = self.resets[at]
        queue = pending.left[0]
        if self.kind == ORDERLY and unlocked and self.client.unlocks_idle:
            self.note("RST-TWICE")
            self.commit(queue)
        del self.table[queue]  # what memory still holds is overwritten when the queue is added anew, which is at once
        self.resets[at] = pending._replace(left=pending.left[1:], stage=SLEEPING)

    def end(self, at: int) -> None:
        """RST-RESUME, RST-QUEUE: the consumer goes on, and the next reset begins."""
        pending = self.resets.pop(at)
        if pending.applies:
            self.note("RST-RESUME")
            self.paused = False
            self.rebalance()
        if self.resets and self.resets[0].stage == QUEUED:
            self.note("RST-QUEUE")
            self.begin(0)

    def wake(self, at: int, *, done: bool) -> None:
        """The wait of a reset is over: it took too long, or the listener is done."""
        stage = self.resets[at].stage
        if stage == SLEEPING:
            self.note("RST-WAIT")
            self.let_go_of_all(at)
        elif stage == LISTENER:
            self.note("RST-LISTENER")
            self.go_on(at)
        else:
            self.note("RST-UNLOCK")
            self.let_go(at, unlocked=done)
            self.go_on(at)


def waits_for(pending: PendingReset, queue: int) -> bool:
    """Does the reset wait for the listener of this queue?"""
    return pending.stage in {LISTENER, UNLOCKING} and pending.left[0] == queue
