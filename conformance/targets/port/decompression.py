"""Bodies that LZ4 and zstd have compressed.

Of zstd's frames it reads those whose blocks are kept as they are or repeat one byte, as those of short bodies do:
Python has no more of it before 3.14. Sizes and checksums in frames are not looked at.
"""

from __future__ import annotations

_LZ4, _ZSTD = b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd"
#: Bytes of a zstd frame's size and dictionary, by their flags.
_SIZES, _DICTIONARIES = (0, 2, 4, 8), (0, 1, 2, 4)
_RAW, _REPEATED = 0, 1


def lz4(data: bytes) -> bytes:
    """What is in an LZ4 frame; ValueError for anything else."""
    if data[:4] != _LZ4 or len(data) < 7:
        raise ValueError("no LZ4 frame")
    flags = data[4]
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    found = bytearray()
    while size := int.from_bytes(_part(data, at, 4), "little"):
        block = _part(data, at + 4, size & 0x7FFF_FFFF)
        if size >> 31:
            found += block
        else:
            _unpack(block, found)
        at += 4 + len(block) + (4 if flags & 16 else 0)
    return bytes(found)


def _unpack(block: bytes, found: bytearray) -> None:
    """Add what is in a compressed block of LZ4: runs of bytes, each followed by a repetition."""
    at = 0
    while True:
        token, at = _part(block, at, 1)[0], at + 1
        size, at = _length(block, at, token >> 4)
        found += _part(block, at, size)
        at += size
        if at == len(block):
            return
        back, at = int.from_bytes(_part(block, at, 2), "little"), at + 2
        size, at = _length(block, at, token & 15)
        if not 0 < back <= len(found):
            raise ValueError("an LZ4 block repeats what is not there")
        for _ in range(size + 4):
            found.append(found[-back])


def _length(block: bytes, at: int, size: int) -> tuple[int, int]:
    """A length, of which a token has the first four bits, and where what follows it begins."""
    more = size == 15
    while more:
        byte, at = _part(block, at, 1)[0], at + 1
        size, more = size + byte, byte == 255
    return size, at


def zstd(data: bytes) -> bytes:
    """What is in a zstd frame; ValueError for anything else, and for blocks that are compressed."""
    if data[:4] != _ZSTD:
        raise ValueError("no zstd frame")
    flags = _part(data, 4, 1)[0]
    single = flags >> 5 & 1
    at = 5 + (1 - single) + _DICTIONARIES[flags & 3] + (_SIZES[flags >> 6] or single)
    found, last = bytearray(), False
    while not last:
        head = int.from_bytes(_part(data, at, 3), "little")
        last, kind, size = bool(head & 1), head >> 1 & 3, head >> 3
        block = _part(data, at + 3, 1 if kind == _REPEATED else size)
        if kind not in (_RAW, _REPEATED):
            raise ValueError("a zstd block that is compressed")
        found += block * (size if kind == _REPEATED else 1)
        at += 3 + len(block)
    return bytes(found)


def _part(data: bytes, at: int, size: int) -> bytes:
    """So many bytes from a place on; ValueError when they are not there."""
    found = data[at : at + size]
    if len(found) < size:
        raise ValueError("a compressed body ends too early")
    return found
