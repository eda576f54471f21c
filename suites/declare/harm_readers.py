"""What differing answers do to messages: a reader for each kind of answer, which takes what was expected and observed.

A reader claims no more than the two answers show; where they show nothing of its kind, the divergence is "only
different".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

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
_DIVIDED = "beside Java clients some queues have two owners, and some have none."
_ORDER = list(Harm)


# --- offsets ----------------------------------------------------------------------------------------------------


def start(expected: Expected, observed: Expected) -> Consequence:
    """Offsets that a consumer starts at; negative ones and errors are none."""
    wanted, given = _offset(expected), _offset(observed)
    if wanted is None and given is not None:
        return Consequence(
            Harm.SKIPPED,
            f"It starts at {given:,} where nothing says where the group stands: messages are skipped, or come again.",
        )
    if given is None and wanted is not None:
        return Consequence(
            Harm.STALLED, f"It finds no start, where there is one at {wanted:,}: the queue is not pulled."
        )
    if wanted is None or given is None:
        return DIFFERENT
    return _further(wanted, given, "It starts")


def _further(wanted: int, given: int, what: str) -> Consequence:
    """Two offsets from which messages are given."""
    if given > wanted:
        return Consequence(
            Harm.SKIPPED, f"{what} at {given:,} instead of {wanted:,}: messages in between are never given."
        )
    return Consequence(Harm.REPEATED, f"{what} at {given:,} instead of {wanted:,}: messages in between come again.")


def read(expected: Expected, observed: Expected) -> Consequence:
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
    wanted, given = _offset(expected), _offset(observed)
    if wanted is None and given is not None:
        return Consequence(
            Harm.SKIPPED, f"An offset, {given:,}, is read where there is none: messages are skipped, or come again."
        )
    return (
        _further(wanted, given, "It goes on") if wanted is not None and given is not None else start(expected, observed)
    )


def answered(expected: Expected, observed: Expected) -> Consequence:
    """Offsets that a broker answers to a group."""
    wanted, given = _offset(expected), _offset(observed)
    if wanted is not None and given is not None:
        return _further(wanted, given, "A consumer that starts by this answer is")
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
    wanted, given = _offset(expected), _offset(observed)
    if wanted is not None and given is not None:
        return _further(wanted, given, "Who starts or is reset by this answer is")
    if wanted is not None:
        return Consequence(Harm.STALLED, "The broker does not answer: a start or a reset that asks for this fails.")
    return DIFFERENT


def _offset(answer: Expected) -> int | None:
    return answer if type(answer) is int and answer >= 0 else None


# --- commits ------------------------------------------------------------------------------------------------------


def stored(expected: Expected, observed: Expected) -> Consequence:
    """The stored offset of each queue: -1 for none, words where a negative one was sent."""
    return worst(_kept(wanted, given) for wanted, given in _pairs(expected, observed))


_NEGATIVE = Consequence(Harm.SKIPPED, "A negative offset is stored: the next start skips messages, or repeats them.")


def _is_negative(offset: Expected) -> bool:
    return type(offset) is int and offset < 0


def _kept(wanted: Expected, given: Expected) -> Consequence:
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
    wanted, given = _by_queue(expected), _by_queue(observed)
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
            found.append(_kept(wanted[queue], given[queue]))
    return worst(found)


def _by_queue(commits: Expected) -> dict[Expected, Expected] | None:
    if not isinstance(commits, tuple) or not all(isinstance(one, tuple) and len(one) >= 2 for one in commits):
        return None
    return {one[0]: one[1] for one in commits if isinstance(one, tuple)}


def memory(expected: Expected, observed: Expected) -> Consequence:
    """An offset in memory, which the next commit sends; -1 for none."""
    return _kept(expected, observed)


def taken(expected: Expected, observed: Expected) -> Consequence:
    """A broker's answer to a commit."""
    if not isinstance(expected, Err) and isinstance(observed, Err):
        return Consequence(Harm.REPEATED, "A commit is refused: after the next start messages come again.")
    return DIFFERENT


# --- queues and messages ----------------------------------------------------------------------------------------


def share(expected: Expected, observed: Expected) -> Consequence:
    """Queues that a member gets."""
    if isinstance(observed, Err) and not isinstance(expected, Err):
        return Consequence(
            Harm.STALLED, "It divides nothing, and keeps what it has: beside Java clients queues have no owner."
        )
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    missing, more = set(expected) - set(observed), set(observed) - set(expected)
    if missing and more:
        return Consequence(Harm.STALLED, f"It takes other queues: {_DIVIDED}")
    if missing:
        return Consequence(Harm.STALLED, "It leaves queues to others: beside Java clients they have no owner.")
    if more:
        return Consequence(Harm.REPEATED, "It takes queues of others: beside Java clients both consume their messages.")
    return DIFFERENT


