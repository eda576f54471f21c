"""Reads and writes the parts of Java class files that the adapter changes, so that no compiler is needed."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

#: Tags of constants.
UTF8, CLASS, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE = 1, 7, 9, 10, 11, 12
#: Bytes of a constant behind its tag; those of a text (UTF8) begin with their number.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
#: Tags of constants that count as two.
_WIDE = (5, 6)
#: Where the pool begins: behind magic and version.
_POOL = 8
#: Class files of Java 5: the last whose methods need no stack maps.
_VERSION = 49
#: Access flags.
PUBLIC, PROTECTED, STATIC, _SUPER = 0x1, 0x4, 0x8, 0x20


@dataclass(slots=True)
class Constants:
    """The constant pool of a class file; the first entry has number 1."""

    entries: list[bytes] = field(default_factory=list)

    def add(self, entry: bytes) -> int:
        """The number of an entry."""
        if entry not in self.entries:
            self.entries.append(entry)
        return self.entries.index(entry) + 1

    def text(self, value: str) -> int:
        """A text."""
        encoded = value.encode()
        return self.add(struct.pack(">BH", UTF8, len(encoded)) + encoded)

    def named(self, name: str) -> int:
        """A class."""
        return self.add(struct.pack(">BH", CLASS, self.text(name)))

    def member(self, tag: int, owner: str, name: str, kind: str) -> int:
        """A field (9), a method (10), or a method of an interface (11)."""
        return self.add(self.member_entry(tag, owner, name, kind))

    def member_entry(self, tag: int, owner: str, name: str, kind: str) -> bytes:
        """The entry of such a member, which is not added; what it refers to is."""
        pair = self.add(struct.pack(">BHH", NAME_AND_TYPE, self.text(name), self.text(kind)))
        return struct.pack(">BHH", tag, self.named(owner), pair)

    def find_method(self, owner: str, name: str, kind: str) -> int | None:
        """The number of a method of a class, None when it is not called."""
        for number, entry in enumerate(self.entries, 1):
            if entry[:1] == bytes([METHOD]):
                of, pair = struct.unpack_from(">HH", entry, 1)
                if self.text_at(self._refer(of, 0)) == owner:
                    parts = self._refer(pair, 0), self._refer(pair, 1)
                    if tuple(map(self.text_at, parts)) == (name, kind):
                        return number
        return None

    def text_at(self, number: int) -> str:
        """The text of a number."""
        return self.entries[number - 1][3:].decode(errors="replace")

    def _refer(self, number: int, place: int) -> int:
        refers: int = struct.unpack_from(">H", self.entries[number - 1], 1 + 2 * place)[0]
        return refers

    def written(self) -> bytes:
        """The pool as a class file has it, its length first."""
        return struct.pack(">H", len(self.entries) + 1) + b"".join(self.entries)


def pool_of(data: bytes) -> tuple[Constants, int]:
    """The constant pool of a class file, and where it ends."""
    (count,) = struct.unpack_from(">H", data, _POOL)
    at = _POOL + 2
    entries: list[bytes] = []
    while len(entries) < count - 1:
        tag = data[at]
        size = 2 + struct.unpack_from(">H", data, at + 1)[0] if tag == UTF8 else _SIZES[tag]
        entries.append(data[at : at + 1 + size])
        at += 1 + size
        if tag in _WIDE:
            entries.append(b"")
    return Constants(entries), at


def code_of_methods(data: bytes, pool: Constants, at: int) -> Iterator[tuple[int, int]]:
    """Where the code of each method begins, and how long it is; the pool ends at ``at``."""
    at += 6  # access, name, base
    at += 2 + 2 * _short(data, at)  # interfaces
    at = _after_members(data, at)
    methods = _short(data, at)
    at += 2
    for _ in range(methods):
        attributes = _short(data, at + 6)
        at += 8
        for _ in range(attributes):
            name, length = struct.unpack_from(">HI", data, at)
            if pool.text_at(name) == "Code":
                yield at + 14, struct.unpack_from(">I", data, at + 10)[0]
            at += 6 + length


def _short(data: bytes, at: int) -> int:
    number: int = struct.unpack_from(">H", data, at)[0]
    return number


def _after_members(data: bytes, at: int) -> int:
    """Where a list of fields ends."""
    members = _short(data, at)
    at += 2
    for _ in range(members):
        attributes = _short(data, at + 6)
        at += 8
        for _ in range(attributes):
            at += 6 + struct.unpack_from(">I", data, at + 2)[0]
    return at


def method(pool: Constants, access: int, name: str, kind: str, stack: int, slots: int, code: bytes) -> bytes:
    """A method without branches; ``stack`` and ``slots`` are the most values that it needs."""
    body = struct.pack(">HHI", stack, slots, len(code)) + code + struct.pack(">HH", 0, 0)
    head = struct.pack(">HHHH", access, pool.text(name), pool.text(kind), 1)
    return head + struct.pack(">HI", pool.text("Code"), len(body)) + body


def variable(pool: Constants, access: int, name: str, kind: str) -> bytes:
    """A field."""
    return struct.pack(">HHHH", access, pool.text(name), pool.text(kind), 0)


def class_of(pool: Constants, name: str, base: str, fields: Sequence[bytes], methods: Sequence[bytes]) -> bytes:
    """The class file of a public class, of the pool in which its members were written."""
    names = struct.pack(">HHHH", PUBLIC | _SUPER, pool.named(name), pool.named(base), 0)
    head = struct.pack(">IHH", 0xCAFEBABE, 0, _VERSION) + pool.written()
    members = (struct.pack(">H", len(some)) + b"".join(some) for some in (fields, methods))
    return head + names + b"".join(members) + struct.pack(">H", 0)
