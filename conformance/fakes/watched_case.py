"""A case with whole consumers at any broker: what fails there, and what is seen of its traffic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import NamedTuple

from rocketmq_conformance.conformance.fakes.fault_script import faulty, faulty_pull
from rocketmq_conformance.conformance.fakes.guard import OPEN, Guard
from rocketmq_conformance.conformance.fakes.responses import command
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.fakes.traffic import (
    PULLS,
    RETURNED,
    Brought,
    Owner,
    Traffic,
    runs,
    said_queue,
    unseen,
)
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.broker.pull import COMMIT
from rocketmq_conformance.models.client.whole_moves import CLOSING, LATE, SILENT
from rocketmq_conformance.models.outcome import Value

#: The number of a client that is no member.
STRANGER = -2


class Failing(NamedTuple):
    """Requests of a kind that are played by a fault: all of them, or those about a topic, or one of its queues."""

    request: Request
    fault: str
    topic: str | None = None
    queue: int | None = None

    @property
    def closes(self) -> bool:
        """Do clients lose their connections?"""
        return self.fault in CLOSING and self.request not in (Request.PULL_MESSAGE, Request.UPDATE_CONSUMER_OFFSET)

    def meets(self, request: Command) -> bool:
        """Is a request one of these?"""
        return request.code == self.request and self.is_about(request)

    def answer(self, request: Command) -> Command:
        """How it is played; TimeoutError and ConnectionError as for any handler."""
        if self.topic is not None and request.code == Request.PULL_MESSAGE:
            return command(faulty_pull(self.fault, request.ext["queueOffset"]))
        return command(faulty(self.fault))

    def is_about(self, request: Command) -> bool:
        """Is a request, of whichever kind, about what they are about?"""
        queue = None if self.queue is None else str(self.queue)
        return self.topic in (None, request.ext.get("topic")) and queue in (None, request.ext.get("queueId"))


def meets_message(failing: Failing, request: Command, storage: Storage) -> bool:
    """Is a request one of these? One to take a message back names it by its place in the log, not by its queue."""
    if request.code != Request.CONSUMER_SEND_MSG_BACK or failing.queue is None:
        return failing.meets(request)
    message = storage.message_at(int(request.ext["offset"]))
    about = (message.topic, message.queue) if message is not None else None
    return failing.request == request.code and about == (failing.topic, failing.queue)


class WatchedCase(ABC):
    """A case that is known by its traffic, and by what its broker has stored."""

    def __init__(self, broadcasting: bool = False) -> None:
        self._broadcasting = broadcasting
        self.traffic = Traffic(broadcasting)
        #: What is asked of clients before anything is answered.
        self.guard: Guard = OPEN
        #: The requests that fail, and how many of them have come.
        self._failing: Failing | None = None
        self.met = 0
        #: Do commits fail beside it?
        self.loses_commits = False
        #: Who opened a connection without a heartbeat; set before the case begins.
        self.owner: Owner = unseen
        #: May listeners fail, so that messages are sent back?
        self.listeners_fail = False

    def fails(self, request: Request) -> bool:
        """Does a request fail? One that is answered late does not."""
        return self._failing is not None and self._failing.request is request and self._failing.fault != LATE

    def mend(self) -> None:
        """Answer every request again."""
        self._play(None)

    def _play(self, failing: Failing | None) -> None:
        """Play these requests by their fault from now on, and others no more."""
        self._failing, self.met = failing, 0

    @property
    def keeps_waiting(self) -> bool:
        """Do clients wait for answers?"""
        return self._failing is not None and self._failing.fault in (SILENT, LATE)

    @property
    def loses_members(self) -> bool:
        """Does a request fail so that the broker may not know every member?"""
        failing = self._failing
        if failing is None or failing.topic is not None:
            return False
        unknown = failing.request in (Request.GET_ROUTEINFO_BY_TOPIC, Request.HEART_BEAT) and failing.fault != LATE
        return failing.closes or unknown

    @property
    def silent(self) -> bool:
        """Are pulls not answered?"""
        failing = self._failing
        return failing is not None and (failing.request, failing.fault) == (Request.PULL_MESSAGE, SILENT)

    def _failure(self, request: Command) -> Command | None:
        """The answer to a request that is refused or fails, None to any other; pulls commit nothing while commits
        fail.

        TimeoutError and ConnectionError as for any handler.
        """
        refusal = self.guard.refusal(request)
        if refusal is not None:
            return refusal
        failing = self._failing
        if failing is not None and self._meets(failing, request):
            self.met += 1
            return failing.answer(request)
        lost = failing is not None and failing.request is Request.UPDATE_CONSUMER_OFFSET and failing.is_about(request)
        if self.loses_commits and request.code == Request.UPDATE_CONSUMER_OFFSET:
            return command(faulty("SYSTEM_ERROR"))
        if (self.loses_commits or lost) and request.code in PULLS:
            flags = int(request.ext["sysFlag"])
            self.met += bool(flags & COMMIT)
            request.ext["sysFlag"] = str(flags & ~COMMIT)
        return None

    def _meets(self, failing: Failing, request: Command) -> bool:
        """Is a request one of those that fail?"""
        return failing.meets(request)

    def end_pulls(self, queues: Collection[int], first: bool = False) -> None:
        """Answer the pulls of these queues that are held, as if they had been for as long as they ask; or the ``first``
        ones alone, whose clients were not seen to find nothing where they wait."""
        traffic = self.traffic
        among = traffic.first_pulls() if first else None

        def ends(pull: Command) -> bool:
            wanted = traffic.watches(pull) and traffic.number(pull) in queues
            return wanted and (among is None or any(pull is one for one in among))

        if queues and among != []:
            self._end_held(queues, ends)

    def end_pull(self, queue: int, pull: Command) -> None:
        """Answer a pull of a queue, if it is held: there is nothing."""
        self._end_held((queue,), lambda one: one is pull)

    @abstractmethod
    def _end_held(self, queues: Collection[int], ends: Callable[[Command], bool]) -> None:
        """Answer held pulls of these queues, those that are to end: there is nothing."""

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

    def given(
        self, brought: Sequence[Brought], said: SaidMessages | None, open_: Container[str | tuple[str, int]] = ()
    ) -> Sequence[Brought]:
        """What clients were given: what pulls ``brought``, and where they say so what they ``said`` of that."""
        return brought if said is None else said.among(brought, self.traffic.carried, said_queue, open_)

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers: for each queue the member that pulls it and the offset that it waits for
        (when broadcasting, all of these), the messages that members were given, and the stored offset of each queue, in
        words where a negative one was sent.

        ``members`` are the numbers of those that run, by client id; what any other client does shows as that of member
        -2.
        """
        places: list[Value] = []
        for queue in self.seen:
            waiting = tuple(sorted((members.get(client, STRANGER), at) for client, at in self.traffic.waiting(queue)))
            places.append(waiting if self._broadcasting else next(iter(waiting), (-1, -1)))
        stored = tuple(map(self.traffic.shown, self.seen, self.stored()))
        return tuple(places), shown_messages(members, brought, self.listeners_fail), stored


def shown_messages(members: Mapping[str, int], brought: Sequence[Brought], listeners_fail: bool) -> Value:
    """The messages that members were given; and in words those that they sent back, which they were not."""
    given = sorted((members.get(one[0], STRANGER), *one[1:]) for one in runs(brought))
    return tuple(
        (member, "sent back" if queue == RETURNED else queue, first, count)
        for member, queue, first, count in given
        if not (listeners_fail and queue == RETURNED)
    )
