"""Mutants of the port's allocation strategies, after real defects of clients."""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import lru_cache
from hashlib import md5
from zlib import crc32

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.allocation import (
    Allocation,
    Ids,
    IllegalArgumentError,
    Queue,
    Queues,
    Strategy,
)

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "allocation")


# --- order ---------------------------------------------------------------------------------------------------


@_mutant("D18", "Topics and brokers sort in descending order.")
class DescendingOrder(Allocation):
    def compare(self, left: Queue, right: Queue) -> int:
        by_name = (left[:2] < right[:2]) - (left[:2] > right[:2])
        return by_name or super().compare(left, right)


@_mutant("D18", "Strings sort by code point instead of UTF-16 code unit.")
class CodePointOrder(Allocation):
    def text_key(self, text: str) -> bytes:
        return text.encode("utf-32-be", "surrogatepass")


@_mutant("D18", "Queue ids sort as text: 10 before 2.")
class QueueIdsAsText(Allocation):
    def difference(self, left: int, right: int) -> int:
        return (str(left) > str(right)) - (str(left) < str(right))


@_mutant("D21", "Queues sort by id alone.")
class OrderByIdOnly(Allocation):
    def compare(self, left: Queue, right: Queue) -> int:
        difference = self.difference(left[2], right[2])
        return (difference > 0) - (difference < 0)


@_mutant("D18", "Queue ids compare without wrapping at 32 bits.")
class IdDifferenceUnbounded(Allocation):
    def difference(self, left: int, right: int) -> int:
        return left - right


@_mutant("D18", "Strings sort without regard to case.")
class OrderIgnoresCase(Allocation):
    def text_key(self, text: str) -> bytes:
        return super().text_key(text.lower())


# --- AVG, AVG_BY_CIRCLE --------------------------------------------------------------------------------------


