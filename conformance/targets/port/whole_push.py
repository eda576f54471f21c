"""The port's whole push consumers: rounds of rebalance, pulls and commits by themselves, each over its own connection.

The group is that of ``rebalance``, with real heartbeats, pulls that the broker may hold, and listeners that consume
everything at once. Nothing runs beside it: after each operation its members take turns until nothing happens any more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import Answered, Case, Methods
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import Brought, runs
from rocketmq_conformance.conformance.remoting.client_requests import offsets_of
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import ONE_WAY, Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.port.group_member import BROADCASTING, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, Rebalance
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.client.member_settings import TIMESTAMP_TEXT
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

#: Turns of every member after an operation, until all is at rest: a queue that is sent elsewhere takes two.
TURNS = 4
#: What is said of the end of a member that was not shut down.
NOT_ENDED = (None, None, None, None)
_POSITIONS = {(queue.topic, queue.id): at for at, queue in enumerate(ORDINARY.queues)}
#: Faults: no answer, and one that is late.
SILENT, LATE = "silent", "late"
#: Pull flags: it may be held, and it carries its subscription.
_HELD, _SUBSCRIPTION = 2, 4
#: How long the answers to requests may take (s), where that is not 3.
_PATIENCE = {int(Request.QUERY_CONSUMER_OFFSET): 5.0, int(Request.PULL_MESSAGE): 30.0}


class Line(Peer):
    """A connection in this process; the responses to pulls that were held arrive in its inbox."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.address = f"127.0.0.1:{number}"
        self.inbox: list[tuple[Command, Command]] = []
        #: The queue for which each pull was sent, by the number of the request.
        self.asked: dict[int, OwnedQueue] = {}
        #: The bodies of the broker's resets.
        self.resets: list[bytes] = []
        #: Does the broker know the member? Has it had another connection?
        self.known = False
        self.reconnected = False

    def answer(self, request: Command, response: Command) -> None:
        self.inbox.append((request, response))

    def send_request(self, command: Command) -> None:
        """Keep a reset for the next turn; members take turns after every operation anyway."""
        if command.code == Request.RESET_CONSUMER_CLIENT_OFFSET:
            self.resets.append(command.body)


