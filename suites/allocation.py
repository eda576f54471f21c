"""The suite ``allocation``: which queues a member owns by each strategy, and the order and identity of queues.

Nothing is remembered between operations. The lists are given to the strategies as they are, sorted or not: sorting
is an operation of its own.
"""

from typing import Annotated

from rocketmq_conformance.models.allocation import nearby
from rocketmq_conformance.models.allocation.allocate import AllocationModel
from rocketmq_conformance.models.client.switches import HASHES, NEARBY
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import bare, fields, listed, plain
from rocketmq_conformance.suites.values.allocation import (
    ABSENT,
    ASTRAL,
    COLLIDING_MEMBERS,
    HOUSED_MEMBERS,
    HOUSED_NAMES,
    HOUSED_QUEUES,
    HOUSED_STOCK,
    PLAIN_MEMBERS,
    PLAIN_QUEUES,
    RING_MEMBERS,
    RING_QUEUES,
    ROOMS,
    TILDE,
    Members,
    Queues,
    allocations,
    members_of,
    queue_of,
    queues,
    queues_of,
    rooms_of,
    shorter,
    shrink_allocation,
    simpler_members,
    simpler_queues,
    text_of,
)
from rocketmq_conformance.suites.values.words import MESSAGE_QUEUES

_QUEUES = queues_of(PLAIN_QUEUES + HOUSED_QUEUES)
_MEMBERS = members_of(PLAIN_MEMBERS + HOUSED_MEMBERS + COLLIDING_MEMBERS)
_ME = text_of(("c0", ABSENT, ""))

_CONFIGURED: tuple[Queues | None, ...] = ((), queues("T", "b0", 1, 0), queues("OTHER", "b9", 0), None)
_NODES = Values(10, 1, 2, 3, 25, 0, -1, weights=(6, 1, 1, 1, 1, 1, 1))
_INNER = Values(nearby.AVG, nearby.CIRCLE, nearby.HASH, weights=(2, 2, 1))

#: Ids further apart than a Java int can say: in a circle, or a pair that is ordered by the wrapped difference.
_FAR = (
    queues("T", "b0", 2**31 - 1, -2),
    queues("T", "b0", -(2**31), 1),
    queues("T", "b0", 0, -(2**31)),
    queues("T", "b0", 2**31 - 1, 5, -(2**31)),
)
_TO_SORT = PLAIN_QUEUES + HOUSED_QUEUES + _FAR
_IDS_TO_SORT = PLAIN_MEMBERS + HOUSED_MEMBERS + COLLIDING_MEMBERS
_ANY_QUEUE: tuple[Queue, ...] = tuple(dict.fromkeys(queue for given in _TO_SORT for queue in given[:12]))
_TEXTS = ("", "a", "c0-0", "c0-9", "\u4e2d\u6587-0", ASTRAL, TILDE, "MessageQueue [topic=T, brokerName=b0, queueId=0]")

_SORTS = allocations(_TO_SORT, _IDS_TO_SORT)
_PLAIN = allocations(PLAIN_QUEUES, PLAIN_MEMBERS)


@operation(
    "Allocate by AVG.", side=Side.PURE, weight=5, together=_PLAIN, shrink=shrink_allocation(), words=MESSAGE_QUEUES
)
class AllocateAveragely(Operation):
    me: Annotated[str, _ME]
    queues: Annotated[Queues, _QUEUES]
    members: Annotated[Members, _MEMBERS]


@operation(
    "Allocate by AVG_BY_CIRCLE.",
    side=Side.PURE,
    weight=3,
    together=_PLAIN,
    shrink=shrink_allocation(),
    words=MESSAGE_QUEUES,
)
class AllocateByCircle(Operation):
    me: Annotated[str, _ME]
    queues: Annotated[Queues, _QUEUES]
    members: Annotated[Members, _MEMBERS]


@operation(
    "Allocate by CONFIG; a null list is answered as an empty one.",
    side=Side.PURE,
    together=allocations(PLAIN_QUEUES, PLAIN_MEMBERS, _CONFIGURED),
    shrink=shrink_allocation(lambda value: simpler_queues(value) if value else []),
    words=MESSAGE_QUEUES,
)
class AllocateByConfig(Operation):
    me: Annotated[str, _ME]
    queues: Annotated[Queues, _QUEUES]
    members: Annotated[Members, _MEMBERS]
    configured: Annotated[Queues | None, queues_of(_CONFIGURED)]


@operation(
    "Allocate by MACHINE_ROOM, the consumers' rooms given.",
    side=Side.PURE,
    weight=5,
    together=allocations(HOUSED_QUEUES, PLAIN_MEMBERS, ROOMS, stock=HOUSED_STOCK),
    shrink=shrink_allocation(lambda value: shorter(value) if value else []),
    words=MESSAGE_QUEUES,
)
class AllocateByMachineRoom(Operation):
    me: Annotated[str, _ME]
    queues: Annotated[Queues, _QUEUES]
    members: Annotated[Members, _MEMBERS]
    rooms: Annotated[tuple[str, ...] | None, rooms_of(ROOMS)]


