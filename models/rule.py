"""Rules: the sentences that the model makes executable, and the reasons that its answers carry.

Each module of the models opens with its own ``RULES``; ``rulebook`` collects them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import TypeVar

from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.release import Releases

State = TypeVar("State")


class Level(Enum):
    """How binding a rule is (RFC 2119); UNDEFINED accepts every outcome.

    A QUIRK is an accident of Java: it is judged where Java itself is, and elsewhere only when it is asked for.
    """

    MUST = "MUST"
    SHOULD = "SHOULD"
    QUIRK = "QUIRK"
    UNDEFINED = "UNDEFINED"


class Origin(Enum):
    """Where a rule comes from. An observed rule needs a second witness: a law or a naive restatement."""

    DOCUMENTED = "documented"
    DERIVED = "derived from source"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    ``source`` is ``Class#method @ release``. ``releases`` are those in which the rule can decide an answer, in the
    form of :meth:`Releases.parse`: "all", "4.9.8+, 5.2.0+". They are the client's, or the broker's of a rule about
    brokers. ``needs`` is what must be configured besides. ``quirk`` is when the answer is an accident of Java, whatever
    the level of the rule; "" for never.
    """

    id: str
    sentence: str
    source: str
    releases: str = "all"
    level: Level = Level.MUST
    origin: Origin = Origin.DERIVED
    needs: str = ""
    quirk: str = ""

    def __post_init__(self) -> None:
        Releases.parse(self.releases)


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """The rules that decided an answer, and the kind of state. Made once per branch, compared by identity."""

    rules: tuple[str, ...]
    kind: str
    #: Is the answer an accident of Java (``Level.QUIRK``), whatever the level of its rules, or which parts of it are?
    quirk: bool | tuple[str, ...] = False
    #: Is an accident done as Java does it, or as a client without it does, and in no other way?
    either: bool = False
    #: Rules of single decisions that show in the answer without deciding all of it, such as where a queue begins that a
    #: whole consumer takes: they are met with it, and no difference is named after them.
    beneath: tuple[str, ...] = ()
    #: Is the answer one that its rules leave open, so that the case decides nothing from there on?
    unpromised: bool = False


@cache
def accident(why: Reason, *parts: str) -> Reason:
    """The reason where these parts of the answer are an accident of Java; without them all of it is, and is either as
    Java has it or as a client without the accident does."""
    return replace(why, quirk=parts or True, either=not parts)


def reasons_by_kind(rules: tuple[str, ...], *kinds: str, beneath: tuple[str, ...] = ()) -> dict[str, Reason]:
    """One reason of the same rules for each kind of state."""
    return {kind: Reason(rules, kind, beneath=beneath) for kind in kinds}


#: The model's answer to one operation: the state after it, the expected result, and the reason. A bare tuple, because
#: millions of them are made.
Answer = tuple[State, Expected, Reason]
