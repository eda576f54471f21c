"""The port's allocation strategies, sorting and queue identity, in small steps that a mutant can override."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cmp_to_key, lru_cache

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import allocation as operations

Queue = tuple[str, str, int]
Queues = tuple[Queue, ...]
Ids = tuple[str, ...]
Strategy = Callable[[str, Queues, Ids], Queues]

MASK = 0xFFFF_FFFF
#: First release that compares the ids of queues as numbers.
_COMPARES_NUMBERS = Release(5, 5, 1)


class IllegalArgumentError(Exception):
    """Reported by Java as IllegalArgumentException."""


def signed(number: int) -> int:
    """The lower 32 bits as a signed number."""
    number &= MASK
    return number - (1 << 32) if number >> 31 else number


def code_units(text: str) -> bytes:
    """The UTF-16 code units of a text, as Java counts them."""
    return text.encode("utf-16-be", "surrogatepass")


@lru_cache(maxsize=1 << 16)
def first_word(text: str) -> int:
    """The first 32 bits of a text's MD5."""
    return int(hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()[:8], 16)


class Allocation:
    """Allocates queues to the members of a group; has no state besides a cache."""

    #: Rings that are cached: groups change rarely, and every topic of a group has the same members.
    RINGS = 1024

    def __init__(self, transport: Transport | None = None) -> None:
        self.rings: dict[tuple[Ids, int], tuple[list[int], dict[int, str]]] = {}
        #: Does the difference of two queue ids wrap at 32 bits?
        self.wraps = True

    # --- strategies ---------------------------------------------------------------------------------------

    def averagely(self, me: str, queues: Queues, ids: Ids) -> Queues:
        """Strategy AVG."""
        if not self.takes_part(me, queues, ids):
            return ()
        start, end = self.block(self.position(me, ids), len(queues), len(ids))
        return queues[start:end]

    def by_circle(self, me: str, queues: Queues, ids: Ids) -> Queues:
        """Strategy AVG_BY_CIRCLE."""
        if not self.takes_part(me, queues, ids):
            return ()
        position = self.position(me, ids)
        return tuple(queue for at, queue in enumerate(queues) if self.dealt_to(at, len(ids)) == position)

    def by_config(self, me: str, queues: Queues, ids: Ids, configured: Queues | None) -> Queues:
        """Strategy CONFIG."""
        return configured or ()

    def by_machine_room(self, me: str, queues: Queues, ids: Ids, rooms: Iterable[str] | None) -> Queues:
        """Strategy MACHINE_ROOM."""
        if not self.takes_part(me, queues, ids):
            return ()
        allowed = set(rooms or ())
        near = tuple(queue for queue in queues if self.in_rooms(queue[1], allowed))
        return self.room_share(self.position(me, ids), queues, near, len(ids))

    def nearby(self, me: str, queues: Queues, ids: Ids, inner: str) -> Queues:
        """Strategy MACHINE_ROOM_NEARBY around one of the other strategies."""
        if not self.takes_part(me, queues, ids):
            return ()
        for name in (*(queue[1] for queue in queues), *ids):
            if not self.room(name):
                raise IllegalArgumentError(f"Machine room is null for {name}")
        divide = self.inner(inner)
        mine: list[Queue] = []
        for room, members in self.visited_rooms(me, queues, ids):
            housed = tuple(queue for queue in queues if self.room(queue[1]) == room)
            if housed:
                mine += divide(me, housed, members)
        return tuple(mine)

    def by_consistent_hash(self, me: str, queues: Queues, ids: Ids, nodes: int) -> Queues:
        """Strategy CONSISTENT_HASH."""
        if nodes < 0:
            raise IllegalArgumentError(f"illegal virtualNodeCnt {nodes}")
        if not self.takes_part(me, queues, ids):
            return ()
        if (ids, nodes) not in self.rings:
            if len(self.rings) >= self.RINGS:
                self.rings.clear()
            ring = self.ring(ids, nodes)
            self.rings[ids, nodes] = sorted(ring), ring
        places, ring = self.rings[ids, nodes]
        if not places:
            return ()
        return tuple(queue for queue in queues if ring[self.successor(places, self.place(self.text(queue)))] == me)

    # --- steps of the strategies --------------------------------------------------------------------------

    def takes_part(self, me: str, queues: Queues, ids: Ids) -> bool:
        """Check the arguments; False when this client is not a member."""
        if not me:
            raise IllegalArgumentError("currentCID is empty")
        if not queues:
            raise IllegalArgumentError("mqAll is null or mqAll empty")
        if not ids:
            raise IllegalArgumentError("cidAll is null or cidAll empty")
        return me in ids

    def position(self, me: str, ids: Ids) -> int:
        """The place of a member in the list."""
        return ids.index(me)

    def block(self, position: int, queues: int, members: int) -> tuple[int, int]:
        """Start and end of a member's block."""
        small, extra = divmod(queues, members)
        if position < extra:
            start = position * (small + 1)
            return start, start + small + 1
        start = position * small + extra
        return start, start + small

    def dealt_to(self, at: int, members: int) -> int:
        """The member that is dealt the queue at a place."""
        return at % members

    def in_rooms(self, broker: str, rooms: set[str]) -> bool:
        """Is a broker named ``room@name`` in one of the rooms? Trailing "@" do not count."""
        if broker.count("@") == 0:
            return False
        parts = broker.rstrip("@").split("@")
        return len(parts) == 2 and parts[0] in rooms

    def room_share(self, position: int, queues: Queues, near: Queues, members: int) -> Queues:
        """A member's block of the near queues, and its part of the rest."""
        size = len(near) // members
        rest = near[size * members :]
        return near[position * size : (position + 1) * size] + rest[position : position + 1]

    def room(self, name: str) -> str:
        """The room of a broker or a client, "" when its name has none."""
        return name.split("@")[0] if "@" in name else ""

    def inner(self, name: str) -> Strategy:
        """A strategy by name."""
        strategies: dict[str, Strategy] = {
            "AVG": self.averagely,
            "AVG_BY_CIRCLE": self.by_circle,
            "CONSISTENT_HASH": lambda me, queues, ids: self.by_consistent_hash(me, queues, ids, 10),
        }
        return strategies[name]

    def visited_rooms(self, me: str, queues: Queues, ids: Ids) -> list[tuple[str, Ids]]:
        """The rooms whose queues a member may get, in order, with those who share them."""
        own = self.room(me)
        inhabited = {self.room(member) for member in ids}
        others = {self.room(queue[1]) for queue in queues} - inhabited
        neighbours = tuple(member for member in ids if self.room(member) == own)
        return [(own, neighbours), *((room, ids) for room in self.sort_ids(tuple(others)))]

    def ring(self, ids: Ids, nodes: int) -> dict[int, str]:
        """The ring: members by their place."""
        ring: dict[int, str] = {}
        for member in ids:
            present = list(ring.values()).count(member)
            for k in range(nodes):
                ring[self.place(self.node_key(member, present + k))] = member
        return ring

    def node_key(self, member: str, k: int) -> str:
        """The text of a virtual node."""
        return f"{member}-{k}"

    def place(self, text: str) -> int:
        """The place of a text on the ring."""
        return first_word(text)

    def successor(self, places: list[int], place: int) -> int:
        """The first place of the ring that is not before ``place``."""
        at = bisect_left(places, place)
        return places[at] if at < len(places) else places[0]

    # --- order and identity -------------------------------------------------------------------------------

    def text_key(self, text: str) -> bytes:
        """Sort key of a string."""
        return code_units(text)

    def difference(self, left: int, right: int) -> int:
        """The difference of two queue ids."""
        return signed(left - right) if self.wraps else left - right

    def compare(self, left: Queue, right: Queue) -> int:
        """-1, 0 or 1."""
        for one, other in zip(left[:2], right[:2], strict=True):
            if one != other:
                return -1 if self.text_key(one) < self.text_key(other) else 1
        difference = self.difference(left[2], right[2])
        return 0 if difference == 0 else -1 if difference < 0 else 1

    def sort_queues(self, queues: Queues) -> Queues:
        """Queues in the order that all members agree on."""
        return tuple(sorted(queues, key=cmp_to_key(self.compare)))

    def sort_ids(self, ids: Ids) -> Ids:
        """Client ids in the order that all members agree on."""
        return tuple(sorted(ids, key=self.text_key))

    def text(self, queue: Queue) -> str:
        """The text of a queue."""
        return "MessageQueue [topic={}, brokerName={}, queueId={}]".format(*queue)

    def text_hash(self, text: str) -> int:
        """Java's hash of a string."""
        total = 0
        units = code_units(text)
        for at in range(0, len(units), 2):
            total = (total * 31 + int.from_bytes(units[at : at + 2], "big")) & MASK
        return total

    def identify(self, queue: Queue) -> Result:
        """(text, hash) of a queue."""
        topic, broker, number = queue
        folded = ((31 + self.text_hash(broker)) * 31 + number) * 31 + self.text_hash(topic)
        return self.text(queue), signed(folded)

    # --- the kit's operations -----------------------------------------------------------------------------

    def begin_case(self, case: Case) -> None:
        """There is no state between operations; a client of 5.5.1 compares ids as numbers."""
        self.wraps = case.profile.client < _COMPARES_NUMBERS

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.AllocateAveragely: refusing(self.averagely),
            operations.AllocateByCircle: refusing(self.by_circle),
            operations.AllocateByConfig: refusing(self.by_config),
            operations.AllocateByMachineRoom: refusing(self.by_machine_room),
            operations.AllocateNearby: refusing(self.nearby),
            operations.AllocateByConsistentHash: refusing(self.by_consistent_hash),
            operations.SortQueues: self.sort_queues,
            operations.SortMembers: self.sort_ids,
            operations.CompareQueues: self.compare,
            operations.IdentifyQueue: self.identify,
            operations.PlaceText: self.place,
        }


def refusing(strategy: Callable[..., Queues]) -> Callable[..., Result]:
    """The strategy with its errors as outcomes. An index out of range is a failure in every language."""

    def call(*args: object) -> Result:
        try:
            return strategy(*args)
        except IllegalArgumentError as error:
            return Err("ILLEGAL_ARGUMENT", detail=str(error))
        except IndexError as error:
            return Err("RUNTIME", detail=str(error))

    return call


PART = Allocation
