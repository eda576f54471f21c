"""Readers of answers about queues: who takes, locks and pulls them, and where pulls begin."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.suites.declare.harm_readers import (
    DIFFERENT,
    Consequence,
    Harm,
    Reader,
    by_queue,
    further,
    memory,
    pairs,
    start,
    worst,
)

_DIVIDED = "beside Java clients some queues have two owners, and some have none."


def share(
    expected: Expected,
    observed: Expected,
    *,
    divides: bool = True,
    kept: Mapping[Expected, bool] = MappingProxyType({}),
) -> Consequence:
    """Queues that a member gets.

    ``divides``: are there others that it divides the queues with? ``kept``: the queues that it has already, of members
    that consume nothing without a lock, each with whether the lock is its.
    """
    if isinstance(observed, Err) and not isinstance(expected, Err):
        return Consequence(
            Harm.STALLED, "It divides nothing, and keeps what it has: beside Java clients queues have no owner."
        )
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    missing, more = set(expected) - set(observed), set(observed) - set(expected)
    if missing and not divides:
        return _TAKES_NONE if not observed else _LEAVES
    locks, more = {kept[queue] for queue in more if queue in kept}, more - kept.keys()
    if missing and more:
        return Consequence(Harm.STALLED, f"It takes other queues: {_DIVIDED}")
    if missing:
        return Consequence(Harm.STALLED, "It leaves queues to others: beside Java clients they have no owner.")
    if more and divides:
        return Consequence(Harm.REPEATED, "It takes queues of others: beside Java clients both consume their messages.")
    return _KEEPS_LOCKS if True in locks and divides else DIFFERENT


_TAKES_NONE = Consequence(Harm.STALLED, "It takes none of the queues that it is to consume: their messages wait.")
_LEAVES = Consequence(Harm.STALLED, "It does not take queues that it is to consume: their messages wait.")
_KEEPS_LOCKS = Consequence(
    Harm.STALLED, "It keeps queues that it is to give up, and that are locked for it: others wait for the locks."
)


def first_share(expected: Expected, observed: Expected, *, divides: bool = True) -> Consequence:
    """Answers of several parts without names: the queues that a member has, and whether it calls itself balanced."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple) or not expected or not observed:
        return DIFFERENT
    if expected[0] != observed[0] or len(expected) < 2 or len(observed) < 2:
        return share(expected[0], observed[0], divides=divides)
    return balanced(expected[1], observed[1])


def pulled_queues(expected: Expected, observed: Expected, *, divides: bool = True) -> Consequence:
    """Queues that a member pulls or pops."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    if set(expected) - set(observed):
        return Consequence(Harm.STALLED, "Queues are not pulled that are to be: their messages wait.")
    if divides and set(observed) - set(expected):
        return Consequence(Harm.REPEATED, "Queues are pulled that are not to be: others may consume them, too.")
    return DIFFERENT


def locked(expected: Expected, observed: Expected) -> Consequence:
    """Queues that count as locked."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    if set(observed) - set(expected):
        return Consequence(Harm.DISORDER, "A queue counts as locked that is not: two members may consume it at once.")
    if set(expected) - set(observed):
        return Consequence(Harm.STALLED, "A queue does not count as locked that is: it is not consumed until it does.")
    return DIFFERENT


def assigned(expected: Expected, observed: Expected) -> Consequence:
    """Queues that a broker assigns to a member, None where it cannot say."""
    if not isinstance(expected, tuple) or not expected:
        expected = ()
    if not isinstance(observed, tuple):
        if not expected:
            return DIFFERENT
        return Consequence(Harm.STALLED, "The broker does not say which queues are a member's: it begins none.")
    if any(isinstance(one, tuple) and one[1:2] == (-1,) for one in (*expected, *observed)):  # all of a broker's queues
        return DIFFERENT
    missing, more = (
        {one[:2] for one in these if isinstance(one, tuple)} - {one[:2] for one in those if isinstance(one, tuple)}
        for these, those in ((expected, observed), (observed, expected))
    )
    if missing:
        return Consequence(Harm.STALLED, "A member is not assigned queues that are its: it does not consume them.")
    if more:
        return Consequence(Harm.REPEATED, "A member is assigned queues of others: both consume their messages.")
    return DIFFERENT


