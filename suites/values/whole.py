"""What the suites of whole consumers share: their members, and what is seen after each of their moves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_group_state import WholeMember
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Guard, Offered, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import (
    OFFSET_OR_NONE,
    Worded,
    Wording,
    bare,
    each,
    fields,
    listed,
    number,
    numbers,
    plain,
    text,
)

O = TypeVar("O")  # noqa: E741 - the type of an operation class

MEMBER = Values(*range(len(ORDINARY.members)), weights=(3, 2, 1))

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


def member(owner: int) -> str:
    """Who pulls a queue, or is given messages."""
    return {-1: "nobody", -2: "a connection without a heartbeat"}.get(owner, f"member {owner}")


def holder(owner: int) -> str:
    """Who has the lock of a queue."""
    return "a client outside the group" if owner == -2 else member(owner)


def _place(one: Any) -> str:
    if one and type(one[0]) is tuple:  # everybody that waits in a queue
        return ", ".join(_place(each_of_them) for each_of_them in one)
    owner, at = one or (-1, -1)
    return member(owner) if owner == -1 else f"{member(owner)} at {at}"


def _stored(offset: Any) -> str:
    return bare(offset) if isinstance(offset, str) else cast(str, OFFSET_OR_NONE(offset))


def queue_name(number: int) -> str:
    """A queue by its place."""
    return "retry queue" if number == -1 else f"queue {number}"


def words(queue: Callable[[int], str] = queue_name) -> Mapping[str, Wording]:
    """The parts of answers in words; ``queue`` names the queues of a suite by their places."""

    def messages(value: Any) -> Worded:
        found: dict[str, list[str]] = {}
        for who, where, first, count in value:
            to, what = ("sent back", _counted(count)) if where == "sent back" else (queue(where), _run(first, count))
            found.setdefault(f"{member(who)}, {to}", []).append(what)
        return {name: ", then ".join(texts) for name, texts in found.items()}

    return {
        "places": each(queue, _place),
        "brought": messages,
        "stored": each(queue, _stored),
        "locks": each(queue, holder),
        "given": messages,
        "again": messages,
        "retry": fields(
            {"queue": member, "offset": OFFSET_OR_NONE, "stored": OFFSET_OR_NONE, "waiting to come again": plain}
        ),
        "subscriptions": each("member", listed(lambda topic: f"topic {topic}")),
    }


def arguments(queue: Callable[[int], object] = plain) -> Mapping[str, Wording]:
    """The arguments of operations in words, by name: what a number stands for where it is no number of a member, a
    queue or an offset, and no count; ``queue`` names the queues of a suite by their places."""
    return {
        **dict.fromkeys(("member", "first", "second", "before", "after", "offset", "topic"), plain),
        "broker": number({0: "the first", 1: "the second"}),
        "queue": lambda number: "every queue" if number == EVERY else str(queue(number)),
        "queues": lambda chosen: numbers(chosen) if isinstance(chosen, tuple) else plain(chosen),
        "stored": OFFSET_OR_NONE,
        "node": number({0: "the master", 1: "the slave"}),
        "written": number({0: "as many", 1: "one more", -1: "one fewer"}),
    }


ARGUMENTS = arguments()


def beginning(
    sentence: str, *, weight: int = 1, said: Mapping[str, Wording] = ARGUMENTS
) -> Callable[[type[O]], type[O]]:
    """Declare the operation that says how a case begins: nothing is seen after it."""
    return operation(sentence, side=Side.WHOLE, weight=weight, said=said)


def stored(offsets: Mapping[tuple[str, str, int], int]) -> str:
    """What the broker of a model has stored: the offsets of each topic's queues."""
    return f"stored [{text({f'{topic} queue {number}': str(at) for (_, topic, number), at in offsets.items()})}]"


def pulling(members: Mapping[str, WholeMember]) -> str:
    """The members of a group, and from where each pulls its queues."""
    return "; ".join(f"{name} pulls {dict(member.pulls)}" for name, member in members.items()) or "no member"


def held(messages: Mapping[int, tuple[int, int]]) -> str:
    """The messages that a listener has of each queue: from the first one on, up to what comes next."""
    return f"{ {queue: _run(first, behind - first) for queue, (first, behind) in messages.items()} }"


def _run(first: int, count: int) -> str:
    return f"message {first}" if count == 1 else f"messages {first} to {first + count - 1}"


def _counted(count: int) -> str:
    return f"{count} message" if count == 1 else f"{count} messages"


#: Suites with members that read no offset reach this rule with one release alone.
UNREAD_LIMIT = RuleLimit(
    rules=("WHOLE-UNREAD",),
    client="5.0.0-ALPHA",
    because="5.0.0-ALPHA alone takes no response of the broker for one without an offset (API-QCO-1)",
)
#: Where the question for the stored offset alone fails of those by which a queue begins, and is not answered that there
#: is none.
QUERY_LIMITS = (
    RuleLimit(
        rules=("WHOLE-UNREAD",),
        client="5.0.0-ALPHA+",
        because="up to 4.9.8 and in 5.0.0-PREVIEW any refusal says that nothing is stored",
    ),
    RuleLimit(
        rules=("WHOLE-MISTAKEN",),
        client="up to 5.0.0-PREVIEW",
        because="from 5.0.0-ALPHA on QUERY_NOT_FOUND alone says that nothing is stored",
    ),
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
    should: tuple[str, ...] = ()
    offered: Offered = lambda profile: True
    words: Mapping[str, Wording] = field(default_factory=words)
    said: Mapping[str, Wording] = field(default_factory=lambda: ARGUMENTS)

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
            should=self.should,
            words=self.words,
            said=self.said,
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
            should=whole_end.SHOULD,
        )
        return shown.move(sentence, weight=weight, guard=guard)
