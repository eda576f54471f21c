"""The pipe between a worker and its player: commands in one direction, frames in the other.

Frames are plain values (numbers, text, bytes, lists, dictionaries) in the interpreter's own packed form, behind their
length: both ends are the same Python.
"""

from __future__ import annotations

import marshal
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<I")
#: Case, address and heartbeats of a player, in memory shared with its worker: readable after the player died.
PLACE = struct.Struct("<qqq")
#: Its first two fields, and where the last one is.
CASE, BEATS, BEATS_AT = struct.Struct("<qq"), struct.Struct("<q"), 16


def send(out: BinaryIO, frame: Any) -> None:
    """Send a frame."""
    packed = marshal.dumps(frame)
    out.write(_LENGTH.pack(len(packed)) + packed)
    out.flush()


def receive(source: BinaryIO) -> Any:
    """The next frame; EOFError at the end."""
    head = _exactly(source, _LENGTH.size)
    return marshal.loads(_exactly(source, _LENGTH.unpack(head)[0]))


def _exactly(source: BinaryIO, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = source.read(size - len(found))
        if not more:
            raise EOFError("the other end is gone")
        found += more
    return found