def first_share(expected: Expected, observed: Expected) -> Consequence:
    """Answers of several parts without names, of which the queues that a member has come first."""
    if isinstance(expected, tuple) and isinstance(observed, tuple) and expected and observed:
        return share(expected[0], observed[0])
    return DIFFERENT


def in_order(expected: Expected, observed: Expected) -> Consequence:
    """Queues or ids in the order in which they are divided."""
    return Consequence(Harm.STALLED, f"Another order divides otherwise: {_DIVIDED}")


def begun(expected: Expected, observed: Expected) -> Consequence:
    """(queue, offset) of the queues that a member begins to pull."""
    wanted, given = _by_queue(expected), _by_queue(observed)
    if wanted is None or given is None:
        return DIFFERENT
    if missing := wanted.keys() - given.keys():
        return Consequence(Harm.STALLED, f"{len(missing):,} queues are not begun: their messages wait.")
    return worst([start(offset, given[queue]) for queue, offset in wanted.items() if offset != given[queue]])


def places(expected: Expected, observed: Expected) -> Consequence:
    """Who pulls each queue, and from which offset on it waits; -1 for nobody."""
    return worst(_place(wanted, given) for wanted, given in _pairs(expected, observed))


def _place(wanted: Expected, given: Expected) -> Consequence:
    if not isinstance(wanted, tuple) or not isinstance(given, tuple) or len(wanted) < 2 or len(given) < 2:
        return DIFFERENT
    (owner, at), (other, offset) = wanted[:2], given[:2]
    if type(other) is int and other < 0:
        return Consequence(Harm.STALLED, "No member pulls a queue that is to be pulled: its messages wait.")
    if type(owner) is int and owner < 0:
        return Consequence(
            Harm.REPEATED, "A queue is pulled that is not to be pulled now: its messages may be consumed twice."
        )
    if owner != other:
        return Consequence(Harm.STALLED, f"Queues have other owners: {_DIVIDED}")
    if type(at) is int and type(offset) is int:
        return _further(at, offset, "It goes on")
    return DIFFERENT


def brought(expected: Expected, observed: Expected) -> Consequence:
    """Messages that were given: (member, queue, first offset, messages)."""
    wanted, given = _messages(expected), _messages(observed)
    if wanted is None or given is None:
        return DIFFERENT
    if wanted == given:
        sent_back = isinstance(observed, tuple) and any(_is_sent_back(one) for one in observed)
        return _UNCALLED if sent_back else Consequence(Harm.DISORDER, "Messages are given in another order.")
    missing = sum(max(count - given.get(one, 0), 0) for one, count in wanted.items())
    more = sum(max(count - wanted.get(one, 0), 0) for one, count in given.items())
    if missing:
        return Consequence(
            Harm.SKIPPED, f"{missing:,} messages are not given that a Java client has been given by then."
        )
    if more:
        return Consequence(Harm.REPEATED, f"{more:,} messages are given that a Java client is not given, or not again.")
    return DIFFERENT


def given_again(expected: Expected, observed: Expected) -> Consequence:
    """Messages that a listener failed with, and that it is given once more."""
    found = brought(expected, observed)
    return MISSED if found.harm is Harm.SKIPPED else found


def more_is_given(wanted: Mapping[str, Expected], given: Mapping[str, Expected]) -> bool:
    """Are messages given that were not expected?"""
    before, after = _messages(wanted.get("brought")), _messages(given.get("brought"))
    return bool(before is not None and after and any(count > before.get(one, 0) for one, count in after.items()))


def _is_sent_back(one: Expected) -> bool:
    """Is it no message that was given, but a count of those that were sent back?"""
    return isinstance(one, tuple) and len(one) > 1 and one[1] == "sent back"


def _messages(brought: Expected) -> Mapping[tuple[Expected, int], int] | None:
    """How often each message was given, by queue and offset."""
    if not isinstance(brought, tuple):
        return None
    found: dict[tuple[Expected, int], int] = {}
    for one in brought:
        if _is_sent_back(one):
            continue
        if not isinstance(one, tuple) or len(one) < 4:
            return None
        _, queue, first, count = one[:4]
        if type(first) is not int or type(count) is not int:
            return None
        for offset in range(first, first + count):
            found[queue, offset] = found.get((queue, offset), 0) + 1
    return found


MISSED = Consequence(
    Harm.LOST, "A message that failed does not go to the retry topic: it is lost unless its client keeps it."
)
AT_ONCE = Consequence(Harm.REPEATED, "A message that failed is given again by its client, and not by the retry topic.")
_UNCALLED = Consequence(Harm.LATE, "Messages are sent back that no listener failed with: they come later, and again.")
_AGAIN = Consequence(
    Harm.REPEATED, "A message goes to the retry topic that a Java client does not send there: it is given again."
)


