"""The port's handling of resets that brokers push, and of their question for a consumer's state."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.client_requests import (
    offsets_of,
    reset_body,
    reset_body_for_cpp,
    state_body,
)
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance import Rebalance
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import RebalanceOrderly, orderly
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.suites import pushed_reset as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

#: Ms between dropping queues and committing, for listeners to end; an orderly one is waited for at most so long.
SLEEP = 10_000
#: Ms that an orderly listener is waited for after the commit.
UNLOCK_WAIT = 500
#: What another member commits, and how many messages are consumed, while an answer is on its way.
COMMITTED, CONSUMED = 9, 2
#: The member of the group that the suite is about.
_PLACE = 1
_POSITIONS = {queue: at for at, queue in enumerate(ORDINARY.queues)}


class PendingReset:
    """A reset that was not finished yet."""

    def __init__(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        self.group = group
        self.topic = topic
        #: Offsets by queue, those of other topics included.
        self.offsets = offsets
        self.begun = False
        #: When its wait is over.
        self.due = 0
        #: Queues that are left to commit; None while it sleeps.
        self.left: list[int] | None = None
        #: The process queue whose listener it waits for, and whether that is after the commit.
        self.listener: OwnedQueue | None = None
        self.committed = False


class PushedReset(RebalanceOrderly):
    """A consumer that brokers reset. Its pull loop comes to all queues all the time."""

    kind = "push"
    paused = False

    def forget(self) -> None:
        """Begin a case: a push consumer, at time 0."""
        #: What happens while the answer about a queue is on its way.
        self.meanwhile: dict[int, str] = {}
        self.now = 0
        self.start("push")

    def start(self, kind: str) -> Result:
        """Another consumer: the pull requests that begin."""
        self.kind = kind
        self.paused = False
        self.pending: list[PendingReset] = []
        #: The process queues that listeners are busy with, and the offsets of their messages, by queue.
        self.busy: dict[int, tuple[OwnedQueue, int]] = {}
        #: Pull requests that the step began, by the ms since it began.
        self.pulls: dict[int, list[tuple[int, int]]] = {}
        self.began = self.now
        positions = self.places[_PLACE]
        positions.forget()
        self.member = self.consumer(
            positions, ORDINARY.clients[_PLACE], "CLUSTERING", "CONSUME_FROM_FIRST_OFFSET", "AVG"
        )
        if not self.pushes():
            return ()
        self.refresh(self.member)
        self.rebalance(self.member)
        return tuple(self.pulls.pop(0))

    def start_twice(self, queue: int, meanwhile: str) -> Result:
        """Another consumer, whose first round waits for an answer about a queue while a second one runs."""
        self.meanwhile = {queue: meanwhile}
        begun = self.start("push")
        assert isinstance(begun, tuple)
        return (tuple(sorted(begun)),)  # type: ignore[type-var]  # pairs

    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        """Start a queue that no other round has started meanwhile."""
        if queue not in consumer.table:
            super().gain(consumer, queue, new_pulls)

    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        """Begin to pull a queue, unless another round has."""
        if queue not in consumer.table:
            super().begin(consumer, queue, offset, new_pulls)

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """Where a queue starts, by an answer that may be late."""
        meanwhile = self.meanwhile.pop(queue, "")
        if not meanwhile:
            return super().beginning(consumer, queue)
        store = consumer.store
        assert isinstance(store, RemoteStore)  # the consumer is none of a broadcasting group
        answered = store.fetch(queue)
        if "commit" in meanwhile:
            topic, broker, _ = ORDINARY.queues[queue]
            fields = {**store.headers[queue], "commitOffset": str(COMMITTED)}
            self.transport.ask(topic, broker, int(Request.UPDATE_CONSUMER_OFFSET), fields, True)
        self.rebalance(consumer)
        if "messages" in meanwhile:
            store.update(queue, consumer.table[queue].offset + CONSUMED, True)
        self.answered_late(store, queue, answered)
        return answered

    def answered_late(self, store: RemoteStore, queue: int, offset: int) -> None:
        """An answer comes when another round has begun the queue: memory has it all the same."""
        store.refresh(queue, offset)

    def pushes(self) -> bool:
        """Is it a push consumer, with a listener of either kind?"""
        return self.kind in {"push", "orderly"}

    def needs_lock(self, consumer: Consumer) -> bool:
        """Only orderly consumers lock queues."""
        return self.kind == "orderly"

    def is_forgotten(self, owned: OwnedQueue) -> bool:
        """The pull loop comes to every queue in time."""
        return False

    def rebalance(self, consumer: Consumer) -> Result:
        """One round; its pull requests are noted."""
        result = super().rebalance(consumer)
        assert isinstance(result, tuple)
        if result[1]:
            self.pulls.setdefault(self.now - self.began, []).extend(result[1])  # type: ignore[arg-type]  # pairs
        return result

    def take_pulls(self) -> Value:
        """The pull requests that the step began, by ms."""
        pulls, self.pulls = self.pulls, {}
        return tuple((millis, tuple(sorted(begun))) for millis, begun in pulls.items())

    # --- requests of brokers --------------------------------------------------------------------------------

    def handle_reset(self, ext: dict[str, str], body: bytes) -> None:
        """RESET_CONSUMER_CLIENT_OFFSET."""
        try:
            named = self.named(body)
        except ValueError:
            return
        self.pending.append(PendingReset(ext["group"], ext["topic"], named))
        self.begin_next()

    def named(self, body: bytes) -> dict[int, int]:
        """The offsets in a body, by queue; ValueError when it cannot be read."""
        offsets = offsets_of(body, "offsetTable") if body else self.without_body()
        return {_POSITIONS[queue]: offset for queue, offset in offsets.items()}

    def without_body(self) -> Mapping[MessageQueue, int]:
        """What a request without a body names."""
        return {}

    def handle_status(self, ext: dict[str, str]) -> bytes:
        """GET_CONSUMER_STATUS_FROM_CLIENT: the body of the answer."""
        known = self.knows(ext["group"]) and self.tells_state()
        offsets = self.state_of(ext["topic"]) if known else {}
        return state_body((ORDINARY.queues[queue], offset) for queue, offset in offsets.items())

    def state_of(self, topic: str) -> dict[int, int]:
        """The offsets in memory of a topic's queues, of all when it is blank."""
        entries = self.member.store.table.items()
        return {queue: entry.offset for queue, entry in entries if not topic or ORDINARY.topic_of[queue] == topic}

    def knows(self, group: str) -> bool:
        """Is there a consumer of the group?"""
        return group == GROUP

    def tells_state(self) -> bool:
        """Does a consumer of this kind tell its offsets?"""
        return self.kind != "lite"

    # --- resets ---------------------------------------------------------------------------------------------

    def begin_next(self) -> None:
        """Begin the first reset, unless it is under way already."""
        if self.pending and not self.pending[0].begun:
            self.begin_reset(self.pending[0])

    def begin_reset(self, reset: PendingReset) -> None:
        """Pause, drop the queues that are named, and give their listeners time."""
        reset.begun = True
        if not self.concerns(reset):
            self.end_reset(reset)
            return
        self.pause()
        for queue in self.queues_to_drop(reset):
            self.drop(self.member.table[queue])
        wait = self.sleep_time()
        if wait:
            reset.due = self.now + wait
        else:
            self.commit_all(reset)

    def concerns(self, reset: PendingReset) -> bool:
        """Is it for a push consumer of this client?"""
        return self.knows(reset.group) and self.pushes()

    def pause(self) -> None:
        """Pull nothing from now on."""
        self.paused = True

    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        """The queues that are named, among those that it has."""
        return self.named_queues(reset)

    def named_queues(self, reset: PendingReset) -> list[int]:
        """The queues of the topic that are named, among those that it has."""
        table = self.member.table
        return [queue for queue in sorted(reset.offsets) if queue in table and ORDINARY.topic_of[queue] == reset.topic]

    def sleep_time(self) -> int:
        """How long listeners are given (ms): orderly ones are waited for one by one."""
        return 0 if self.kind == "orderly" else SLEEP

    def commit_all(self, reset: PendingReset) -> None:
        """Commit what is named, queue by queue."""
        reset.left = self.named_queues(reset)
        self.commit_next(reset)

    def commit_next(self, reset: PendingReset) -> None:
        """Commit the queues that are left, until a listener has to be waited for."""
        left = reset.left
        assert left is not None
        while left:
            queue = left[0]
            owned = self.member.table[queue]
            if reset.listener is None and self.has_lock(queue, owned) and self.listener_limit():
                reset.listener, reset.due = owned, self.now + self.listener_limit()
                return
            self.commit_queue(queue, reset.offsets[queue])
            reset.listener = None
            reset.committed = True
            if self.has_lock(queue, owned) and not self.is_forced(orderly(owned)):
                reset.listener, reset.due = owned, self.now + self.unlock_limit()
                return
            self.release(reset, queue, True)
        self.end_reset(reset)

    def has_lock(self, queue: int, owned: OwnedQueue) -> bool:
        """Does an orderly listener hold the lock of the process queue?"""
        busy = self.busy.get(queue)
        return self.kind == "orderly" and busy is not None and busy[0] is owned

    def listener_limit(self) -> int:
        """How long an orderly listener is waited for before the commit (ms)."""
        return SLEEP

    def unlock_limit(self) -> int:
        """How long it is waited for after the commit (ms)."""
        return UNLOCK_WAIT

    def commit_queue(self, queue: int, offset: int) -> None:
        """Set the offset, lower or not, and commit it one way."""
        self.member.store.update(queue, offset, False)
        self.member.store.persist(queue)

    def release(self, reset: PendingReset, queue: int, unlocked: bool) -> None:
        """Let go of a queue whose offset was committed."""
        reset.listener = None
        reset.committed = False
        if unlocked:
            if self.kind == "orderly":
                self.member.store.persist(queue)
                self.unlock(self.member, (queue,), True)
            self.member.store.remove(queue)
        del self.member.table[queue]
        assert reset.left is not None
        reset.left.pop(0)

    def end_reset(self, reset: PendingReset) -> None:
        """Go on, and begin the next one."""
        self.pending.remove(reset)
        if self.concerns(reset):
            self.resume()
        self.begin_next()

    def resume(self) -> None:
        """Pull again, and rebalance at once."""
        self.paused = False
        self.rebalance(self.member)

    def go_on(self, reset: PendingReset, unlocked: bool) -> None:
        """A reset need not wait any longer: time is up, or the listener is done."""
        if reset.left is None:
            self.commit_all(reset)
        elif reset.committed:
            self.release(reset, reset.left[0], unlocked)
            self.commit_next(reset)
        else:
            self.commit_next(reset)

    # --- operations -----------------------------------------------------------------------------------------

    def reset_queue(self, queue: int, offset: int, topic: str, body: str) -> Result:
        """A reset of one queue."""
        return self.reset(GROUP, (queue,), offset, topic, body)

    def reset(self, group: str, queues: tuple[int, ...], offset: int, topic: str, body: str) -> Result:
        """A reset: the pull requests that began at once."""
        named = [(ORDINARY.queues[queue], offset + at) for at, queue in enumerate(queues)]
        written = {"java": reset_body, "c++": reset_body_for_cpp}
        self.began = self.now
        self.handle_reset({"group": group, "topic": topic}, written[body](named) if body in written else b"")
        return (self.take_pulls(),)

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        self.began, until = self.now, self.now + elapses
        while due := [reset for reset in self.pending if reset.begun and reset.due <= until]:
            reset = min(due, key=lambda reset: reset.due)
            self.now = reset.due
            self.go_on(reset, False)
        self.now = until
        return (self.take_pulls(),)

    def update_offset(self, queue: int, offset: int) -> Result:
        """The application sets an offset."""
        return self.member.store.update(queue, offset, False)

    def take_message(self, queue: int, offset: int) -> Result:
        """A listener takes a message."""
        owned = self.member.table.get(queue)
        if owned is None or owned.dropped or queue in self.busy:
            return False
        if self.kind == "orderly" and not self.is_locked(orderly(owned)) and not self.lock(self.member, queue):
            return False
        self.busy[queue] = owned, offset
        return True

    def finish_message(self, queue: int) -> Result:
        """The listener is done: (the offset in memory, pull requests that begin)."""
        self.began = self.now
        busy = self.busy.pop(queue, None)
        if busy is not None:
            owned, offset = busy
            if not self.is_late(owned):
                self.member.store.update(queue, offset + 1, self.kind == "push")
            self.listener_ends(owned)
        return self.remembered(self.member, queue), self.take_pulls()

    def listener_ends(self, owned: OwnedQueue) -> None:
        """A listener gives its lock back."""
        for reset in [reset for reset in self.pending if reset.listener is owned]:
            self.go_on(reset, True)

    def pull_queue(self, queue: int) -> Result:
        """The pull loop comes to a queue: the offset that it asks for; what the pull carries is not compared."""
        owned = self.member.requests.get(queue)
        if owned is None or owned.dropped or self.may_not_pull():
            return None
        asked = self.pull(self.member, queue) if self.kind == "orderly" else Rebalance.pull(self, self.member, queue)
        return asked[0] if isinstance(asked, tuple) else asked

    def may_not_pull(self) -> bool:
        """Is pulling paused?"""
        return self.paused

    def persist_offsets(self) -> Result:
        """The timer that persists offsets runs."""
        return self.persist(self.member)

    def status(self, group: str, topic: str) -> Result:
        """A broker asks for the state of a consumer."""
        offsets = offsets_of(self.handle_status({"group": group, "topic": topic}), "messageQueueTable")
        return tuple(sorted((_POSITIONS[queue], offset) for queue, offset in offsets.items()))

    def running_info(self, group: str) -> Result:
        """GET_CONSUMER_RUNNING_INFO."""
        if not self.knows(group):
            return Err("CLIENT")
        table = self.member.table if self.pushes() else {}
        return tuple([self.shown(queue, owned) for queue, owned in sorted(table.items())])

    def shown(self, queue: int, owned: OwnedQueue) -> tuple[Value, ...]:
        """Of a queue: its offset, whether it is locked, and dropped."""
        locked = orderly(owned).locked if self.kind == "orderly" else True
        return queue, self.shown_offset(queue), locked, owned.dropped

    def shown_offset(self, queue: int) -> int:
        """The offset in memory, else that of the broker, which goes to memory."""
        return self.member.store.read(queue, "memory-then-store")

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Start: self.start,
            operations.StartLite: lambda: self.start("lite"),
            operations.StartTwice: self.start_twice,
            operations.Update: self.update_offset,
            operations.ResetQueue: self.reset_queue,
            operations.Reset: self.reset,
            operations.Elapse: self.elapse,
            operations.Take: self.take_message,
            operations.Finish: self.finish_message,
            operations.Pull: self.pull_queue,
            operations.Persist: self.persist_offsets,
            operations.Status: self.status,
            operations.RunningInfo: self.running_info,
        }


PART = PushedReset
