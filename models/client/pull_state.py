"""The state of a pull loop: where each pull request is, and the messages in its process queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.pull_request import KnownBroker
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.subscription import Subscription
from rocketmq_conformance.models.client.topology import Topology

Item = TypeVar("Item")

#: Limits of a queue's cache in these cases: messages, MiB, and the distance of the offsets.
MAX_MESSAGES, MAX_MIB, MAX_SPAN = 3, 0, 8
#: The messages at this offset are this large, in bytes; all others are small.
LARGE, LARGE_BYTES = 14, 1 << 20
#: Queues that the consumer owns when a case begins, and where they begin.
INITIALLY_OWNED, FIRST_OFFSET = (0, 1, 2), 5

TaggedOffset = tuple[int, str]
Commits = tuple[tuple[int, int], ...]


class PullRequest(NamedTuple):
    """A pull request and its process queue."""

    queue: int
    #: The offset that the next pull asks for.
    next: int
    #: Offsets of messages that the listener is not done with, sorted.
    cached: tuple[int, ...] = ()
    #: Offset of the message that was cached last.
    last: int = -1
    dropped: bool = False


class PullSettings(NamedTuple):
    """The settings of the consumer."""

    running: bool = True
    paused: bool = False
    #: Is the expression sent with each pull?
    posts: bool = False
    #: Ms between a pull that found messages and the next.
    interval: int = 0


class PullState(NamedTuple):
    """A consumer, and the broker's record of its offsets. Requests are given by number, in the order of their making;
    places hold them in the order of their arrival."""

    store: RemoteStore
    broker: KnownBroker
    settings: PullSettings
    subscriptions: Mapping[str, Subscription]
    requests: Mapping[int, PullRequest]
    #: The request of each owned queue.
    table: Mapping[int, int]
    ready: tuple[int, ...] = ()
    #: With the tags of the subscription at the time of the pull.
    in_flight: tuple[tuple[int, frozenset[str]], ...] = ()
    #: With the kind of timer: is it a correction?
    timers: tuple[tuple[int, bool], ...] = ()


def initial_state(topology: Topology) -> PullState:
    """The initial state: a consumer that has just gained its queues, and wants everything."""
    return PullState(
        RemoteStore(broker=initial_broker(topology)),
        KnownBroker(),
        PullSettings(),
        MappingProxyType(dict.fromkeys((topology.topic, topology.other_topic), Subscription())),
        {number: PullRequest(queue, FIRST_OFFSET) for number, queue in enumerate(INITIALLY_OWNED)},
        {queue: number for number, queue in enumerate(INITIALLY_OWNED)},
        ready=tuple(range(len(INITIALLY_OWNED))),
    )


def position_of(items: Sequence[Item], place: int) -> int:
    """The position that a plan means by a place: it counts from the front again when there are fewer items."""
    return place % len(items)


def without_item(items: tuple[Item, ...], position: int) -> tuple[Item, ...]:
    """The items of a place after one of them has left."""
    return (*items[:position], *items[position + 1 :])


class ArrivedAnswer(NamedTuple):
    """An answer, matched with its request."""

    number: int
    #: The tags of the subscription at the time of the pull.
    tags: frozenset[str]
    request: PullRequest
    #: The pulls that are still under way.
    in_flight: tuple[tuple[int, frozenset[str]], ...]


def take_answer(state: PullState, place: int) -> ArrivedAnswer | None:
    """The answer to one of the pulls under way arrives; None when there is none."""
    if not state.in_flight:
        return None
    position = position_of(state.in_flight, place)
    number, tags = state.in_flight[position]
    return ArrivedAnswer(number, tags, state.requests[number], without_item(state.in_flight, position))


def with_suggestion(broker: KnownBroker, queue: int, node: int) -> KnownBroker:
    """The broker after an answer has suggested a node for a queue."""
    if broker.suggested.get(queue) == node:
        return broker
    return broker._replace(suggested={**broker.suggested, queue: node})
