"""Frames of the remoting protocol (WIRE-FRAME-*, WIRE-HDR-*, WIRE-BIN-1).

A frame is ``int32 total | int32 kind and header length | header | body``, big endian; ``total`` counts what
follows it. The top byte of the second number says how the header is written: 0 is JSON, 1 is RocketMQ's own
binary form.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from struct import Struct
from typing import Any

from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import LANGUAGES

#: Longest frame (bytes after the length) that RocketMQ takes, ``com.rocketmq.remoting.frameMaxLength``.
MAX_FRAME = 16 * 1024 * 1024
#: Bits of the flag (WIRE-FRAME-2).
RESPONSE, ONE_WAY = 1, 2
#: Ordinal of V4_9_8: new enough to be given routes in standard JSON (401), old enough (up to 441) never to be
#: sent away by a broker that shuts down (WIRE-VER-1).
VERSION = 409

_JSON, _BINARY = 0, 1
_LENGTH = Struct(">i")
_LENGTHS = Struct(">iI")
_KIND = Struct(">I")
#: code, language, version, opaque, flag, length of the remark
_FIXED = Struct(">hBhiii")
_SHORT = Struct(">h")
_INT = Struct(">i")
_LANGUAGE_BYTE = {name: at for at, name in enumerate(LANGUAGES)}
_OTHER = LANGUAGES.index("OTHER")
#: RocketMQ's parsers also take a number that is written as text.
_DIGITS = re.compile(r"-?[0-9]{1,10}")
_text = json.JSONEncoder(separators=(",", ":")).encode


class MalformedFrame(ValueError):  # noqa: N818 (the name says what it is)
    """Bytes that are no frame; the text is one sentence. The connection that sent them cannot be read any more."""


@dataclass(slots=True)
class Command:
    """One request or response.

    ``flag`` has the bits ``RESPONSE`` and ``ONE_WAY``; ``opaque`` pairs a response with its request; ``binary``
    says which form the header had or shall have.
    """

    code: int
    ext: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    opaque: int = 0
    flag: int = 0
    language: str = "PYTHON"
    version: int = VERSION
    remark: str = ""
    binary: bool = False

    @property
    def is_response(self) -> bool:
        """Is it a response, rather than a request?"""
        return bool(self.flag & RESPONSE)

    @property
    def is_one_way(self) -> bool:
        """Does the sender expect no response?"""
        return bool(self.flag & ONE_WAY)


def fields(**values: str | int | bool | None) -> dict[str, str]:
    """Header fields as RocketMQ writes them: all text, booleans in lower case, None left out (WIRE-HDR-2)."""
    return {
        name: value if isinstance(value, str) else str(value).lower()
        for name, value in values.items()
        if value is not None
    }


# --- writing --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _head(code: int, flag: int, language: str, version: int, remark: str) -> str:
    """All of a JSON header that does not change from one frame to the next, up to the opaque."""
    remark_part = f'"remark":{_text(remark)},' if remark else ""
    return (
        f'{{"code":{code},"flag":{flag},"language":{_text(language)},"version":{version},{remark_part}'
        f'"serializeTypeCurrentRPC":"JSON","opaque":'
    )


def encode(command: Command) -> bytes:
    """The whole frame, length included; raises MalformedFrame for what no frame can carry."""
    if command.binary:
        header, kind = _binary_header(command), _BINARY << 24
    else:
        head = _head(command.code, command.flag, command.language, command.version, command.remark)
        ext = f',"extFields":{_text(command.ext)}}}' if command.ext else "}"
        header, kind = f"{head}{command.opaque}{ext}".encode("ascii"), _JSON << 24
    body = command.body
    size = len(header)
    total = 4 + size + len(body)
    if total > MAX_FRAME:
        raise MalformedFrame(f"a frame of {total} bytes is longer than RocketMQ's limit of {MAX_FRAME}")
    return _LENGTHS.pack(total, kind | size) + header + body


def _binary_header(command: Command) -> bytes:
    remark = command.remark.encode()
    parts: list[bytes] = []
    for key, value in command.ext.items():
        name, text = key.encode(), value.encode()
        if len(name) > 32767:
            raise MalformedFrame("the name of a header field is longer than 32767 bytes")
        parts += (_SHORT.pack(len(name)), name, _INT.pack(len(text)), text)
    ext = b"".join(parts)
    language = _LANGUAGE_BYTE.get(command.language, _OTHER)
    try:
        fixed = _FIXED.pack(command.code, language, command.version, command.opaque, command.flag, len(remark))
    except struct.error:
        raise MalformedFrame(
            f"code {command.code}, version {command.version}, opaque {command.opaque} or flag {command.flag} "
            "does not fit a binary header"
        ) from None
    return b"".join((fixed, remark, _INT.pack(len(ext)), ext))


# --- reading --------------------------------------------------------------------------------------------------


def frame_length(four_bytes: bytes | bytearray) -> int:
    """How many bytes follow the length; raises MalformedFrame for a length that no frame has."""
    (total,) = _LENGTH.unpack_from(four_bytes)
    if not 4 <= total <= MAX_FRAME:
        raise MalformedFrame(f"a frame cannot be {total} bytes long; RocketMQ takes 4 to {MAX_FRAME}")
    return int(total)


def decode(payload: bytes | bytearray) -> Command:
    """The command in a frame, given without its length; raises MalformedFrame."""
    if len(payload) < 4:
        raise MalformedFrame(f"the frame has {len(payload)} bytes, too few for the length of its header")
    (word,) = _KIND.unpack_from(payload)
    kind, end = word >> 24, 4 + (word & 0xFFFFFF)
    if end > len(payload):
        raise MalformedFrame(f"the header claims {end - 4} bytes, but only {len(payload) - 4} follow")
    header, body = bytes(payload[4:end]), bytes(payload[end:])
    if kind == _JSON:
        return _decode_json(header, body)
    if kind == _BINARY:
        return _decode_binary(header, body)
    raise MalformedFrame(f"the header is of kind {kind}; RocketMQ knows 0 (JSON) and 1 (binary)")


def _decode_json(header: bytes, body: bytes) -> Command:
    try:
        found = java_json.loads(header.decode())
    except ValueError as error:
        raise MalformedFrame(f"the header is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise MalformedFrame("the header is JSON, but no object")
    ext = found.get("extFields")
    if ext is None:
        ext = {}
    elif not isinstance(ext, dict):
        raise MalformedFrame("extFields is no object")
    elif not all(type(value) is str for value in ext.values()):
        ext = {str(name): _field_text(value) for name, value in ext.items() if value is not None}
    remark = found.get("remark")
    return Command(
        _number(found, "code"),
        ext,
        body,
        _number(found, "opaque"),
        _number(found, "flag", 0),
        str(found.get("language") or "OTHER"),
        _number(found, "version", 0),
        "" if remark is None else str(remark),
    )


def _field_text(value: Any) -> str:
    """A header field as text; RocketMQ's parsers take numbers and booleans for their texts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _number(found: dict[Any, Any], name: str, default: int | None = None) -> int:
    value = found.get(name, default)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if type(value) is int and -0x8000_0000 <= value < 0x8000_0000:
        return value
    raise MalformedFrame(f"the header has no number {name!r} that fits 32 bits")


