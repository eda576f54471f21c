"""A topology: the topics and queues of a cluster's brokers, and the group whose members consume them.

Models name a queue by its *key*, its position in ``Topology.queues``, and a member by its number. One state of a broker
stands for the whole cluster: there a queue is (topic, number), and the number is its id unless two brokers have a queue
of the topic with the same id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.message_queue import MessageQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Who is where. Names that are "" and tuples that are empty stand for what the topology does not have."""

    name: str
    #: The group that is judged, and one of another consumer on the same client instance; both have the same members.
    group: str
    other_group: str = ""
    #: The topics that members subscribe to at first, and one that they subscribe to only when a plan says so.
    topic: str
    other_topic: str = ""
    next_topic: str = ""
    #: The queues by key.
    queues: tuple[MessageQueue, ...]
    #: Keys of queues whose broker has no address, and of those whose first messages have expired at first.
    unrouted: frozenset[int] = frozenset()
    expired: frozenset[int] = frozenset()
    #: Client ids of the members of a stepped group, and instance names of those of a whole one, by number.
    clients: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    #: Keys of the queues that the strategy CONFIG gives to every member.
    configured: tuple[int, ...] = ()
    #: The rooms that MACHINE_ROOM allows, and those of queues, to MACHINE_ROOM_NEARBY: of even ids and of odd ones.
    allowed_rooms: tuple[str, ...] = ()
    queue_rooms: tuple[str, str] = ("", "")

    #: The group's retry topic.
    retry_topic: str = field(init=False, repr=False, compare=False)
    #: The topic of each queue, its place in the state of the cluster, and the key of the group's stored offset.
    topic_of: tuple[str, ...] = field(init=False, repr=False, compare=False)
    places: tuple[tuple[str, int], ...] = field(init=False, repr=False, compare=False)
    stored_keys: tuple[tuple[str, str, int], ...] = field(init=False, repr=False, compare=False)
    #: The names of the brokers that have an address, in the order of their queues' keys.
    brokers: tuple[str, ...] = field(init=False, repr=False, compare=False)
    #: The queues of every topic that has a route, in the order of their numbers.
    topic_queues: Mapping[str, tuple[int, ...]] = field(init=False, repr=False, compare=False)
    #: How many queues each of the topics has that members of a cluster subscribe to.
    routes: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        retry_topic = RETRY + self.group
        topic_of = tuple(queue.topic for queue in self.queues)
        keys: dict[str, list[int]] = {}
        for at, topic in enumerate(topic_of):
            keys.setdefault(topic, []).append(at)
        routed = {topic: tuple(every) for topic, every in keys.items() if not self.unrouted.intersection(every)}
        numbers = {
            at: number for every in keys.values() for at, number in zip(every, self._numbers(every), strict=True)
        }
        places = tuple((topic, numbers[at]) for at, topic in enumerate(topic_of))
        known = (self.topic, self.other_topic, retry_topic)
        addressed = (queue.broker for at, queue in enumerate(self.queues) if at not in self.unrouted)
        for name, value in (
            ("retry_topic", retry_topic),
            ("topic_of", topic_of),
            ("places", places),
            ("stored_keys", tuple((self.group, topic, number) for topic, number in places)),
            ("brokers", tuple(dict.fromkeys(addressed))),
            ("topic_queues", routed),
            ("routes", {topic: len(routed[topic]) for topic in known if topic in routed}),
        ):
            object.__setattr__(self, name, value)

    def _numbers(self, keys: list[int]) -> tuple[int, ...]:
        """The numbers of a topic's queues."""
        ids = tuple(self.queues[at].id for at in keys)
        return ids if len({*ids}) == len(ids) else tuple(range(len(ids)))

    def pop_retry_topic(self, topic: str) -> str:
        """The retry topic of a topic's popped messages."""
        return f"{self.retry_topic}_{topic}"

    def key(self, topic: str, broker: str, number: int) -> int:
        """The key of a queue by its broker's name and its id there; ValueError when there is none."""
        return self.queues.index(MessageQueue(topic, broker, number))
