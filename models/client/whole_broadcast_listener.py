"""Whole broadcasting consumers of one group whose listeners fail or hold what they are given (WHOLE-BC-*).

What a listener fails is dropped: it comes no second time, and the file passes it. What a listener holds stays in front
of the offset in the file, also when the next pull finds nothing: a member that comes back is given it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS
from rocketmq_conformance.models.client.whole_broadcast import Offsets, Seen, WholeBroadcastModel, WholeBroadcastState
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, PARTS, PLACE, with_end
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "WHOLE-BC-FAIL",
        "A message that the listener of a broadcasting consumer fails is dropped: it is neither sent back nor given "
        "once more, and the consumer's file passes it.",
        "ConsumeMessageConcurrentlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-BC-HOLD",
        "While the listener of a broadcasting consumer holds messages its file has the offset of the first of them. A "
        "consumer that comes back before the listener returned is given them again.",
        "ProcessQueue#removeMessage, LocalFileOffsetStore#persistAll @ 4.0.0, 4.9.8, 5.3.3",
    ),
)

_RETURNED = Reason(("WHOLE-BC-HOLD", "REB-BC-STORE"), "returned")


class WholeBroadcastListenerModel(WholeBroadcastModel):
    """The observations of broadcasting consumers of one profile; every method is pure."""

    __slots__ = ()

    def listen(self, state: WholeBroadcastState, member: int, listener: str) -> Answer[WholeBroadcastState]:
        """A member's listener succeeds, fails or holds from now on, if the member runs; so ends what it holds."""
        name = self._topology.members[member]
        if name not in state.members:
            return self._look(state)
        held = state.held if listener == HOLDS else _without(state.held, name)
        returned = held != state.held
        dropped = state.dropped | {name} if returned and listener == FAILS else state.dropped
        listeners = {**state.listeners, name: listener}
        state, seen, why = self._look(state._replace(listeners=listeners, held=held, dropped=dropped))
        return state, seen, _RETURNED if returned else why

    def join(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A member starts, unless it runs."""
        name = self._topology.members[member]
        if name in state.members:
            return super().join(state, member)
        held, dropped = name in state.held, name in state.dropped
        begun = state._replace(held=_without(state.held, name), dropped=state.dropped - {name})
        state, seen, why = super().join(begun, member)
        if dropped:
            why = _led("WHOLE-BC-FAIL", why, "not given again")
        return state, seen, _led("WHOLE-BC-HOLD", why, "given again") if held else why

    def leave(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A member is shut down, if it runs. How it ends is not said where its listener holds: it may wait for that."""
        holds = state.listeners.get(self._topology.members[member]) == HOLDS
        state, seen, why = super().leave(state, member)
        if not holds:
            return state, seen, why
        assert isinstance(seen, tuple)
        rules = tuple(rule for rule in why.rules if not rule.startswith("TIMER-"))
        return state, with_end((*seen[:PLACE], *seen[PLACE + len(PARTS) :]), NOT_ENDED), replace(why, rules=rules)

    def crash(self, state: WholeBroadcastState, member: int) -> Answer[WholeBroadcastState]:
        """A member ends, if it runs, and what it holds is in front of the offset in its file."""
        listeners = {name: how for name, how in state.listeners.items() if name != self._topology.members[member]}
        return super().crash(state._replace(listeners=listeners), member)

    def _look(self, state: WholeBroadcastState) -> Answer[WholeBroadcastState]:
        """Who waits where in each queue, the messages that pulls brought, and the stored offsets."""
        state, seen, why = super()._look(state)
        places, brought, stored, *_ = cast(Seen, seen)
        names = {self._topology.members[member] for member, *_ in brought}
        given = {state.listeners.get(name) for name in names}
        failed = {name for name in names if state.listeners.get(name) == FAILS}
        state = state._replace(dropped=state.dropped | failed)
        for listener, rule in ((HOLDS, "WHOLE-BC-HOLD"), (FAILS, "WHOLE-BC-FAIL")):
            if listener in given:
                why = _led(rule, why, listener)
        return state, (places, brought, stored), why


def _without(held: Mapping[str, Offsets], name: str) -> Mapping[str, Offsets]:
    return {other: messages for other, messages in held.items() if other != name}


def _led(rule: str, why: Reason, kind: str) -> Reason:
    """A reason that a rule leads."""
    return replace(why, rules=(rule, *why.rules), kind=kind)
