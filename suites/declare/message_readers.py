"""Readers of answers about queues and messages: shares, locks, pulls, what listeners are given, what comes again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import gt
from types import MappingProxyType

from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.suites.declare.harm_readers import (
    DIFFERENT,
    Consequence,
    Harm,
    Reader,
    answered,
    by_queue,
    further,
    kept,
    memory,
    pairs,
    refused,
    start,
    worst,
)

_DIVIDED = "beside Java clients some queues have two owners, and some have none."


def consumed(expected: Expected, observed: Expected) -> Consequence:
    """What a listener was given of a queue, and the offset in memory then."""
    if type(expected) is int and type(observed) is int:
        return memory(expected, observed)
    if not isinstance(expected, tuple) or not isinstance(observed, tuple) or not len(expected) == len(observed) == 2:
        return DIFFERENT
    found = [offsets_given(expected[0], observed[0])] if expected[0] != observed[0] else []
    if expected[1] != observed[1]:
        found.append(memory(expected[1], observed[1]))
    return worst(found)


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


def polled(expected: Expected, observed: Expected) -> Consequence:
    """(queue, offset) of the messages that an application gets."""
    return _of_given(_flat(expected, pairs=True), _flat(observed, pairs=True))


def offsets_given(expected: Expected, observed: Expected) -> Consequence:
    """Offsets of messages that a listener is given, perhaps in batches; None where it is not asked."""
    return _of_given(_flat(expected), _flat(observed))


def _of_given(wanted: list[Expected] | None, given: list[Expected] | None) -> Consequence:
    if wanted is None or given is None:
        return DIFFERENT
    if missing := set(wanted) - set(given):
        return _not_given(len(missing))
    if more := len(given) - len(wanted):
        return _given_more(more) if more > 0 else DIFFERENT
    return _REORDERED if wanted != given and sorted(map(repr, wanted)) == sorted(map(repr, given)) else DIFFERENT


def _flat(given: Expected, *, pairs: bool = False) -> list[Expected] | None:
    if given is None:
        return []
    if not isinstance(given, tuple):
        return None
    if pairs:
        return list(given)
    return [one for batch in given for one in (batch if isinstance(batch, tuple) else (batch,))]


def app_messages(expected: Expected, observed: Expected) -> Consequence:
    """The messages that an application gets, their offsets first; or how many there are in a process queue."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple):
        return DIFFERENT
    return _of_given(
        [one[0] for one in expected if isinstance(one, tuple) and one],
        [one[0] for one in observed if isinstance(one, tuple) and one],
    )


def starts(expected: Expected, observed: Expected) -> Consequence:
    """Does a run of the listener begin with the messages that arrive?"""
    if (expected, observed) == (True, False):
        return Consequence(Harm.STALLED, "Messages that arrive begin no run of the listener: they wait for others.")
    return DIFFERENT


def taken_by_listener(expected: Expected, observed: Expected) -> Consequence:
    """The offset of the message that an orderly listener takes, None for none."""
    if expected is None and observed is not None and not isinstance(observed, Err):
        return Consequence(Harm.DISORDER, "A message is taken of a queue that is not to be consumed at that time.")
    if expected is not None and observed is None:
        return Consequence(Harm.STALLED, "No message is taken of a queue that is to be consumed: they wait.")
    return DIFFERENT


def delay(expected: Expected, observed: Expected) -> Consequence:
    """How long something is put off, in ms."""
    return _LATER if type(expected) is int and type(observed) is int and observed > expected else DIFFERENT


def goes_on(expected: Expected, observed: Expected) -> Consequence:
    """What a pull request does next; "" for nothing."""
    if expected and observed == "":
        return Consequence(Harm.STALLED, "The queue is not pulled again: its messages wait.")
    return DIFFERENT


def places(expected: Expected, observed: Expected) -> Consequence:
    """Who pulls each queue, and from which offset on it waits; -1 for nobody."""
    return worst(_place(wanted, given) for wanted, given in pairs(expected, observed))


def _place(wanted: Expected, given: Expected) -> Consequence:
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


def brought(expected: Expected, observed: Expected) -> Consequence:
    """Messages that were given: (member, queue, first offset, messages)."""
    wanted, given = _messages(expected), _messages(observed)
    if wanted is None or given is None:
        return DIFFERENT
    if wanted == given:
        sent_back = isinstance(observed, tuple) and any(_is_sent_back(one) for one in observed)
        return _UNCALLED if sent_back else _REORDERED
    missing = sum(max(count - given.get(one, 0), 0) for one, count in wanted.items())
    more = sum(max(count - wanted.get(one, 0), 0) for one, count in given.items())
    if missing:
        return _not_given(missing)
    return _given_more(more) if more else DIFFERENT


def _messages_are(count: int) -> str:
    return "1 message is" if count == 1 else f"{count:,} messages are"


