"""Which messages a client can read, and what becomes of those around one that it cannot (WHOLE-MSG-*)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.message_forms import (
    BATCH,
    BIG,
    BROKEN,
    LONG_HOSTS,
    LONG_NAME,
    LZ4,
    OLD_ZLIB,
    PROPERTIES,
    UNKNOWN,
    ZLIB,
    ZSTD,
)

#: The forms of messages that no client can read.
UNREADABLE = frozenset({BROKEN, UNKNOWN})
#: The rule about each form.
RULE_OF: Mapping[str, str] = {
    **dict.fromkeys((OLD_ZLIB, PROPERTIES, BIG), "WHOLE-MSG-READ"),
    **dict.fromkeys((LZ4, ZSTD, ZLIB), "WHOLE-MSG-TYPE"),
    BATCH: "WHOLE-MSG-BATCH",
    LONG_HOSTS: "WHOLE-MSG-HOSTS",
    LONG_NAME: "WHOLE-MSG-NAME",
    **dict.fromkeys(UNREADABLE, "WHOLE-MSG-BAD"),
}


def readable(
    client: ClientRules, forms: Mapping[tuple[int, int], str], queue: int, first: int, end: int
) -> Iterator[tuple[int, int, int]]:
    """What is given of an answer with the messages of a queue from one offset up to another: (queue, first offset,
    messages) each."""
    at = first
    for number, offset in sorted(forms):
        if number == queue and first <= offset < end and forms[number, offset] in UNREADABLE:
            if offset > at:
                yield queue, at, offset - at
            at = end if client.passes_over_rest else offset + 1
            if at == end:
                return
    yield queue, at, end - at
