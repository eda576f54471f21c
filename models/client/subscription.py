"""Subscriptions: the messages of a topic that a consumer wants, and their form in requests (PULL-SUB-*).

A tag expression names tags between ``||``; ``*`` and the empty one want everything. The broker filters by the hash
codes of tags, so the consumer filters again, by the tags themselves. Only the broker evaluates SQL92 expressions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rocketmq_conformance.models.rule import Rule, reasons_by_kind

RULES = (
    Rule(
        "PULL-SUB-1",
        "A tag expression is divided at ||, and its parts trimmed; * and the empty expression want every message, and "
        "so does one whose parts are all blank; one without parts is refused and changes nothing.",
        "FilterAPI#buildSubscriptionData @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-SUB-2",
        "An SQL92 expression must not be empty; the consumer itself filters nothing then.",
        "FilterAPI#build @ 4.1.0, 4.9.8, 5.3.3",
        releases="4.1.0+",
    ),
)

TAG, SQL92 = "TAG", "SQL92"
EVERYTHING = "*"


class Subscription(NamedTuple):
    """The subscription of a consumer to a topic."""

    #: The expression, as a pull carries it if it carries one.
    text: str = EVERYTHING
    kind: str = TAG
    #: The tags by which the consumer filters; none: everything passes.
    tags: frozenset[str] = frozenset()


SUBSCRIBE_REASONS = reasons_by_kind(
    ("PULL-SUB-1",), "everything", "tags", "blank parts", "refused", "unsubscribed", "not subscribed"
)
SELECT_REASONS = reasons_by_kind(("PULL-SUB-2",), "selected", "refused")


@lru_cache(maxsize=256)
def by_tags(expression: str) -> Subscription | None:
    """PULL-SUB-1; None when the expression is refused."""
    if expression in ("", EVERYTHING):
        return Subscription()
    parts = expression.split("||")
    while parts and not parts[-1]:
        parts.pop()  # Java's split leaves out empty parts at the end
    if not parts:
        return None
    return Subscription(expression, TAG, frozenset(part.strip(" ") for part in parts) - {""})


def by_sql(expression: str) -> Subscription | None:
    """PULL-SUB-2; None when the expression is refused."""
    return Subscription(expression, SQL92) if expression else None
