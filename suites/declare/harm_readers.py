"""What differing answers do to messages: a reader for each kind of answer, which takes what was expected and observed.

A reader claims no more than the two answers show; where they show nothing of its kind, the divergence is "only
different".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.outcome import Err, Expected


class Harm(StrEnum):
    """How bad a divergence is for messages, the worst first."""

    LOST = "lost"
    SKIPPED = "skipped"
    DISORDER = "out of order"
    REPEATED = "repeated"
    STALLED = "stalled"
    LATE = "late"
    DIFFERENT = "only different"


class Consequence(NamedTuple):
    """What a divergence does."""

    harm: Harm
    sentence: str


#: What a store answers where the question for an offset failed.
_FAILED = -2
Reader = Callable[[Expected, Expected], Consequence]

DIFFERENT = Consequence(Harm.DIFFERENT, "An answer differs; what that does to messages does not show in this plan.")
_ORDER = list(Harm)
_NOTHING_BETWEEN = Consequence(
    Harm.DIFFERENT, "Another offset, and no message lies in between: none is skipped or repeated."
)
_NO_MESSAGES = Consequence(Harm.DIFFERENT, "An offset where there is to be none, of a queue without messages.")


# --- offsets ----------------------------------------------------------------------------------------------------


def start(expected: Expected, observed: Expected, log: QueueLog | None = None) -> Consequence:
    """Offsets that a consumer starts at; negative ones and errors are none. ``log`` is the queue's, if it is known."""
    wanted, given = offset_of(expected), offset_of(observed)
    if wanted is None and given is not None:
        return _from_nothing(given, f"It starts at {given:,} where nothing says where the group stands", log)
    if given is None and wanted is not None:
        return Consequence(
            Harm.STALLED, f"It finds no start, where there is one at {wanted:,}: the queue is not pulled."
        )
    if wanted is None or given is None:
        return DIFFERENT
    return further(wanted, given, "It starts", log)


def _from_nothing(given: int, what: str, log: QueueLog | None) -> Consequence:
    """An offset where there is to be none: what begins with the first message skips nothing."""
    if log and log.min == log.max and given <= log.max:
        return _NO_MESSAGES
    if given <= (log.min if log else 0):
        return Consequence(Harm.REPEATED, f"{what}: messages come again.")
    return Consequence(Harm.SKIPPED, f"{what}: messages are skipped, or come again.")


def refused(sentence: str, of: Reader | None = None) -> Reader:
    """Something that fails where it is not to; ``of`` reads answers that are none of that."""

    def read_refusal(expected: Expected, observed: Expected) -> Consequence:
        if isinstance(observed, Err) and not isinstance(expected, Err):
            return Consequence(Harm.STALLED, sentence)
        return of(expected, observed) if of else DIFFERENT

    return read_refusal


def timestamp(expected: Expected, observed: Expected) -> Consequence:
    """The time from which a new group begins by CONSUME_FROM_TIMESTAMP."""
    if type(expected) is not int or type(observed) is not int:
        return DIFFERENT
    if observed > expected:
        return Consequence(Harm.SKIPPED, "A start by time begins later: messages in between are never given.")
    return Consequence(Harm.REPEATED, "A start by time begins earlier: messages in between come again.")


def saved(expected: Expected, observed: Expected) -> Consequence:
    """The file of a broadcasting member's offsets."""
    if isinstance(expected, str) and observed is None:
        return Consequence(
            Harm.SKIPPED, "No offset is stored: the next start goes by ConsumeFromWhere, and skips or repeats."
        )
    return DIFFERENT


def further(wanted: int, given: int, what: str, log: QueueLog | None = None) -> Consequence:
    """Two offsets from which messages are given. One below min leads to min."""
    if log and max(wanted, given) <= log.max and max(wanted, log.min) == max(given, log.min):
        return _NOTHING_BETWEEN
    if given > wanted:
        return Consequence(
            Harm.SKIPPED, f"{what} at {given:,} instead of {wanted:,}: messages in between are never given."
        )
    return Consequence(Harm.REPEATED, f"{what} at {given:,} instead of {wanted:,}: messages in between come again.")


