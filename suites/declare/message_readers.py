"""Readers of answers about messages: what listeners are given, what is sent back, what comes again and when."""

from __future__ import annotations

from collections.abc import Mapping
from operator import gt

from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.suites.declare.harm_readers import (
    DIFFERENT,
    Consequence,
    Harm,
    answered,
    kept,
    memory,
    refused,
    start,
    worst,
)
from rocketmq_conformance.suites.declare.queue_readers import place


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
        found.append(place((owner, at), (other, offset)))
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
