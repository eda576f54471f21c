"""What can happen to the whole consumers of a group, move by move, and what somebody sees who looks (WHOLE-*).

What becomes of the consumers is ``whole_group``'s to say.
"""

from __future__ import annotations

from typing import NamedTuple

#: Requests that can fail, by their names on the wire.
ROUTE, HEARTBEAT, MEMBERS = "GET_ROUTEINFO_BY_TOPIC", "HEART_BEAT", "GET_CONSUMER_LIST_BY_GROUP"
LOCK, QUERY, COMMIT = "LOCK_BATCH_MQ", "QUERY_CONSUMER_OFFSET", "UPDATE_CONSUMER_OFFSET"
MAX, SEARCH, PULL = "GET_MAX_OFFSET", "SEARCH_OFFSET_BY_TIMESTAMP", "PULL_MESSAGE"

#: Somebody who is no member.
STRANGER = "a stranger"


class Fail(NamedTuple):
    """From now on a request is played by a fault; ``later``: the next one about the topic is still answered."""

    request: str
    fault: str = "SYSTEM_ERROR"
    later: bool = False


class Mend(NamedTuple):
    """Every request is answered again."""


class Join(NamedTuple):
    """A member starts."""

    name: str = "a"


class Leave(NamedTuple):
    """A member is shut down."""

    name: str = "a"


class Arrive(NamedTuple):
    """A message arrives in each queue, or in one of them."""

    queue: int | None = None


class Hold(NamedTuple):
    """From now on a member's listener is busy with the first message that it is given; a lite pull consumer is not
    polled."""

    name: str = "a"


class LetGo(NamedTuple):
    """The listener returns; the lite pull consumer is polled again."""

    name: str = "a"


class Expire(NamedTuple):
    """The messages of queue 0 before an offset are lost."""

    first: int


class Seize(NamedTuple):
    """Somebody who is no member locks every queue."""


class Release(NamedTuple):
    """Somebody who is no member unlocks them."""


class Reset(NamedTuple):
    """The broker tells every member to begin at an offset of queue 0."""

    offset: int


class Look(NamedTuple):
    """Time passes, every member commits, and somebody looks."""


Move = Fail | Mend | Join | Leave | Arrive | Hold | LetGo | Expire | Seize | Release | Reset | Look
#: (queue id, first offset, messages) of each queue that a member was given messages of since the last look.
Given = tuple[tuple[int, int, int], ...]
#: What a look shows: name of each member, the ids of the queues that it has, what it was given; and what is stored for
#: each queue, -1 for nothing.
Seen = tuple[tuple[tuple[str, tuple[int, ...], Given], ...], tuple[int, ...]]
