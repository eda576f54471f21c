"""Messages as producers send them, and brokers store them: compressed, batched, with long hosts and names.

The compressed bodies are those that the Java client 5.5.0 makes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.remoting.message import (
    BATCH,
    COMPRESSED,
    UNWRAPPED,
    Message,
    format_properties,
    join_batch,
)
from rocketmq_conformance.models import message_forms as forms

#: Bits of the system flag: how a body is compressed.
LZ4, ZSTD, ZLIB, UNKNOWN = (number << 8 for number in (1, 2, 3, 5))
_LZ4_BODY = bytes.fromhex("04224d186070730e0000004f6c7a342004002450206c7a342000000000")
_ZSTD_BODY = bytes.fromhex("28b52ffd00588800006120636f6d7072657373656420626f6479010000")
#: System flag and stored body of each form that has others than plain ones.
_BODIES: Mapping[str, tuple[int, bytes]] = {
    forms.OLD_ZLIB: (COMPRESSED, zlib.compress(forms.BODIES[forms.OLD_ZLIB])),
    forms.ZLIB: (COMPRESSED | ZLIB, zlib.compress(forms.BODIES[forms.ZLIB])),
    forms.LZ4: (COMPRESSED | LZ4, _LZ4_BODY),
    forms.ZSTD: (COMPRESSED | ZSTD, _ZSTD_BODY),
    forms.BROKEN: (COMPRESSED, forms.BODIES[forms.BROKEN]),
    forms.UNKNOWN: (COMPRESSED | UNKNOWN, forms.BODIES[forms.UNKNOWN]),
    forms.BATCH: (UNWRAPPED | BATCH, join_batch((0, forms.BODIES[forms.BATCH], "") for _ in range(forms.BATCHED))),
}
#: A host with a long address.
_LONG_HOST = "[2001:db8::1]:10911"


def between_plain(form: str, topic: str, queue: int) -> list[Message | None]:
    """A plain message, what is stored at each offset that a message of a form takes (itself, and then None), and
    another plain one."""
    sys_flag, body = _BODIES.get(form, (0, forms.BODIES[form]))
    keys = forms.KEYS.get(form, "")
    host = _LONG_HOST if form == forms.LONG_HOSTS else "127.0.0.1:0"
    plain = Message(topic=topic, queue=queue, offset=0, physical=0, body=b"x")
    message = replace(
        plain,
        body=body,
        properties=format_properties({"KEYS": keys, "colour": "grün", "empty": ""} if keys else {}),
        sys_flag=sys_flag,
        born_host=host,
        store_host=host,
        long_name=form == forms.LONG_NAME,
    )
    return [plain, message, *[None] * (forms.offsets_of(form) - 1), plain]
