"""The port's whole push consumers whose listeners hang on command, and which stop where they have too much."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.fakes.set_aside import SetAside
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.whole_moves import FILLED, LOADED, SPANNED, STRETCHED
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_load as operations
from rocketmq_conformance.suites import whole_push as group

#: How many messages of a queue a consumer has at most before it pulls no more, and how far apart.
MOST, FARTHEST = 1000, 2000
#: Turns after which members are taken to be at rest.
_PATIENCE = 400


class Busy(NamedTuple):
    """What a listener has not returned from: messages of a queue from one offset up to another."""

    consumer: Consumer
    line: Line
    queue: int
    owned: OwnedQueue
    first: int
    following: int


class WholeLoad(WholePush):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The message that a listener is to hang with, by queue and offset; and does no listener return?
        self.to_hang: tuple[int, int] | None = None
        self.holds = False
        #: What listeners have not returned from, and the pulls that wait for that.
        self.busy: list[Busy] = []
        self.stopped: list[tuple[Consumer, Line, int, OwnedQueue]] = []
        self.aside = SetAside()
        #: The queue whose messages members said earlier that they were given.
        self.said_before: int | None = None

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs, and no listener hangs."""
        self.to_hang, self.holds, self.said_before = None, False, None
        self.busy.clear()
        self.stopped.clear()
        self.aside = SetAside()
        super().begin_case(case)

    def hang_up(self, member: int) -> None:
        """A member ends, and its listeners with it."""
        line = self._lines[member]
        self.busy = [busy for busy in self.busy if busy.line is not line]
        self.stopped = [one for one in self.stopped if one[1] is not line]
        super().hang_up(member)

    # --- messages -------------------------------------------------------------------------------------------

    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """The listener is given messages, and does not return from some of them; what it returns is committed."""
        self.listen_to(consumer, queue, owned.offset, following)
        hangs = self.to_hang
        if self.holds:
            self.keep(Busy(consumer, self._line, queue, owned, owned.offset, following))
        elif hangs is not None and hangs[0] == self.said_queue(queue) and owned.offset <= hangs[1] < following:
            self.to_hang = None
            self.keep(Busy(consumer, self._line, queue, owned, hangs[1], hangs[1] + 1))
        self.consumed(consumer, queue, owned, following)

    def keep(self, busy: Busy) -> None:
        """A listener does not return."""
        self.busy.append(busy)

    def consumed(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """Messages up to an offset were given: what comes before the first that a listener is busy with is consumed."""
        self.result(consumer, queue, owned, min([following, *(busy.first for busy in self.busy_with(owned))]))

    def busy_with(self, owned: OwnedQueue) -> list[Busy]:
        """What listeners have not returned from of a queue."""
        return [busy for busy in self.busy if busy.owned is owned]

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """A pull found nothing: what a listener is busy with is not consumed yet."""
        if not self.busy_with(owned):
            super().found_nothing(consumer, queue, owned, following)

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue, unless there is too much of it."""
        if self.is_full(owned):
            self.stopped.append((consumer, line, queue, owned))
        else:
            super().ask(consumer, line, queue, owned)

    def is_full(self, owned: OwnedQueue) -> bool:
        """Has the consumer so many messages of a queue that it pulls no more?"""
        busy = self.busy_with(owned)
        cached = sum(one.following - one.first for one in busy)
        return cached > MOST or (bool(busy) and busy[-1].following - busy[0].first > FARTHEST)

    def listeners_return(self) -> None:
        """All listeners return: what they say of a queue that was lost is discarded. Pulls that waited go on."""
        returned, self.busy = self.busy, []
        for busy in returned:
            if self.takes(busy.owned):
                self.consumed(busy.consumer, busy.queue, busy.owned, busy.owned.offset)
        stopped, self.stopped = self.stopped, []
        for consumer, line, queue, owned in stopped:
            if self.takes(owned):
                self.ask(consumer, line, queue, owned)

    def turns(self) -> None:
        """Members take turns until no pull is answered any more."""
        for _ in range(_PATIENCE):
            super().turns()
            if not any(line is not None and line.inbox for line in self._lines):
                break

    # --- operations -----------------------------------------------------------------------------------------

    def hang(self, queue: int) -> Result:
        """A message arrives in a queue from which its listener does not return."""
        self.to_hang = queue, self.world.max_offset(queue)
        return self.send(queue)

    def free(self) -> Result:
        """All listeners return."""
        self.to_hang, self.holds, self.aside.flooded = None, False, None
        self.listeners_return()
        return self.look()

    def stay(self) -> Result:
        """Half a minute passes."""
        return self.look()

    def fill(self, queue: int) -> Result:
        """No listener returns, and more messages arrive in a queue than a consumer has at a time."""
        self.aside.flooded = self.said_before = queue
        self.holds = True
        self.send_many(queue, FILLED)
        return self.look()

    def stretch(self) -> Result:
        """Much is consumed behind a message that hangs, and then no listener returns, and more comes."""
        queue = self.said_queue(next(one.queue for one in self.busy if self.takes(one.owned)))
        self.aside.flooded = self.said_before = queue
        self.send_many(queue, SPANNED)
        self.turns()
        self.holds = True
        self.send_many(queue, STRETCHED)
        return self.look()

    def send_many(self, queue: int, messages: int) -> None:
        """So many messages arrive in a queue."""
        for _ in range(messages):
            self.world.send(queue)

    def load(self, queue: int) -> Result:
        """Messages keep arriving in a queue, and one arrives in each of the others."""
        others = {number: self.world.max_offset(number) for number in self.world.seen if number != queue}
        for number in others:
            self.world.send(number)
        for _ in range(LOADED - 1):
            self.world.send(queue)
            self.turn_once()
        pulls = {number: self.world.latest_pull(number) for number in others}
        self.aside.starved = {
            number for number, pull in pulls.items() if pull is None or int(pull.ext["queueOffset"]) <= others[number]
        }
        self.world.send(queue)
        return self.look()

    def turn_once(self) -> None:
        """Every member takes one turn."""
        super().turns()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, but for what is set aside."""
        brought = self.aside.shown(self.world.take_brought())
        self.aside.starved = set()
        unsaid = {(client, self.said_before) for client in running if self.said_before is not None}
        if self.aside.flooded is None:
            self.said_before = None
        return self.world.observed(running, self.world.given(brought, self.say_given(), unsaid))

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Join: methods[group.Join],
            operations.Leave: self.leave_group,
            operations.Crash: methods[group.Crash],
            operations.Send: methods[group.Send],
            operations.Look: methods[group.Look],
            operations.Reset: methods[group.Reset],
            operations.Hang: self.hang,
            operations.Free: self.free,
            operations.Stay: self.stay,
            operations.Fill: self.fill,
            operations.Stretch: self.stretch,
            operations.Load: self.load,
        }

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs; how it ends is not said where its listener hangs."""
        waits = any(busy.consumer is self.members[member] for busy in self.busy)
        seen = super().leave_group(member)
        assert isinstance(seen, tuple)
        return (*seen[:3], None, None, None, None) if waits else seen


PART = WholeLoad
