"""What the suites of whole consumers share: their members, and what is seen after each of their moves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.fixtures import MEMBERS
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Guard, Offered, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit

O = TypeVar("O")  # noqa: E741 - the type of an operation class

MEMBER = Values(*range(len(MEMBERS)), weights=(3, 2, 1))

#: The parts of an answer that every suite has: what brokers see, in words.
PLACES = "for each queue the member that pulls it and the offset from which that member waits (-1, -1: nobody does)"
BROUGHT = (
    "the messages that pulls brought and listeners were given since the step before (member, queue, first offset, "
    'messages; with "sent back" for the queue, how many were sent back where listeners succeed)'
)
STORED = "the stored offset of each queue (-1: none), in words where a negative one was sent"
TRAFFIC = (PLACES, BROUGHT, STORED)
#: A part that consumers with locks have.
LOCKS = "the member that has the lock of each queue (-1: nobody, -2: a client outside the group)"

_END = (
    "Behind the first three parts it says of the member that ended: over how many connections it sent heartbeats, "
    "whether it unregistered from its group, and how it sent its commits, and at its end its requests to unlock (one "
    "way, awaited; null: not seen)."
)
#: The parts that may be null then.
_END_UNSAID = ("connections", "commits", "unlocks")

#: Suites with members that read no offset reach this rule with one release alone.
UNREAD_LIMIT = RuleLimit(
    rules=("WHOLE-UNREAD",),
    client="5.0.0-ALPHA",
    because="5.0.0-ALPHA alone takes no response of the broker for one without an offset (API-QCO-1)",
)


def seen(*parts: str) -> str:
    """The sentence of an answer that has these parts."""
    return f"Answers, once everything has come to rest, {', then '.join(parts)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """The declaration of a suite's moves, after each of which the same is seen."""

    #: What is seen, in words.
    seen: str
    #: The parts of that, and the rules that decide each.
    parts: Mapping[str, tuple[str, ...]]
    #: The parts that an implementation may leave open, and those that nothing later depends on.
    unsaid: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    offered: Offered = lambda profile: True

    def move(self, sentence: str, *, weight: int = 1, guard: Guard | None = None) -> Callable[[type[O]], type[O]]:
        """Declare a move: an operation of whole consumers."""
        return operation(
            f"{sentence} {self.seen}",
            side=Side.WHOLE,
            weight=weight,
            guard=guard,
            offered=self.offered,
            answer=self.parts,
            unsaid=self.unsaid,
            idle=self.idle,
        )

    def end(self, sentence: str, *, weight: int, guard: Guard | None = None) -> Callable[[type[O]], type[O]]:
        """Declare the move that shuts a member down: its end is seen, too."""
        named = list(self.parts.items())
        shown = replace(
            self,
            seen=f"{self.seen} {_END}",
            parts=dict([*named[: whole_end.PLACE], *whole_end.PARTS.items(), *named[whole_end.PLACE :]]),
            unsaid=(*self.unsaid, *_END_UNSAID),
            idle=tuple(whole_end.PARTS),
        )
        return shown.move(sentence, weight=weight, guard=guard)
