"""The port's pull loop: which pull requests it sends, and how it handles their responses.

Nothing here waits: the caller decides which request is sent, which response arrives and which timer runs next.
"""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.pull_request import NotNowError, PullCache, PullRequest
from rocketmq_conformance.conformance.targets.port.pull_settings import MASTER, PullSettings, Subscription
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import pull as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Bits of a pull's flag.
COMMIT, SUSPEND, EXPRESSION = 1, 2, 4
#: Ms until a pull that could not be sent is retried.
AFTER_FAILURE, WHILE_PAUSED, WHILE_FULL, WHEN_CONTROLLED = 1_000, 1_000, 50, 20
#: Flow control limits of a queue: messages, MiB, span of offsets.
MOST_MESSAGES, MOST_MIB, MOST_SPAN = 3, 0, 8
#: The queues that a consumer owns at first, and where it begins.
OWNED, BEGINNING = (0, 1, 2), 5

Message = tuple[int, str]


class Pull(PullSettings):
    """The pull loops of one consumer. Queues are given by their position in the layout."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.store = RemoteStore(transport)
        self.clear()

    def clear(self) -> None:
        """Clear everything: no queues, no requests."""
        self.store.forget()
        self.clear_settings()
        #: The node that the last answer suggested, by queue.
        self.suggested: dict[int, int] = {}
        self.table: dict[int, PullRequest] = {}
        self.ready: list[PullRequest] = []
        self.in_flight: list[PullRequest] = []
        #: With the task to run.
        self.timers: list[tuple[PullRequest, Callable[[PullRequest], None]]] = []
        #: When was it decided that a request waits, what for, and is a rebalance asked for?
        self.delay, self.next_action, self.rebalance_requested = 0, "", False
        self.counted = False

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    def forget(self) -> None:
        """Begin a case."""
        self.clear()
        for topic in self.subscriptions:
            self.transport.route(topic)
        for queue in OWNED:
            self.gain(queue, BEGINNING, False)

    # --- a turn of the pull service -----------------------------------------------------------------------

    def pull(self, place: int, reachable: bool) -> Result:
        """One turn of a request."""
        if not self.ready:
            return None
        request = self.ready.pop(place % len(self.ready))
        self.counted = False
        if request.owned.dropped:
            return request.queue, "dropped", self.counted
        self.count(request)
        try:
            self.hold(request)
            asked = self.ask(request, reachable)
        except NotNowError as error:
            self.pull_later(request, error.millis)
            return request.queue, "later", error.millis, self.counted
        self.in_flight.append(request)
        return request.queue, "asked", *asked, self.counted

    def count(self, request: PullRequest) -> None:
        """The queue is being pulled."""
        self.counted = True

    def hold(self, request: PullRequest) -> None:
        """NotNowError when the pull must wait."""
        owned = request.owned
        if not self.running:
            raise NotNowError(self.after_failure())
        if self.paused:
            raise NotNowError(WHILE_PAUSED)
        if self.is_full(owned) or self.is_wide(owned):
            raise NotNowError(WHILE_FULL)
        if ORDINARY.queues[request.queue].topic not in self.subscriptions:
            self.unsubscribed(request)

    def after_failure(self) -> int:
        """The delay after a failure (ms)."""
        return AFTER_FAILURE

    def unsubscribed(self, request: PullRequest) -> None:
        """The topic is not subscribed to."""
        raise NotNowError(self.after_failure())

    def is_full(self, owned: PullCache) -> bool:
        """Does the queue exceed the limit of messages or MiB?"""
        return len(owned.offsets) > MOST_MESSAGES or owned.mib() > MOST_MIB

    def is_wide(self, owned: PullCache) -> bool:
        """Does the queue exceed the limit of the span of offsets?"""
        return bool(owned.offsets) and owned.offsets[-1] - owned.offsets[0] > MOST_SPAN

    def ask(self, request: PullRequest, reachable: bool) -> tuple[Value, ...]:
        """Send a pull: (node, offset, commit offset, flag, expression, type); NotNowError."""
        topic = ORDINARY.queues[request.queue].topic
        chosen = request.subscription = self.subscriptions.get(topic, Subscription())
        if not self.finds(topic):
            raise NotNowError(self.after_failure())
        node = self.node(request.queue)
        if self.too_old(chosen) or not reachable:
            raise NotNowError(self.after_failure())
        commit = self.store.read(request.queue, "memory")
        flag = SUSPEND + COMMIT * self.commits(commit, node) + EXPRESSION * self.posts
        return node, request.offset, commit, flag, self.expression(chosen), chosen.kind

    def finds(self, topic: str) -> bool:
        """Is any node of the broker known, now or after a look at the route?"""
        if not self.nodes:
            try:
                self.transport.route(topic)
            except NoRouteError:
                return False
            self.nodes = (MASTER,)
        return True

    def node(self, queue: int) -> int:
        """The node to ask."""
        wanted = self.suggested.get(queue, MASTER)
        if wanted in self.nodes:
            return wanted
        return self.fallback_node(wanted)

    def fallback_node(self, wanted: int) -> int:
        """The node to use instead of one that is not known."""
        return wanted + 1 if wanted + 1 in self.nodes else self.nodes[0]

    def too_old(self, chosen: Subscription) -> bool:
        """Is the node too old for such expressions?"""
        return self.old and chosen.kind != "TAG"

    def commits(self, commit: int, node: int) -> bool:
        """Does the pull also commit an offset?"""
        return commit > 0 and node == MASTER

    def expression(self, chosen: Subscription) -> str | None:
        """The expression that goes with a pull."""
        return chosen.text if self.posts else None

    def pull_later(self, request: PullRequest, millis: int) -> None:
        """Pull again after some ms."""
        self.delay, self.next_action = millis, "later"
        self.timers.append((request, self.ready.append))

    def pull_now(self, request: PullRequest) -> None:
        """Pull again at once."""
        self.delay, self.next_action = 0, "pull"
        self.ready.append(request)

    # --- answers ------------------------------------------------------------------------------------------

    def arrived(self, place: int) -> PullRequest | None:
        """The in-flight request whose response arrived."""
        return self.in_flight.pop(place % len(self.in_flight)) if self.in_flight else None

    def result(self, request: PullRequest, given: tuple[int, ...] = ()) -> Result:
        """The result of a step that handled a response."""
        held = self.store.read(request.queue, "memory")
        return request.queue, self.next_action, self.delay, request.offset, given, held, request.owned.dropped

    def found(self, place: int, next_offset: int, messages: tuple[Message, ...], suggested: int) -> Result:
        """Messages arrive."""
        request = self.arrived(place)
        if request is None:
            return None
        self.suggest(request.queue, suggested)
        given = self.accepted(request, messages)
        request.offset = self.next_found(request, next_offset, messages)
        self.take(request, given)
        return self.result(request, given)

    def suggest(self, queue: int, node: int) -> None:
        """Pull from the suggested node from now on."""
        self.suggested[queue] = node

    def accepted(self, request: PullRequest, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The offsets of the messages that the subscription accepts."""
        tags = self.tags(request)
        return tuple([offset for offset, tag in messages if not tags or tag in tags])

    def tags(self, request: PullRequest) -> frozenset[str]:
        """The tags of a pull."""
        return request.subscription.tags

    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        """The next offset to pull after a response with messages."""
        return next_offset

    def take(self, request: PullRequest, given: tuple[int, ...]) -> None:
        """Cache the accepted messages, and pull again."""
        if not given:
            return self.none_wanted(request)
        for offset in given:
            request.owned.put(offset)
        return self.pull_later(request, self.interval) if self.interval else self.pull_now(request)

    def none_wanted(self, request: PullRequest) -> None:
        """All messages were filtered out."""
        self.pull_now(request)

    def nothing(self, place: int, code: str, next_offset: int, suggested: int) -> Result:
        """A response without messages: there is no new message, or none that matches."""
        request = self.arrived(place)
        if request is None:
            return None
        self.suggest(request.queue, suggested)
        request.offset = self.next_empty(request, code, next_offset)
        if self.may_skip(request, code):
            self.skip(request.queue, next_offset)
        self.pull_now(request)
        return self.result(request)

    def next_empty(self, request: PullRequest, code: str, next_offset: int) -> int:
        """The next offset to pull after a response without messages."""
        return next_offset

    def may_skip(self, request: PullRequest, code: str) -> bool:
        """May the offset in memory skip filtered messages?"""
        return not request.owned.offsets

    def skip(self, queue: int, offset: int) -> None:
        """Skip filtered messages."""
        self.store.update(queue, offset, True)

    def illegal(self, place: int, next_offset: int, low: int, high: int, suggested: int) -> Result:
        """The offset was illegal."""
        request = self.arrived(place)
        if request is None:
            return None
        self.suggest(request.queue, suggested)
        request.offset = self.corrected(next_offset, low, high)
        self.stop(request)
        return self.result(request)

    def corrected(self, next_offset: int, low: int, high: int) -> int:
        """The corrected offset."""
        return next_offset

    def stop(self, request: PullRequest) -> None:
        """Drop a queue, to start it again at the corrected offset."""
        request.owned.dropped = True
        self.delay, self.next_action = self.correction_delay(), "correct"
        self.timers.append((request, self.correct))

    def correction_delay(self) -> int:
        """The delay until an offset is corrected (ms)."""
        return 0

    def fail(self, place: int, failure: str) -> Result:
        """The pull failed."""
        request = self.arrived(place)
        if request is None:
            return None
        self.failed(request, failure)
        return self.result(request)

    def failed(self, request: PullRequest, failure: str) -> None:
        """Retry later."""
        self.pull_later(request, WHEN_CONTROLLED if failure == "FLOW_CONTROL" else self.after_failure())

    # --- timers -------------------------------------------------------------------------------------------

    def fire(self, place: int) -> Result:
        """A timer runs."""
        if not self.timers:
            return None
        request, do = self.timers.pop(place % len(self.timers))
        ready, self.rebalance_requested = len(self.ready), False
        do(request)
        queue = request.queue
        kind = "pull" if len(self.ready) > ready else "correct"
        return queue, kind, queue in self.table, self.store.read(queue, "memory"), self.rebalance_requested

    def correct(self, request: PullRequest) -> None:
        """Store the corrected offset, and drop the queue."""
        self.write(request.queue, request.offset)
        self.send(request.queue)
        self.end_corrected(request)
        self.request_rebalance()

    def write(self, queue: int, offset: int) -> None:
        """Store and freeze the corrected offset, so that no late result changes it."""
        self.store.freeze(queue, offset)

    def end_corrected(self, request: PullRequest) -> None:
        """Drop the queue's present process queue, which may be a newer one."""
        if request.queue in self.table:
            self.end(request.queue)

    def request_rebalance(self) -> None:
        """Ask for a rebalance."""
        self.rebalance_requested = True

    def send(self, queue: int) -> None:
        """Send an offset, if the broker is found."""
        if queue in self.store.table and self.finds(ORDINARY.queues[queue].topic):
            self.store.persist(queue)

    def end(self, queue: int) -> None:
        """Drop a queue."""
        self.drop(self.table.pop(queue).owned)
        self.send(queue)
        self.store.remove(queue)

    def drop(self, owned: PullCache) -> None:
        """Mark a process queue as dropped, for the loops and listeners that still use it."""
        owned.dropped = True

    # --- the listener, the rebalance ----------------------------------------------------------------------

    def consume(self, queue: int, everything: bool) -> Result:
        """The listener is done with the first message, or with all."""
        request = self.table.get(queue)
        if request is not None and request.owned.offsets:
            owned = request.owned
            del owned.offsets[: len(owned.offsets) if everything else 1]
            if not owned.dropped:
                self.store.update(queue, owned.offsets[0] if owned.offsets else owned.latest + 1, True)
        return self.store.read(queue, "memory")

    def gain(self, queue: int, offset: int, anew: bool) -> Result:
        """Own a queue."""
        if queue in self.table:
            if not anew:
                return (False,)
            self.end(queue)
        self.clean(queue)
        request = self.table[queue] = PullRequest(queue, offset)
        self.ready.append(request)
        return (True,)

    def clean(self, queue: int) -> None:
        """Remove a queue's old offset from memory."""
        self.store.remove(queue)

    def lose(self, queue: int) -> Result:
        """Own a queue no more."""
        if queue not in self.table:
            return (False,)
        self.end(queue)
        return (True,)

    def update(self, queue: int, offset: int) -> Result:
        """An application sets an offset."""
        self.store.update(queue, offset, False)
        return self.store.read(queue, "memory")

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Pull: self.pull,
            operations.Found: self.found,
            operations.Nothing: self.nothing,
            operations.Illegal: self.illegal,
            operations.Fail: self.fail,
            operations.Fire: self.fire,
            operations.Consume: self.consume,
            operations.Gain: self.gain,
            operations.Lose: self.lose,
            operations.Update: self.update,
            operations.Subscribe: self.subscribe,
            operations.Select: self.select,
            operations.Unsubscribe: self.unsubscribe,
            operations.Run: self.run,
            operations.Pause: self.pause,
            operations.Space: self.space,
            operations.Post: self.post,
            operations.Learn: self.learn,
        }


PART = Pull
