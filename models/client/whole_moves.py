"""The moves of a play with whole consumers of a group, and the observation that a look makes (WHOLE-*).

``whole_group`` has their effect on the consumers, ``whole_group_state`` what they are and have.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.client.plan_words import SUCCEEDS

#: Requests that can fail, by their names on the wire.
ROUTE, HEARTBEAT, MEMBERS = "GET_ROUTEINFO_BY_TOPIC", "HEART_BEAT", "GET_CONSUMER_LIST_BY_GROUP"
LOCK, QUERY, COMMIT = "LOCK_BATCH_MQ", "QUERY_CONSUMER_OFFSET", "UPDATE_CONSUMER_OFFSET"
MAX, SEARCH, PULL = "GET_MAX_OFFSET", "SEARCH_OFFSET_BY_TIMESTAMP", "PULL_MESSAGE"
SEND_BACK = "CONSUMER_SEND_MSG_BACK"
#: Faults beside response codes and ``no-field``: no answer; the connection is closed; bytes that are no frame, after
#: which clients close it; the honest answer, a second late.
SILENT, CUT, GARBAGE, LATE = "silent", "cut", "garbage", "late"
#: SUCCESS without a field, or without a body where there is to be one; a list of members that is empty, or null; a
#: code that nothing knows.
NO_FIELD, NO_BODY, EMPTY, NULL, UNKNOWN = "no-field", "no-body", "empty", "null", "9999"
#: The statuses of an answer to a pull other than SUCCESS; as faults they do not say where to go on.
STATUSES = ("PULL_NOT_FOUND", "PULL_RETRY_IMMEDIATELY", "PULL_OFFSET_MOVED")
#: How an answer comes that is as it should be: twice, and when its client has asked again.
TWICE, TOO_LATE = "twice", "too late"
#: The faults after which a client has no connection: Java clients close one on which they were not answered in time.
CLOSING = frozenset({SILENT, CUT, GARBAGE})
#: The number of the queue of the group's retry topic in observations.
RETRIES = -1
#: The number of the first queue of the other topic, which groups may subscribe to; theirs has no more queues then.
OTHER_QUEUES = 4
#: How many messages a steady load has, and a flood that fills a queue; and how many are consumed behind a message that
#: hangs before listeners return from none, and how many come then.
LOADED, FILLED, SPANNED, STRETCHED = 50, 1500, 2000, 500

#: The holder of locks outside the group.
STRANGER = "a stranger"


class Fail(NamedTuple):
    """From now on a request is played by a fault; ``later``: the next one about the topic is still answered. With a
    ``queue``, by its number, those that are about it alone, or about the topic alone or its group (EVERY); with queues
    to be ``among``, those about each of these: all of a broker, or all of a topic."""

    request: str
    fault: str = "SYSTEM_ERROR"
    later: bool = False
    queue: int | None = None
    among: tuple[int, ...] = ()

    @property
    def is_alone(self) -> bool:
        """Is it about one thing alone?"""
        return self.queue is not None or bool(self.among)


class Mend(NamedTuple):
    """Every request is answered again, ``but`` one that fails in another way at once."""

    but: str = ""


class Join(NamedTuple):
    """A member starts."""

    name: str = "a"


class Leave(NamedTuple):
    """A member is shut down."""

    name: str = "a"


class Arrive(NamedTuple):
    """A message arrives in each queue, or in one of them, by its number."""

    queue: int | None = None


class ArriveAs(NamedTuple):
    """A message of a form (``models.message_forms``) arrives in a queue, by its number, between two plain ones."""

    form: str
    queue: int = 0


class ArriveAgain(NamedTuple):
    """A message arrives in a queue, by its number, and the answer that brings it comes again: TWICE, or TOO_LATE."""

    how: str
    queue: int = 0


class Hold(NamedTuple):
    """From now on a member's listener blocks with its first message; a lite pull consumer is not polled."""

    name: str = "a"


class LetGo(NamedTuple):
    """The listener returns; the lite pull consumer is polled again."""

    name: str = "a"


