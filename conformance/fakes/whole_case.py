"""The broker of a case with whole consumers, and what their traffic shows.

Consumers are known by the connections over which they send heartbeats. A pull that finds nothing is held beyond the
end of a case, so that its end, which lets clients commit a corrected offset, falls into none. Its client may have given
it up by then and be about to pull again: messages in an answer that comes later than the client asked for count once
the queue is pulled from behind them.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.client_ends import ClientEnds
from rocketmq_conformance.conformance.fakes.consumers import locked
from rocketmq_conformance.conformance.fakes.fault_script import faulty
from rocketmq_conformance.conformance.fakes.guard import OPEN, Guard
from rocketmq_conformance.conformance.fakes.pulls import HeldPull, Pulls
from rocketmq_conformance.conformance.fakes.responses import command, document
from rocketmq_conformance.conformance.remoting import heartbeat
from rocketmq_conformance.conformance.remoting.client_requests import reset_body
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import first_offset
from rocketmq_conformance.conformance.remoting.server import GARBAGE, Peer
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
from rocketmq_conformance.models.broker.pull import COMMIT
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Topic
from rocketmq_conformance.models.client.fixtures import (
    BROKER,
    GROUP,
    OTHER_TOPIC,
    RETRY_PREFIX,
    RETRY_TOPIC,
    STORED_KEYS,
    TOPIC,
)
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_allocation import STORED, Crowded
from rocketmq_conformance.models.client.whole_group_state import number_of, seen_queues
from rocketmq_conformance.models.client.whole_moves import CLOSING, LATE, OTHER_QUEUES, RETRIES, SILENT
from rocketmq_conformance.models.client.whole_moves import GARBAGE as NO_FRAME
from rocketmq_conformance.models.client.whole_push import Setting, initial_broker
from rocketmq_conformance.models.client.whole_subscriptions import with_other_topic
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile

#: How long a pull that finds nothing is held (ms).
HOLD = 3_600_000
#: Seconds in which a pull that is not to be held is answered.
_AT_ONCE = 0.5
#: Seconds in which a client pulls again whose pull found nothing.
_AGAIN = 1.0
#: Seconds by which a late answer is late, for clients whose timers are standard.
DELAY = 1.0
#: The number of a client that is no member.
STRANGER = -2
#: The id of a client outside the group.
OUTSIDE = "outside"
#: (client id, queue id, first offset, messages) of a pull that brought messages.
Brought = tuple[str, int, int, int]
#: The requests that pull.
PULLS = (Request.PULL_MESSAGE, Request.LITE_PULL_MESSAGE)
#: A queue id (RETRIES for the group's retry queue), and when broadcasting the client that pulls it.
Pulled = tuple[int, str]


class Traffic:
    """What clients sent, and the messages that they were given. Client ids are "" until the first heartbeat.

    In a cluster the client that pulled a queue last has it; with ``broadcasting`` each has all. ``group`` and
    ``topic`` are those of the case at its broker.
    """

    def __init__(self, broadcasting: bool = False, group: str = GROUP, topic: str = TOPIC) -> None:
        self._broadcasting = broadcasting
        self._group, self._topic, self._retry_topic = group, topic, f"{RETRY_PREFIX}{group}"
        #: The number of the first queue of each topic.
        self._first = {topic: 0}
        #: The topics that each client subscribes to, as its last heartbeat said.
        self.topics: dict[str, tuple[str, ...]] = {}
        #: Client id by number of the connection.
        self.clients: dict[int, str] = {}
        #: The requests of each connection before its first heartbeat, by their codes.
        self._early: dict[int, list[int]] = {}
        #: How often each client sent each kind of request, by (client id, request code).
        self.sent: dict[tuple[str, int], int] = {}
        #: How often routes were asked for over each connection that is open, by its number.
        self.routes: dict[int, int] = {}
        #: The client that pulled each queue last, and the offset that it asked for; by queue, and when broadcasting by
        #: client, which is "" in a cluster.
        self.pulls: dict[Pulled, tuple[str, int]] = {}
        #: That pull itself: earlier ones may be held, too, and their answers count for nobody.
        self.latest: dict[Pulled, Command] = {}
        #: The connection over which each queue's latest pull waits; none once it was answered.
        self._waiting: dict[Pulled, int] = {}
        #: Until when (seconds, monotonic) each queue's latest pull was to be held by what its client asked.
        self._until: dict[Pulled, float] = {}
        #: Until when it still counts as waiting, once it was answered that there is nothing.
        self._again: dict[Pulled, float] = {}
        #: Do messages count only once the next pull confirms them? While a request fails, or queues belong to members
        #: that do not exist, a client may have let go of a queue that nobody takes from it.
        self.confirmed = False
        self.brought: list[Brought] = []
        #: Messages in a late answer to each queue's latest pull.
        self._late: dict[Pulled, Brought] = {}
        #: (client id, queue id) of locks that were refused since the locks were taken.
        self.refused: set[tuple[str, int]] = set()
        #: Do those that sent a heartbeat subscribe to the topic?
        self.subscribed: set[str] = set()
        #: What is seen of those that have ended.
        self.ends = ClientEnds()
        #: Was a pull refused, as its client had changed its subscription and no heartbeat had said so yet?
        self.outdated = False

    def request(self, peer: Peer, command: Command) -> None:
        """A request arrived."""
        if command.code == Request.HEART_BEAT:
            client, consumers = heartbeat.read(command.body)
            if not self.connections(client):
                self.ends.begin(client)
            if peer.number not in self.clients:
                self._name(peer.number, client)
            self.clients[peer.number] = client
            if not heartbeat.brevity(command.body)[0]:
                self.topics[client] = tuple(
                    topic for one in consumers if one.group == self._group for topic in one.subscriptions
                )
            if any(one.group == self._group and self._topic in one.subscriptions for one in consumers):
                self.subscribed.add(client)
        if command.code == Request.QUERY_CONSUMER_OFFSET and command.ext.get("topic") in self._first:
            # somebody begins there anew, and not behind what was brought
            self._late.pop((self._number(command), ""), None)
        if peer.number not in self.clients:
            self._early.setdefault(peer.number, []).append(command.code)
        if command.code == Request.GET_ROUTEINFO_BY_TOPIC:
            self.routes[peer.number] = self.routes.get(peer.number, 0) + 1
        key = self.clients.get(peer.number, ""), command.code
        self.sent[key] = self.sent.get(key, 0) + 1
        # who unregisters says its name, whichever connection that goes over
        unregisters = command.code == Request.UNREGISTER_CLIENT
        self.ends.request(command.ext.get("clientID", key[0]) if unregisters else key[0], command)

    def _name(self, number: int, client: str) -> None:
        """Ascribe to a client what came over its connection before its first heartbeat: who broadcasts needs no list of
        members, and may pull before."""
        for code in self._early.pop(number, ()):
            self.sent[client, code] = self.sent.get((client, code), 0) + 1
        for pulled in [one for one, by in self._waiting.items() if by == number]:
            named = pulled[0], client if self._broadcasting else ""
            self.pulls[named] = client, self.pulls[pulled][1]
            self.latest[named], self._until[named] = self.latest[pulled], self._until[pulled]
            self._waiting[named] = number
            if named != pulled:
                del self._waiting[pulled]
        self.brought = [(one[0] or client, *one[1:]) for one in self.brought]

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self.clients.pop(peer.number, None)
        self._early.pop(peer.number, None)
        self.routes.pop(peer.number, None)
        self._waiting = {queue: number for queue, number in self._waiting.items() if number != peer.number}

    def watch_other(self, topic: str) -> None:
        """Watch another topic, too, whose queues have numbers from OTHER_QUEUES on."""
        self._first[topic] = OTHER_QUEUES

    def watches(self, command: Command) -> bool:
        """Is a pull one of the topics, or of the group's retry topic?"""
        return command.ext.get("topic") in (*self._first, self._retry_topic)

    def pull(self, peer: Peer, command: Command) -> None:
        """A pull of the topic arrived."""
        client, pulled = self._of(peer, command)
        offset = int(command.ext["queueOffset"])
        self.pulls[pulled], self.latest[pulled] = (client, offset), command
        self._waiting[pulled] = peer.number
        self._again.pop(pulled, None)
        self._until[pulled] = time.monotonic() + int(command.ext.get("suspendTimeoutMillis", "0")) / 1000 + _AT_ONCE
        late = self._late.pop(pulled, None)
        if late is not None and offset > late[2]:
            self.brought.append(late)

    def unanswered(self) -> None:
        """No pull that waits is answered any more."""
        self._waiting.clear()

    def ended(self, peer: Peer, command: Command, response: Command) -> None:
        """A pull of the topic does not wait any more. One that found nothing is to be sent again at once."""
        _, pulled = self._of(peer, command)
        if self.latest.get(pulled) is not command:
            return
        if response.code == Response.PULL_NOT_FOUND:
            self._again[pulled] = time.monotonic() + _AGAIN
        else:
            self._waiting.pop(pulled, None)

    def waiting(self, queue: int) -> list[tuple[str, int]]:
        """The clients whose pulls of a queue wait for a message, and the offsets that they asked for."""
        now = time.monotonic()
        return [
            self.pulls[pulled]
            for pulled in list(self._waiting)
            if pulled[0] == queue and self._again.get(pulled, now) >= now
        ]

    def connections(self, client: str) -> int:
        """Over how many connections that are open a client has sent heartbeats."""
        return list(self.clients.values()).count(client)

    def to_end(self, client: str) -> None:
        """A client is to end."""
        self.ends.to_end(client, self.connections(client))

    def _of(self, peer: Peer, command: Command) -> tuple[str, Pulled]:
        client = self.clients.get(peer.number, "")
        return client, (self._number(command), client if self._broadcasting else "")

    def _number(self, command: Command) -> int:
        """The number of the queue that a request names."""
        topic = command.ext["topic"]
        return RETRIES if topic == self._retry_topic else self._first[topic] + int(command.ext["queueId"])

    def answer(self, peer: Peer, command: Command, response: Command) -> None:
        """A pull of the topic was answered. It counts if it is the latest of its queue; a late one, and any that
        must be confirmed, if the next pull shows that it arrived."""
        client, pulled = self._of(peer, command)
        self.outdated = self.outdated or response.code == Response.SUBSCRIPTION_NOT_LATEST
        if response.code == 0 and self.latest.get(pulled) is command:
            first = first_offset(response.body)
            if first is None:
                first = int(command.ext["queueOffset"])
            brought = client, pulled[0], first, int(response.ext["nextBeginOffset"]) - first
            if self.confirmed or time.monotonic() > self._until[pulled]:
                self._late[pulled] = brought
            else:
                self.brought.append(brought)

    def has_sent(self, client: str, request: Request) -> bool:
        """Has a client sent a request of this kind?"""
        return (client, int(request)) in self.sent