class WholePush(Rebalance):
    """The members that run."""

    #: Their message model, and what kind of consumer their heartbeats name.
    model = "CLUSTERING"
    kind = "CONSUME_PASSIVELY"
    #: How they divide queues.
    strategy = "AVG"

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.members = [None for _ in ORDINARY.members]
        self._world: GroupCase | None = None
        self._profile: Profile | None = None
        self._lines: list[Line | None] = [None for _ in ORDINARY.members]
        self._opened = self._requests = 0
        #: The connection of the member whose turn it is.
        self._line = Line(0)
        #: Where consumers begin.
        self._where = LAST
        self._begun = False
        #: What listeners were given since the last operation, in their order; and what of that was said.
        self.given: list[Brought] = []
        self.said = SaidMessages()

    @property
    def world(self) -> GroupCase:
        """The broker of the case."""
        assert self._world is not None  # made by begin_case
        return self._world

    def begin_case(self, case: Case) -> None:
        """Begin a case: nobody runs."""
        if self._world is None or self._profile != case.profile:
            self._world, self._profile = self.make_world(case.profile), case.profile
        self.transport.begin(replace(case, exchange=self._exchange))
        self.now = 0
        for line in filter(None, self._lines):
            self.close_line(line)
        self.members = [None for _ in ORDINARY.members]
        self._lines = [None for _ in ORDINARY.members]
        self._begun = False
        self.given.clear()
        self.said = SaidMessages()
        self.files.clear()
        self.prepare(4, "young", NOTHING, LAST)

    def make_world(self, profile: Profile) -> GroupCase:
        """The broker of a profile's cases."""
        return GroupCase(profile, never, self.model == BROADCASTING)

    def forget(self) -> None:
        """Members are forgotten when a case begins."""

    def _exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        response = self.to_broker(self._line, Command(code, dict(ext), body, flag=ONE_WAY if one_way else 0))
        assert response is not None  # only pulls are held, and they are not sent here
        return response.code, response.remark or "", response.ext, response.body

    def to_broker(self, line: Line, command: Command) -> Command | None:
        """Send a request to the broker: its response, None when it is held. TimeoutError, or ConnectionError; the
        connection is another one from then on, unless the answer was one to a pull, or not waited for."""
        try:
            response = self.world.handle(line, command)
        except OSError as error:
            waits = not command.is_one_way and command.code != Request.PULL_MESSAGE
            if waits or not isinstance(error, TimeoutError):
                self.close_line(line)
                self.connected_again(line)
            raise
        if self.world.waited > self.patience(command.code):
            raise TimeoutError("the answer came too late")
        return response

    def close_line(self, line: Line) -> None:
        """Close a connection."""
        self.world.closed(line)

    def connected_again(self, line: Line) -> None:
        """A connection is a new one: the broker does not know who it belongs to."""
        line.known = False
        line.reconnected = True

    def patience(self, code: int) -> float:
        """How long an answer may take (s)."""
        return _PATIENCE.get(code, 3.0)

    # --- a member's life ------------------------------------------------------------------------------------

    def start(self, member: int) -> None:
        """Start a member."""
        self._opened += 1
        line = self._lines[member] = self._line = Line(self._opened)
        positions = StartPosition(self.transport)
        self.open_store(positions, ORDINARY.members[member], self.model == BROADCASTING)
        consumer = Consumer(positions, ORDINARY.members[member], self.model, self._where, self.strategy)
        consumer.topics = self.topics()
        self.members[member] = consumer
        self.connect(consumer, line)

    def connect(self, consumer: Consumer, line: Line) -> None:
        """The timers of routes and heartbeats, of a member that the broker does not know yet."""
        self._line = line
        try:
            if self.topics()[0] not in consumer.routes:
                self.refresh(consumer)
            if self.topics()[0] in consumer.routes:
                line.known = self.beat(consumer, line)
        except OSError:
            pass  # the timers go off again

    def refresh(self, consumer: Consumer) -> Result:
        """Ask for the routes; without an answer the known ones are kept."""
        try:
            return super().refresh(consumer)
        except (OSError, ValueError):
            for topic in consumer.topics:
                self.lost_route(consumer, topic)
            return None

    def topics(self) -> list[str]:
        """The topics that members rebalance."""
        return [TOPIC]

    def beat(self, consumer: Consumer, line: Line) -> bool:
        """Send a heartbeat; did the broker take it? OSError without an answer."""
        subscriptions = [{"topic": topic, "subString": "*", "subVersion": 1} for topic in self.named(consumer)]
        data = {"groupName": GROUP, "consumeType": self.kind, "messageModel": self.model}
        body = {"clientID": consumer.client, "consumerDataSet": [{**data, "subscriptionDataSet": subscriptions}]}
        answered = self.to_broker(line, Command(int(Request.HEART_BEAT), {}, json.dumps(body).encode()))
        return answered is not None and self.knows(consumer.client)

    def named(self, consumer: Consumer) -> list[str]:
        """The topics that a member's heartbeats name."""
        return [TOPIC]

    def knows(self, client: str) -> bool:
        """Does the broker list a member?"""
        return client in self.world.broker.members(GROUP)

    def end(self, member: int) -> None:
        """Shut a member down: it commits, and unregisters."""
        consumer, line = self.members[member], self._lines[member]
        assert consumer is not None
        assert line is not None
        self._line = line
        super().leave(member)
        self.unregister(consumer, line)
        self.hang_up(member)

    def unregister(self, consumer: Consumer, line: Line) -> None:
        """Leave the group."""
        ext = {"clientID": consumer.client, "consumerGroup": GROUP}
        self.to_broker(line, Command(int(Request.UNREGISTER_CLIENT), ext))

    def hang_up(self, member: int) -> None:
        """A member's connection is closed."""
        line = self._lines[member]
        assert line is not None
        self.members[member] = self._lines[member] = None
        self.close_line(line)

    # --- turns ----------------------------------------------------------------------------------------------

    def turns(self) -> None:
        """Every member takes a turn."""
        for consumer, line in zip(self.members, self._lines, strict=True):
            if consumer is not None and line is not None:
                self.turn(consumer, line)

    def turn(self, consumer: Consumer, line: Line) -> None:
        """A round of rebalance, the pulls that it begins and those that were answered, and the commits."""
        self._line = line
        while line.resets:
            self.handle_reset(consumer, offsets_of(line.resets.pop(0), "offsetTable"))
        self.rebalance(consumer)
        for request, response in self.answers(line):
            queue = _POSITIONS[request.ext["topic"], int(request.ext["queueId"])]
            owned = self.asked_for(line, request)
            if owned is not None and self.takes(owned):
                self.answered(consumer, line, queue, owned, response)
        self.persist(consumer)

    def asked_for(self, line: Line, request: Command) -> OwnedQueue | None:
        """The queue for which a pull was sent, when it has not been answered or given up yet."""
        return line.asked.pop(request.opaque, None)

    def takes(self, owned: OwnedQueue) -> bool:
        """Does the answer to a pull count?"""
        return not owned.dropped

    def answers(self, line: Line) -> list[tuple[Command, Command]]:
        """The pulls that were answered since the last turn."""
        found, line.inbox = line.inbox, []
        return found

    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        """Own a queue, and pull it."""
        super().begin(consumer, queue, offset, new_pulls)
        self.ask(consumer, self._line, queue, consumer.table[queue])

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue from where its owner is."""
        ext = {
            "consumerGroup": GROUP,
            "topic": ORDINARY.queues[queue].topic,
            "queueId": str(ORDINARY.queues[queue].id),
            "queueOffset": str(owned.offset),
            "maxMsgNums": "32",
            "sysFlag": str(_HELD | _SUBSCRIPTION),
            "commitOffset": "0",
            "suspendTimeoutMillis": "15000",
            "subscription": "*",
            "subVersion": "1",
        }
        self._requests += 1
        request = Command(int(Request.PULL_MESSAGE), ext, opaque=self._requests)
        line.asked[request.opaque] = owned
        try:
            response = self.to_broker(line, request)
        except TimeoutError:
            return
        if response is not None:
            line.inbox.append((request, response))

    def ask_again(self) -> None:
        """The time of pulls that were not answered is up: they are sent again."""
        for consumer, line in zip(self.members, self._lines, strict=True):
            if consumer is not None and line is not None:
                for queue, owned in consumer.table.items():
                    self.ask(consumer, line, queue, owned)

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        """A pull was answered: consume, and pull on."""
        if not self.is_answer(response):
            self.pull_failed(consumer, line, queue, owned)
            return
        following = int(response.ext["nextBeginOffset"])
        if response.code == Response.PULL_OFFSET_MOVED:
            self.moved_to(consumer, queue, following)
            return
        if response.code == 0:
            self.give(consumer, queue, owned, following)
        else:
            self.found_nothing(consumer, queue, owned, following)
        owned.offset = following
        self.ask(consumer, line, queue, owned)

    def is_answer(self, response: Command) -> bool:
        """Is a response to a pull not a refusal, and complete?"""
        return "nextBeginOffset" in response.ext and (response.code != 0 or bool(response.body))

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """A pull found nothing, up to an offset: everything before it is consumed."""
        consumer.store.update(queue, following, True)

    def pull_failed(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """A pull failed: pull again from the same offset."""
        self.ask(consumer, line, queue, owned)

    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """Messages were pulled, up to an offset: the listener consumes them all."""
        self.listen_to(consumer, queue, owned.offset, following)
        self.result(consumer, queue, owned, following)

    def listen_to(self, consumer: Consumer, queue: int, first: int, following: int) -> None:
        """The listener is called with each message from one offset up to another."""
        self.given.append((consumer.client, self.said_queue(queue), first, following - first))

    def said_queue(self, queue: int) -> int:
        """How a message names the queue that it was pulled from."""
        return ORDINARY.queues[queue].id

    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        """The broker sent the consumer elsewhere: store that, and let the next round begin there."""
        consumer.store.update(queue, offset, False)
        consumer.store.persist(queue)
        consumer.store.remove(queue)
        self.drop(consumer.table.pop(queue))

    def handle_reset(self, consumer: Consumer, offsets: Mapping[MessageQueue, int]) -> None:
        """The broker resets queues: begin there in the next round."""
        for queue, offset in offsets.items():
            place = ORDINARY.queues.index(queue)
            if place in consumer.table:
                self.moved_to(consumer, place, offset)

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """The start offset of a queue; NoStartError."""
        return consumer.positions.push(queue, consumer.where, TIMESTAMP_TEXT, "UTC")

    # --- operations -----------------------------------------------------------------------------------------

    def prepare(self, queues: int, shape: str, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self._where = where
            self.world.prepare(queues, shape, stored, where)
        return None

    def join_group(self, member: int) -> Result:
        """A member starts, unless it runs."""
        self._begun = True
        if self.members[member] is None:
            self.start(member)
        return self.look()

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs."""
        if self.members[member] is None:
            return with_end(self.look(), NOT_ENDED)
        traffic, client, line = self.world.traffic, ORDINARY.members[member], self._lines[member]
        assert line is not None
        traffic.to_end(client)
        known = line.known
        self.end(member)
        seen = self.look()
        if not known:
            return with_end(seen, NOT_ENDED)
        # who was connected again may have had two connections for a while
        connections, *sent = traffic.ends.shown(client)
        return with_end(seen, (None if line.reconnected else connections, *sent))

    def crash(self, member: int) -> Result:
        """A member ends without a word, if it runs."""
        if self.members[member] is not None:
            self.hang_up(member)
        return self.look()

    def send(self, queue: int) -> Result:
        """A message arrives in a queue, if there is one, or in every queue."""
        for number in range(self.world.queues):
            if queue in (number, EVERY):
                self.world.send(number)
        return self.look()

    def reset(self, offset: int) -> Result:
        """The broker tells the members to reset queue 0."""
        self.world.reset(offset)
        return self.look()

    def freeze(self, member: int) -> Result:
        """A message arrives in every queue while a member does nothing."""
        return self.send(EVERY)

    def resize(self, queues: int) -> Result:
        """The topic has so many queues from now on; members ask for its route by their timers."""
        self.world.resize(queues)
        for consumer in filter(None, self.members):
            self.learn(consumer)
        return self.look()

    def learn(self, consumer: Consumer) -> None:
        """The timer of routes."""
        self.refresh(consumer)

    def fail(self, request: str, fault: str) -> Result:
        """From now on a request fails, and no other one."""
        self.instead(lambda: self.world.fail(Request[request], fault))
        for consumer in filter(None, self.members):
            self.learn(consumer)
        return self.look()

    def silence(self, request: str) -> Result:
        """From now on a request is not answered, and others again."""
        return self.fail(request, SILENT)

    def delay(self, request: str) -> Result:
        """From now on every request is answered, and one of them late."""
        return self.fail(request, LATE)

    def mend(self) -> Result:
        """Every request is answered again."""
        self.instead(self.world.mend)
        return self.look()

    def instead(self, act: Callable[[], None]) -> None:
        """Other requests fail, or none; pulls that waited for an answer in vain are sent again."""
        silent = self.world.silent
        act()
        if silent:
            self.ask_again()

    def look(self) -> Result:
        """Let the members take turns, also after pulls that found nothing, and see what their traffic shows."""
        for consumer, line in zip(self.members, self._lines, strict=True):
            if consumer is not None and line is not None and not line.known:
                self.connect(consumer, line)
        for _ in range(TURNS):
            self.turns()
        self.end_pulls()
        self.turns()
        running = {name: at for at, name in enumerate(ORDINARY.members) if self.members[at] is not None}
        return self.observed(running)

    def end_pulls(self) -> None:
        """The time of pulls is up that are held where nothing was brought since the last operation."""
        self.world.end_idle_pulls()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, with the numbers of the members that run, by client id."""
        return self.world.observed(running, self.world.given(self.world.take_brought(), self.say_given()))

    def say_given(self) -> SaidMessages:
        """Say what listeners were given."""
        self.said.begin_step()
        for client, number, first, count in self.given:
            for offset in range(first, first + count):
                self.said.add(client, number, offset)
        self.given.clear()
        return self.said

    def observed_of_all(self, running: dict[str, int]) -> Value:
        """The same with the holders of locks, and what listeners were given."""
        given = sorted(((running[one[0]], *one[1:]) for one in runs(self.given)), key=lambda one: one[:2])
        self.given.clear()
        everyone = {name: at for at, name in enumerate(ORDINARY.members)}
        seen = self.world.observed(running, self.world.take_brought())
        return (*seen, self.world.locks(everyone), tuple(given))

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.join_group,
            operations.Leave: self.leave_group,
            operations.Crash: self.crash,
            operations.Send: self.send,
            operations.Look: self.look,
            operations.Reset: self.reset,
            operations.Freeze: self.freeze,
            operations.Resize: self.resize,
            operations.Fail: self.fail,
            operations.Silence: self.silence,
            operations.Delay: self.delay,
            operations.Interrupt: self.fail,
            operations.Mend: self.mend,
        }


def with_end(seen: Result, end: tuple[Value, ...]) -> Result:
    """What is seen, with the end of a member behind places, messages and stored offsets."""
    assert isinstance(seen, tuple)
    return (*seen[:3], *end, *seen[3:])


def never(seconds: float, action: Callable[[], object]) -> _NoTimer:
    """No timer goes off: pulls are held for good."""
    return _NoTimer()


class _NoTimer:
    def cancel(self) -> None:
        """There is nothing to cancel."""


PART = WholePush
