"""Broker mutants that the suite ``broker-pop-expired`` kills: a group begins elsewhere where messages have expired."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.pops import Found, Pops
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.conformance.targets.broker.mutants.broker_pop_start import Changed, Ruled
from rocketmq_conformance.models.broker.pop import MAX, MIN, PopRequest
from rocketmq_conformance.models.broker.subscription import TagCodes

MUTANTS: list[BrokerMutant] = []
_pops = declared(MUTANTS, "pops", "broker-pop-expired")


@_pops("D332", "The initMode of a pop is ignored: a group begins at the smallest offset.")
class PopIgnoresMode(Changed):
    def other(self, asked: PopRequest) -> PopRequest:
        return asked._replace(mode=MIN)


@_pops("D332", "An initMode that is neither MIN nor MAX counts as MIN.")
class PopKnowsMaxOnly(Changed):
    def other(self, asked: PopRequest) -> PopRequest:
        return asked if asked.mode == MAX else asked._replace(mode=MIN)


@_pops("D330", "With initMode MAX a group begins behind the last message.")
class PopBeginsBehindLast(Pops):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        state, key = self._storage.state, (asked.group, asked.topic, asked.queue)
        log = state.logs.get(key[1:])
        if asked.mode == MAX and log is not None and log.min and state.stored.get(key, -1) < 0:
            self._storage.state = state._replace(stored={**state.stored, key: log.max})
        return super().pop(asked, codes)


@_pops("D340", "A pop that is corrected says where it begins after the correction.")
class PopNamesCorrection(Ruled):
    rules = Ruled.of(pop_names_corrected=True)


@_pops("D337", "An offset below the smallest one is corrected to 0.")
class PopStaysBelowMin(Changed):
    def pop(self, asked: PopRequest, codes: TagCodes) -> Found:
        before = self._storage.state
        found = super().pop(asked, codes)
        key = asked.group, asked.topic, asked.queue
        log = before.logs.get(key[1:])
        if isinstance(found, tuple) and log is not None and 0 <= before.stored.get(key, -1) < log.min:
            self._storage.state = self._storage.state._replace(stored={**self._storage.state.stored, key: 0})
        return found
