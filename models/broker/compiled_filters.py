"""What a broker compiles of the subscriptions in heartbeats that are in another language than tags (BQ-HB-FILTER).

It is kept beside the subscriptions, by group and topic, and the two can differ: a subscription goes when its group has
no member any more, and what was compiled stays.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.property_filter import compiled
from rocketmq_conformance.models.broker.subscription import SQL92, RegisteredSubscription, names_tags
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "BQ-HB-FILTER",
        "What a heartbeat subscribes to by another language than tags is compiled, whether or not the broker answers "
        "such expressions, and kept by group and topic: the first expression that can be compiled, then only one of a "
        "greater version. A newer one that cannot be compiled removes it, an empty one changes nothing, and from 5.5.1 "
        "one for a topic that the broker does not have changes nothing, too. It outlives the members, the group and "
        "the topic.",
        "ConsumerFilterManager#register @ 4.1.0, 4.9.7, 5.5.0, 5.5.1; "
        "ConsumerFilterManager.FilterDataMapByTopic#register @ 4.1.0, 4.9.7, 5.5.0; "
        "DefaultConsumerIdsChangeListener#handle @ 4.1.0, 4.9.7, 5.5.0",
        releases="4.1.0+",
    ),
    Rule(
        "BQ-FILTER-STOP",
        "A broker that was stopped has what it compiled when it starts again; 5.5.1 has none of it, unless "
        "enableCalcFilterBitMap is on. So a group that comes back with an older expression is filtered by the newer "
        "one that it had before, and by 5.5.1 with its own.",
        "ConsumerFilterManager#decode @ 4.1.0, 4.9.7, 5.5.0, 5.5.1; ConsumerFilterManager#register @ 5.5.0, 5.5.1",
        releases="4.1.0+",
    ),
)


class CompiledFilter(NamedTuple):
    """An expression that was compiled, and the version of the subscription that brought it."""

    expression: str
    version: int


#: By (group, topic). Never changed in place.
Filters = Mapping[tuple[str, str], CompiledFilter]
NO_FILTERS: Filters = MappingProxyType({})


def restarted(rules: BrokerRules, filters: Filters) -> Filters:
    """BQ-FILTER-STOP: the filters after a stop and a start."""
    return NO_FILTERS if rules.filters_forgotten else filters


def compile_subscriptions(
    rules: BrokerRules,
    filters: Filters,
    group: str,
    subscriptions: Mapping[str, RegisteredSubscription],
    topics: Container[str],
) -> tuple[Filters, tuple[str, ...]]:
    """The filters after a heartbeat, and what became of each expression, by topic. ``topics`` are the broker's."""
    after = dict(filters)
    kinds = tuple(_compile(rules, after, group, subscriptions, topics))
    return (after if kinds else filters), kinds


def _compile(
    rules: BrokerRules,
    filters: dict[tuple[str, str], CompiledFilter],
    group: str,
    subscriptions: Mapping[str, RegisteredSubscription],
    topics: Container[str],
) -> Iterator[str]:
    for topic, subscribed in sorted(subscriptions.items()):
        if names_tags(rules, subscribed.kind):
            continue
        key, old = (group, topic), filters.get((group, topic))
        if not subscribed.text:
            yield "empty expression"
        elif rules.known_topics_compiled and topic not in topics:
            yield "unknown topic"
        elif old is not None and subscribed.version <= old.version:
            yield "older expression kept"
        elif subscribed.kind == SQL92 and compiled(subscribed.text) is not None:
            filters[key] = CompiledFilter(subscribed.text, subscribed.version)
            yield "compiled" if old is None else "newer one compiled"
        else:
            filters.pop(key, None)
            yield "not compiled" if old is None else "newer one not compiled"