def balanced(expected: Expected, observed: Expected) -> Consequence:
    """Does a member call itself balanced?"""
    if (expected, observed) == (False, True):
        return Consequence(Harm.LATE, "A member calls itself balanced that is not: the next round may come later.")
    return DIFFERENT


def another_round(expected: Expected, observed: Expected) -> Consequence:
    """Does a member ask for another round?"""
    if (expected, observed) == (True, False):
        return Consequence(Harm.LATE, "No other round is asked for: what this one left waits for the next.")
    return DIFFERENT


def round_by_broker(expected: Expected, observed: Expected, queues: Sequence[MessageQueue] = ()) -> Consequence:
    """A round of a member whose broker assigns queues: pulled, popped, what begins of both, balanced, and requests."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    wanted = [
        _not_pulled(one, other, observed[0], queues) if at in (1, 3) else one
        for at, (one, other) in enumerate(zip(_without_given_up(expected), observed, strict=False))
    ]
    readers: tuple[Reader, ...] = (pulled_queues, pulled_queues, begun, pops_begun, balanced)
    return worst(of(one, other) for of, one, other in zip(readers, wanted, observed, strict=False) if one != other)


def _without_given_up(answer: tuple[Expected, ...]) -> tuple[Expected, ...]:
    """The parts of a round without pops that begin of queues that it gives up again: these end at once."""
    popped, begin = (*answer, None, None, None, None)[1:4:2]
    if not isinstance(popped, tuple) or not isinstance(begin, tuple):
        return answer
    lasting = tuple(one for one in begin if isinstance(one, tuple) and one[:2] in popped)
    return (*answer[:3], lasting, *answer[4:])


def _not_pulled(expected: Expected, observed: Expected, pulled: Expected, queues: Sequence[MessageQueue]) -> Expected:
    """Pops (topic, queue, ...) that are to be, but for those that lack and whose queues are pulled all the same."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple) or not isinstance(pulled, tuple):
        return expected
    places = {queues[at][::2] for at in pulled if type(at) is int and 0 <= at < len(queues)}
    places -= {one[:2] for one in observed if isinstance(one, tuple)}
    return tuple(one for one in expected if not isinstance(one, tuple) or one[:2] not in places)


