"""What the source of a rule names: ``Class#method, #other; Outer.Inner#method @ releases``, or prose."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Rule

_CLASS = r"[A-Z]\w*(?:[.$][A-Z]\w*)*"
_METHOD = r"[A-Za-z_]\w*|<init>"
_NAME = re.compile(rf"(?P<type>{_CLASS})(?:#(?P<member>{_METHOD}))?|#(?P<other>{_METHOD})")


class Named(NamedTuple):
    """A member of a Java class: a method with all its overloads, constructors ("<init>"), a field, or with ""
    the whole class. Inner classes are ``Outer.Inner``."""

    type: str
    member: str

    def __str__(self) -> str:
        return f"{self.type}#{self.member}" if self.member else self.type


@dataclass(frozen=True, slots=True)
class Citation:
    """A member and the releases in which it was read."""

    named: Named
    releases: tuple[Release, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """What the source of one rule names: members of classes, and the rest as it is written."""

    citations: tuple[Citation, ...]
    prose: tuple[str, ...]


def sources_of(text: str) -> Sources:
    """Read the source of a rule. ``#other`` is a member of the class before it."""
    citations: list[Citation] = []
    prose: list[str] = []
    owner = ""
    for part in text.split(";"):
        names, _, after = part.strip().partition(" @ ")
        try:
            releases = tuple(Release.parse(one.strip()) for one in after.split(",") if one.strip())
        except ValueError:
            prose.append(part.strip())
            continue
        for name in names.split(","):
            found = _NAME.fullmatch(name.strip())
            if found is None or not (found["type"] or owner):
                prose.append(name.strip())
                continue
            owner = (found["type"] or owner).replace("$", ".")
            citations.append(Citation(Named(owner, found["member"] or found["other"] or ""), releases))
    return Sources(tuple(citations), tuple(prose))


def members_of(rules: Iterable[Rule]) -> tuple[Named, ...]:
    """Every member that rules name, each once, in the order of names."""
    return tuple(sorted({citation.named for rule in rules for citation in sources_of(rule.source).citations}))
