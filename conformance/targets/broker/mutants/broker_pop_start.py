"""Broker mutants that the suite ``broker-pop-start`` kills: pops begin elsewhere, or offsets are moved wrongly.

Each repeats a real defect, or is the faulty broker closest to the right one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from rocketmq_conformance.conformance.fakes.pops import Found, Pops
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.pop import NOTHING, PopRequest
from rocketmq_conformance.models.broker.state import BrokerState, Stored
from rocketmq_conformance.models.broker.subscription import TagCodes
from rocketmq_conformance.models.outcome import Err

MUTANTS: list[BrokerMutant] = []
_pops = declared(MUTANTS, "pops", "broker-pop-start")


class Changed(Pops):
    """A pop by other rules, or of another request; ``amend`` changes what is stored then."""

    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        before = self._storage.state
        result = super().pop(self.other(asked), codes)
        self._storage.state = self._storage.state._replace(stored=self.amend(asked, before, result))
        return result

    def other(self, asked: PopRequest) -> PopRequest:
        return asked

    def amend(self, asked: PopRequest, before: BrokerState, result: Found) -> Stored:
        return self._storage.state.stored


class Ruled(Pops):
    """A pop of a broker of other rules."""

    rules: Mapping[str, bool]

    @staticmethod
    def of(**rules: bool) -> Mapping[str, bool]:
        """Rules by name, of brokers of other releases."""
        return MappingProxyType(rules)

    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        rules, self._storage.rules = self._storage.rules, replace(self._storage.rules, **self.rules)  # type: ignore[arg-type]
        try:
            return super().pop(asked, codes)
        finally:
            self._storage.rules = rules


@_pops("D330", "With initMode MAX a group always begins at the last message.")
class PopSkipsWhatIsThere(Ruled):
    rules = Ruled.of(pop_checks_memory=False)


@_pops("D331", "A start by initMode MIN is not stored.")
class PopForgetsMin(Ruled):
    rules = Ruled.of(pop_stores_min=False)


@_pops("D331", "With initMode MAX a retry topic is begun at its last message.")
class PopSkipsRetries(Ruled):
    rules = Ruled.of(pop_retries_from_min=False, pop_checks_memory=False)


@_pops("D333", "A pop that finds nothing but messages that it does not want moves no offset.")
class PopStaysAtFiltered(Changed):
    def amend(self, asked: PopRequest, before: BrokerState, result: Found) -> Stored:
        after = self._storage.state.stored
        return {**after, **before.stored} if result == NOTHING else after


@_pops("D334", "A reset is taken away by a pop, which goes on where the group was.")
class PopGoesOnAfterReset(Pops):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        state, key = self._storage.state, asked[:3]
        if key in state.pending:
            pending = {other: offset for other, offset in state.pending.items() if other != key}
            highest = state.logs[key[1:]].max if key[1:] in state.logs else 0
            self._storage.state = state._replace(pending=pending, stored={**state.stored, key: highest})
        return super().pop(asked, codes)


@_pops("D334", "A reset stays pending after a pop.")
class PopKeepsReset(Changed):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        pending = self._storage.state.pending
        result = super().pop(asked, codes)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


@_pops("D335", "The stored offset stays at the beginning of a pop until it is acknowledged.")
class PopWaitsForAcks(Changed):
    def amend(self, asked: PopRequest, before: BrokerState, result: Found) -> Stored:
        after = dict(self._storage.state.stored)
        for topic, queue, start, _ in () if isinstance(result, Err) else result:
            after[asked.group, topic, queue] = start
        return after


@_pops("D335", "The stored offset is one pop behind.")
class PopIsOneBehind(Changed):
    """What a pop hands out is stored by the next one only."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._ends: dict[tuple[str, str, int], int] = {}

    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        ended = {key: end for key, end in self._ends.items() if key[:2] == asked[:2]}
        self._storage.state = self._storage.state._replace(stored={**self._storage.state.stored, **ended})
        return super().pop(asked, codes)

    def amend(self, asked: PopRequest, before: BrokerState, result: Found) -> Stored:
        after = dict(self._storage.state.stored)
        for topic, queue, start, _ in () if isinstance(result, Err) else result:
            self._ends[asked.group, topic, queue] = after[asked.group, topic, queue]
            after[asked.group, topic, queue] = start
        return after


@_pops("D336", "A commit from outside is not obeyed: pops go on where the last one ended.")
class PopIgnoresCommits(Changed):
    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._ends: dict[tuple[str, str, int], int] = {}

    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        key, state = (asked.group, asked.topic, asked.queue), self._storage.state
        if key in self._ends and key not in state.pending and key in state.stored:
            self._storage.state = state._replace(stored={**state.stored, key: self._ends[key]})
        return super().pop(asked, codes)

    def amend(self, asked: PopRequest, before: BrokerState, result: Found) -> Stored:
        after = self._storage.state.stored
        for topic, queue, *_ in () if isinstance(result, Err) else result:
            self._ends[asked.group, topic, queue] = after[asked.group, topic, queue]
        return after


@_pops("D337", "An offset out of range is corrected, and not stored until something is handed out.")
class PopKeepsWrongOffset(Changed):
    def amend(self, asked: PopRequest, before: BrokerState, result: Found) -> Stored:
        after = self._storage.state.stored
        return {**after, **before.stored} if result == NOTHING and before.logs else after


@_pops("D337", "An offset beyond max is corrected to 0: everything is handed out again.")
class PopBeginsAgain(Changed):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        state, key = self._storage.state, (asked.group, asked.topic, asked.queue)
        log = state.logs.get(key[1:])
        if log is not None and state.stored.get(key, -1) > log.max:
            self._storage.state = state._replace(stored={**state.stored, key: 0})
        return super().pop(asked, codes)


@_pops("D338", "A pop of all queues stops at the first queue that gives something.")
class PopStopsAtFirstQueue(Changed):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        before = self._storage.state
        result = super().pop(asked, codes)
        if asked.queue >= 0 or isinstance(result, Err):
            return result
        first = result[0]
        key = asked.group, first.topic, first.queue
        stored = {**before.stored, key: self._storage.state.stored[key]}
        self._storage.state = self._storage.state._replace(stored=stored)
        return (first,)


@_pops("D332", "A stored offset below 0 is taken for the beginning.")
class PopTakesNegativeForZero(Pops):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        state = self._storage.state
        stored = {key: offset if key[0] != asked.group else max(offset, 0) for key, offset in state.stored.items()}
        self._storage.state = state._replace(stored=stored)
        return super().pop(asked, codes)


@_pops("D339", "More messages than a pop may have are an error of the broker's own.")
class PopFailsForTooMany(Ruled):
    rules = Ruled.of(invalid_parameter=False)
