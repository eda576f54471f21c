"""Properties of brokers that matter, and whose other values the models do not have: their rules are unsupported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_conformance.models.broker.configuration import SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A property that changes the answers of some rules, and no others, when it is off its default."""

    #: What it changes.
    effect: str
    #: The rules whose answers it changes.
    rules: tuple[str, ...]


LISTED: Mapping[str, Listed] = {
    "clearRetryTopicWhenDeleteTopic": Listed(
        effect="a topic that is deleted leaves the retry topics of groups that pop from it",
        rules=("BQ-TOPIC-POP", "BQ-STATS-QUEUES"),
    ),
    "enableCalcFilterBitMap": Listed(
        effect="a start finds the filters of SQL92 again, from 5.5.1",
        rules=("BQ-FILTER-STOP",),
    ),
    "enableFastChannelEventProcess": Listed(
        effect="a group that broadcasts is notified as well when one of its connections closes",
        rules=("BQ-HB-3",),
    ),
    "filterSupportRetry": Listed(
        effect="messages of retry topics pass by the subscription to their first topic",
        rules=("BQ-PULL-TAGS", "BQ-SQL-PASS"),
    ),
    "validateSystemTopicWhenUpdateTopic": Listed(
        effect="topics of RocketMQ's own may be created and deleted",
        rules=("BQ-NAME-SYSTEM",),
    ),
}

assert not LISTED.keys() & SETTINGS.keys()
