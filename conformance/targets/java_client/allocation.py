"""Plays the suite ``allocation`` with the release's own strategies, queues and sorts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.allocation import (
    AllocateAveragely,
    AllocateByCircle,
    AllocateByConfig,
    AllocateByConsistentHash,
    AllocateByMachineRoom,
    AllocateNearby,
    CompareQueues,
    IdentifyQueue,
    PlaceText,
    SortMembers,
    SortQueues,
)
from rocketmq_conformance.suites.declare.operation import Operation

Queue = tuple[str, str, int]
Queues = tuple[Queue, ...]
Ids = tuple[str, ...]

_PACKAGE = "client.consumer.rebalance."
#: Java lists that are cached; exhaustive runs use the same few thousand again and again.
_REMEMBERED = 1 << 14
#: The strategies use the group's name in a log text only.
_GROUP = "G"


class JavaAllocation(Part):
    """Methods the strategies, sorts and queues of one release."""

    over_sockets = True  # it needs none

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self._classes = release
        self._array_list = jpype.JClass("java.util.ArrayList")
        self._hash_set = jpype.JClass("java.util.HashSet")
        self._collections = jpype.JClass("java.util.Collections")
        self._illegal = jpype.JClass("java.lang.IllegalArgumentException")
        self._runtime = jpype.JClass("java.lang.RuntimeException")
        self._message_queue = release.load("common.message.MessageQueue")
        allocations = compiled("Allocations")
        #: Allocates and sorts in one call each; None where Java has no compiler.
        self._allocations: Any = None if allocations is None else allocations()
        #: Plain queues by their numbers there, as texts.
        self._numbered: dict[str, Queue] = {}
        self._queues: dict[Queue, Any] = {}
        #: Plain queues by Java queue, compared by Java's own equals.
        self._plain: dict[Any, Queue] = {}
        self._queue_lists: dict[Queues, Any] = {}
        self._id_lists: dict[Ids, Any] = {}
        self._strategies: dict[object, Any] = {}

        self._average = self._strategy("AVG")
        self._circle = self._strategy("AVG_BY_CIRCLE")
        self._has_hashing = release.has(_PACKAGE + "AllocateMessageQueueConsistentHash")
        self._hash: Any = self._node_hash() if self._has_hashing else None

    def begin(self, case: Case) -> None:
        """There is no state between operations."""

    def calls(self) -> Methods:
        """One callable per operation that the release has; errors are returned."""
        found: dict[type[Operation], Callable[..., Result]] = {
            AllocateAveragely: self.averagely,
            AllocateByCircle: self.by_circle,
            AllocateByConfig: self.by_config,
            AllocateByMachineRoom: self.by_machine_room,
            SortQueues: self.sort_queues,
            SortMembers: self.sort_members,
            CompareQueues: self.compare_queues,
            IdentifyQueue: self.identify_queue,
        }
        if self._classes.has(_PACKAGE + "AllocateMachineRoomNearby"):
            found[AllocateNearby] = self.nearby
        if self._has_hashing:
            found[AllocateByConsistentHash] = self.by_consistent_hash
            found[PlaceText] = self.place_text
        return found

    def close(self) -> None:
        """Nothing outlives a case."""

    # --- strategies ---------------------------------------------------------------------------------------

    def averagely(self, me: str, queues: Queues, ids: Ids) -> Result:
        """AVG."""
        return self._allocate(self._average, me, queues, ids)

    def by_circle(self, me: str, queues: Queues, ids: Ids) -> Result:
        """AVG_BY_CIRCLE."""
        return self._allocate(self._circle, me, queues, ids)

    def by_config(self, me: str, queues: Queues, ids: Ids, configured: Queues | None) -> Result:
        """CONFIG; null is answered as no queues, as a rebalance reads it."""
        strategy = self._strategy("CONFIG")
        strategy.setMessageQueueList(None if configured is None else self._queue_list(configured))
        return self._allocate(strategy, me, queues, ids)

    def by_machine_room(self, me: str, queues: Queues, ids: Ids, rooms: Iterable[str] | None) -> Result:
        """MACHINE_ROOM."""
        strategy = self._strategies.get(("room", rooms))
        if strategy is None:
            strategy = self._classes.load(_PACKAGE + "AllocateMessageQueueByMachineRoom")()
            if rooms is not None:
                allowed = self._hash_set()
                for room in rooms:
                    allowed.add(room)
                strategy.setConsumeridcs(allowed)
            self._strategies["room", rooms] = strategy
        return self._allocate(strategy, me, queues, ids)

    def nearby(self, me: str, queues: Queues, ids: Ids, inner: str) -> Result:
        """MACHINE_ROOM_NEARBY."""
        strategy = self._strategies.get(("nearby", inner))
        if strategy is None:
            nearby = self._classes.load(_PACKAGE + "AllocateMachineRoomNearby")
            strategy = nearby(self._strategy(inner), self._resolver())
            self._strategies["nearby", inner] = strategy
        return self._allocate(strategy, me, queues, ids)

    def _resolver(self) -> Any:
        """A resolver of rooms, which is asked for every queue and member: compiled, where Java has a compiler."""
        kind = self._classes.load(_PACKAGE + "AllocateMachineRoomNearby$MachineRoomResolver")
        rooms = compiled("Rooms")
        if rooms is not None:
            return rooms.resolver(kind.class_)
        answers = {
            "brokerDeployIn": lambda queue: _room(self._plain[queue][1]),
            "consumerDeployIn": lambda client: _room(str(client)),
        }
        return jpype.JProxy(kind, dict=answers)

    def by_consistent_hash(self, me: str, queues: Queues, ids: Ids, nodes: int) -> Result:
        """CONSISTENT_HASH."""
        strategy = self._strategies.get(("hash", nodes))
        if strategy is None:
            try:
                strategy = self._classes.load(_PACKAGE + "AllocateMessageQueueConsistentHash")(nodes)
            except self._runtime as error:
                return self._error(error)
            self._strategies["hash", nodes] = strategy
        return self._allocate(strategy, me, queues, ids)

    def _allocate(self, strategy: Any, me: str, queues: Queues, ids: Ids) -> Result:
        if self._allocations is not None:
            given = self._queue_list(queues), self._id_list(ids)
            return self._read(self._allocations.allocate(strategy, _GROUP, me, *given))
        try:
            mine = strategy.allocate(_GROUP, me, self._queue_list(queues), self._id_list(ids))
        except self._runtime as error:
            return self._error(error)
        if mine is None:
            return ()
        plain = self._plain
        return tuple([plain[queue] for queue in mine.toArray()])

    # --- order and identity -------------------------------------------------------------------------------

    def sort_queues(self, queues: Queues) -> Result:
        """Queues by ``Collections.sort``, as a rebalance does."""
        if self._allocations is not None:
            return self._read(self._allocations.sorted(self._queue_list(queues)))
        ordered = self._array_list(self._queue_list(queues))
        try:
            self._collections.sort(ordered)
        except self._runtime as error:
            return self._error(error)
        return tuple([self._plain[queue] for queue in ordered.toArray()])

    def sort_members(self, members: Ids) -> Result:
        """Client ids by ``Collections.sort``."""
        ordered = self._array_list(self._id_list(members))
        self._collections.sort(ordered)
        return tuple([str(member) for member in ordered.toArray()])

    def compare_queues(self, left: Queue, right: Queue) -> Result:
        """The sign of ``compareTo``."""
        difference = int(self._queue(left).compareTo(self._queue(right)))
        return (difference > 0) - (difference < 0)

    def identify_queue(self, queue: Queue) -> Result:
        """``toString`` and ``hashCode``."""
        made = self._queue(queue)
        return str(made.toString()), int(made.hashCode())

    def place_text(self, text: str) -> Result:
        """Where a text stands on the ring of the consistent hash."""
        return int(self._hash.hash(text))

    def _node_hash(self) -> Any:
        # The class is private: reflection makes one.
        name = "common.consistenthash.ConsistentHashRouter$MD5Hash"
        constructor = self._classes.load(name).class_.getDeclaredConstructor()
        constructor.setAccessible(True)
        function = self._classes.load("common.consistenthash.HashFunction")
        return jpype.JObject(constructor.newInstance(), function)

    # --- between Python and Java --------------------------------------------------------------------------

    def _strategy(self, name: str) -> Any:
        classes = {
            "AVG": "AllocateMessageQueueAveragely",
            "AVG_BY_CIRCLE": "AllocateMessageQueueAveragelyByCircle",
            "CONFIG": "AllocateMessageQueueByConfig",
            "CONSISTENT_HASH": "AllocateMessageQueueConsistentHash",
        }
        if name not in self._strategies:
            self._strategies[name] = self._classes.load(_PACKAGE + classes[name])()
        return self._strategies[name]

    def _read(self, text: Any) -> Result:
        """The queues, or the error, that a text of ``Allocations.java`` stands for."""
        answer = str(text)
        if answer.startswith("!"):
            code, detail = answer[1:].split(" ", 1)
            return Err(code, detail=detail)
        return tuple([self._numbered[number] for number in answer.split()])

    def _error(self, error: Any) -> Err:
        code = "ILLEGAL_ARGUMENT" if isinstance(error, self._illegal) else "RUNTIME"
        return Err(code, detail=str(error))

    def _queue(self, queue: Queue) -> Any:
        made = self._queues.get(queue)
        if made is None:
            made = self._queues[queue] = self._message_queue(*queue)
            self._plain[made] = queue
            if self._allocations is not None:
                self._numbered[str(self._allocations.number(made))] = queue
        return made

    def _queue_list(self, queues: Queues) -> Any:
        made = self._queue_lists.get(queues)
        if made is None:
            if len(self._queue_lists) >= _REMEMBERED:
                self._queue_lists.clear()
            made = self._queue_lists[queues] = self._array_list()
            for queue in queues:
                made.add(self._queue(queue))
        return made

    def _id_list(self, ids: Ids) -> Any:
        made = self._id_lists.get(ids)
        if made is None:
            if len(self._id_lists) >= _REMEMBERED:
                self._id_lists.clear()
            made = self._id_lists[ids] = self._array_list()
            for member in ids:
                made.add(member)
        return made


def _room(name: str) -> str | None:
    """The kit's resolver: what stands before the first "@"; null without one."""
    room, at, _ = name.partition("@")
    return room if at else None


PART = JavaAllocation
