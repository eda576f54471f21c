"""Plays the suite ``lite-pull`` on the port: a lite pull consumer in the hands of its application.

Each assigned queue has a process queue and three numbers: where to pull, what to commit, and where a seek wants to go.
Pull tasks run when the plan says so, and what the broker answers to a pull is given by the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance_pull import Assignment, LiteQueue
from rocketmq_conformance.conformance.targets.port.remote_store import BROKER_FAILED
from rocketmq_conformance.conformance.targets.port.routes import routed
from rocketmq_conformance.conformance.targets.port.start import NoStartError, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.suites import lite_pull as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC

_MIN = int(Request.GET_MIN_OFFSET)
REFUSED, NOT_RUNNING = Err("CLIENT"), Err("RUNTIME")
_START = ("CONSUME_FROM_LAST_OFFSET", None, "UTC")
#: What is committed of no queue.
NOT_ASKED = -3
NEW, RUNNING, ENDED = "new", "running", "ended"
#: Messages that may be cached of a queue, and the ms between commits of a consumer that commits by itself.
MAX_CACHED, AUTO_EVERY = 5, 5_000
#: Messages that a pull asks for, and the tags of those that a pull of tagged ones finds.
BATCH, TAGS = 10, ("A", "B", "C")
MIB = 1 << 20
#: Ms to the next turn of a task: after an answer, a threshold, a failure, a start that is unknown, too many pulls.
AT_ONCE, FULL, FAILED, NO_START, TOO_MANY, NEVER = 0, 50, 1_000, 3_000, 20, -1
#: Where the application seeks while a pull is under way.
SOUGHT = 6


class CachedQueue(LiteQueue):
    """A process queue that knows how large its messages are."""

    __slots__ = ("sizes",)

    def __init__(self, now: int) -> None:
        super().__init__(NO_OFFSET, now)
        self.sizes: dict[int, int] = {}

    def keep(self, offset: int, size: int) -> None:
        """A message of so many bytes arrives."""
        if offset not in self.messages:
            self.sizes[offset] = size
        self.put(offset)


class Task(Assignment):
    """An assigned queue."""

    __slots__ = ("next_turn", "paused", "seeks")
    owned: CachedQueue

    def __init__(self, owned: CachedQueue) -> None:
        super().__init__(owned)
        #: The offset of a seek that no pull has taken yet.
        self.seeks = NO_OFFSET
        self.paused = False
        #: Ms.
        self.next_turn = AT_ONCE


#: Messages that wait to be polled: their queue, its process queue, their offsets.
Batch = tuple[int, CachedQueue, tuple[int, ...]]


class LitePull:
    """One consumer of the group."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.positions = StartPosition(transport)
        self.store = self.positions.remote
        self.now = 0
        self.make(NEW)

    def begin_case(self, case: Case) -> None:
        """Begin a case: a consumer that runs."""
        self.transport.begin(case)
        self.transport.route(OTHER_TOPIC)  # a client knows its broker, and the port asks by the topic of a queue
        self.now = 0
        self.make(RUNNING)

    def make(self, phase: str) -> None:
        """Make a consumer."""
        self.store.forget()
        self.phase = phase
        #: How it gets queues: "", "assign" or "subscribe".
        self.mode = ""
        self.tasks: dict[int, Task] = {}
        self.batches: list[Batch] = []
        #: The process queues that rounds made.
        self.table: dict[int, CachedQueue] = {}
        #: Tasks of queues that are not assigned any more.
        self.left: dict[int, Task] = {}
        self.limits = {"messages": MAX_CACHED, "size": 100, "span": 2_000, "every": 10_000}
        #: Is there a subscription, and which messages of assigned queues are wanted?
        self.subscription = False
        self.expression = "*"
        #: Does a round assign its queues, and call a listener of the application?
        self.assigns, self.listens = False, False
        self.commits, self.due = True, -1
        #: Is there a listener of the other topic, and what it knows?
        self.listens_to_topic = False
        self.known: tuple[int, ...] | None = None

    # --- life ---------------------------------------------------------------------------------------------

    def start(self) -> Result:
        """Start."""
        if self.phase != NEW:
            return REFUSED
        self.phase = RUNNING
        if self.listens_to_topic:
            try:
                self.known = self.queues_of_topic()
            except NoRouteError:
                return self.start_failed()
        return None

    def start_failed(self) -> Result:
        """The queues of a topic with a listener are unknown at the start."""
        self.shut_down()
        return REFUSED

    def shut_down(self) -> Result:
        """Persist, and end."""
        if self.phase == RUNNING:
            self.last_persist()
            self.phase = ENDED
        return None

    def last_persist(self) -> None:
        """The offsets that a shutdown sends."""
        self.persist()

    def restart(self) -> Result:
        """A new consumer that does not run yet."""
        self.make(NEW)
        return None

    def runs(self) -> bool:
        """Does the consumer run?"""
        return self.phase == RUNNING

    # --- queues -------------------------------------------------------------------------------------------

    def assign(self, queues: tuple[int, ...]) -> Result:
        """Assign exactly these queues."""
        if not queues or not self.may("assign"):
            return NOT_RUNNING
        self.mode = "assign"
        self.have(queues)
        return None

    def may(self, mode: str) -> bool:
        """May the consumer get queues this way?"""
        return self.mode in ("", mode)

    def have(self, queues: tuple[int, ...]) -> None:
        """The assigned queues become these."""
        for queue in [queue for queue in self.tasks if queue not in queues]:
            self.forget(queue)
        for queue in queues:
            if queue not in self.tasks:
                self.tasks[queue] = self.new_task(queue)

        self.left.clear()

    def new_task(self, queue: int) -> Task:
        """The state of a queue that is assigned."""
        task = Task(self.table.get(queue) or CachedQueue(self.now))
        if queue in self.left:
            task.next_turn = self.left[queue].next_turn
        return task

    def forget(self, queue: int) -> None:
        """A queue is not assigned any more."""
        self.tasks.pop(queue).owned.dropped = True

    def subscribe(self, topic: str) -> Result:
        """Subscribe."""
        return self.subscribed(topic, False)

    def subscribe_listening(self, topic: str) -> Result:
        """Subscribe with a listener."""
        return self.subscribed(topic, True)

    def subscribed(self, topic: str, listens: bool) -> Result:
        """Subscribe, with a listener or without."""
        if not topic or not self.may("subscribe"):
            return REFUSED
        self.mode, self.assigns, self.listens, self.subscription = "subscribe", True, listens, True
        return None

    def unsubscribe(self) -> Result:
        """Give the topic up."""
        self.subscription = False
        for queue in [queue for queue in self.tasks if self.is_mine(queue)]:
            self.give_up(queue)
        for queue in [queue for queue in self.left if self.is_mine(queue)]:
            del self.left[queue]
        return None

    def is_mine(self, queue: int) -> bool:
        """Is it a queue of the topic that is subscribed to?"""
        return ORDINARY.queues[queue].topic == TOPIC

    def give_up(self, queue: int) -> None:
        """A queue is not pulled any more, and what is cached of it is still polled."""
        del self.tasks[queue]

    def set_expression(self, expression: str) -> Result:
        """Which messages of assigned queues are wanted."""
        if not expression.strip() or self.phase != NEW or not self.may("assign"):
            return NOT_RUNNING
        self.mode, self.expression = "assign", expression
        return None

    def limit(self, threshold: str, value: int) -> Result:
        """Another threshold."""
        self.limits[threshold] = value
        return None

    def give_null(self, call: str) -> Result:
        """A call that is given null."""
        if call == "a queue to assign" and self.may("assign"):
            self.mode = "assign"
            before = {**self.left, **self.tasks} if self.runs() else {}
            self.have(())
            self.left.update(before)
        elif call == "listener":
            self.assigns, self.listens = False, False
            return None
        elif call == "committed" and self.runs():
            return NOT_ASKED
        elif call == "commit":
            return None
        return REFUSED if call in ("subscribe", "topic of a listener") else NOT_RUNNING

    def listen(self) -> Result:
        """Set a listener: it takes the place of what assigns."""
        self.assigns, self.listens = False, True
        return None

    def rebalance(self, share: tuple[int, ...]) -> Result:
        """A round: (owned, assigned, what the listener hears)."""
        if not self.runs():
            return None
        heard = None
        if self.mode == "subscribe" and not self.subscription:
            self.drop_all()
        elif self.mode == "subscribe" and self.own(share):
            if self.assigns:
                self.have(share)
            if self.listens:
                heard = share
        return tuple(sorted(self.table)), tuple(sorted(self.tasks)), heard

    def drop_all(self) -> None:
        """The queues of a topic that is not subscribed to are dropped."""
        for owned in self.table.values():
            owned.dropped = True
        self.table.clear()

    def own(self, share: tuple[int, ...]) -> bool:
        """Own these queues: did that change anything?"""
        before = dict(self.table)
        for queue in before:
            if queue not in share:
                self.lose(queue)
        for queue in share:
            if queue not in before:
                self.gain(queue)
        return before != self.table

    def lose(self, queue: int) -> None:
        """A queue goes to another member."""
        self.table.pop(queue).dropped = True
        self.store.persist(queue)
        self.store.remove(queue)

    def gain(self, queue: int) -> None:
        """A queue comes."""
        self.store.remove(queue)
        self.beginning(queue)
        self.table[queue] = CachedQueue(self.now)

    def pause(self, queues: tuple[int, ...]) -> Result:
        """Pause queues that are assigned."""
        return self.set_paused(queues, True)

    def resume(self, queues: tuple[int, ...]) -> Result:
        """Resume queues that are assigned."""
        return self.set_paused(queues, False)

    def set_paused(self, queues: tuple[int, ...], paused: bool) -> Result:
        """Pause or resume queues that are assigned."""
        for queue in queues:
            if queue in self.tasks:
                self.tasks[queue].paused = paused
        return None

    # --- seeks --------------------------------------------------------------------------------------------

    def seek(self, queue: int, offset: int) -> Result:
        """Seek."""
        if queue not in self.tasks:
            return REFUSED
        if not self.runs():
            return NOT_RUNNING
        try:
            allowed = self.allows(offset, self.min(queue), self.positions.max(queue))
        except NoStartError:
            allowed = False
        if not allowed:
            return REFUSED
        self.clear(queue)
        self.sought(self.tasks[queue], queue, offset)
        return None

    def allows(self, offset: int, low: int, high: int) -> bool:
        """May the application seek there?"""
        return low <= offset <= high

    def sought(self, task: Task, queue: int, offset: int) -> None:
        """A seek: the next pull takes it, by a turn of its own."""
        task.seeks, task.next_turn = offset, AT_ONCE

    def clear(self, queue: int) -> None:
        """Drop what is cached of a queue."""
        self.batches = [batch for batch in self.batches if batch[0] != queue]
        self.tasks[queue].owned.messages.clear()

    def min(self, queue: int) -> int:
        """The first offset; NoStartError."""
        return self.positions.bound(queue, _MIN, self.positions.header(queue))

    def seek_to_begin(self, queue: int) -> Result:
        """Seek to min."""
        return self.seek_to(queue, self.min)

    def seek_to_end(self, queue: int) -> Result:
        """Seek to max."""
        return self.seek_to(queue, self.positions.max)

    def seek_to(self, queue: int, bound: Callable[[int], int]) -> Result:
        """Seek to one of the ends."""
        if not self.runs():
            return NOT_RUNNING
        try:
            return self.seek(queue, bound(queue))
        except NoStartError:
            return REFUSED

    # --- pulls --------------------------------------------------------------------------------------------

    def pull(self, queue: int, messages: int, meanwhile: str) -> Result:
        """The task has its turn, and messages are found."""
        task = self.tasks.get(queue)
        asked = self.ask(queue)
        if asked is None or asked == NO_OFFSET:
            return asked
        assert task is not None
        if meanwhile == "seeks":
            self.seek(queue, SOUGHT)
        elif meanwhile == "assigns anew" and self.mode == "assign":
            before = tuple(self.tasks)
            self.have((0,) if queue == 2 else (2,))
            self.have(before)
        elif meanwhile == "unsubscribes" and self.is_mine(queue):
            self.unsubscribe()
        if not self.is_late(task, queue):
            offsets = tuple(range(asked, asked + messages)) if self.is_wanted(queue) else ()
            self.arrive(queue, task, offsets, asked + messages, 1)
        return asked

    def pull_large(self, queue: int, size: int) -> Result:
        """The task has its turn, and a message of so many bytes is found."""
        asked = self.ask(queue)
        if asked is not None and asked != NO_OFFSET:
            self.arrive(queue, self.tasks[queue], (asked,) if self.is_wanted(queue) else (), asked + 1, size)
        return asked

    def pull_tagged(self, queue: int) -> Result:
        """The task has its turn, and messages with tags are found: (asked, the expression that is sent)."""
        asked = self.ask(queue)
        if asked is None or asked == NO_OFFSET:
            return None if asked is None else (asked, None)
        mine = tuple([asked + at for at, tag in enumerate(TAGS) if self.is_wanted(queue, tag)])
        self.arrive(queue, self.tasks[queue], mine, asked + len(TAGS), 1)
        return asked, self.expression_of(queue)

    def expression_of(self, queue: int) -> str:
        """What its pulls send."""
        return self.expression if self.is_mine(queue) else "*"

    def is_wanted(self, queue: int, tag: str = "") -> bool:
        """Is a message with this tag, or without one, polled?"""
        expression = self.expression_of(queue)
        return expression == "*" or tag in expression.split(" || ")

    def is_late(self, task: Task, queue: int) -> bool:
        """Was the queue sought, given up or assigned anew since the pull was sent?"""
        return task is not self.tasks.get(queue) or task.seeks != NO_OFFSET

    def arrive(self, queue: int, task: Task, offsets: tuple[int, ...], following: int, size: int) -> None:
        """Messages of so many bytes arrive, and the next pull goes on behind."""
        task.pulls = following
        if offsets:
            for offset in offsets:
                task.owned.keep(offset, size)
            self.batches.append((queue, task.owned, offsets))

    def illegal(self, queue: int, following: int) -> Result:
        """The task has its turn, and its offset is illegal."""
        asked = self.ask(queue)
        if asked is not None and asked != NO_OFFSET:
            self.correct(queue, self.tasks[queue], following)
        return asked

    def correct(self, queue: int, task: Task, following: int) -> None:
        """The broker says where to go on."""
        task.pulls = following

    def fail(self, queue: int, failure: str) -> Result:
        """The task has its turn, and its pull fails."""
        asked = self.ask(queue)
        if asked is not None and asked != NO_OFFSET:
            task = self.tasks[queue]
            task.next_turn = self.failure_wait(failure)
            self.failed(task, asked)
        return asked

    def failure_wait(self, failure: str) -> int:
        """Ms to the next turn."""
        return TOO_MANY if failure == "FLOW_CONTROL" else FAILED

    def failed(self, task: Task, asked: int) -> None:
        """A pull failed: the next one goes on where pulls were, whatever this one asked for."""

    def waits(self, queue: int) -> Result:
        """Ms to the next turn of a task."""
        task = self.tasks.get(queue) or self.left.get(queue)
        return None if task is None or not self.runs() else task.next_turn

    def ask(self, queue: int) -> int | None:
        """The offset that a task asks for, -1 for no request; None for no task."""
        if not self.runs():
            return None
        if queue in self.left:
            self.left[queue].next_turn = FAILED
            return NO_OFFSET
        task = self.tasks.get(queue)
        if task is None:
            return None
        task.next_turn = self.stopped(task)
        if task.next_turn != AT_ONCE:
            return NO_OFFSET
        if task.seeks != NO_OFFSET:
            return self.take_seek(task)
        if task.pulls != NO_OFFSET:
            return task.pulls
        try:
            begins = max(self.positions.lite_pull(queue, *_START), NO_OFFSET)
            task.next_turn = AT_ONCE if begins != NO_OFFSET else FAILED
        except NoStartError:
            begins, task.next_turn = NO_OFFSET, self.start_wait()
        return begins

    def start_wait(self) -> int:
        """Ms until a start is looked for again."""
        return NO_START

    def stopped(self, task: Task) -> int:
        """Ms to the next turn of a task that may not pull at this moment; 0: it may."""
        if self.pauses(task):
            return FAILED
        if task.owned.dropped:
            return NEVER
        return FULL if self.is_full(task.owned) else AT_ONCE

    def pauses(self, task: Task) -> bool:
        """Does a pause keep it from being pulled?"""
        return task.paused

    def is_full(self, owned: CachedQueue) -> bool:
        """Is so much cached that a queue is not pulled?"""
        return any(self.cached(threshold, owned) > most for threshold, most in self.limits.items())

    def cached(self, threshold: str, owned: CachedQueue) -> int:
        """What is compared with a threshold."""
        messages = owned.messages
        match threshold:
            case "messages":
                return len(messages)
            case "size":
                return sum([owned.sizes[offset] for offset in messages]) // MIB
            case "span":
                return max(messages) - min(messages) if messages else 0
            case _:
                return len(self.batches) * BATCH

    def take_seek(self, task: Task) -> int:
        """A pull takes the seek."""
        offset, task.seeks = task.seeks, NO_OFFSET
        task.consumed = offset
        return offset

    def beginning(self, queue: int) -> int:
        """Where a queue begins; -1 when that is unknown."""
        try:
            return self.positions.lite_pull(queue, *_START)
        except NoStartError:
            return NO_OFFSET

    # --- messages -----------------------------------------------------------------------------------------

    def poll(self, patience: int) -> Result:
        """The messages of the oldest pull."""
        if not self.runs() or patience < 0:
            return NOT_RUNNING
        self.before_poll()
        alive = [at for at, (_, owned, _) in enumerate(self.batches) if not self.is_gone(owned)]
        if not alive:
            del self.batches[:1]  # without time to wait one look is all
            return ((),)
        queue, owned, offsets = self.batches[alive[0]]
        del self.batches[: alive[0] + 1]
        self.consumed(queue, owned, offsets)
        return (self.after_poll(queue, offsets),)

    def before_poll(self) -> None:
        """What a poll does first."""
        self.maybe_commit()

    def after_poll(self, queue: int, offsets: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """What a poll answers."""
        return tuple([(queue, offset) for offset in offsets])

    def is_gone(self, owned: LiteQueue) -> bool:
        """Was the queue of the messages dropped?"""
        return owned.dropped

    def consumed(self, queue: int, owned: LiteQueue, offsets: tuple[int, ...]) -> None:
        """Messages were polled: the next commit writes what is behind them."""
        following = NO_OFFSET
        if owned.messages:
            for offset in offsets:
                owned.messages.discard(offset)
            following = min(owned.messages) if owned.messages else owned.last + 1
        if queue in self.tasks:
            self.tasks[queue].consumed = following

    def maybe_commit(self) -> None:
        """Commit by itself, when it is time."""
        if self.commits and self.now >= self.due:
            self.commit()
            self.due = self.now + AUTO_EVERY

    def commit_by_itself(self, commits: bool) -> Result:
        """Whether it does."""
        self.commits = commits
        return None

    # --- offsets ------------------------------------------------------------------------------------------

    def commit(self) -> Result:
        """Write what was polled into memory."""
        if self.runs():
            for queue in self.tasks:
                self.commit_one(queue)
        return None

    def commit_one(self, queue: int) -> None:
        """Write what was polled of a queue."""
        task = self.tasks.get(queue)
        if task is not None and task.consumed != NO_OFFSET and not task.owned.dropped:
            self.write(queue, task.consumed)

    def write(self, queue: int, offset: int) -> None:
        """Write an offset, lower or not."""
        self.store.update(queue, offset, False)

    def commit_queues(self, queues: tuple[int, ...], persist: bool) -> Result:
        """Commit some queues."""
        if not self.runs():
            mine = [queue for queue in queues if queue in self.tasks and self.tasks[queue].consumed != NO_OFFSET]
            return self.not_running(mine, queues, persist)
        for queue in queues:
            self.commit_one(queue)
        self.persist_some(queues, persist)
        return None

    def commit_offsets(self, offsets: tuple[tuple[int, int], ...], persist: bool) -> Result:
        """Commit given offsets."""
        mine = [(queue, offset) for queue, offset in offsets if self.takes(queue, offset)]
        if not self.runs():
            return self.not_running(mine, offsets, persist)
        for queue, offset in mine:
            self.write(queue, offset)
        self.persist_some(tuple([queue for queue, _ in offsets]), persist)
        return None

    def not_running(self, mine: Sequence[object], given: Sequence[object], persist: bool) -> Result:
        """A commit of a consumer that does not run fails where it has something to write, or nowhere to persist."""
        return NOT_RUNNING if mine or (self.phase == NEW and persist and given) else None

    def takes(self, queue: int, offset: int) -> bool:
        """Can this offset be committed?"""
        return offset != NO_OFFSET and queue in self.tasks and not self.tasks[queue].owned.dropped

    def persist_some(self, queues: tuple[int, ...], persist: bool) -> None:
        """Persist the queues of a commit: the table keeps no others."""
        if persist:
            self.store.persist_all(queues)

    def persist(self) -> Result:
        """The timer persists."""
        if self.runs():
            self.store.persist_all(tuple(self.tasks if self.mode == "assign" else self.table))
        return None

    def committed(self, queue: int) -> Result:
        """The committed offset."""
        if not self.runs():
            return NOT_RUNNING
        found = self.read_committed(queue)
        return REFUSED if found == BROKER_FAILED else found

    def read_committed(self, queue: int) -> int:
        """The offset in memory, else that of the broker."""
        return self.store.read(queue, "memory-then-store")

    def offset_for_time(self, queue: int, time: int) -> Result:
        """The offset that a time has."""
        if not self.runs():
            return NOT_RUNNING
        try:
            return self.positions.search_offset(queue, time)
        except NoStartError:
            return REFUSED

    def running_info(self) -> Result:
        """GET_CONSUMER_RUNNING_INFO: (topics, rows of queues)."""
        if not self.runs():
            return REFUSED
        topics = (TOPIC,) if self.subscription else ()
        return topics, tuple([self.shown(queue, task) for queue, task in sorted(self.tasks.items())])

    def shown(self, queue: int, task: Task) -> tuple[Value, ...]:
        """Of a queue: its offset, what is cached, and whether it is dropped."""
        owned, cached = task.owned, task.owned.messages
        ends = (min(cached), max(cached)) if cached else (0, 0)
        return (queue, self.read_committed(queue), *ends, len(cached), self.cached("size", owned), owned.dropped)

    # --- the topic's listener -----------------------------------------------------------------------------

    def listen_to_topic(self) -> Result:
        """Register a listener of the other topic."""
        self.listens_to_topic = True
        if self.runs():
            try:
                self.known = self.queues_of_topic()
            except NoRouteError:
                return REFUSED
        return None

    def look(self) -> Result:
        """Look at the topic: the queues that its listener is given, None for no call."""
        if not self.runs() or not self.listens_to_topic:
            return None
        try:
            queues = self.queues_of_topic()
        except NoRouteError:
            return None
        before, self.known = self.known, queues
        return self.changed(before, queues)

    def changed(self, before: tuple[int, ...] | None, queues: tuple[int, ...]) -> Result:
        """What the listener is given."""
        return None if before == queues else queues

    def queues_of_topic(self) -> tuple[int, ...]:
        """The queues of the other topic; NoRouteError."""
        return routed(OTHER_TOPIC, self.transport.route(OTHER_TOPIC))

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        self.now += elapses
        return None

    # --- operations ---------------------------------------------------------------------------------------

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Start: self.start,
            operations.Shutdown: self.shut_down,
            operations.Restart: self.restart,
            operations.Assign: self.assign,
            operations.Subscribe: self.subscribe,
            operations.SubscribeListening: self.subscribe_listening,
            operations.Unsubscribe: self.unsubscribe,
            operations.SetExpression: self.set_expression,
            operations.GiveNull: self.give_null,
            operations.Listen: self.listen,
            operations.Rebalance: self.rebalance,
            operations.Pause: self.pause,
            operations.Resume: self.resume,
            operations.Seek: self.seek,
            operations.SeekToBegin: self.seek_to_begin,
            operations.SeekToEnd: self.seek_to_end,
            operations.Pull: self.pull,
            operations.PullLarge: self.pull_large,
            operations.PullTagged: self.pull_tagged,
            operations.Waits: self.waits,
            operations.Limit: self.limit,
            operations.Illegal: self.illegal,
            operations.Fail: self.fail,
            operations.Poll: self.poll,
            operations.Commit: self.commit,
            operations.CommitQueues: self.commit_queues,
            operations.CommitOffsets: self.commit_offsets,
            operations.CommitByItself: self.commit_by_itself,
            operations.Elapse: self.elapse,
            operations.Persist: self.persist,
            operations.Committed: self.committed,
            operations.OffsetForTime: self.offset_for_time,
            operations.RunningInfo: self.running_info,
            operations.ListenToTopic: self.listen_to_topic,
            operations.Look: self.look,
        }


PART = LitePull