def _not_given(missing: int) -> Consequence:
    return Consequence(Harm.SKIPPED, f"{_messages_are(missing)} not given that a Java client has been given by then.")


def _given_more(more: int) -> Consequence:
    return Consequence(Harm.REPEATED, f"{_messages_are(more)} given that a Java client is not given, or not again.")


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
_REORDERED = Consequence(Harm.DISORDER, "Messages are given in another order.")
_LATER = Consequence(Harm.LATE, "It is put off for longer than by a Java client: messages wait until then.")
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
    both = (
        list(zip(expected, observed, strict=False))
        if isinstance(expected, tuple) and isinstance(observed, tuple)
        else []
    )
    if len(both) < 4:
        return DIFFERENT
    (owner, other), (at, offset), (stored, now), (waiting, there) = both[:4]
    found = [kept(stored, now)] if stored != now else []
    if (owner, at) != (other, offset):
        found.append(_place((owner, at), (other, offset)))
    if type(waiting) is int and type(there) is int and waiting != there:
        found.append(MISSED if there < waiting else _AGAIN)
    return worst(found)


#: Of a client that sends heartbeats over several connections.
LISTED_AGAIN = Consequence(
    Harm.STALLED, "Brokers list it once for each of these connections: of the queues that it divides some are left out."
)


def connections(expected: Expected, observed: Expected) -> Consequence:
    """Over how many connections a client sends heartbeats."""
    return LISTED_AGAIN if isinstance(observed, int) and observed > 1 else DIFFERENT


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
    if expected[0] == "PULL_OFFSET_MOVED" and observed[0] in ("PULL_NOT_FOUND", "PULL_RETRY_IMMEDIATELY"):
        return Consequence(Harm.STALLED, "A consumer is not sent on to another offset: it waits where it is.")
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
        if len(expected) > len(observed):  # the error of a pull, and not the message
            return Consequence(Harm.STALLED, "The copy of a message cannot be pulled: it does not come again.")
        levels = _delay_level(expected), _delay_level(observed)
        if levels[0] is not None and levels[1] is not None and levels[1] > levels[0]:
            return _LATER
    if isinstance(expected, tuple) and observed is None:
        return Consequence(Harm.LOST, "A message that failed is dropped: it is not tried again.")
    if expected is None and isinstance(observed, tuple):
        return Consequence(Harm.REPEATED, "A message that is to be dropped is tried again.")
    return DIFFERENT


def _delay_level(answer: tuple[Expected, ...]) -> int | None:
    """The delay level among the properties of a copy."""
    properties = answer[4] if len(answer) > 4 else None
    for one in properties if isinstance(properties, tuple) else ():
        if isinstance(one, tuple) and one[0] == "DELAY" and isinstance(one[1], str) and one[1].isdecimal():
            return int(one[1])
    return None


broker_not_started = refused("The broker does not start again: nothing is consumed meanwhile.")
consumer_not_started = refused("A consumer does not start.")


def cold(expected: Expected, observed: Expected) -> Consequence:
    """A broker's answer to a group, the name of the error where it is one, and whether a message is in memory."""
    if not isinstance(expected, tuple) or not isinstance(observed, tuple) or expected[:1] == observed[:1]:
        return DIFFERENT
    wanted, given = (Err(one[0]) if isinstance(one[0], str) else one[0] for one in (expected, observed) if one)
    return answered(wanted, given)


def noticed(expected: Expected, observed: Expected) -> Consequence:
    """Notices that a group's members changed."""
    return Consequence(Harm.LATE, "Members are not notified of a change as they are to be: queues change hands later.")


def held(expected: Expected, observed: Expected) -> Consequence:
    """When a held pull is answered."""
    return Consequence(Harm.LATE, "A held pull is answered at another time: messages wait, or are asked for in vain.")


def is_later(expected: Expected, observed: Expected) -> bool:
    """Does anything that is expected come later, or not at all? So it is where that does not show.

    Without times, things are in the order in which they happen.
    """
    wanted, given = (() if answer is None else answer for answer in (expected, observed))
    if not isinstance(wanted, tuple) or not isinstance(given, tuple):
        return True
    due, done = _times_of(wanted), _times_of(given)
    if due is None or done is None:
        left = iter(given)
        return not all(one in left for one in wanted)
    return any(
        len(done.get(what, ())) < len(at) or any(map(gt, sorted(done[what]), sorted(at))) for what, at in due.items()
    )


def _times_of(answer: tuple[Expected, ...]) -> Mapping[Expected, list[int]] | None:
    """When each thing happens, of (ms, what); None where something has no time."""
    found: dict[Expected, list[int]] = {}
    for one in answer:
        if not isinstance(one, tuple) or not one or type(one[0]) is not int:
            return None
        found.setdefault(one[1:], []).append(one[0])
    return found
