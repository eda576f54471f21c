"""Messages as a broker stores and hands them out (WIRE-MSG-1, WIRE-MSG-2)."""

from __future__ import annotations

import socket
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct

from rocketmq_conformance.conformance.remoting.host_port import host_port

#: Magic numbers: the topic's length has one byte (version 1) or two (version 2, from 5.1.0, for long names).
_V1, _V2 = -626843481, -626843477
#: The most bytes of a name that has one byte for its length.
_SHORT_NAME = 127
#: Bits of the system flag: the body is compressed, and a batch that is to be taken apart has both others.
COMPRESSED, UNWRAPPED, BATCH = 1, 1 << 6, 1 << 7
#: The host where the message was born, or stored, has 16 bytes.
_BORN_V6, _STORED_V6 = 1 << 4, 1 << 5

#: magic, checksum of the body, queue id, flag, queue offset, physical offset, system flag, time of birth
_HEAD = Struct(">iiiiqqiq")
#: Where the queue offset is, from the beginning of a message, which has its size before that.
_OFFSET, _OFFSET_AT = Struct(">q"), 20
_TIME = Struct(">q")
#: times consumed again, offset of the prepared transaction, length of the body
_MIDDLE = Struct(">iqi")
_INT, _SHORT = Struct(">i"), Struct(">h")
#: magic, checksum, flag of one message of a batch
_BATCHED = Struct(">iii")

_KEY_END, _VALUE_END = "\x01", "\x02"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One stored message. Times in ms since the epoch; hosts are ``ip:port``; ``properties`` as they travel."""

    topic: str
    queue: int
    #: Position in its queue, and in the broker's log (bytes).
    offset: int
    physical: int
    body: bytes
    properties: str = ""
    flag: int = 0
    sys_flag: int = 0
    born_time: int = 0
    born_host: str = "127.0.0.1:0"
    store_time: int = 0
    store_host: str = "127.0.0.1:0"
    reconsume_times: int = 0
    prepared: int = 0
    #: Is it stored as one with a long topic name, though its own is short?
    long_name: bool = False

    @property
    def tag(self) -> str | None:
        """The tag that consumers filter by."""
        return parse_properties(self.properties).get("TAGS")


def parse_properties(text: str) -> dict[str, str]:
    """Properties by name; a separator at the end is allowed."""
    pairs = (part.partition(_KEY_END) for part in text.split(_VALUE_END))
    return {name: value for name, separator, value in pairs if separator}


def format_properties(properties: dict[str, str]) -> str:
    """Properties as they travel."""
    return "".join(f"{name}{_KEY_END}{value}{_VALUE_END}" for name, value in properties.items())


def message_id(host: str, physical: int) -> str:
    """WIRE-MSG-2: address of the broker and physical offset, in hexadecimal."""
    return (_host(host) + _TIME.pack(physical)).hex().upper()


def _host(address: str) -> bytes:
    ip, port = host_port(address)
    return socket.inet_pton(socket.AF_INET6 if ":" in ip else socket.AF_INET, ip) + _INT.pack(port)


def encode(message: Message) -> bytes:
    """WIRE-MSG-1; raises ValueError for a name or properties that are too long."""
    topic, properties = message.topic.encode(), message.properties.encode()
    if len(properties) > 32767:
        raise ValueError(f"the properties have {len(properties)} bytes; RocketMQ stores 32767")
    born, stored = _host(message.born_host), _host(message.store_host)
    sys_flag = message.sys_flag & ~(_BORN_V6 | _STORED_V6)
    sys_flag |= (_BORN_V6 if len(born) > 8 else 0) | (_STORED_V6 if len(stored) > 8 else 0)
    long_name = message.long_name or len(topic) > _SHORT_NAME
    rest = b"".join(
        (
            _HEAD.pack(
                _V2 if long_name else _V1,
                zlib.crc32(message.body) & 0x7FFF_FFFF,
                message.queue,
                message.flag,
                message.offset,
                message.physical,
                sys_flag,
                message.born_time,
            ),
            born,
            _TIME.pack(message.store_time),
            stored,
            _MIDDLE.pack(message.reconsume_times, message.prepared, len(message.body)),
            message.body,
            _SHORT.pack(len(topic)) if long_name else bytes((len(topic),)),
            topic,
            _SHORT.pack(len(properties)),
            properties,
        )
    )
    return _INT.pack(4 + len(rest)) + rest


def first_offset(data: bytes) -> int | None:
    """The queue offset of the first message in the body of a pull's answer; None when there is none."""
    return int(_OFFSET.unpack_from(data, _OFFSET_AT)[0]) if len(data) >= _OFFSET_AT + _OFFSET.size else None


