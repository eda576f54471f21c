"""The broker of suite broker-pop-ack: messages are popped, acknowledged, hidden for longer or shorter, and come back.

A case cannot know when a broker handles a request, nor when it looks for what comes back. So the driver says when it
sent a request and had the answer. An acknowledgement that was answered before the time of its message was over is
certain. One that came later is not, and the message is *lost track of*: all that becomes of it is right. Times are
lower bounds: a message never comes back before its time is over, and how late it comes is not judged. A broker that
is stopped for many seconds may bring back what was acknowledged, which shows by how late that is seen.

Times are in thousandths of the short invisible time since the case began.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker import pop_flight
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pop_flight import Flight, acknowledge, change, due, refuses
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, reasons_by_kind

#: Invisible times: until now, a short one, and one that no case lasts for.
AT_ONCE, SHORTLY, FOREVER = 0, 1000, 10_000_000
#: How late a message is that a broker brings back when it has been stopped: other brokers take 1 to 3 times the time.
STALLED = 5000
#: How an acknowledgement names its message: by the handle of its last pop or change, by the one before, by one that is
#: wrong in one part, and in the name of another group.
LAST, OLDER, OTHER_TIME, OTHER_BROKER, OTHER_GROUP = "last", "older", "other time", "other broker", "other group"
WAYS = (LAST, OLDER, OTHER_TIME, OTHER_BROKER, OTHER_GROUP)
#: Queues of a topic: that of its messages, and one without any.
MESSAGES, EMPTY = 0, 1

#: A handle: the message, and how many handles it had before.
Handle = tuple[int, int]
#: A message that came back: which, its reconsumeTimes, whether its topic is its own, and when it was seen.
Returned = tuple[int, int, bool, int]

_HIDDEN = reasons_by_kind(("POP-MOVE-1", "POP-HIDDEN"), "for a short time", "for good")
_NONE = Reason(("POP-ACK-1",), "nothing was handed out")
_ACKED = {LAST: Reason(("POP-ACK-0",), "in time"), OTHER_BROKER: Reason(("POP-ACK-1",), "other broker, all the same")}
_LATE = reasons_by_kind(("POP-ACK-1",), "about to come back")["about to come back"]
_NOTHING = reasons_by_kind(("POP-ACK-1",), *WAYS)
_CHANGED = reasons_by_kind(("POP-ACK-8",), "in flight", "not in flight", "about to come back")
_BATCH = reasons_by_kind(("POP-ACK-12",), "all", "some", "none", "about to come back")
_BACK = reasons_by_kind(("POP-HIDDEN", "POP-ACK-0"), "nothing came back")
_BACK |= reasons_by_kind(("POP-BACK", "POP-HIDDEN", "POP-ACK-5"), "for the first time", "again")


class BrokerPopAckState(NamedTuple):
    """What is in flight by handle, how many handles each message has, and how often it came back; messages that were
    lost track of; when the last request was sent."""

    flights: Mapping[Handle, Flight] = MappingProxyType({})
    handles: Mapping[int, int] = MappingProxyType({})
    times: Mapping[int, int] = MappingProxyType({})
    lost: frozenset[int] = frozenset()
    #: When acknowledged messages would have been visible again.
    acked: Mapping[int, int] = MappingProxyType({})
    now: int = 0

    def last(self, message: int) -> Handle:
        """The handle of the last pop, or change, of a message that was handed out."""
        return message, self.handles[message] - 1


class BrokerPopAckModel:
    """The rules of suite broker-pop-ack; every method is pure."""

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def hand_out(
        self, state: BrokerPopAckState, observed: Result, count: int, hidden: int
    ) -> Answer[BrokerPopAckState]:
        """POP-HIDDEN: (new messages, when the pop was sent)."""
        sent = _moment(state, observed, 1)
        found = tuple(range(len(state.handles), len(state.handles) + count))
        state = state._replace(
            flights={**state.flights, **{(message, 0): Flight(sent + hidden) for message in found}},
            handles={**state.handles, **dict.fromkeys(found, 1)},
            times={**state.times, **dict.fromkeys(found, 0)},
            now=sent,
        )
        return state, (found, sent), _HIDDEN["for good" if hidden == FOREVER else "for a short time"]

    def ack(self, state: BrokerPopAckState, observed: Result, message: int, way: str) -> Answer[BrokerPopAckState]:
        """POP-ACK-0, POP-ACK-1: when it was answered; None for a message that was not handed out."""
        if message not in state.handles:
            return state, None, _NONE
        answered = _moment(state, observed)
        key = state.last(message)
        counts = way == LAST or (way == OTHER_BROKER and not self.rules.pop_acks_by_broker)
        if not counts or key not in state.flights:
            return state, answered, _NOTHING[way]
        if state.flights[key].visible <= answered:
            return _without(state, [message]), answered, _LATE
        return _acked(state, [key]), answered, _ACKED[way]

    def ack_batch(
        self, state: BrokerPopAckState, observed: Result, messages: tuple[int, ...], more: bool
    ) -> Answer[BrokerPopAckState]:
        """POP-ACK-12: when it was answered; None where none of the messages was handed out."""
        keys = [state.last(message) for message in messages if message in state.handles]
        if not keys:
            return state, None, _BATCH["none"]
        answered = _moment(state, observed)
        known = [key for key in keys if key in state.flights]
        late = [key[0] for key in known if state.flights[key].visible <= answered]
        state = _acked(state, known)
        kind = "about to come back" if late else "all" if len(known) == len(messages) else "some"
        return _without(state, late), answered, _BATCH[kind]

    def change(
        self, state: BrokerPopAckState, observed: Result, message: int, hidden: int
    ) -> Answer[BrokerPopAckState]:
        """POP-ACK-8: (when it was sent, when it was answered); None for a message that was not handed out."""
        if message not in state.handles:
            return state, None, _NONE
        sent = _moment(state, observed, 0)
        answered = max(_moment(state, observed, 1), sent)
        key, number = state.last(message), state.handles[message]
        flight = state.flights.get(key)
        state = state._replace(
            flights=change(state.flights, key, (message, number), sent + hidden, state.times[message]),
            handles={**state.handles, message: number + 1},
            now=sent,
        )
        if flight is not None and flight.visible <= answered:
            return _without(state, [message]), (sent, answered), _CHANGED["about to come back"]
        return _without(state, ()), (sent, answered), _CHANGED["not in flight" if flight is None else "in flight"]

    def await_returns(self, state: BrokerPopAckState, observed: Result) -> Answer[BrokerPopAckState]:
        """POP-BACK: what came back (``Returned``), which is in flight for good after that."""
        seen = list(_returned(observed))
        stalled = [one[0] for one in seen if one[0] in state.acked and one[3] > state.acked[one[0]] + STALLED]
        state = _without(state, stalled)
        own = not self.rules.pop_shows_retries
        expected: list[Returned] = [one for one in seen if one[0] in state.lost]
        again = False
        keys = due(state.flights, FOREVER - 1)
        for key in keys:
            message, flight = key[0], state.flights[key]
            at = next((one[3] for one in seen if one[0] == message), state.now)
            expected.append((message, flight.times + 1, own, max(at, flight.visible)))
            again = again or flight.times > 0
        flights = {key: flight for key, flight in state.flights.items() if key not in keys}
        handles, times = dict(state.handles), dict(state.times)
        for message, count, *_ in expected:
            flights[message, handles[message]] = Flight(state.now + FOREVER, count)
            times[message] = count
            handles[message] = handles.get(message, 0) + 1
        kind = "again" if again else "for the first time" if keys else "nothing came back"
        state = state._replace(flights=flights, handles=handles, times=times)
        return _without(state, ()), tuple(sorted(expected)), _BACK[kind]

    def ask_badly(self, state: BrokerPopAckState, fault: str, request: str) -> Answer[BrokerPopAckState]:
        """POP-ACK-BAD: None, or the error."""
        return state, *refuses(request, fault, self.rules.invalid_parameter)

    def batch_badly(self, state: BrokerPopAckState, fault: str) -> Answer[BrokerPopAckState]:
        """POP-ACK-12: None, or the error."""
        return self.ask_badly(state, fault, pop_flight.BATCH)


def show(state: BrokerPopAckState) -> str:
    """A state in one line."""
    flights = {f"{message} by handle {number}": flight for (message, number), flight in state.flights.items()}
    shown = {name: f"{flight.times} times, visible at {flight.visible}" for name, flight in flights.items()}
    return f"at {state.now}: in flight {shown}, lost track of {sorted(state.lost)}"


def _acked(state: BrokerPopAckState, keys: Iterable[Handle]) -> BrokerPopAckState:
    """The state in which some messages in flight are acknowledged."""
    acked = dict(state.acked)
    for key in keys:
        acked[key[0]] = state.flights[key].visible
        state = state._replace(flights=acknowledge(state.flights, key))
    return state._replace(acked=acked)


def _without(state: BrokerPopAckState, messages: Iterable[int]) -> BrokerPopAckState:
    """The state that has lost track of some messages."""
    lost = state.lost | set(messages)
    flights = {key: flight for key, flight in state.flights.items() if key[0] not in lost}
    return state._replace(lost=lost, flights=flights)


def _moment(state: BrokerPopAckState, observed: Result, part: int | None = None) -> int:
    """A time that was observed, never before the last one."""
    found: object = observed
    if part is not None:
        found = observed[part] if isinstance(observed, tuple) and len(observed) > part else None
    return max(found, state.now) if type(found) is int else state.now


def _returned(observed: Result) -> Iterable[Returned]:
    """What was observed of messages that came back, as far as it can be read."""
    for one in observed if isinstance(observed, tuple) else ():
        match one:
            case (int(message), int(times), bool(own), int(seen)):
                yield message, times, own, seen
            case _:
                pass
