"""What a fake proxy has seen of the members of a case, in the parts that answers of gRPC suites have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Asked, ClientSeen, ProxyCase
from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType, Code
from rocketmq_conformance.models.client.grpc_push import ACK, AGAIN, CHANGE, RECEIVE, REPEATED, TERMINATED
from rocketmq_conformance.models.client.grpc_simple import IN_TURN
from rocketmq_conformance.models.outcome import Value

#: A call is seen to come again that was refused so many times.
_OFTEN = 2
#: Seconds within which that was last.
_LATELY = 3.0
_KINDS: dict[int, str] = {ClientType.PUSH_CONSUMER: "push consumer", ClientType.SIMPLE_CONSUMER: "simple consumer"}


def seen(case: ProxyCase, clients: Sequence[str | None]) -> tuple[Value, ...]:
    """The parts of an answer: of members, their client ids by number (None: it does not run)."""
    with case.lock:
        return (
            tuple(case.open_receives(one) if one else () for one in clients),
            tuple(sorted({_polled(one) for one in case.asked})),
            tuple(sorted(case.given)),
            tuple(_in_order(case) if case.settings.fifo else sorted(case.ended)),
            tuple(_settings(case, case.seen(one)) if one else None for one in clients),
            tuple(_beats(case, case.seen(one)) if one else None for one in clients),
            _refused(case),
            *((tuple(sorted(case.tries)),) if case.settings.fifo else ()),
        )


def simply_seen(case: ProxyCase, client: str | None) -> tuple[Value, ...]:
    """The parts of an answer of a simple consumer, by its client id (None: it does not run)."""
    with case.lock:
        asked = ((*_polled(one), f"{one.hidden:g} s") for one in case.asked_now)
        calls = Counter[str]()
        for (_, call), times in case.calls.items():
            calls[call] += times
        one = case.seen(client) if client else None
        return (
            tuple(sorted(asked)),
            tuple(sorted(case.given)),
            tuple(sorted(case.ended)),
            tuple((call, calls[call]) for call in (ACK, CHANGE, RECEIVE) if calls[call]),
            _turn(one.named, case.queues) if one else None,
            _settings(case, one) if one else None,
            _beats(case, one) if one else None,
        )


def _polled(one: Asked) -> tuple[int, bool, str, str]:
    return one.batch, one.renews, f"{one.polling:g} s", one.expression


def _turn(named: Sequence[int], queues: int) -> str | None:
    """How receives follow each other, once there were two."""
    if len(named) < 2:
        return None
    at = next((at for at in range(1, len(named)) if named[at] != (named[at - 1] + 1) % queues), None)
    return IN_TURN if at is None else f"queue {named[at]} after queue {named[at - 1]}"


def end(case: ProxyCase, client: str) -> tuple[str, int | None]:
    """How a client ended that was shut down, and how many of its receives were open when it said so."""
    left = case.seen(client).open_at_end
    return ("without a word" if left is None else TERMINATED), left


def _in_order(case: ProxyCase) -> list[tuple[int, int, str]]:
    """What became of messages, queue by queue; of those whose checksum is wrong no order is asked for."""
    return sorted(case.ended, key=lambda one: (one[0], one[1] + 1 if case.is_corrupted(*one[:2]) else 0))


def _settings(case: ProxyCase, one: ClientSeen) -> str:
    if one.said is None:
        return "none"
    topics = ", ".join(f"{topic} {expression}" for topic, expression in one.said.subscriptions)
    kind = _KINDS.get(one.said.kind, f"kind {one.said.kind}")
    if (one.said.group, topics) == (case.group, f"{case.topic} *"):
        return f"{kind} of the group, subscribed to all messages of the topic"
    return f"{kind} of the group {one.said.group}, subscribed to {topics or 'nothing'}"


def _beats(case: ProxyCase, one: ClientSeen) -> str | None:
    if not one.beats:
        return None
    said = {(group == case.group, _KINDS.get(kind, f"kind {kind}")) for group, kind in one.beats}
    return "; ".join(sorted(f"of {'the' if own else 'another'} group, as a {kind}" for own, kind in said))


def _refused(case: ProxyCase) -> str | None:
    """What came of the call that is refused; None before it is certain."""
    call = next(iter(case.faults), "")
    if call not in REPEATED or (case.faults[call] == Code.INVALID_RECEIPT_HANDLE and call != RECEIVE):
        return None
    if case.hasty[call]:
        return f"again at once, {case.hasty[call]} times"
    return AGAIN if case.refused[call] >= _OFTEN and case.is_repeated(call, _LATELY) else None
