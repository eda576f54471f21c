"""A queue as the models hold it: the offsets that matter become neighbours.

The models keep a store time for each message, and a queue may have billions of them. Their answers about starts, resets
and pulls depend on the order of a few offsets only: 0, min, max, what is stored, and what a search found. So these are
numbered from 0, in their order; the models work with the numbers, and their answers are turned back into offsets.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from rocketmq_conformance.conformance.predict.facts import BrokerFacts, GroupFacts, QueueFacts
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import NEWEST, Release

#: The key of a stored offset: group, topic and number of a queue.
StoredKey = tuple[str, str, int]
#: A Java on which brokers see what is in memory: whether they do is what they were observed to answer.
JAVA_SHOWING_PAGES = 11


@dataclass(frozen=True, slots=True)
class ModelQueue:
    """A queue in the numbers of the models."""

    facts: QueueFacts
    #: The offsets by their number.
    offsets: tuple[int, ...]

    def number(self, offset: int) -> int:
        """The number of an offset that matters."""
        return bisect_left(self.offsets, offset)

    def offset(self, number: int) -> int:
        """The offset of a number; a negative one is its own."""
        return number if number < 0 else self.offsets[number]

    def log(self, time: int | None, hot: bool) -> QueueLog:
        """The queue's log. A search for ``time`` (ms since the epoch) finds what it was observed to find."""
        facts = self.facts
        begin, end = self.number(facts.oldest), self.number(facts.max)
        found = end if facts.found is None else self.number(facts.found)
        at = time or 0
        times = tuple(at + (number > found) - (number < found) for number in range(begin, end))
        return QueueLog(self.number(facts.min), begin, times, hot)

    def broker(self, key: StoredKey, time: int | None, hot: bool) -> BrokerState:
        """A broker that has this queue, and what the group stored of it by this key."""
        group, topic, number = key
        return BrokerState(
            topics={topic: Topic.of(number + 1)},
            groups=frozenset({group}),
            logs={(topic, number): self.log(time, hot)},
            stored={} if self.facts.stored is None else {key: self.number(self.facts.stored)},
        )


def topology_of(facts: GroupFacts) -> Topology:
    """The queues of a group as the models know them, in their order."""
    return Topology(
        name=facts.group,
        group=facts.group,
        topic=facts.queues[0].topic,
        queues=tuple(MessageQueue(queue.topic, queue.broker, queue.queue) for queue in facts.queues),
    )


def model_queue(facts: QueueFacts) -> ModelQueue:
    """A queue of a group's topic."""
    last = max(facts.max - 1, 0)
    maybe = (facts.stored, facts.answer, facts.found)
    known = {0, facts.min, last, facts.max, *(offset for offset in maybe if offset is not None)}
    offsets = tuple(sorted(offset for offset in known if offset >= 0))
    return ModelQueue(facts, offsets)


def broker_profile(broker: BrokerFacts, client: Release = NEWEST, java: int = JAVA_SHOWING_PAGES) -> Profile:
    """The profile of a client with a broker."""
    profile = Profile(client, Release.parse(broker.release), java)
    known = {name: value for name, value in broker.configuration.items() if name in SETTINGS}
    return profile.configured(known).judged()


def is_hot(rules: BrokerRules, queue: ModelQueue, key: StoredKey, time: int | None) -> bool | None:
    """Does the broker take message 0 to be in memory? That follows from what it answers to the group; None when no
    belief of the broker explains its answer."""
    for hot in (True, False):
        answer = query_offset(rules, queue.broker(key, time, hot), *key)[1]
        offset = None if isinstance(answer, Err) else answer
        if (offset if offset is None else queue.offset(int(str(offset)))) == queue.facts.answer:
            return hot
    return None
