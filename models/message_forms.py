"""The forms of messages: their names, and the bodies and keys that their producers sent."""

from __future__ import annotations

from collections.abc import Mapping

OLD_ZLIB, ZLIB, LZ4, ZSTD = "zlib without a type", "zlib", "LZ4", "zstd"
BATCH, LONG_HOSTS, LONG_NAME = "batch", "IPv6 hosts", "long name"
PROPERTIES, BIG = "properties", "big"
#: Forms that no client can read: a body that is not what its flag says, and a number that stands for no compression.
BROKEN, UNKNOWN = "broken", "unknown compression"
#: How many messages a batch has.
BATCHED = 2
#: The bodies, no two of which have the same length.
BODIES: Mapping[str, bytes] = {
    OLD_ZLIB: b"zlib " * 20,
    ZLIB: b"zlib " * 30,
    LZ4: b"lz4 " * 16,
    ZSTD: b"a compressed body",
    BATCH: b"one of two",
    LONG_HOSTS: b"from afar",
    LONG_NAME: b"by its long name",
    PROPERTIES: b"with properties",
    BIG: b"b" * 300_000,
    BROKEN: b"this is no compressed body",
    UNKNOWN: b"compressed in an unknown way",
}
#: The keys of those that have any.
KEYS: Mapping[str, str] = {PROPERTIES: "one two"}


def offsets_of(form: str) -> int:
    """How many offsets of its queue a message of a form takes."""
    return BATCHED if form == BATCH else 1
