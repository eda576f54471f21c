"""Allocation: the queues of a topic that one member of a group owns (ALLOC-*), and the order that this rests on.

Every member computes its own share from the same two lists, without asking the others. So the function, its input
order and the identity of queues are part of the wire contract: when two clients differ, some queues have two owners
and others have none.
"""

from __future__ import annotations

from rocketmq_conformance.models.allocation.averagely import averagely
from rocketmq_conformance.models.allocation.check import Members, Queues
from rocketmq_conformance.models.allocation.circle import by_circle
from rocketmq_conformance.models.allocation.config import by_config
from rocketmq_conformance.models.allocation.consistent_hash import by_consistent_hash, place_of
from rocketmq_conformance.models.allocation.machine_room import by_machine_room
from rocketmq_conformance.models.allocation.nearby import nearby
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.message_queue import (
    Queue,
    compare_queues,
    queue_hash,
    queue_text,
    sort_by_number,
    sort_ids,
    sort_queues,
)
from rocketmq_conformance.models.outcome import UNDEFINED
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, accident

_ORDER = ("REB-CLU-2", "MQ-ORD-1")
_SORTED = Reason(_ORDER, "queues")
_SORTED_WRAPPED = accident(Reason(("MQ-ORD-1",), "queues, difference wraps"))
_CIRCULAR = Reason(_ORDER, "ids in a circle")
_IDS = Reason(("REB-CLU-2",), "client ids")
_COMPARED = Reason(("MQ-ORD-1",), "two queues")
_WRAPPED = accident(Reason(("MQ-ORD-1",), "two queues, difference wraps"))
_IDENTITY = Reason(("MQ-ID-1",), "text and hash")
_PLACE = Reason(("ALLOC-CH-4",), "place of a text")


class AllocationModel:
    """The rules for one profile; there is no state, and every method is pure."""

    __slots__ = ("accidents", "client")

    def __init__(self, profile: Profile) -> None:
        self.client = ClientRules.of(profile)
        #: Do differences of ids wrap?
        self.accidents = profile.accidents

    def averagely(self, state: None, me: str, queues: Queues, members: Members) -> Answer[None]:
        """ALLOC-AVG-1: the queues of ``me``, or ILLEGAL_ARGUMENT."""
        return state, *averagely(me, queues, members)

    def by_circle(self, state: None, me: str, queues: Queues, members: Members) -> Answer[None]:
        """ALLOC-CIRC-1: the queues of ``me``, or ILLEGAL_ARGUMENT."""
        return state, *by_circle(me, queues, members)

    def by_config(
        self, state: None, me: str, queues: Queues, members: Members, configured: Queues | None
    ) -> Answer[None]:
        """ALLOC-CONF-1: the configured queues."""
        return state, *by_config(configured)

    def by_machine_room(
        self, state: None, me: str, queues: Queues, members: Members, rooms: tuple[str, ...] | None
    ) -> Answer[None]:
        """ALLOC-ROOM-1: the queues of ``me``, or ILLEGAL_ARGUMENT."""
        return state, *by_machine_room(self.client, me, queues, members, rooms)

    def nearby(self, state: None, me: str, queues: Queues, members: Members, inner: str) -> Answer[None]:
        """ALLOC-NEAR-1: the queues of ``me``, or ILLEGAL_ARGUMENT; ``inner`` is AVG, AVG_BY_CIRCLE or
        CONSISTENT_HASH."""
        return state, *nearby(me, queues, members, inner)

    def by_consistent_hash(self, state: None, me: str, queues: Queues, members: Members, nodes: int) -> Answer[None]:
        """ALLOC-CH-1: the queues of ``me``, or ILLEGAL_ARGUMENT."""
        return state, *by_consistent_hash(me, queues, members, nodes)

    def sort_queues(self, state: None, queues: Queues) -> Answer[None]:
        """REB-CLU-2: the queues in the order in which a strategy is given them."""
        by_number = sort_by_number(queues)
        ordered = sort_queues(queues, self.client.orders_numbers) if self.accidents else by_number
        if ordered is None:
            return state, UNDEFINED, _CIRCULAR
        return state, ordered, _SORTED if ordered == by_number else _SORTED_WRAPPED

    def sort_members(self, state: None, members: Members) -> Answer[None]:
        """REB-CLU-2: the client ids in the order in which a strategy is given them."""
        return state, sort_ids(members), _IDS

    def compare_queues(self, state: None, left: Queue, right: Queue) -> Answer[None]:
        """MQ-ORD-1: -1, 0 or 1."""
        by_number = -1 if sort_by_number((left, right))[0] == left else 1
        whole = self.accidents or left == right
        compared = compare_queues(left, right, self.client.orders_numbers) if whole else by_number
        return state, compared, _WRAPPED if compared and compared != by_number else _COMPARED

    def identify_queue(self, state: None, queue: Queue) -> Answer[None]:
        """MQ-ID-1: (text, 32-bit hash)."""
        return state, (queue_text(queue), queue_hash(queue)), _IDENTITY

    def place_text(self, state: None, text: str) -> Answer[None]:
        """ALLOC-CH-4: 0 … 2**32 - 1."""
        return state, place_of(text), _PLACE