def _decode_binary(header: bytes, body: bytes) -> Command:
    try:
        code, language, version, opaque, flag, remark_size = _FIXED.unpack_from(header)
        remark, at = _bytes(header, _FIXED.size, remark_size)
        (ext_size,) = _INT.unpack_from(header, at)
        block, at = _bytes(header, at + 4, ext_size)
        if at != len(header):
            raise MalformedFrame(f"{len(header) - at} bytes follow the header fields")
        ext = _decode_fields(block)
        text = remark.decode()
    except struct.error:
        raise MalformedFrame("the binary header ends too early") from None
    except UnicodeDecodeError:
        raise MalformedFrame("a text of the binary header is not UTF-8") from None
    name = LANGUAGES[language] if language < len(LANGUAGES) else "OTHER"
    return Command(code, ext, body, opaque, flag, name, version, text, True)


def _decode_fields(block: bytes) -> dict[str, str]:
    ext: dict[str, str] = {}
    at = 0
    while at < len(block):
        (size,) = _SHORT.unpack_from(block, at)
        name, at = _bytes(block, at + 2, size)
        (size,) = _INT.unpack_from(block, at)
        value, at = _bytes(block, at + 4, size)
        ext[name.decode()] = value.decode()
    return ext


def _bytes(source: bytes, at: int, size: int) -> tuple[bytes, int]:
    end = at + size
    if size < 0 or end > len(source):
        raise MalformedFrame(f"a part of the binary header claims {size} bytes, which it does not have")
    return source[at:end], end
