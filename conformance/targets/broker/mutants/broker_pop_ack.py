"""Broker mutants that the suite ``broker-pop-ack`` kills: what was popped is lost, or comes back when it must not.

Each repeats a real defect, or is the faulty broker closest to the right one.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.pops import Check, Pops
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.pop import PopRequest
from rocketmq_conformance.models.broker.pop_flight import Flight, acknowledge, change
from rocketmq_conformance.models.broker.state import RETRY

MUTANTS: list[BrokerMutant] = []
_acks = declared(MUTANTS, "pops", "broker-pop-ack")


@_acks("D341", "Nothing that was popped comes back.")
class PopLosesUnacknowledged(Pops):
    def revive(self) -> None:
        """What is in flight stays there."""


@_acks("D342", "Of what comes back together only the first message does.")
class PopRevivesFirstOnly(Pops):
    def bring_back(self, check: Check, times: int) -> None:
        super().bring_back(check, times)
        same = [other for other in self.flights if other[:3] == check[:3] and other.pop_time == check.pop_time]
        for other in same:
            self.flights = acknowledge(self.flights, other)


@_acks("D343", "An acknowledgement is answered, and forgotten.")
class PopForgetsAcks(Pops):
    def acknowledge(self, check: Check) -> None:
        """The message stays in flight."""


@_acks("D344", "An acknowledgement counts for all messages of its pop.")
class PopAcksWholePop(Pops):
    def acknowledge(self, check: Check) -> None:
        for other in [one for one in self.flights if one[:3] == check[:3] and one.pop_time == check.pop_time]:
            super().acknowledge(other)


@_acks("D344", "An acknowledgement counts whatever its pop time is.")
class PopAcksAnyTime(Pops):
    def acknowledge(self, check: Check) -> None:
        for other in [one for one in self.flights if one._replace(pop_time=check.pop_time) == check]:
            super().acknowledge(other)


@_acks("D344", "An acknowledgement counts whichever group makes it.")
class PopAcksForAnyGroup(Pops):
    def acknowledge(self, check: Check) -> None:
        for other in [one for one in self.flights if one._replace(group=check.group) == check]:
            super().acknowledge(other)


@_acks("D344", "An acknowledgement counts whichever broker its handle is of.")
class PopAcksForAnyBroker(Pops):
    def acknowledge(self, check: Check) -> None:
        super().acknowledge(check._replace(broker=self._name))


@_acks("D345", "A change of the invisible time leaves the old one running.")
class PopChangesBesides(Pops):
    def change(self, check: Check, now: int, invisible: int) -> Check:
        before = self.flights
        new = super().change(check, now, invisible)
        self.flights = {**before, **self.flights}
        return new


@_acks("D346", "A change of the invisible time counts from the pop.")
class PopChangesFromPop(Pops):
    def change(self, check: Check, now: int, invisible: int) -> Check:
        new = check._replace(pop_time=now)
        self.flights = change(self.flights, check, new, check.pop_time + invisible, self.times(check))
        return new


@_acks("D346", "A time can be made longer, and not shorter.")
class PopNeverShortens(Pops):
    def change(self, check: Check, now: int, invisible: int) -> Check:
        known = self.flights.get(check)
        least = 0 if known is None else known.visible - now
        return super().change(check, now, max(invisible, least))


@_acks("D345", "A change brings nothing back that was acknowledged, nor what is not in flight.")
class PopChangesFlightsOnly(Pops):
    def change(self, check: Check, now: int, invisible: int) -> Check:
        known = check in self.flights
        new = super().change(check, now, invisible)
        if not known:
            self.flights = acknowledge(self.flights, new)
        return new


@_acks("D347", "A message that comes back has not been consumed before, by its reconsumeTimes.")
class PopCountsNoTimes(Pops):
    def bring_back(self, check: Check, times: int) -> None:
        super().bring_back(check, -1)


@_acks("D347", "A message that comes back is counted twice.")
class PopCountsTwice(Pops):
    def bring_back(self, check: Check, times: int) -> None:
        super().bring_back(check, times + 1)


@_acks("D348", "A message comes back twice.")
class PopRevivesTwice(Pops):
    def bring_back(self, check: Check, times: int) -> None:
        super().bring_back(check, times)
        super().bring_back(check, times)


@_acks("D349", "Messages are visible again after half of their time.")
class PopHidesHalfTheTime(Pops):
    def revive(self) -> None:
        now = self._clock()
        half = {
            check: flight._replace(visible=check.pop_time + (flight.visible - check.pop_time) // 2)
            for check, flight in self.flights.items()
        }
        kept, self.flights = self.flights, {check: flight for check, flight in half.items() if flight.visible <= now}
        due = self.flights
        super().revive()
        self.flights = {check: flight for check, flight in kept.items() if check not in due}


@_acks("D350", "A message that comes back has the name of the retry topic.")
class PopShowsRetryTopic(Pops):
    def given(self, message: Message, asked: PopRequest, handle: str) -> Message:
        given = super().given(message, asked, handle)
        return replace(given, topic=message.topic)


@_acks("D351", "A batch acknowledges the first of its messages alone.")
class PopBatchAcksFirst(Pops):
    def _ack_batch(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        before = self.flights
        answered = super()._ack_batch(code, ext, body)
        gone = sorted(check for check in before if check not in self.flights)
        self.flights = {check: flight for check, flight in before.items() if check not in gone[:1]}
        return answered


@_acks("D352", "A change of the time of a message that does not exist yet is accepted.")
class PopChangesNextOffset(Pops):
    def _refused(self, ext: dict[str, str], changes: bool) -> Answered | None:
        return super()._refused(ext, False)


@_acks("D353", "Acknowledgements of copies that came back are not found.")
class PopForgetsAcksOfRetries(Pops):
    def change(self, check: Check, now: int, invisible: int) -> Check:
        if check.topic.startswith(RETRY):
            new = check._replace(pop_time=now)
            self.flights = {**self.flights, new: Flight(now + invisible, 0)}
            return new
        return super().change(check, now, invisible)
