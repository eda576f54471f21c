"""What clients send to the brokers of a case, and the messages that they are given.

Clients are known by the connections over which they send heartbeats, and other connections by who opened them, where
that can be seen. How long one waits for the answer to a pull is its own affair: it may have given up one that is
answered, and pull again. So messages in an answer count once the queue is pulled from behind them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.fakes.client_ends import ClientEnds
from rocketmq_conformance.conformance.remoting import heartbeat
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import first_offset
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.pull import COMMIT
from rocketmq_conformance.models.broker.state import DEAD, RETRY
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES, RETRIES
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.suites.declare.topologies import GROUP, TOPIC

_ROUTE = Request.GET_ROUTEINFO_BY_TOPIC
#: Seconds in which a client pulls again whose pull found nothing.
AGAIN = 1.0
#: The requests that pull.
PULLS = (Request.PULL_MESSAGE, Request.LITE_PULL_MESSAGE)
#: (client id, queue id, first offset, messages) of a pull that brought messages.
Brought = tuple[str, int, int, int]
#: (client id, queue id, offset) of a message by what its client can say of it: the retry queue has its id alone.
Message = tuple[str, int, int]
#: The number of the queue that stands for messages which a client sent back, or sent on to dead letters.
RETURNED = -2
#: The requests that send messages, and the names of the topic in their fields.
_SENDS: dict[int, str] = {Request.SEND_MESSAGE: "topic", Request.SEND_MESSAGE_V2: "b", Request.SEND_BATCH_MESSAGE: "b"}
#: A queue id (RETRIES for the group's retry queue), and when broadcasting the client that pulls it.
Pulled = tuple[int, str]


#: The client id of who opened a connection, or "".
Owner = Callable[[Peer], str]


def unseen(peer: Peer) -> str:
    """Nobody can see who opened a connection."""
    return ""


class Traffic:
    """What clients sent, and the messages that they were given. Client ids are "" until the first heartbeat.

    In a cluster the client that pulled a queue last has it; with ``broadcasting`` each has all. ``group`` and
    ``topic`` are those of the case at its broker. ``owner`` is asked about connections without a heartbeat, and
    ``again`` is how long (s) a client may take to pull again.
    """

    def __init__(
        self,
        broadcasting: bool = False,
        group: str = GROUP,
        topic: str = TOPIC,
        owner: Owner = unseen,
        again: float = AGAIN,
    ) -> None:
        self._broadcasting, self._owner, self._time_again = broadcasting, owner, again
        self._group, self._topic, self._retry_topic = group, topic, f"{RETRY}{group}"
        #: The number of the first queue of each topic.
        self._first = {topic: 0}
        #: The topics that each client subscribes to, as its last heartbeat said.
        self.topics: dict[str, tuple[str, ...]] = {}
        #: Client id by number of the connection, and the connections that are open.
        self.clients: dict[int, str] = {}
        self.peers: dict[int, Peer] = {}
        #: The requests of each connection before its first heartbeat, by their codes.
        self._early: dict[int, list[int]] = {}
        #: How often each client sent each kind of request, by (client id, request code).
        self.sent: dict[tuple[str, int], int] = {}
        #: How often each client asked for routes, and where it is not seen who opened a connection, how often they were
        #: asked for over that, by its number, while it is open.
        self.routes: dict[str | int, int] = {}
        #: The client that pulled each queue last, and the offset that it asked for; by queue, and when broadcasting by
        #: client, which is "" in a cluster.
        self.pulls: dict[Pulled, tuple[str, int]] = {}
        #: That pull itself: earlier ones may be held, too, and their answers count for nobody.
        self.latest: dict[Pulled, Command] = {}
        #: The connection over which each queue's latest pull waits; none once it was answered.
        self._waiting: dict[Pulled, int] = {}
        #: Until when (seconds, monotonic) it still counts as waiting, once it was answered that there is nothing.
        self._again: dict[Pulled, float] = {}
        #: The connection over which that was answered last of each queue, and the offset that had been asked for.
        self._empty: dict[Pulled, tuple[int, int]] = {}
        self.brought: list[Brought] = []
        #: How often each message was in an answer to a pull of each client, whether that counts or not.
        self.carried: Counter[Message] = Counter()
        #: How many messages each client has sent back.
        self._returned: Counter[str] = Counter()
        #: Messages in the answer to each queue's latest pull, which the next pull has to confirm: a client may have
        #: given the pull up, or have let go of the queue.
        self._answered: dict[Pulled, Brought] = {}
        #: (client id, queue id) of locks that were refused since the locks were taken.
        self.refused: set[tuple[str, int]] = set()
        #: Those whose heartbeats named the group, and of these those that subscribe to the topic.
        self.in_group: set[str] = set()
        self.subscribed: set[str] = set()
        #: What is seen of those that have ended.
        self.ends = ClientEnds()
        #: Was a pull refused, as its client had changed its subscription and no heartbeat had said so yet?
        self.outdated = False
        #: The numbers of the connections over which routes were asked for.
        self.askers: set[int] = set()
        #: The negative offset that was committed last, by the number of its queue. A broker has it then in the place of
        #: what others had stored, and readers take it for none.
        self._negative: dict[int, int] = {}

    def request(self, peer: Peer, command: Command) -> None:
        """A request arrived."""
        self.peers[peer.number] = peer
        if command.code == Request.GET_ROUTEINFO_BY_TOPIC:
            self.askers.add(peer.number)
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
            for one in consumers:
                if one.group == self._group:
                    self.in_group.add(client)
                    self.subscribed.update([client] if self._topic in one.subscriptions else [])
        if command.code == Request.QUERY_CONSUMER_OFFSET and self.watches(command):
            # somebody begins there anew, and not behind what was brought
            for kept in (self._answered, self._empty):
                kept.pop((self.number(command), ""), None)
        if command.ext.get("consumerGroup") == self._group and self.watches(command):
            committed = _committed(command)
            if committed is not None and committed < 0:
                self._negative[self.number(command)] = committed
        if self._sends_back(command):
            client = self._client(peer)
            self.brought.append((client, RETURNED, self._returned[client], 1))
            self._returned[client] += 1
        # a name server is asked by connections of its own
        sender = self.clients.get(peer.number, "") if command.code == _ROUTE else self._client(peer)
        if not sender:
            self._early.setdefault(peer.number, []).append(command.code)
        if command.code == _ROUTE:
            asked = self.routes.pop(peer.number, 0) + 1
            opener = self._owner(peer) or peer.number
            self.routes[opener] = self.routes.get(opener, 0) + asked
        key = sender, command.code
        self.sent[key] = self.sent.get(key, 0) + 1
        # who unregisters says its name, whichever connection that goes over
        unregisters = command.code == Request.UNREGISTER_CLIENT
        self.ends.request(command.ext.get("clientID", sender) if unregisters else sender, command)

    def _sends_back(self, command: Command) -> bool:
        """Does a request send a message of the group back, or a copy of one, or give it up as dead?"""
        if command.code == Request.CONSUMER_SEND_MSG_BACK:
            return command.ext.get("group") == self._group
        topic = command.ext.get(_SENDS.get(command.code, ""))
        return topic in (self._retry_topic, f"{DEAD}{self._group}")

    def _name(self, number: int, client: str) -> None:
        """Ascribe to a client what came over its connection before that was known: who broadcasts needs no list of
        members, and may pull before."""
        for code in self._early.pop(number, ()):
            self.sent[client, code] = self.sent.get((client, code), 0) + 1
        for pulled in [one for one, by in self._waiting.items() if by == number]:
            named = pulled[0], client if self._broadcasting else ""
            self.pulls[named] = client, self.pulls[pulled][1]
            self.latest[named] = self.latest[pulled]
            self._waiting[named] = number
            if named != pulled:
                del self._waiting[pulled]
        self.brought = [(one[0] or client, *one[1:]) for one in self.brought]
        for nameless in [pulled for pulled, one in self._answered.items() if not one[0]]:
            _, queue, first, count = self._answered.pop(nameless)
            self._answered[queue, client if self._broadcasting else ""] = client, queue, first, count
        self.carried = Counter({(one[0] or client, *one[1:]): times for one, times in self.carried.items()})

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self.clients.pop(peer.number, None)
        self.peers.pop(peer.number, None)
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
        answered = self._answered.pop(pulled, None)
        if answered is not None and offset > answered[2]:
            self.brought.append(answered)

    def confirm(self, elsewhere: Traffic) -> None:
        """Messages count as given, too, whose queue was pulled from behind them at another node of the broker."""
        for pulled, (client, offset) in elsewhere.pulls.items():
            answered = self._answered.get(pulled)
            if answered is not None and answered[0] == client and offset > answered[2]:
                self.brought.append(self._answered.pop(pulled))

    def unanswered(self, queue: int | None = None) -> None:
        """No pull that waits is answered any more, or none of a queue."""
        self._waiting = {one: by for one, by in self._waiting.items() if queue not in (None, one[0])}

    def ended(self, peer: Peer, command: Command, response: Command) -> None:
        """A pull of the topic does not wait any more. One that found nothing is to be sent again at once."""
        _, pulled = self._of(peer, command)
        if self.latest.get(pulled) is not command:
            return
        if response.code == Response.PULL_NOT_FOUND:
            self._again[pulled] = time.monotonic() + self._time_again
            self._empty[pulled] = peer.number, int(command.ext["queueOffset"])
        else:
            self._waiting.pop(pulled, None)

    def unsettled(self) -> set[int]:
        """The queues in which a pull waits, or is about to, that does not follow another one, at the same offset, that
        was answered that there is nothing: what its client does then was not seen."""
        return {pulled[0] for pulled, by in self._waits() if pulled in self._again or self._is_first(pulled, by)}

    def first_pulls(self) -> list[Command]:
        """Those pulls, as far as they wait."""
        waits = self._waits()
        return [self.latest[one] for one, by in waits if one not in self._again and self._is_first(one, by)]

    def _is_first(self, pulled: Pulled, by: int) -> bool:
        return self._empty.get(pulled) != (by, self.pulls[pulled][1])

    def waiting(self, queue: int) -> list[tuple[str, int]]:
        """The clients whose pulls of a queue wait for a message, and the offsets that they asked for."""
        waits = [(self.pulls[pulled], by) for pulled, by in self._waits() if pulled[0] == queue]
        return [(client or self._opener(by), offset) for (client, offset), by in waits]

    def _waits(self) -> list[tuple[Pulled, int]]:
        """The pulls that wait for a message, and the numbers of their connections."""
        now, again = time.monotonic(), self._again
        return [(one, by) for one, by in list(self._waiting.items()) if one not in again or again[one] > now]

    def _opener(self, number: int) -> str:
        """Who opened a connection that was not known when it pulled, or ""."""
        peer = self.peers.get(number)
        return self._owner(peer) if peer else ""

    def shown(self, queue: int, stored: int) -> int | str:
        """What is seen of a queue whose stored offset a reader takes for that: a negative one, if any was sent."""
        return f"{self._negative[queue]} was sent" if queue in self._negative else stored

    def connections(self, client: str) -> int:
        """Over how many connections that are open a client has sent heartbeats."""
        return list(self.clients.values()).count(client)

    def to_end(self, client: str) -> None:
        """A client is to end."""
        self.ends.to_end(client, self.connections(client))

    def _client(self, peer: Peer) -> str:
        """The client of a connection, or ""."""
        client = self.clients.get(peer.number) or self._owner(peer)
        if client and peer.number in self._early:
            self._name(peer.number, client)
        return client

    def _of(self, peer: Peer, command: Command) -> tuple[str, Pulled]:
        client = self._client(peer)
        return client, (self.number(command), client if self._broadcasting else "")

    def number(self, command: Command) -> int:
        """The number of the queue that a request names."""
        topic = command.ext["topic"]
        return RETRIES if topic == self._retry_topic else self._first[topic] + int(command.ext["queueId"])

    def answer(self, peer: Peer, command: Command, response: Command) -> None:
        """A pull of the topic was answered. It counts if it is the latest of its queue, and the next pull shows that it
        arrived."""
        client, pulled = self._of(peer, command)
        self.outdated = self.outdated or response.code == Response.SUBSCRIPTION_NOT_LATEST
        if response.code == 0:
            first = first_offset(response.body)
            if first is None:
                first = int(command.ext["queueOffset"])
            brought = client, pulled[0], first, int(response.ext["nextBeginOffset"]) - first
            self.carried.update((client, said_queue(pulled[0]), first + at) for at in range(brought[3]))
            if self.latest.get(pulled) is command:
                self._answered[pulled] = brought

    def has_sent(self, client: str, request: Request) -> bool:
        """Has a client sent a request of this kind?"""
        return (client, int(request)) in self.sent


def said_queue(number: int) -> int:
    """How members name the queue of a number: the retry queue is known by its id."""
    return 0 if number == RETRIES else number


def _committed(command: Command) -> int | None:
    """The offset that a request commits; None where it commits nothing."""
    if command.code != Request.UPDATE_CONSUMER_OFFSET:
        flags = parse_number(command.ext.get("sysFlag"), 32) if command.code in PULLS else None
        if not flags or not flags & COMMIT:
            return None
    return parse_number(command.ext.get("commitOffset"), 64)


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