@_mutant("D21", "Every block is as large as the largest one.")
class LargeBlocks(Allocation):
    def block(self, position: int, queues: int, members: int) -> tuple[int, int]:
        size = -(-queues // members)
        return position * size, (position + 1) * size


@_mutant("D21", "With fewer queues than members the first one takes all.")
class FirstTakesAll(Allocation):
    def block(self, position: int, queues: int, members: int) -> tuple[int, int]:
        if queues < members:
            return (0, queues) if position == 0 else (0, 0)
        return super().block(position, queues, members)


@_mutant("D21", "The last member gets the whole remainder.")
class RemainderToLast(Allocation):
    def block(self, position: int, queues: int, members: int) -> tuple[int, int]:
        size = queues // members
        return position * size, queues if position == members - 1 else (position + 1) * size


@_mutant("D22", "A member without a queue fails instead of getting none.")
class SurplusPanics(Allocation):
    def block(self, position: int, queues: int, members: int) -> tuple[int, int]:
        if position >= queues:
            raise IndexError("start of the block lies behind the last queue")
        return super().block(position, queues, members)


@_mutant("D20", "Of an id that occurs twice the last place counts.")
class LastPosition(Allocation):
    def position(self, me: str, ids: Ids) -> int:
        return len(ids) - 1 - ids[::-1].index(me)


@_mutant("D20", "AVG counts an id once, however often it is listed.")
class DuplicatesDropped(Allocation):
    def averagely(self, me: str, queues: Queues, ids: Ids) -> Queues:
        return super().averagely(me, queues, tuple(dict.fromkeys(ids)))


@_mutant("D20", "An id is found by its prefix.")
class PrefixPosition(Allocation):
    def position(self, me: str, ids: Ids) -> int:
        return next(at for at, member in enumerate(ids) if me.startswith(member))


@_mutant("D24", "The circle deals its first queue to the second member.")
class CircleFromOne(Allocation):
    def dealt_to(self, at: int, members: int) -> int:
        return (at + 1) % members


# --- argument checks -----------------------------------------------------------------------------------------


@_mutant("D26", "An own id that is no member is an error.")
class MissingIsError(Allocation):
    def takes_part(self, me: str, queues: Queues, ids: Ids) -> bool:
        if not super().takes_part(me, queues, ids):
            raise IllegalArgumentError("currentCID is not in cidAll")
        return True


@_mutant("D24", "A client that is no member gets the first member's share.")
class MissingTakesPart(Allocation):
    def position(self, me: str, ids: Ids) -> int:
        return ids.index(me) if me in ids else 0

    def takes_part(self, me: str, queues: Queues, ids: Ids) -> bool:
        super().takes_part(me, queues, ids)
        return True


@_mutant("D26", "No queues give an empty answer instead of an error.")
class NoQueuesIsNothing(Allocation):
    def takes_part(self, me: str, queues: Queues, ids: Ids) -> bool:
        return bool(queues) and super().takes_part(me, queues, ids)


@_mutant("D26", "A blank own id is refused like an empty one.")
class BlankIdRefused(Allocation):
    def takes_part(self, me: str, queues: Queues, ids: Ids) -> bool:
        return super().takes_part(me.strip(), queues, ids) if me.isspace() else super().takes_part(me, queues, ids)


# --- MACHINE_ROOM --------------------------------------------------------------------------------------------


@_mutant("D19", "The machine room's block is cut out of all queues.")
class ForeignBlock(Allocation):
    def room_share(self, position: int, queues: Queues, near: Queues, members: int) -> Queues:
        size = len(near) // members
        tail = size * members + position
        return queues[position * size : (position + 1) * size] + near[tail : tail + 1]


@_mutant("D19", "Broker names split by Python's rules: an empty end counts.")
class PythonSplit(Allocation):
    def in_rooms(self, broker: str, rooms: set[str]) -> bool:
        parts = broker.split("@")
        return len(parts) == 2 and parts[0] in rooms


@_mutant("D19", 'A broker has a room however many "@" its name has.')
class AnyRoom(Allocation):
    def in_rooms(self, broker: str, rooms: set[str]) -> bool:
        return "@" in broker and broker.split("@")[0] in rooms


@_mutant("D19", "The machine room's remainder goes to the blocks, not to the tail.")
class ContiguousRooms(Allocation):
    def room_share(self, position: int, queues: Queues, near: Queues, members: int) -> Queues:
        start, end = self.block(position, len(near), members)
        return near[start:end]


# --- MACHINE_ROOM_NEARBY -------------------------------------------------------------------------------------


@_mutant("D24", "MACHINE_ROOM_NEARBY is AVG under another name.")
class NearbyIsAveragely(Allocation):
    def nearby(self, me: str, queues: Queues, ids: Ids, inner: str) -> Queues:
        return self.averagely(me, queues, ids)


@_mutant("D24", "Rooms that have members are shared too.")
class SharesInhabitedRooms(Allocation):
    def visited_rooms(self, me: str, queues: Queues, ids: Ids) -> list[tuple[str, Ids]]:
        own = super().visited_rooms(me, queues, ids)[0]
        others = {self.room(queue[1]) for queue in queues} - {own[0]}
        return [own, *((room, ids) for room in self.sort_ids(tuple(others)))]


@_mutant("D24", "Rooms without members have no owner.")
class ForgetsVacantRooms(Allocation):
    def visited_rooms(self, me: str, queues: Queues, ids: Ids) -> list[tuple[str, Ids]]:
        return super().visited_rooms(me, queues, ids)[:1]


@_mutant("D24", "Rooms without members are shared inside each room.")
class VacantRoomsToNeighbours(Allocation):
    def visited_rooms(self, me: str, queues: Queues, ids: Ids) -> list[tuple[str, Ids]]:
        own, *others = super().visited_rooms(me, queues, ids)
        return [own, *((room, own[1]) for room, _ in others)]


@_mutant("D24", "MACHINE_ROOM_NEARBY ignores its inner strategy.")
class InnerIsAveragely(Allocation):
    def inner(self, name: str) -> Strategy:
        return self.averagely


@_mutant("D24", "Names without a room share a default room.")
class NoRoomIsARoom(Allocation):
    def room(self, name: str) -> str:
        return super().room(name) or "default"


# --- CONSISTENT_HASH -----------------------------------------------------------------------------------------


@_mutant("D23", "The owner is the first node after the queue, never at it.")
class StrictSuccessor(Allocation):
    def successor(self, places: list[int], place: int) -> int:
        at = bisect_right(places, place)
        return places[at] if at < len(places) else places[0]


@_mutant("D23", "Queues after the last node belong to the last node.")
class NoWrap(Allocation):
    def successor(self, places: list[int], place: int) -> int:
        return next((candidate for candidate in places if candidate >= place), places[-1])


@_mutant("D23", "A virtual node's key is index and id, not id and index.")
class IndexBeforeId(Allocation):
    def node_key(self, member: str, k: int) -> str:
        return f"{k}{member}"


@_mutant("D23", "The ring is made with CRC32.", name="crc32")
class Crc32(Allocation):
    def place(self, text: str) -> int:
        return crc32(text.encode())


@lru_cache(maxsize=1 << 16)
def _little_endian(text: str) -> int:
    return int(struct.unpack("<I", md5(text.encode(), usedforsecurity=False).digest()[:4])[0])


@_mutant("D23", "The MD5 bytes are read from the other end.")
class LittleEndian(Allocation):
    def place(self, text: str) -> int:
        return _little_endian(text)


@_mutant("D23", "Places are signed numbers.")
class SignedPlaces(Allocation):
    def place(self, text: str) -> int:
        place = super().place(text)
        return place - (1 << 32) if place >> 31 else place


@_mutant("D23", "On a collision the earlier virtual node stays.")
class FirstNodeStays(Allocation):
    def ring(self, ids: Ids, nodes: int) -> dict[int, str]:
        ring: dict[int, str] = {}
        for member in ids:
            present = list(ring.values()).count(member)
            for k in range(present, present + nodes):
                ring.setdefault(self.place(self.node_key(member, k)), member)
        return ring


@_mutant("D23", "An id that occurs twice has its virtual nodes once.")
class DuplicateAddsNothing(Allocation):
    def ring(self, ids: Ids, nodes: int) -> dict[int, str]:
        return super().ring(tuple(dict.fromkeys(ids)), nodes)


@_mutant("D23", "A queue's text has its parts in another order.")
class OtherQueueText(Allocation):
    def text(self, queue: Queue) -> str:
        return f"MessageQueue [topic={queue[0]}, queueId={queue[2]}, brokerName={queue[1]}]"


@_mutant("D24", "CONSISTENT_HASH is AVG under another name.")
class HashIgnored(Allocation):
    def by_consistent_hash(self, me: str, queues: Queues, ids: Ids, nodes: int) -> Queues:
        return self.averagely(me, queues, ids)


# --- CONFIG --------------------------------------------------------------------------------------------------


@_mutant("D24", "CONFIG keeps only queues of the topic.")
class ConfigFiltered(Allocation):
    def by_config(self, me: str, queues: Queues, ids: Ids, configured: Queues | None) -> Queues:
        return tuple(queue for queue in configured or () if queue in queues)