def sent_back(expected: Expected, observed: Expected) -> Consequence:
    """Messages that a listener failed with, and that were sent back."""
    if isinstance(expected, tuple) and isinstance(observed, tuple) and len(observed) != len(expected):
        return MISSED if len(observed) < len(expected) else _AGAIN
    return DIFFERENT


def retried(expected: Expected, observed: Expected) -> Consequence:
    """The retry queue: its member, the offset that it waits for, the stored one, and the messages that wait to come."""
    pairs = (
        list(zip(expected, observed, strict=False))
        if isinstance(expected, tuple) and isinstance(observed, tuple)
        else []
    )
    if len(pairs) < 4:
        return DIFFERENT
    (owner, other), (at, offset), (stored, kept), (waiting, there) = pairs[:4]
    found = [_kept(stored, kept)] if stored != kept else []
    if (owner, at) != (other, offset):
        found.append(_place((owner, at), (other, offset)))
    if type(waiting) is int and type(there) is int and waiting != there:
        found.append(MISSED if there < waiting else _AGAIN)
    return worst(found)


def locks(expected: Expected, observed: Expected) -> Consequence:
    """Who has the lock of each queue."""
    return Consequence(Harm.DISORDER, "A queue's lock is not where it is to be: two members may consume it at once.")


def granted(expected: Expected, observed: Expected) -> Consequence:
    """Queues that a broker locks."""
    wanted = expected[0] if isinstance(expected, tuple) and expected else None
    given = observed[0] if isinstance(observed, tuple) and observed else None
    if not isinstance(wanted, tuple) or not isinstance(given, tuple) or wanted == given:
        return DIFFERENT
    if set(given) - set(wanted):
        return Consequence(Harm.DISORDER, "A lock is granted twice: two members consume a queue at once.")
    return Consequence(Harm.STALLED, "A lock is refused: the queue is not consumed meanwhile.")


def members(expected: Expected, observed: Expected) -> Consequence:
    """The ids of a group's members."""
    return Consequence(Harm.STALLED, "Members see another list: some queues have two owners, and some have none.")


def pulled(expected: Expected, observed: Expected) -> Consequence:
    """A broker's answer to a pull."""
    if isinstance(observed, Err) and not isinstance(expected, Err):
        return Consequence(Harm.STALLED, "A pull is refused: its consumer is given nothing.")
    if not isinstance(expected, tuple) or not isinstance(observed, tuple) or min(len(expected), len(observed)) < 3:
        return DIFFERENT
    # the status, the next offset, min and max where they are seen, and last the messages
    messages, given = expected[-1], observed[-1]
    if isinstance(messages, tuple) and isinstance(given, tuple) and messages != given:
        if set(messages) - set(given):
            return Consequence(Harm.SKIPPED, "Messages are left out that the subscription asks for.")
        return Consequence(Harm.DIFFERENT, "Messages are given that the subscription leaves out.")
    return start(expected[1], observed[1]) if expected[1] != observed[1] else DIFFERENT


def sent_back_to(expected: Expected, observed: Expected) -> Consequence:
    """A broker's answer to a message that is sent back: where its copy went comes first."""
    if isinstance(observed, Err) and not isinstance(expected, Err):
        return Consequence(Harm.REPEATED, "A message that failed is refused: its client sends a copy, or keeps it.")
    if isinstance(expected, tuple) and isinstance(observed, tuple) and expected and observed:
        if (expected[0], observed[0]) == ("retry", "dead"):
            return Consequence(Harm.LOST, "A message becomes a dead letter too early: it is not tried again.")
        if (expected[0], observed[0]) == ("dead", "retry"):
            return Consequence(Harm.REPEATED, "A message that is to become a dead letter is tried again.")
    if isinstance(expected, tuple) and observed is None:
        return Consequence(Harm.LOST, "A message that failed is dropped: it is not tried again.")
    return DIFFERENT


def noticed(expected: Expected, observed: Expected) -> Consequence:
    """Notices that a group's members changed."""
    return Consequence(Harm.LATE, "Members are not notified of a change as they are to be: queues change hands later.")


def held(expected: Expected, observed: Expected) -> Consequence:
    """When a held pull is answered."""
    return Consequence(Harm.LATE, "A held pull is answered at another time: messages wait, or are asked for in vain.")


def _pairs(expected: Expected, observed: Expected) -> Iterator[tuple[Expected, Expected]]:
    """What is expected and observed of each queue that differs."""
    if isinstance(expected, tuple) and isinstance(observed, tuple):
        yield from ((one, other) for one, other in zip(expected, observed, strict=False) if one != other)


def worst(found: Iterator[Consequence] | list[Consequence]) -> Consequence:
    return min(found, key=lambda one: _ORDER.index(one.harm), default=DIFFERENT)
