"""Broker mutants that the suite ``broker-polling`` kills: pulls are held too long, too short, or not judged again."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.pulls import HeldPull, Pulls
from rocketmq_conformance.conformance.fakes.responses import command, place, refused
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, mutants_of
from rocketmq_conformance.models.broker.configuration import LONG_POLLING, SHORT_POLLING
from rocketmq_conformance.models.broker.pull import SUSPEND, StoredEntry, TagCodes
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.outcome import Err

#: An hour (ms).
_HOUR = 3_600_000


class NeverHolds(Pulls):
    def holds(self, code: str, flags: int) -> bool:
        return False


class HoldsBeyondMax(Pulls):
    """A pull beyond max is held until max comes there."""

    def holds(self, code: str, flags: int) -> bool:
        return super().holds(code, flags) or (code == "PULL_OFFSET_MOVED" and bool(flags & SUSPEND))


class HoldsUnmatched(Pulls):
    """A pull is held whose messages do not pass its filter."""

    def holds(self, code: str, flags: int) -> bool:
        return super().holds(code, flags) or (code == "PULL_RETRY_IMMEDIATELY" and bool(flags & SUSPEND))


class ZeroAtOnce(Pulls):
    """A pull that waits for no time is answered at once."""

    def pull(self, peer: Peer, request: Command) -> Command | None:
        ext = request.ext
        flags = int(ext["sysFlag"])
        if flags & SUSPEND and int(ext["suspendTimeoutMillis"]) <= 0:
            request.ext = {**ext, "sysFlag": str(flags & ~SUSPEND)}
        return super().pull(peer, request)


class NegativeForever(Pulls):
    """A pull that waits for less than no time waits for good."""

    def wait(self, ext: Mapping[str, str]) -> int:
        asked = super().wait(ext)
        return _HOUR if asked < 0 else asked


class AnyMessage(Pulls):
    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        return True


class NoMessage(Pulls):
    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        return False


class OnlyEverything(Pulls):
    """A message wakes only pulls that are subscribed to everything."""

    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        return codes is None


class AllQueues(Pulls):
    """A message wakes the pulls of all queues of its topic."""

    def arrived(self, topic: str, queue: int) -> None:
        entry = self._storage.entries(topic, queue)[-1]
        for other in [number for name, number in self._held if name == topic]:
            for held in [held for held in self._held[topic, other] if self.wakes(held.codes, entry)]:
                self._wake(held)


class OneIsWoken(Pulls):
    """A message wakes one pull of its queue, and the others are forgotten."""

    def arrived(self, topic: str, queue: int) -> None:
        entry = self._storage.entries(topic, queue)[-1]
        woken = [held for held in self._held.get((topic, queue), ()) if self.wakes(held.codes, entry)]
        for held in woken[1:]:
            self._drop(held)
        super().arrived(topic, queue)


class UncheckedMessages(Pulls):
    def has_news(self, held: HeldPull) -> bool:
        return False


class ChecksFilter(Pulls):
    """A check looks for messages that pass."""

    def has_news(self, held: HeldPull) -> bool:
        topic, queue = place(held.request.ext)
        entries = self._storage.entries(topic, queue)[held.offset :]
        return any(self.wakes(held.codes, entry) for entry in entries)


class ChecksAlways(Pulls):
    """Held pulls are looked at all the time."""

    def interval(self) -> int:
        return 1


class TimeIgnored(Pulls):
    """Every pull is answered by the next check."""

    def wait(self, ext: Mapping[str, str]) -> int:
        return 0


class TimeForgotten(Pulls):
    """Pulls are held for an hour."""

    def wait(self, ext: Mapping[str, str]) -> int:
        return _HOUR


class AskedTime(Pulls):
    """The time that a pull asks for counts without long polling, too."""

    def wait(self, ext: Mapping[str, str]) -> int:
        return int(ext["suspendTimeoutMillis"])


class WokenShort(Pulls):
    """Messages wake pulls without long polling, too."""

    def arrived(self, topic: str, queue: int) -> None:
        entry = self._storage.entries(topic, queue)[-1]
        for held in [held for held in self._held.get((topic, queue), ()) if self.wakes(held.codes, entry)]:
            self._wake(held)


class SubscribedThen(Pulls):
    """The subscription counts that a pull was held with."""

    _then: tuple[TagCodes | Err, ...] = ()

    def subscribed(self, ext: Mapping[str, str], flags: int) -> TagCodes | Err:
        return self._then[0] if self._then else super().subscribed(ext, flags)

    def _wake(self, held: HeldPull) -> None:
        self._then = (held.codes,)
        super()._wake(held)
        self._then = ()


class FilterLost(SubscribedThen):
    """A pull that was held is judged without its filter."""

    def _wake(self, held: HeldPull) -> None:
        held.codes = None
        super()._wake(held)


class NotJudgedAgain(SubscribedThen):
    """A pull that was held is told to come again."""

    def _wake(self, held: HeldPull) -> None:
        held.codes = frozenset()
        super()._wake(held)


class HeldAgain(Pulls):
    """A pull whose time is up without any message is held once more."""

    def _wake(self, held: HeldPull) -> None:
        if self.has_news(held):
            super()._wake(held)
        else:
            held.until = self._clock() + _HOUR


class FromMax(Pulls):
    """A pull that was held goes on at max."""

    def _wake(self, held: HeldPull) -> None:
        topic, queue = place(held.request.ext)
        log = self._storage.state.logs.get((topic, queue))
        held.request.ext = {**held.request.ext, "queueOffset": str(log.max if log else 0)}
        codes, held.codes = held.codes, None
        self._drop(held)
        response = self._judge(held.request, codes, False)
        held.peer.answer(held.request, response)


class AllowedThen(Pulls):
    """A group that is disabled meanwhile is given the message."""

    def _wake(self, held: HeldPull) -> None:
        state = self._storage.state
        self._storage.state = state._replace(disabled=frozenset())
        super()._wake(held)
        self._storage.state = self._storage.state._replace(disabled=state.disabled)


class ReadThen(Pulls):
    """A topic that may not be read any more is read."""

    def _wake(self, held: HeldPull) -> None:
        topics = self._storage.state.topics
        readable = {name: Topic.of(max(1, settings.write_queues)) for name, settings in topics.items()}
        self._storage.state = self._storage.state._replace(topics=readable)
        super()._wake(held)
        self._storage.state = self._storage.state._replace(topics=topics)


class GroupGone(Pulls):
    """A group that is deleted meanwhile is not made again."""

    def _wake(self, held: HeldPull) -> None:
        if held.request.ext["consumerGroup"] in self._storage.state.groups:
            super()._wake(held)
        else:
            self._drop(held)
            held.peer.answer(held.request, command(refused(Err("SUBSCRIPTION_GROUP_NOT_EXIST"))))


_pulls = mutants_of("pulls", "broker-polling")
_short = mutants_of("pulls", "broker-polling", **{LONG_POLLING: "false", SHORT_POLLING: "100"})

MUTANTS: tuple[BrokerMutant, ...] = (
    _pulls("poll-never-holds", "D134", "No pull is held.", NeverHolds),
    _pulls("poll-holds-beyond", "D134", "A pull beyond max is held.", HoldsBeyondMax),
    _pulls("poll-holds-unmatched", "D134", "A pull is held whose messages do not pass.", HoldsUnmatched),
    _pulls("poll-zero-at-once", "D134", "A pull that waits for no time is answered at once.", ZeroAtOnce),
    _pulls("poll-negative-forever", "D134", "A pull that waits for less than no time waits for good.", NegativeForever),
    _pulls("poll-any-message", "D134", "Every message wakes a pull.", AnyMessage),
    _pulls("poll-no-message", "D134", "No message wakes a pull.", NoMessage),
    _pulls("poll-only-everything", "D134", "A message wakes only pulls without a filter.", OnlyEverything),
    _pulls("poll-all-queues", "D134", "A message wakes the pulls of other queues.", AllQueues),
    _pulls("poll-one-is-woken", "D134", "A message wakes one pull, and the others are forgotten.", OneIsWoken),
    _pulls("poll-unchecked", "D134", "Checks do not see new messages.", UncheckedMessages),
    _pulls("poll-checks-filter", "D134", "Checks see only messages that pass.", ChecksFilter),
    _pulls("poll-checks-always", "D134", "Held pulls are looked at all the time.", ChecksAlways),
    _pulls("poll-time-ignored", "D134", "Every pull is answered by the next check.", TimeIgnored),
    _pulls("poll-time-forgotten", "D134", "A pull is held for longer than it asks for.", TimeForgotten),
    _pulls("poll-filter-lost", "D134", "A pull that was held is judged without its filter.", FilterLost),
    _pulls("poll-not-judged-again", "D134", "A pull that was held is told to come again.", NotJudgedAgain),
    _pulls("poll-held-again", "D134", "A pull whose time is up is held once more.", HeldAgain),
    _pulls("poll-from-max", "D134", "A pull that was held goes on at max.", FromMax),
    _pulls("poll-subscribed-then", "D214", "The subscription counts that a pull was held with.", SubscribedThen),
    _pulls("poll-allowed-then", "D214", "A group that is disabled meanwhile is answered.", AllowedThen),
    _pulls("poll-read-then", "D214", "A topic that cannot be read any more is read.", ReadThen),
    _pulls("poll-group-gone", "D214", "A group that is deleted meanwhile is not made again.", GroupGone),
    _short("poll-asked-time", "D134", "The time that is asked for counts without long polling.", AskedTime),
    _short("poll-woken-short", "D134", "Messages wake pulls without long polling.", WokenShort),
)
