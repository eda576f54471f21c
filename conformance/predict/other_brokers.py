"""A group as brokers of another release show it, in its present state.

A queue is taken along as it is: what its broker is known to have in memory stays so, its messages stay what they are,
and the broker is started once, with its default configuration.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.conformance.predict.facts import BrokerFacts, GroupFacts, QueueFacts
from rocketmq_conformance.conformance.predict.model_state import broker_profile, is_hot, model_queue
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.search import search
from rocketmq_conformance.models.release import Release

#: From Java 14 on a broker takes every message to be in memory (BQ-MEM-2).
JAVA = 17


def on_release(facts: GroupFacts, release: Release, java: int) -> GroupFacts:
    """The same group after its brokers became those of a release."""
    brokers = {broker.name: broker for broker in facts.brokers}
    return replace(
        facts,
        brokers=tuple(_broker(broker, release) for broker in facts.brokers),
        queues=tuple(_taken_along(facts, brokers[queue.broker], queue, release, java) for queue in facts.queues),
    )


def _broker(broker: BrokerFacts, release: Release) -> BrokerFacts:
    same = Release.parse(broker.release) == release
    return broker if same else replace(broker, release=str(release), configuration={})


def _taken_along(facts: GroupFacts, broker: BrokerFacts, queue: QueueFacts, release: Release, java: int) -> QueueFacts:
    """A queue as a broker of a release shows it to the group."""
    if Release.parse(broker.release) == release:
        return queue
    mapped, key = model_queue(queue), (facts.group, queue.topic, queue.queue)
    before = BrokerRules.of(broker_profile(broker))
    after = BrokerRules.of(broker_profile(_broker(broker, release), java=java))
    hot = is_hot(before, mapped, key, facts.time)
    if hot is None:
        return queue
    _, topic, number = key
    state = mapped.broker(key, facts.time, hot)
    log = reopened(after, state.logs[topic, number])
    answer = query_offset(after, state._replace(logs={(topic, number): log}), *key)[1]
    found = queue.found
    if found is not None and not log.times:
        # with no message left a search leads to min, which the new broker determined again
        empty = state._replace(logs={(topic, number): log})
        found = mapped.offset(int(str(search(after, empty, topic, number, facts.time or 0)[1])))
    elif before.boundary_search != after.boundary_search:
        found = None  # a search that goes by other rules may find a neighbour
    return replace(
        queue,
        min=mapped.offset(log.min),
        answer=mapped.offset(answer) if isinstance(answer, int) else None,
        found=found,
    )