def pops_begun(expected: Expected, observed: Expected) -> Consequence:
    """(topic, queue, 0 for the first message and 1 for the last) of the pop requests that begin."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    wanted, given = ({one[:2]: one[2] for one in these if isinstance(one, tuple)} for these in (expected, observed))
    if wanted.keys() - given.keys():
        return Consequence(Harm.STALLED, "Pops of queues do not begin that are to: their messages wait.")
    if any(given[queue] == 1 and wanted[queue] == 0 for queue in wanted):
        return Consequence(Harm.SKIPPED, "Pops begin with the last message, and not with the first one.")
    if any(given[queue] == 0 and wanted[queue] == 1 for queue in wanted):
        return Consequence(Harm.REPEATED, "Pops begin with the first message, and not with the last one.")
    return DIFFERENT


def in_order(expected: Expected, observed: Expected, topics: Collection[str] = ()) -> Consequence:
    """Queues or ids in the order in which they are divided; or how two queues compare, with their topics.

    Each topic is divided by itself.
    """
    if len(set(topics)) > 1:
        return _BETWEEN_TOPICS
    if isinstance(expected, tuple) and isinstance(observed, tuple) and _by_topic(expected) == _by_topic(observed):
        return _BETWEEN_TOPICS
    return Consequence(Harm.STALLED, f"Another order divides otherwise: {_DIVIDED}")


_BETWEEN_TOPICS = Consequence(
    Harm.DIFFERENT, "Queues of different topics are in another order: no share changes, as each topic is divided alone."
)


def _by_topic(queues: tuple[Expected, ...]) -> Mapping[Expected, list[Expected]]:
    """The queues of each topic in their order; texts are by themselves."""
    found: dict[Expected, list[Expected]] = {}
    for one in queues:
        found.setdefault(one[0] if isinstance(one, tuple) and one else None, []).append(one)
    return found


def begun(
    expected: Expected, observed: Expected, logs: Mapping[Expected, QueueLog] = MappingProxyType({})
) -> Consequence:
    """(queue, offset) of the queues that a member begins to pull."""
    wanted, given = by_queue(expected), by_queue(observed)
    if wanted is None or given is None:
        return DIFFERENT
    if missing := wanted.keys() - given.keys():
        return Consequence(Harm.STALLED, f"{len(missing):,} queues are not begun: their messages wait.")
    found = [start(offset, given[queue], logs.get(queue)) for queue, offset in wanted.items() if offset != given[queue]]
    if isinstance(expected, tuple) and isinstance(observed, tuple) and len(observed) > len(expected):
        found.append(Consequence(Harm.REPEATED, "Queues are begun too early, or twice: messages may come again."))
    return worst(found)


def asked_for(
    expected: Expected,
    observed: Expected,
    log: QueueLog | None = None,
    logs: Mapping[Expected, QueueLog] = MappingProxyType({}),
) -> Consequence:
    """What a pull asks for: the offset, and the one that it carries to be committed; or (queue, offset) of several."""
    if isinstance(observed, tuple) and expected is None:
        return Consequence(Harm.REPEATED, "A queue is pulled that is not to be: others may consume its messages, too.")
    if isinstance(expected, tuple) and observed is None:
        return Consequence(Harm.STALLED, "A queue is not pulled that is to be: its messages wait.")
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return start(expected, observed, log)
    if any(isinstance(one, tuple) for one in (*expected, *observed)):
        return begun(_asked(expected), _asked(observed), logs)
    if len(expected) != len(observed) or len(expected) < 2:
        return DIFFERENT
    found = [start(expected[0], observed[0], log)] if expected[0] != observed[0] else []
    if expected[2:3] == (True,) and observed[2:3] == (True,) and expected[1] != observed[1]:
        found.append(memory(expected[1], observed[1]))
    return worst(found)


def _asked(pulls: tuple[Expected, ...]) -> Expected:
    """The (queue, offset) pairs of pulls that were sent."""
    return tuple(one for one in pulls if isinstance(one, tuple) and one[1:] != (-1,))


def resumed(expected: Expected, observed: Expected) -> Consequence:
    """When pull requests begin: (ms, ((queue, offset), …))."""
    wanted, given = _times(expected), _times(observed)
    if wanted is None or given is None:
        return DIFFERENT
    if wanted.keys() - given.keys():
        return Consequence(Harm.STALLED, "A queue is not pulled by then that is to be: its messages wait.")
    found = [start(offset, given[queue][1]) for queue, (_, offset) in wanted.items() if given[queue][1] != offset]
    if any(given[queue][0] > at for queue, (at, _) in wanted.items()):
        found.append(Consequence(Harm.LATE, "A queue is pulled later than by a Java client: its messages wait."))
    if given.keys() - wanted.keys():
        found.append(
            Consequence(Harm.REPEATED, "A queue is pulled too early, or not to be at all: messages may come twice.")
        )
    return worst(found)


def _times(begins: Expected) -> Mapping[Expected, tuple[int, Expected]] | None:
    """By queue: when its pull requests begin, and at which offset the last of these does."""
    if not isinstance(begins, tuple):
        return None
    found: dict[Expected, tuple[int, Expected]] = {}
    for one in begins:
        if not isinstance(one, tuple) or len(one) != 2 or type(one[0]) is not int or not isinstance(one[1], tuple):
            return None
        for pair in one[1]:
            if isinstance(pair, tuple) and len(pair) == 2:
                found[pair[0]] = one[0], pair[1]
    return found


def places(expected: Expected, observed: Expected) -> Consequence:
    """Who pulls each queue, and from which offset on it waits; -1 for nobody."""
    return worst(place(wanted, given) for wanted, given in pairs(expected, observed))


def place(wanted: Expected, given: Expected) -> Consequence:
    """Who pulls one queue, and from which offset on it waits."""
    if not isinstance(wanted, tuple) or not isinstance(given, tuple):
        return DIFFERENT
    if any(isinstance(one, tuple) for one in (*wanted, *given)):  # everybody that waits in it
        if {one[0] for one in wanted if isinstance(one, tuple)} - {one[0] for one in given if isinstance(one, tuple)}:
            return Consequence(Harm.STALLED, "A member does not pull a queue that is to be pulled: its messages wait.")
        return DIFFERENT
    if len(wanted) < 2 or len(given) < 2:
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
        return further(at, offset, "It goes on")
    return DIFFERENT


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
