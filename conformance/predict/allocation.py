"""Who gets which queues, and what moves when members join or leave, by release of the client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.predict.facts import MOST_QUEUES, GroupFacts
from rocketmq_conformance.conformance.predict.releases import RELEASES, grouped
from rocketmq_conformance.conformance.predict.start import PredictError
from rocketmq_conformance.models.allocation.allocate import AllocationModel
from rocketmq_conformance.models.allocation.check import Members, Queues
from rocketmq_conformance.models.client.switches import HASHES
from rocketmq_conformance.models.message_queue import MessageQueue, Queue, sort_ids, sort_queues
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import KNOWN, NEWEST, Release

AVERAGELY, CIRCLE, CONSISTENT_HASH, MACHINE_ROOM = "AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM"
#: The virtual nodes of a member that consistent hashing has by default.
NODES = 10
#: Owners of each queue: one process for each member, so that equal client ids are two owners of everything.
Owners = dict[Queue, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMembers:
    """The members of a group by client id, the queues of its topics, and how they are allocated."""

    members: tuple[str, ...]
    queues: Queues
    strategy: str = AVERAGELY
    client: Release = NEWEST
    #: The rooms of MACHINE_ROOM; their consumers and brokers are called ROOM@…
    rooms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one member gets: the queues by topic, or an error."""

    member: str
    queues: Queues
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What moves when a member joins or leaves: how many queues get another owner."""

    member: str
    joins: bool
    moved: Queues
    after: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationPrediction:
    """Who gets what."""

    group: GroupMembers
    shares: tuple[Share, ...]
    #: Queues without an owner, and those that more than one process gets.
    unowned: Queues
    shared: Queues
    #: Client ids that more than one member has.
    equal: tuple[str, ...]
    moves: tuple[Move, ...]
    #: (range of client releases, whether they allocate like this one).
    others: tuple[tuple[str, str], ...]


def group_of(facts: GroupFacts, strategy: str, client: Release, rooms: tuple[str, ...] = ()) -> GroupMembers:
    """The group of a cluster; PredictError without members."""
    if not facts.members:
        raise PredictError(f"The group {facts.group} has no members: name them with --members.")
    queues = tuple(MessageQueue(queue.topic, queue.broker, queue.queue) for queue in facts.queues)
    members = tuple(member.client for member in facts.members)
    return GroupMembers(members=members, queues=queues, strategy=strategy, client=client, rooms=rooms)


def parse_queues(text: str) -> Queues:
    """The queues of "8" or of "broker-a:4,broker-b:4"; ValueError with a sentence."""
    found: list[MessageQueue] = []
    for part in text.split(","):
        broker, colon, count = part.strip().rpartition(":")
        if not count.isdecimal() or not 0 < int(count) <= MOST_QUEUES or (colon and not broker):
            raise ValueError(f"{part!r} names no queues: write a number, or BROKER:NUMBER, such as 8 or broker-a:4")
        found += [MessageQueue("topic", broker or "broker", number) for number in range(int(count))]
    if len(set(found)) != len(found):
        raise ValueError(f"{text!r} names a broker twice")
    return tuple(found)


def predict_allocation(
    group: GroupMembers, joining: Sequence[str] = (), leaving: Sequence[str] = ()
) -> AllocationPrediction:
    """The prediction, and what moves when these join and leave; when each member leaves, unless any is named.

    PredictError when the client has no such strategy, or no sensible arguments for it.
    """
    if group.strategy == CONSISTENT_HASH and not HASHES.on(group.client):
        raise PredictError(f"Client {group.client} has no consistent hashing: there is one from 4.1.0 on.")
    if group.strategy == MACHINE_ROOM and not group.rooms:
        raise PredictError("Machine rooms are in the strategy's configuration: name them with --rooms.")
    if missing := [member for member in leaving if member not in group.members]:
        raise PredictError(f"{missing[0]} is no member: the members are {', '.join(group.members)}.")
    shares = _shares(group)
    owners = _owners(shares)
    named = [(member, True) for member in joining] + [(member, False) for member in leaving]
    changes = named or [(member, False) for member in dict.fromkeys(group.members)]
    counted = Counter(group.members)
    return AllocationPrediction(
        group=group,
        shares=shares,
        unowned=tuple(queue for queue in group.queues if queue not in owners),
        shared=tuple(queue for queue in group.queues if len(owners.get(queue, ())) > 1),
        equal=tuple(member for member, count in counted.items() if count > 1),
        moves=tuple(_move(group, shares, member, joins) for member, joins in changes),
        others=_others(group, shares),
    )


def _move(group: GroupMembers, before: tuple[Share, ...], member: str, joins: bool) -> Move:
    left = list(group.members)
    if joins:
        left.append(member)
    else:
        left.remove(member)
    after = _shares(replace(group, members=tuple(left)))
    old, new = _named_owners(before), _named_owners(after)
    moved = tuple(queue for queue in group.queues if old.get(queue) != new.get(queue))
    return Move(member=member, joins=joins, moved=moved, after=after)


def _others(group: GroupMembers, shares: tuple[Share, ...]) -> tuple[tuple[str, str], ...]:
    def alike(release: Release) -> str:
        if group.strategy == CONSISTENT_HASH and not HASHES.on(release):
            return "has no such strategy"
        return "the same" if _shares(replace(group, client=release)) == shares else "otherwise"

    return grouped(RELEASES, alike)


def _shares(group: GroupMembers) -> tuple[Share, ...]:
    """The share of every member, topic by topic, as each of them computes it."""
    model = AllocationModel(Profile(client=min(group.client, KNOWN)))
    ids = sort_ids(group.members)
    topics: dict[str, list[Queue]] = {}
    for queue in group.queues:
        topics.setdefault(queue[0], []).append(queue)
    found = []
    for member in ids:
        mine: list[Queue] = []
        error = ""
        for queues in topics.values():
            ordered = sort_queues(tuple(queues))
            assert ordered is not None  # real queue ids are never so far apart
            given = _allocated(model, group, member, ordered, ids)
            if isinstance(given, Err):
                error = given.code
            elif isinstance(given, tuple):
                mine += [queue for queue in queues if queue in given]
        found.append(Share(member=member, queues=tuple(mine), error=error))
    return tuple(found)


def _allocated(model: AllocationModel, group: GroupMembers, me: str, queues: Queues, members: Members) -> Expected:
    match group.strategy:
        case "AVG_BY_CIRCLE":
            return model.by_circle(None, me, queues, members)[1]
        case "CONSISTENT_HASH":
            return model.by_consistent_hash(None, me, queues, members, NODES)[1]
        case "MACHINE_ROOM":
            return model.by_machine_room(None, me, queues, members, group.rooms)[1]
    return model.averagely(None, me, queues, members)[1]


def _owners(shares: Sequence[Share]) -> Owners:
    """The processes that have each queue, by their number."""
    found: Owners = {}
    for number, share in enumerate(shares):
        for queue in share.queues:
            found[queue] = (*found.get(queue, ()), number)
    return found


def _named_owners(shares: Sequence[Share]) -> dict[Queue, tuple[str, ...]]:
    return {queue: tuple(shares[number].member for number in numbers) for queue, numbers in _owners(shares).items()}
