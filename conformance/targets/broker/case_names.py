"""The names of one case's topics and groups on a broker, and the record of what it must clean up."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.requests_at_once import Exchanged, Sending
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC, TOPIC_NAMES
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
from rocketmq_conformance.models.broker.overlapping import Request
from rocketmq_conformance.models.broker.state import QueueLog

#: Default lease of locks, rocketmq.broker.rebalance.lockMaxLiveTime (s).
DEFAULT_LEASE = MAX_LIVE_TIME / 1000
#: Default time of the first delay level (s), which is that of brokers that the kit starts, too.
DEFAULT_DELAY = 1.0
#: Time between a broker's checks of held pulls (s): PullRequestHoldService's own.
DEFAULT_HOLD_CHECK = 5.0
#: By how much one may be late on a busy machine (s).
DEFAULT_LATENESS = 15.0


@dataclass
class CaseNames:
    """The names of one case, that no other case uses, and what the case left behind under them."""

    prefix: str
    #: Group that reads store times.
    reader: str
    #: Does the broker acknowledge a topic before it exists?
    late_topics: bool = False
    #: Does it answer a pop before it is done with that? The name that handles of its messages have.
    takes_time: bool = True
    broker: str = ""
    #: Topics that were popped from; handles of the messages, each with topic, queue, offset and the topic that the pop
    #: named; messages that are to come back.
    popped: list[str] = field(default_factory=list)
    handles: dict[int, list[tuple[str, int, int, str, str]]] = field(default_factory=dict)
    due: set[int] = field(default_factory=set)
    #: Store times by (topic, queue), as the broker gave them.
    logs: dict[tuple[str, int], QueueLog] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)
    used_groups: set[str] = field(default_factory=set)
    #: The case's start (s, monotonic), and the lease of the broker's locks (s).
    start: float = field(default_factory=time.monotonic)
    #: When the clock began (s since the epoch).
    epoch: float = field(default_factory=lambda: time.time() - time.monotonic())
    lease: float = DEFAULT_LEASE
    #: The time of the broker's first delay level (s).
    delay: float = DEFAULT_DELAY
    #: The time between the broker's checks of held pulls, and how late one may be (s).
    hold_check: float = DEFAULT_HOLD_CHECK
    lateness: float = DEFAULT_LATENESS
    #: Is every pull held for that time, whatever it asks for?
    short_polling: bool = False
    #: Posts a request over a connection that this case alone uses; the response if it arrives in time (s), else None.
    post_own: Callable[[int, requests.Ask], object] = field(default=lambda connection, ask: None)
    collect_own: Callable[[int, float], Command | None] = field(default=lambda connection, seconds: None)
    #: May be pulled from the broker?
    readable: bool = True
    #: Measures time since the start.
    clock: SteadyClock = time
    #: Groups that a member of the case is registered in.
    joined: set[str] = field(default_factory=set)
    #: Takes the last request about a reset that the broker sent to the members of a group; None when it sent none.
    take_reset_notice: Callable[[str], Command | None] = lambda group: None
    #: Sends a request, or the first half of it, over a connection that is cut then.
    send_and_cut: Callable[[requests.Ask, str], None] = lambda ask, where: None
    #: Sends a request over a member's own connection, by number, and waits for the response.
    ask_as: Callable[[int, requests.Ask], Command] = field(default=lambda connection, ask: Command(0))
    #: Sends a request as a client in this language would, and waits for the response.
    ask_in: Callable[[str, requests.Ask], Command] = field(default=lambda language, ask: Command(0))
    #: The same over a connection that this case alone uses, the requests that the broker sent over it, and its end.
    ask_own: Callable[[int, requests.Ask], Command] = field(default=lambda connection, ask: Command(0))
    own_requests: Callable[[int], list[Command]] = field(default=lambda connection: [])
    close_own: Callable[[int], None] = field(default=lambda connection: None)
    #: Sends requests of several clients at the same time, over such connections.
    exchange: Callable[[Sequence[Sending]], list[Exchanged]] = field(default=lambda sendings: [])
    #: Requests that are to be sent with others.
    beside: list[Request] = field(default_factory=list)
    #: When the first of them asked for a lock (s, monotonic); None before.
    locking: float | None = None
    #: Held pulls by slot, which is such a connection: the same pull that may not be held, when it was sent (in
    #: thousandths of ``hold_check``), and until when it waits at most (s, monotonic), if it does not wait for good.
    slots: dict[int, tuple[requests.Ask, int, float | None]] = field(default_factory=dict)
    #: (connection, group) pairs of members that are registered over these.
    own_registered: set[tuple[int, str]] = field(default_factory=set)
    #: Groups whose last heartbeat broadcasts.
    broadcasting: set[str] = field(default_factory=set)
    #: How often each of these connections was notified that the members of a group changed.
    notices: Counter[tuple[int, str]] = field(default_factory=Counter)
    #: Sends a request as a client before 3.4.9 would, and waits for the response.
    ask_as_old: Callable[[requests.Ask], Command] = field(default=lambda ask: Command(0))
    #: When the last copy was answered that was sent to a retry topic (s, monotonic).
    answered: float = 0.0
    #: The messages that the case sent, or that came back, in the order in which they showed.
    shown: list[Message] = field(default_factory=list)
    #: Offset after the last message that was seen, by topic and queue, of topics of messages that came back.
    seen: dict[tuple[str, int], int] = field(default_factory=dict)
    #: (connection, group) pairs of members that are registered over connections of their own.
    registered: set[tuple[int, str]] = field(default_factory=set)
    #: Topics whose routes the broker is known to have.
    routed: set[str] = field(default_factory=set)

    def topic(self, index: int) -> str:
        """The name of a topic."""
        return f"{self.prefix}-{TOPICS[index]}" if index < AGED_TOPIC else TOPIC_NAMES[index]

    def group(self, index: int) -> str:
        """The name of a group."""
        return f"{self.prefix}-{GROUPS[index]}"

    def client(self) -> str:
        """The client id of the case's member."""
        return f"{self.prefix}-member"

    def plain(self, text: str) -> str:
        """A text with the names of the case replaced by those of the plan."""
        return text.replace(f"{self.prefix}-", "").replace(self.reader, "READER")

    def now(self) -> int:
        """The time by the case's clock (ms since the epoch)."""
        return int((self.epoch + self.clock.monotonic()) * 1000)

    def used_group(self, index: int) -> str:
        """The name of a group, for a request that may leave something behind under it."""
        self.used_groups.add(self.group(index))
        return self.group(index)