class WatchedCase(ABC):
    """A case that is known by its traffic, and by what its broker has stored."""

    def __init__(self, broadcasting: bool = False) -> None:
        self._broadcasting = broadcasting
        self.traffic = Traffic(broadcasting)
        #: What is asked of clients before anything is answered.
        self.guard: Guard = OPEN
        #: The request that fails, and its fault.
        self._failing: tuple[Request, str] | None = None
        #: Do commits fail beside it?
        self.loses_commits = False
        #: Are pulls held beyond the end of the case? Else as long as clients ask.
        self.holds_on = True

    def fails(self, request: Request) -> bool:
        """Does a request fail? One that is answered late does not."""
        return self._failing is not None and self._failing[0] is request and self._failing[1] != LATE

    @property
    def keeps_waiting(self) -> bool:
        """Do clients wait for answers?"""
        return self._failing is not None and self._failing[1] in (SILENT, LATE)

    @property
    def loses_members(self) -> bool:
        """Does a request fail so that the broker may not know every member?"""
        if self._failing is None:
            return False
        request, fault = self._failing
        closes = fault in CLOSING and request not in (Request.PULL_MESSAGE, Request.UPDATE_CONSUMER_OFFSET)
        return closes or (request in (Request.GET_ROUTEINFO_BY_TOPIC, Request.HEART_BEAT) and fault != LATE)

    @property
    def silent(self) -> bool:
        """Are pulls not answered?"""
        return self._failing == (Request.PULL_MESSAGE, SILENT)

    def _failure(self, request: Command) -> Command | None:
        """The answer to a request that is refused or fails, None to any other; pulls commit nothing while commits
        fail.

        TimeoutError and ConnectionError as for any handler.
        """
        refusal = self.guard.refusal(request)
        if refusal is not None:
            return refusal
        if self._failing is not None and request.code == self._failing[0]:
            return command(faulty(self._failing[1]))
        if self.loses_commits or self.fails(Request.UPDATE_CONSUMER_OFFSET):
            if request.code == Request.UPDATE_CONSUMER_OFFSET:
                return command(faulty("SYSTEM_ERROR"))
            if request.code in PULLS:
                request.ext["sysFlag"] = str(int(request.ext["sysFlag"]) & ~COMMIT)
        return None

    @property
    @abstractmethod
    def queues(self) -> int:
        """How many queues the topic has."""

    @abstractmethod
    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""

    @property
    def seen(self) -> Sequence[int]:
        """The numbers of the queues that answers show."""
        return range(self.queues)

    def pullers(self) -> set[tuple[str, int]]:
        """(client id, number of the queue) of the pulls that wait."""
        return {(client, queue) for queue in self.seen for client, _ in self.traffic.waiting(queue)}

    def latest_pull(self, queue: int) -> Command | None:
        """The pull of a queue that came last, in a cluster."""
        return self.traffic.latest.get((queue, ""))

    def take_brought(self) -> list[Brought]:
        """The messages that clients were given since the last call."""
        found, self.traffic.brought = self.traffic.brought, []
        return found

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers: for each queue the member that pulls it and the offset that it waits for
        (when broadcasting, all of these), the messages that members were given, and the stored offset of each queue.

        ``members`` are the numbers of those that run, by client id; what any other client does shows as that of member
        -2.
        """
        places: list[Value] = []
        for queue in self.seen:
            waiting = tuple(sorted((members.get(client, STRANGER), at) for client, at in self.traffic.waiting(queue)))
            places.append(waiting if self._broadcasting else next(iter(waiting), (-1, -1)))
        given = tuple(sorted((members.get(one[0], STRANGER), *one[1:]) for one in runs(brought)))
        return tuple(places), given, self.stored()


class WholeCase(WatchedCase):
    """A broker with one topic and one group, without members at first; ``later`` replaces its timers, and late answers
    are ``delay`` seconds late."""

    #: Their names.
    group, topic, other_topic = GROUP, TOPIC, OTHER_TOPIC

    def __init__(
        self,
        profile: Profile,
        later: Callable[[float, Callable[[], object]], Any] | None = None,
        broadcasting: bool = False,
        name: str = BROKER,
        delay: float = DELAY,
    ) -> None:
        super().__init__(broadcasting)
        self._delay = delay
        case = self

        class WatchedPulls(Pulls):
            """Shows the pulls of the topic to the case, and holds those that find nothing."""

            def __init__(self, *args: Any) -> None:
                super().__init__(*args)
                self._later = later or self._later

            def pull(self, peer: Peer, request: Command) -> Command | None:
                watched = case.traffic.watches(request)
                if watched:
                    case.traffic.pull(peer, request)
                if case.holds_on:
                    request.ext["suspendTimeoutMillis"] = str(HOLD)
                if not watched:
                    return super().pull(peer, request)
                response = super().pull(peer, request)
                if response is not None:
                    case.traffic.ended(peer, request, response)
                return response

            def answered(self, peer: Peer, request: Command, response: Command) -> None:
                if case.traffic.watches(request):
                    case.traffic.answer(peer, request, response)

            def _end(self, held: HeldPull, response: Command) -> None:
                if case.traffic.watches(held.request):
                    case.traffic.ended(held.peer, held.request, response)
                super()._end(held, response)

        #: How long the client waited for the last answer (s), in a case without a wire, where it did not.
        self.waited = 0.0
        #: Client ids that it lists beside those of its members.
        self._others: tuple[str, ...] = ()
        #: Is there another topic?
        self._has_other = False
        #: The time of the broker, in ms since the epoch.
        self._now = TIMES[-1]
        self.broker = FakeBroker(profile, name=name, clock=lambda: self._now, parts={"pulls": WatchedPulls})
        self.broker.answer_by(self)

    def begin(self, state: BrokerState) -> None:
        """Have this state, and forget all clients; before any client is connected."""
        self.broker.storage.begin(state)
        self.broker.consumers.begin({})
        self.broker.retries.forget()
        self.traffic = Traffic(self._broadcasting)
        self._failing = None
        self.loses_commits = False
        self._others = ()
        self._has_other = False
        self._now = TIMES[-1]

    def open(self) -> str:
        """Let clients connect; host:port of the name server, which has a port of its own."""
        self.broker.encrypt(self.guard.context)
        self.broker.open()
        return self.broker.open_name_server()

    def close(self) -> None:
        """End it."""
        self.broker.stop()

    def settle(self) -> None:
        """Wait until everything is handled that clients have sent."""
        self.broker.settle()

    def fail_held_pulls(self) -> None:
        """Answer the pulls that are held by SYSTEM_ERROR."""
        self.broker.fail_held_pulls()

    def fail_other_pulls(self) -> None:
        """The same with those of the other topic alone."""
        self.broker.fail_held_pulls(OTHER_TOPIC)

    def prepare(self, queues: int, shape: str, stored: int, where: str = LAST) -> None:
        """Have a topic of so many queues of a shape, with the same stored offset in each (-1: none), whatever the place
        (``where``) at which consumers are to begin."""
        self.begin(initial_broker(self.broker.storage.rules, Setting(queues, shape, stored)))

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client; TimeoutError and ConnectionError as for any handler."""
        self.waited = 0.0
        self.traffic.request(peer, request)
        fault = self._failing[1] if self._failing is not None and request.code == self._failing[0] else ""
        if fault == LATE:
            return self._late(peer, request)
        if fault == NO_FRAME:
            self._garbage(peer)
            return None
        failed = self._failure(request)
        return self._answered(peer, request) if failed is None else failed

    def _garbage(self, peer: Peer) -> None:
        """Send what is no frame."""
        if not self.broker.running:
            # without a wire there is what a client does then: it closes the connection
            raise ConnectionError("bytes that are no frame")
        peer.write(GARBAGE)

    def _late(self, peer: Peer, request: Command) -> Command | None:
        """The answer to a request, later where there is a wire."""
        if not self.broker.running:
            self.waited = self._delay
            return self._answered(peer, request)

        def answer() -> None:
            response = self._answered(peer, request) if peer.open else None
            if response is not None:
                peer.answer(request, response)

        self.broker.later(self._delay, answer)
        return None

    def _answered(self, peer: Peer, request: Command) -> Command | None:
        response = self.broker.dispatcher.handle(peer, request)
        if request.code == Request.LOCK_BATCH_MQ and response is not None:
            self._refusals(request, response)
        if request.code == Request.GET_CONSUMER_LIST_BY_GROUP and response is not None and self._others:
            listed = json.loads(response.body)["consumerIdList"] if response.body else []
            return command((0, "", {}, document({"consumerIdList": [*self._others[::-1], *listed]})))
        return response

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self.traffic.closed(peer)
        self.broker.dispatcher.closed(peer)

    def fail(self, request: Request, fault: str) -> None:
        """Play every request of a kind by a fault from now on (``fault_script``; ``models.client.whole_moves`` has the
        others), and others no more. A pull does not commit while commits fail, and those that are held fail when pulls
        do, or are never answered when pulls are not."""
        self._failing = request, fault
        self.traffic.confirmed = fault != LATE
        if fault == LATE or request is not Request.PULL_MESSAGE:
            return
        if fault == SILENT:
            self.broker.forget_held_pulls()
            self.traffic.unanswered()
        else:
            self.broker.fail_held_pulls()

    def members(self) -> tuple[str, ...]:
        """The client ids that the broker knows as members of the group."""
        return tuple(self.broker.members(GROUP))

    def mend(self) -> None:
        """Answer every request again."""
        self._failing = None
        self.traffic.confirmed = False

    def resize(self, queues: int) -> None:
        """The topic has so many queues from now on, and its route names them."""
        # without a TCP door requests come one by one anyway
        place = self.broker if self.broker.running else self.broker.storage
        place.create_topic(TOPIC, Topic.of(queues))

    def add_other_topic(self) -> None:
        """Have another topic, whose queues and stored offsets are like those of the first one."""
        self.broker.storage.begin(with_other_topic(self.broker.state))
        self._has_other = True
        self.traffic.watch_other(OTHER_TOPIC)

    def send(self, queue: int) -> None:
        """A message arrives in a queue."""
        other = self._has_other and queue >= OTHER_QUEUES
        self.broker.send(OTHER_TOPIC if other else TOPIC, b"x", queue - OTHER_QUEUES if other else queue)

    def divide(self, queues: int) -> None:
        """Have a topic of so many queues, in each of which the group has stored the same offset."""
        self.prepare(queues, "young", STORED)

    def crowd(self, before: int, after: int) -> None:
        """List so many clients before those of members, and after them; tell members that the group has changed."""
        self._others = Crowded(before, after).clients
        self.traffic.confirmed = True
        if self.broker.members(GROUP):
            request = Command(int(Request.NOTIFY_CONSUMER_IDS_CHANGED), {"consumerGroup": GROUP})
            self.broker.send_to_members(GROUP, request)

    # --- messages that come again -----------------------------------------------------------------------------

    def add_retry_topic(self) -> None:
        """Have the group's retry topic before its first member joins, which would find no route to it."""
        storage = self.broker.storage
        storage.state = storage.state._replace(topics={**storage.state.topics, RETRY_TOPIC: Topic.of(1)})

    def deliver(self) -> None:
        """So much time passes at the broker that everything that was sent back comes again."""
        self._now += max(self.broker.retries.levels)
        self.broker.deliver()

    def retry_queue(self, members: Mapping[str, int]) -> tuple[int, int, int, int]:
        """The member that pulls the retry queue and the offset that it waits for, the stored offset, and the number of
        messages that wait to come again."""
        client, at = next(iter(self.traffic.waiting(RETRIES)), ("", -1))
        stored = self.broker.state.stored.get((GROUP, RETRY_TOPIC, 0), -1)
        return members.get(client, STRANGER) if client else -1, at, stored, self.broker.retries.waiting

    def reset(self, offset: int) -> None:
        """Tell the members to reset queue 0 to an offset."""
        fields = {"group": GROUP, "topic": TOPIC, "timestamp": "0", "isForce": "true"}
        body = reset_body([(MessageQueue(TOPIC, BROKER, 0), offset)])
        if self.broker.members(GROUP):
            self.broker.send_to_members(GROUP, Command(int(Request.RESET_CONSUMER_CLIENT_OFFSET), fields, body))

    # --- locks ----------------------------------------------------------------------------------------------

    def take_locks(self) -> None:
        """The broker loses all locks, and a client outside the group takes those of the topic."""
        self.traffic.refused.clear()
        self.broker.take_locks(GROUP, OUTSIDE, [(TOPIC, BROKER, queue) for queue in range(self.queues)])

    def expire_locks(self) -> None:
        """So much time passes at the broker that every lock expires which is not confirmed again."""
        self._now += MAX_LIVE_TIME + 1

    def locks(self, members: Mapping[str, int]) -> tuple[int, ...]:
        """The member that has the lock of each queue: -1 for nobody, -2 for a client that is not among them."""
        held = self.broker.locks()
        owners = [held.get((GROUP, TOPIC, queue)) for queue in range(self.queues)]
        return tuple(-1 if owner is None else members.get(owner, STRANGER) for owner in owners)

    def _refusals(self, request: Command, response: Command) -> None:
        _, client, asked = locked(request.body)
        granted = json.loads(response.body)["lockOKMQSet"] if response.body else []
        given = {(one["topic"], one["queueId"]) for one in granted}
        for topic, _, queue in asked:
            if topic == TOPIC and (topic, queue) not in given:
                self.traffic.refused.add((client or "", queue))

    # --- what is seen ---------------------------------------------------------------------------------------

    @property
    def queues(self) -> int:
        """How many queues the topic has."""
        return self.broker.state.topics[TOPIC].read_queues

    @property
    def seen(self) -> Sequence[int]:
        """The numbers of the queues that answers show."""
        return [number_of(queue) for queue in seen_queues(self.broker.state)]

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""
        stored = self.broker.state.stored
        return tuple(stored.get(STORED_KEYS[queue], -1) for queue in seen_queues(self.broker.state))

    def offers(self, queue: int, offset: int) -> bool:
        """Is an offset between min and max of a queue, both included?"""
        log = self.broker.state.logs.get((TOPIC, queue), ABSENT)
        return log.min <= offset <= log.max

    def max_offset(self, queue: int) -> int:
        """The offset after the last message of a queue."""
        return self.broker.state.logs.get((TOPIC, queue), ABSENT).max


def runs(brought: Sequence[Brought]) -> list[Brought]:
    """Messages of a queue that one client was given without a gap, joined."""
    found: list[Brought] = []
    for client, queue, first, count in brought:
        for at, (other, place, start, known) in enumerate(found):
            if (other, place, start + known) == (client, queue, first):
                found[at] = client, queue, start, known + count
                break
        else:
            found.append((client, queue, first, count))
    return found