def read(expected: Expected, observed: Expected, log: QueueLog | None = None) -> Consequence:
    """Offsets that a store answers; -1 is none, and the start goes by ConsumeFromWhere then."""
    if observed == -1 and expected == _FAILED:
        return Consequence(
            Harm.SKIPPED,
            "A question that failed reads as none: a start goes by ConsumeFromWhere, and skips or repeats messages.",
        )
    if observed == _FAILED and expected == -1:
        return Consequence(Harm.STALLED, "That there is no offset reads as a failure: the queue is not pulled.")
    if isinstance(expected, int) and expected >= 0 and observed == -1:
        return Consequence(
            Harm.SKIPPED,
            f"A stored offset, {expected:,}, reads as none: a start goes by ConsumeFromWhere, and skips or repeats.",
        )
    wanted, given = offset_of(expected), offset_of(observed)
    if wanted is None and given is not None:
        return _from_nothing(given, f"An offset, {given:,}, is read where there is none", log)
    if wanted is not None and given is not None:
        return further(wanted, given, "It goes on", log)
    return start(expected, observed, log)


def answered(expected: Expected, observed: Expected) -> Consequence:
    """Offsets that a broker answers to a group."""
    wanted, given = offset_of(expected), offset_of(observed)
    if wanted is not None and given is not None:
        return further(wanted, given, "A consumer that starts by this answer is")
    if wanted is not None:
        return Consequence(
            Harm.SKIPPED,
            f"A group is not answered that it stands at {wanted:,}: its start goes by ConsumeFromWhere, or waits.",
        )
    if given is not None:
        return Consequence(
            Harm.SKIPPED if given else Harm.REPEATED,
            f"A group without an offset is answered {given:,}: ConsumeFromWhere counts for nothing.",
        )
    if isinstance(observed, Err) and observed.code != "QUERY_NOT_FOUND" and expected == Err("QUERY_NOT_FOUND"):
        return Consequence(Harm.STALLED, "A question for the offset fails where there is none: a start waits.")
    return DIFFERENT


def bound(expected: Expected, observed: Expected) -> Consequence:
    """Offsets that a broker answers about a queue: min, max, and where a search leads."""
    wanted, given = offset_of(expected), offset_of(observed)
    if wanted is not None and given is not None:
        return further(wanted, given, "Who starts or is reset by this answer is")
    if wanted is not None:
        return Consequence(Harm.STALLED, "The broker does not answer: a start or a reset that asks for this fails.")
    return DIFFERENT


def offset_of(answer: Expected) -> int | None:
    return answer if type(answer) is int and answer >= 0 else None


# --- commits ------------------------------------------------------------------------------------------------------


def stored(expected: Expected, observed: Expected) -> Consequence:
    """The stored offset of each queue: -1 for none, words where a negative one was sent."""
    return worst(kept(wanted, given) for wanted, given in pairs(expected, observed))


_NEGATIVE = Consequence(Harm.SKIPPED, "A negative offset is stored: the next start skips messages, or repeats them.")


def _is_negative(offset: Expected) -> bool:
    return type(offset) is int and offset < 0


def kept(wanted: Expected, given: Expected) -> Consequence:
    if isinstance(given, str):
        return _NEGATIVE
    if type(wanted) is not int or type(given) is not int:
        return DIFFERENT
    if given > wanted >= 0:
        return Consequence(
            Harm.SKIPPED, f"{given:,} is stored instead of {wanted:,}: the next start skips what lies between."
        )
    if wanted >= 0 > given:
        return Consequence(
            Harm.SKIPPED, f"{wanted:,} is not stored: the next start goes by ConsumeFromWhere, and skips or repeats."
        )
    if wanted > given:
        return Consequence(
            Harm.REPEATED, f"{given:,} is stored instead of {wanted:,}: after the next start messages come again."
        )
    return Consequence(
        Harm.REPEATED, f"{given:,} is stored where nothing is to be: the next start does not go by ConsumeFromWhere."
    )