class Listen(NamedTuple):
    """From now on a member's concurrent listener succeeds, fails or holds; so ends what it holds."""

    name: str = "a"
    listener: str = SUCCEEDS


class Hang(NamedTuple):
    """A message arrives in a queue, by its number, and its listener does not return from it."""

    queue: int = 0


class Free(NamedTuple):
    """All listeners return."""


class Stay(NamedTuple):
    """More than half a minute passes."""


class Flood(NamedTuple):
    """Listeners return from nothing that they are given from now on, and so many messages arrive in a queue, by its
    number, that its member pulls no more of it; ``behind``: as they are too far behind one that hangs."""

    queue: int = 0
    behind: bool = False


class Load(NamedTuple):
    """Messages keep arriving in a queue, by its number, until those were given that arrive in the others first."""

    queue: int = 0


class Deliver(NamedTuple):
    """The broker gives back all messages that were sent back, whatever their delay levels."""


class Crowd(NamedTuple):
    """From now on the broker lists these client ids beside those of members, and no other ones."""

    others: tuple[str, ...] = ()


class Expire(NamedTuple):
    """The messages of queue 0 before an offset are lost."""

    first: int


class LockElsewhere(NamedTuple):
    """A client outside the group locks every queue."""


class UnlockElsewhere(NamedTuple):
    """A client outside the group unlocks them."""


class ResetTo(NamedTuple):
    """The broker notifies every member of a reset to an offset of queue 0."""

    offset: int


class Seek(NamedTuple):
    """A lite pull consumer seeks to an offset of a queue."""

    queue: int
    offset: int
    name: str = "a"


class CommitNow(NamedTuple):
    """A member that commits on demand alone is asked to commit."""

    name: str = "a"


class AssignQueues(NamedTuple):
    """A lite pull consumer assigns queues of the topic by their ids, and no others from then on."""

    queues: tuple[int, ...]
    name: str = "a"


class PauseQueues(NamedTuple):
    """A lite pull consumer pauses queues; the pulls of them that the broker holds are answered."""

    queues: tuple[int, ...]
    name: str = "a"


class ResumeQueues(NamedTuple):
    """A lite pull consumer goes on with queues that it paused."""

    queues: tuple[int, ...]
    name: str = "a"


class SeekToBound(NamedTuple):
    """A lite pull consumer seeks to the end of a queue, or to its begin."""

    queue: int
    end: bool
    name: str = "a"


class Suspend(NamedTuple):
    """A member is suspended; the pulls that the broker holds are answered by an error."""

    name: str = "a"


class Resume(NamedTuple):
    """A member that was suspended goes on."""

    name: str = "a"


class Subscribe(NamedTuple):
    """Every member subscribes to the other topic, too, and so does each that starts from now on."""


class Unsubscribe(NamedTuple):
    """No member subscribes to the other topic any more; the pulls of it that the broker holds are answered by an
    error."""


class Look(NamedTuple):
    """Time passes, every member commits, and the state is observed."""


Move = (
    Fail
    | Mend
    | Join
    | Leave
    | Arrive
    | ArriveAs
    | ArriveAgain
    | Hold
    | LetGo
    | Listen
    | Hang
    | Free
    | Stay
    | Flood
    | Load
    | Deliver
    | Crowd
    | Expire
    | LockElsewhere
    | UnlockElsewhere
    | ResetTo
    | Seek
    | CommitNow
    | AssignQueues
    | PauseQueues
    | ResumeQueues
    | SeekToBound
    | Suspend
    | Resume
    | Subscribe
    | Unsubscribe
    | Look
)
#: (queue id, first offset, messages) of each queue that a member got messages of since the last look.
GivenMessages = tuple[tuple[int, int, int], ...]
#: An observation: name of each member, the ids of its queues, the messages that it got; and the stored offset of each
#: queue, -1 for none.
Observation = tuple[tuple[tuple[str, tuple[int, ...], GivenMessages], ...], tuple[int, ...]]