@operation(
    'Allocate by MACHINE_ROOM_NEARBY; the room of a broker or client is what stands before the first "@" of its name.',
    side=Side.PURE,
    weight=5,
    offered=lambda profile: NEARBY.on(profile.client),
    together=allocations(
        HOUSED_QUEUES[:9] + HOUSED_QUEUES, HOUSED_MEMBERS, _INNER.rows(), stock=HOUSED_STOCK, names=HOUSED_NAMES
    ),
    shrink=shrink_allocation(_INNER.simpler),
    words=MESSAGE_QUEUES,
)
class AllocateNearby(Operation):
    me: Annotated[str, _ME]
    queues: Annotated[Queues, _QUEUES]
    members: Annotated[Members, _MEMBERS]
    inner: Annotated[str, _INNER]


@operation(
    "Allocate by CONSISTENT_HASH with so many virtual nodes for each member.",
    side=Side.PURE,
    weight=4,
    offered=lambda profile: HASHES.on(profile.client),
    together=allocations(RING_QUEUES, RING_MEMBERS, _NODES.rows()),
    shrink=shrink_allocation(_NODES.simpler),
    words=MESSAGE_QUEUES,
)
class AllocateByConsistentHash(Operation):
    me: Annotated[str, _ME]
    queues: Annotated[Queues, _QUEUES]
    members: Annotated[Members, _MEMBERS]
    nodes: Annotated[int, _NODES]


@operation(
    "Sort queues as a rebalance does before it allocates.",
    side=Side.PURE,
    weight=2,
    together=lambda choices: (_SORTS(choices)[1],),
    shrink=lambda args: [(fewer,) for fewer in simpler_queues(args[0])],
    words=MESSAGE_QUEUES,
)
class SortQueues(Operation):
    queues: Annotated[Queues, queues_of(_TO_SORT)]


@operation(
    "Sort client ids as a rebalance does before it allocates.",
    side=Side.PURE,
    together=lambda choices: (_SORTS(choices)[2],),
    shrink=lambda args: [(fewer,) for fewer in simpler_members(args[0])],
    words=listed(plain),
)
class SortMembers(Operation):
    members: Annotated[Members, _MEMBERS]


@operation("Compare two queues: -1, 0 or 1.", side=Side.PURE)
class CompareQueues(Operation):
    left: Annotated[Queue, queue_of(_ANY_QUEUE)]
    right: Annotated[Queue, queue_of(_ANY_QUEUE)]


@operation("Text and 32-bit hash of a queue.", side=Side.PURE, words=fields({"text": bare, "hash": plain}))
class IdentifyQueue(Operation):
    queue: Annotated[Queue, queue_of(_ANY_QUEUE)]


@operation(
    "The place of a text on the consistent hash's ring.",
    side=Side.PURE,
    offered=lambda profile: HASHES.on(profile.client),
)
class PlaceText(Operation):
    text: Annotated[str, text_of(_TEXTS)]


def _bind(profile: Profile) -> BoundModel:
    model = AllocationModel(profile)
    return BoundModel(
        None,
        {
            AllocateAveragely: model.averagely,
            AllocateByCircle: model.by_circle,
            AllocateByConfig: model.by_config,
            AllocateByMachineRoom: model.by_machine_room,
            AllocateNearby: model.nearby,
            AllocateByConsistentHash: model.by_consistent_hash,
            SortQueues: model.sort_queues,
            SortMembers: model.sort_members,
            CompareQueues: model.compare_queues,
            IdentifyQueue: model.identify_queue,
            PlaceText: model.place_text,
        },
    )


SUITE = Suite(
    name="allocation",
    sentence="Which queues a member of a group owns by each strategy, and how queues and members are ordered.",
    side=Side.PURE,
    bind=_bind,
    steps=20,
    show=lambda state: "no state",
    rules=(
        "ALLOC-CHK-1",
        "ALLOC-AVG-1",
        "ALLOC-CIRC-1",
        "ALLOC-CONF-1",
        "ALLOC-ROOM-1",
        "ALLOC-ROOM-1-FAULT",
        "ALLOC-ROOM-1-CHECK",
        "ALLOC-ROOM-1-NULL",
        "ALLOC-NEAR-1",
        "ALLOC-CH-1",
        "ALLOC-CH-2",
        "ALLOC-CH-3",
        "ALLOC-CH-4",
        "MQ-ORD-1",
        "MQ-ID-1",
        "REB-CLU-2",
    ),
)