def decode_all(data: bytes) -> list[Message]:
    """The messages in the body of a pull's answer; raises ValueError with a sentence."""
    found: list[Message] = []
    at = 0
    while at < len(data):
        try:
            (size,) = _INT.unpack_from(data, at)
            if size < 4 + _HEAD.size or at + size > len(data):
                raise ValueError(f"a stored message claims {size} bytes, which are not there")
            found.append(_decode(data[at + 4 : at + size]))
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"the stored message at byte {at} cannot be read: {error}") from None
        at += size
    return found


def _decode(data: bytes) -> Message:
    magic, checksum, queue, flag, offset, physical, sys_flag, born_time = _HEAD.unpack_from(data)
    if magic not in {_V1, _V2}:
        raise ValueError(f"{magic} is not the magic number of a stored message")
    at = _HEAD.size
    born_host, at = _read_host(data, at, bool(sys_flag & _BORN_V6))
    (store_time,) = _TIME.unpack_from(data, at)
    store_host, at = _read_host(data, at + 8, bool(sys_flag & _STORED_V6))
    times, prepared, size = _MIDDLE.unpack_from(data, at)
    body, at = _read(data, at + _MIDDLE.size, size)
    if zlib.crc32(body) & 0x7FFF_FFFF != checksum:
        raise ValueError("the body of a stored message does not have its checksum")
    if magic == _V2:
        (size,) = _SHORT.unpack_from(data, at)
        at += 2
    else:
        size = data[at]
        at += 1
    topic, at = _read(data, at, size)
    (size,) = _SHORT.unpack_from(data, at)
    properties, at = _read(data, at + 2, size)
    return Message(
        topic=topic.decode(),
        queue=queue,
        offset=offset,
        physical=physical,
        body=body,
        properties=properties.decode(),
        flag=flag,
        sys_flag=sys_flag,
        born_time=born_time,
        born_host=born_host,
        store_time=store_time,
        store_host=store_host,
        reconsume_times=times,
        prepared=prepared,
        long_name=magic == _V2 and len(topic) <= _SHORT_NAME,
    )


def _read(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if size < 0 or at + size > len(data):
        raise ValueError(f"a part of a stored message claims {size} bytes, which are not there")
    return data[at : at + size], at + size


def _read_host(data: bytes, at: int, long: bool) -> tuple[str, int]:
    raw, at = _read(data, at, 16 if long else 4)
    ip = socket.inet_ntop(socket.AF_INET6 if long else socket.AF_INET, raw)
    (port,) = _INT.unpack_from(data, at)
    return f"[{ip}]:{port}" if long else f"{ip}:{port}", at + 4


def split_batch(body: bytes) -> list[tuple[int, bytes, str]]:
    """The messages of a batch that is sent as one: (flag, body, properties) each; raises ValueError."""
    found: list[tuple[int, bytes, str]] = []
    at = 0
    while at < len(body):
        try:
            (total,) = _INT.unpack_from(body, at)
            one, following = _read(body, at, total)
            _, _, flag = _BATCHED.unpack_from(one, 4)
            (size,) = _INT.unpack_from(one, 16)
            content, inner = _read(one, 20, size)
            (size,) = _SHORT.unpack_from(one, inner)
            properties, inner = _read(one, inner + 2, size)
            found.append((flag, content, properties.decode()))
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"the batched message at byte {at} cannot be read: {error}") from None
        at = following
    return found


def join_batch(messages: Iterable[tuple[int, bytes, str]]) -> bytes:
    """The body that sends messages, (flag, body, properties) each, as one batch."""
    parts = []
    for flag, body, text in messages:
        properties = text.encode()
        rest = _BATCHED.pack(0, 0, flag) + _INT.pack(len(body)) + body + _SHORT.pack(len(properties)) + properties
        parts.append(_INT.pack(4 + len(rest)) + rest)
    return b"".join(parts)
