"""Texts as in Java: sequences of UTF-16 code units, with Java's own hash, split and notion of a blank."""

from __future__ import annotations

from functools import lru_cache

_CONTROLS = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"
_SPACES = " \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000"
_WHITE = frozenset(_CONTROLS + _SPACES)


@lru_cache(maxsize=1 << 12)
def utf16(text: str) -> bytes:
    """The sort key that orders strings as ``java.lang.String#compareTo`` does."""
    return text.encode("utf-16-be", "surrogatepass")


def int32(number: int) -> int:
    """``number`` as a Java ``int``: the lower 32 bits, signed."""
    return (number + 0x8000_0000) % 0x1_0000_0000 - 0x8000_0000


def string_hash(text: str) -> int:
    """``java.lang.String#hashCode``: code units folded with 31, in 32 bits."""
    total = 0
    units = utf16(text)
    for high, low in zip(units[::2], units[1::2], strict=True):
        total = (31 * total + 256 * high + low) & 0xFFFF_FFFF
    return int32(total)


def split(text: str, separator: str) -> list[str]:
    """``java.lang.String#split`` at a separator of one character: empty parts at the end do not count.

    The empty text has one part; a text of separators only has none.
    """
    if separator not in text:
        return [text]
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def is_blank(text: str) -> bool:
    """Only ``java.lang.Character#isWhitespace``: unlike Python's, a no-break space is not white."""
    return _WHITE.issuperset(text)


@lru_cache(maxsize=1 << 12)
def parse_number(text: str | None, bits: int) -> int | None:
    """``java.lang.Integer#parseInt`` (32 bits) or ``Long#parseLong`` (64 bits): None where Java throws.

    None is a text that is missing: Java throws for it as for one that is no number (BQ-NUMBER, BQ-NUMBER-LOST).

    Decimal digits of any script of the basic plane after at most one sign; no spaces, separators or suffixes.
    """
    if text is None:
        return None
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isdecimal() or max(digits) > "\uffff":
        return None
    number = int(text)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def parse_boolean(text: str) -> bool:
    """``java.lang.Boolean#parseBoolean``: true in any case, and nothing else."""
    return text.lower() == "true"