def commits(expected: Expected, observed: Expected) -> Consequence:
    """Commits that were sent: (queue, offset) pairs, with a word behind those that were awaited."""
    if isinstance(expected, Err) != isinstance(observed, Err):
        return DIFFERENT
    wanted, given = by_queue(expected), by_queue(observed)
    if wanted is None or given is None:
        return DIFFERENT
    found = []
    for queue in {**wanted, **given}:
        if queue not in given:
            found.append(
                Consequence(Harm.REPEATED, "An offset is not committed: after the next start messages come again.")
            )
        elif _is_negative(given[queue]):
            found.append(_NEGATIVE)
        elif queue not in wanted:
            found.append(
                Consequence(Harm.REPEATED, "A commit too many: it may take the place of what another member stored.")
            )
        elif wanted[queue] != given[queue]:
            found.append(kept(wanted[queue], given[queue]))
    return worst(found)


def by_queue(commits: Expected) -> dict[Expected, Expected] | None:
    if isinstance(commits, Err):  # what reached the broker all the same
        commits = commits.commits
    if not isinstance(commits, tuple) or not all(isinstance(one, tuple) and len(one) >= 2 for one in commits):
        return None
    return {one[0]: one[1] for one in commits if isinstance(one, tuple)}


def memory(expected: Expected, observed: Expected) -> Consequence:
    """An offset in memory, which the next commit sends; -1 for none."""
    return kept(expected, observed)


def with_commits(of: Reader | None = None) -> Reader:
    """A list of things of which commits are the last, and the one before is read by ``of``."""

    def parts(expected: Expected, observed: Expected) -> Consequence:
        if not isinstance(expected, tuple) or not isinstance(observed, tuple) or len(expected) != len(observed):
            return DIFFERENT
        found = [commits(expected[-1], observed[-1])] if expected[-1] != observed[-1] else []
        if of and len(expected) > 1 and expected[-2] != observed[-2]:
            found.append(of(expected[-2], observed[-2]))
        return worst(found)

    return parts


def sent(expected: Expected, observed: Expected) -> Consequence:
    """The offsets at which a broker stores messages."""
    wanted, given = _first_offset(expected), _first_offset(observed)
    if wanted is None or given is None or wanted <= given:
        return DIFFERENT
    return Consequence(
        Harm.LOST, f"Messages are stored from {given:,} on, not from {wanted:,}: those that were there are gone."
    )


def _first_offset(answer: Expected) -> int | None:
    first = answer[0] if isinstance(answer, tuple) and answer else None
    return offset_of(first[0] if isinstance(first, tuple) and first else first)


def led(expected: Expected, observed: Expected) -> Consequence:
    """A reset: the offset of each queue comes first."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple) or not expected or not observed:
        return DIFFERENT
    wanted, given = by_queue(expected[0]), by_queue(observed[0])
    both = [
        (at, given[queue]) for queue, at in (wanted or {}).items() if given and queue in given and given[queue] != at
    ]
    return worst(further(a, b, "It is reset, and goes on") for a, b in both if type(a) is int and type(b) is int)


def taken(expected: Expected, observed: Expected) -> Consequence:
    """A broker's answer to a commit."""
    if not isinstance(expected, Err) and isinstance(observed, Err):
        return Consequence(Harm.REPEATED, "A commit is refused: after the next start messages come again.")
    return DIFFERENT


def pairs(expected: Expected, observed: Expected) -> Iterator[tuple[Expected, Expected]]:
    """What is expected and observed of each queue that differs."""
    if isinstance(expected, tuple) and isinstance(observed, tuple):
        yield from ((one, other) for one, other in zip(expected, observed, strict=False) if one != other)


def worst(found: Iterator[Consequence] | list[Consequence]) -> Consequence:
    return min(found, key=lambda one: _ORDER.index(one.harm), default=DIFFERENT)
