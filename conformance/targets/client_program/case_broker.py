"""What the play of a case asks of its broker: the fake one, or a real one behind a proxy."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Protocol

from rocketmq_conformance.conformance.fakes.guard import Guard
from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import Brought, Owner, Traffic
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.outcome import Value


class UnsupportedMoveError(Exception):
    """This broker cannot make a move, and has done nothing; the text is the reason."""


class Watched(Protocol):
    """What is seen of a broker, or of one group there."""

    #: What clients sent.
    traffic: Traffic

    def end_pulls(self, queues: Collection[int], first: bool = False) -> None:
        """Answer the pulls of these queues that are held, as if they had been for as long as they ask; or the ``first``
        ones alone, whose clients were not seen to find nothing where they wait."""
        ...


class CaseBroker(Watched, Protocol):
    """The broker of one case: one topic, one group, no members at first. Moves may raise UnsupportedMoveError."""

    #: What is asked of clients before anything is answered.
    guard: Guard
    #: Do commits fail beside the request that fails?
    loses_commits: bool
    #: Who opened a connection without a heartbeat; set before the case begins.
    owner: Owner
    #: May listeners fail, so that messages are sent back?
    listeners_fail: bool
    #: How many requests that fail have come since one does.
    met: int

    @property
    def group(self) -> str:
        """The name of the group, once it is prepared."""
        ...

    @property
    def topic(self) -> str:
        """The name of the topic, once it is prepared."""
        ...

    # --- life -------------------------------------------------------------------------------------------------

    def open(self) -> str:
        """Let clients connect; host:port of the name server, whose routes name the broker."""
        ...

    def close(self) -> None:
        """End it."""
        ...

    def settle(self) -> None:
        """Wait until everything is handled that clients have sent."""
        ...

    # --- moves ------------------------------------------------------------------------------------------------

    def prepare(self, queues: int, shape: str, stored: int, where: str) -> None:
        """Before anyone connects: have a topic of so many queues of a shape, with the same stored offset in each (-1:
        none), for consumers that begin at ``where``."""
        ...

    def divide(self, queues: int) -> None:
        """Before anyone connects: have a topic of so many queues that the group has consumed up to an offset."""
        ...

    def add_retry_topic(self) -> None:
        """Before anyone connects: have the group's retry topic."""
        ...

    def add_other_topic(self) -> None:
        """Before anyone connects: have another topic, whose queues and stored offsets are like those of the first
        one, and whose queues are seen by numbers from OTHER_QUEUES on."""
        ...

    @property
    def other_topic(self) -> str:
        """The name of the other topic."""
        ...

    def send(self, queue: int) -> None:
        """A message arrives in a queue."""
        ...

    def send_as(self, form: str, queue: int) -> Collection[int]:
        """A message of a form arrives in a queue, between two plain ones, all of them at once; its offsets."""
        ...

    def resize(self, queues: int) -> None:
        """The topic has so many queues from now on, and its route names them."""
        ...

    def reset(self, offset: int) -> None:
        """Tell the members to reset queue 0 to an offset."""
        ...

    def fail(self, request: Request, fault: str) -> None:
        """Play every request of a kind by a fault from now on, and others no more."""
        ...

    def fail_alone(self, request: Request, fault: str, queue: int | None, topic: str = "") -> None:
        """Play those about a queue of the topic, or about the topic or another one, by a fault from now on, and others
        no more."""
        ...

    def send_again(self, queue: int, how: str) -> None:
        """A message arrives in a queue. If a pull waits there, the answer that brings it comes twice, or once the pull
        was sent again, which is answered, too."""
        ...

    def fails(self, request: Request) -> bool:
        """Does a request fail? One that is answered late does not."""
        ...

    @property
    def keeps_waiting(self) -> bool:
        """Do clients wait for answers, which come late or never?"""
        ...

    @property
    def silent(self) -> bool:
        """Are pulls not answered?"""
        ...

    @property
    def loses_members(self) -> bool:
        """Does a request fail so that the broker may not know every member?"""
        ...

    def mend(self) -> None:
        """Answer every request again."""
        ...

    def take_locks(self) -> None:
        """All locks are lost, and a client outside the group takes those of the topic."""
        ...

    def expire_locks(self) -> None:
        """The locks of clients that are gone, or outside the group, expire."""
        ...

    def crowd(self, before: int, after: int, members: Iterable[str] = ()) -> None:
        """List so many clients before those of ``members``, and after them; tell these that the group has changed."""
        ...

    def deliver(self) -> None:
        """Everything that was sent back comes again."""
        ...

    # --- what is seen -----------------------------------------------------------------------------------------

    @property
    def queues(self) -> int:
        """How many queues the topic has."""
        ...

    @property
    def seen(self) -> Sequence[int]:
        """The numbers of the queues that answers show."""
        ...

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""
        ...

    def max_offset(self, queue: int) -> int:
        """The offset after the last message of a queue."""
        ...

    def offers(self, queue: int, offset: int) -> bool:
        """Is an offset between min and max of a queue, both included?"""
        ...

    def members(self) -> tuple[str, ...]:
        """The client ids that the broker knows as members of the group."""
        ...

    def pullers(self) -> set[tuple[str, int]]:
        """(client id, queue id) of the pulls that wait."""
        ...

    def latest_pull(self, queue: int) -> Command | None:
        """The pull of a queue that came last, in a cluster."""
        ...

    def end_pull(self, queue: int, pull: Command) -> None:
        """Answer a pull of a queue, if it is held: there is nothing."""
        ...

    def take_brought(self) -> list[Brought]:
        """The messages that clients were given since the last call."""
        ...

    def given(
        self, brought: Sequence[Brought], said: SaidMessages | None, open_: Container[str | tuple[str, int]] = ()
    ) -> Sequence[Brought]:
        """What clients were given: what pulls ``brought``, and where they say so what they ``said`` of that; those
        that are ``open_`` may say it later, or never."""
        ...

    def observed(self, members: Mapping[str, int], brought: Sequence[Brought]) -> tuple[Value, ...]:
        """What a step of the suite answers, where ``members`` are the numbers of those that run, by client id."""
        ...

    def locks(self, members: Mapping[str, int]) -> tuple[int, ...]:
        """The member that has the lock of each queue: -1 for nobody, -2 for a client that is not among them."""
        ...

    def retry_queue(self, members: Mapping[str, int]) -> Value:
        """The member that pulls the retry queue and the offset that it waits for, where the group begins there, and the
        number of messages that wait to come again."""
        ...
