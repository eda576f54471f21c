"""Broker mutants that the suite ``broker-polling`` kills: pulls are held too long, too short, or not judged again."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.pulls import HeldPull, Pulls
from rocketmq_conformance.conformance.fakes.responses import command, place, refused
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.configuration import LONG_POLLING, SHORT_POLLING
from rocketmq_conformance.models.broker.pull import SUSPEND
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry, TagCodes
from rocketmq_conformance.models.outcome import Err

#: An hour (ms).
_HOUR = 3_600_000

MUTANTS: list[BrokerMutant] = []
_pulls = declared(MUTANTS, "pulls", "broker-polling")
_short = declared(MUTANTS, "pulls", "broker-polling", **{LONG_POLLING: "false", SHORT_POLLING: "100"})


@_pulls("D134", "No pull is held.")
class PollNeverHolds(Pulls):
    def holds(self, code: str, flags: int) -> bool:
        return False


@_pulls("D134", "A pull beyond max is held.")
class PollHoldsBeyond(Pulls):
    """A pull beyond max is held until max comes there."""

    def holds(self, code: str, flags: int) -> bool:
        return super().holds(code, flags) or (code == "PULL_OFFSET_MOVED" and bool(flags & SUSPEND))


@_pulls("D134", "A pull is held whose messages do not pass.")
class PollHoldsUnmatched(Pulls):
    """A pull is held whose messages do not pass its filter."""

    def holds(self, code: str, flags: int) -> bool:
        return super().holds(code, flags) or (code == "PULL_RETRY_IMMEDIATELY" and bool(flags & SUSPEND))


@_pulls("D134", "A pull that waits for no time is answered at once.")
class PollZeroAtOnce(Pulls):
    """A pull that waits for no time is answered at once."""

    def pull(self, peer: Peer, request: Command) -> Command | None:
        ext = request.ext
        flags = int(ext["sysFlag"])
        if flags & SUSPEND and int(ext["suspendTimeoutMillis"]) <= 0:
            request.ext = {**ext, "sysFlag": str(flags & ~SUSPEND)}
        return super().pull(peer, request)


@_pulls("D134", "A pull that waits for less than no time waits for good.")
class PollNegativeForever(Pulls):
    """A pull that waits for less than no time waits for good."""

    def wait(self, ext: Mapping[str, str]) -> int:
        asked = super().wait(ext)
        return _HOUR if asked < 0 else asked


@_pulls("D134", "Every message wakes a pull.")
class PollAnyMessage(Pulls):
    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        return True


@_pulls("D134", "No message wakes a pull.")
class PollNoMessage(Pulls):
    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        return False


@_pulls("D134", "A message wakes only pulls without a filter.")
class PollOnlyEverything(Pulls):
    """A message wakes only pulls that are subscribed to everything."""

    def wakes(self, codes: TagCodes | Err, entry: StoredEntry) -> bool:
        return codes is None


@_pulls("D134", "A message wakes the pulls of other queues.")
class PollAllQueues(Pulls):
    """A message wakes the pulls of all queues of its topic."""

    def arrived(self, topic: str, queue: int) -> None:
        entry = self._storage.entries(topic, queue)[-1]
        for other in [number for name, number in self._held if name == topic]:
            for held in [held for held in self._held[topic, other] if self.wakes(held.codes, entry)]:
                self._wake(held)


@_pulls("D134", "A message wakes one pull, and the others are forgotten.")
class PollOneIsWoken(Pulls):
    """A message wakes one pull of its queue, and the others are forgotten."""

    def arrived(self, topic: str, queue: int) -> None:
        entry = self._storage.entries(topic, queue)[-1]
        woken = [held for held in self._held.get((topic, queue), ()) if self.wakes(held.codes, entry)]
        for held in woken[1:]:
            self._drop(held)
        super().arrived(topic, queue)


@_pulls("D134", "Checks do not see new messages.")
class PollUnchecked(Pulls):
    def has_news(self, held: HeldPull) -> bool:
        return False


@_pulls("D134", "Checks see only messages that pass.")
class PollChecksFilter(Pulls):
    """A check looks for messages that pass."""

    def has_news(self, held: HeldPull) -> bool:
        topic, queue = place(held.request.ext)
        entries = self._storage.entries(topic, queue)[held.offset :]
        return any(self.wakes(held.codes, entry) for entry in entries)


@_pulls("D134", "Held pulls are looked at all the time.")
class PollChecksAlways(Pulls):
    """Held pulls are looked at all the time."""

    def interval(self) -> int:
        return 1


@_pulls("D134", "Every pull is answered by the next check.")
class PollTimeIgnored(Pulls):
    """Every pull is answered by the next check."""

    def wait(self, ext: Mapping[str, str]) -> int:
        return 0


@_pulls("D134", "A pull is held for longer than it asks for.")
class PollTimeForgotten(Pulls):
    """Pulls are held for an hour."""

    def wait(self, ext: Mapping[str, str]) -> int:
        return _HOUR


@_short("D134", "The time that is asked for counts without long polling.")
class PollAskedTime(Pulls):
    """The time that a pull asks for counts without long polling, too."""

    def wait(self, ext: Mapping[str, str]) -> int:
        return int(ext["suspendTimeoutMillis"])


@_short("D134", "Messages wake pulls without long polling.")
class PollWokenShort(Pulls):
    """Messages wake pulls without long polling, too."""

    def arrived(self, topic: str, queue: int) -> None:
        entry = self._storage.entries(topic, queue)[-1]
        for held in [held for held in self._held.get((topic, queue), ()) if self.wakes(held.codes, entry)]:
            self._wake(held)


@_pulls("D214", "The subscription counts that a pull was held with.")
class PollSubscribedThen(Pulls):
    """The subscription counts that a pull was held with."""

    _then: tuple[TagCodes | Err, ...] = ()

    def subscribed(self, ext: Mapping[str, str], flags: int) -> TagCodes | Err:
        return self._then[0] if self._then else super().subscribed(ext, flags)

    def _wake(self, held: HeldPull) -> None:
        self._then = (held.codes,)
        super()._wake(held)
        self._then = ()


@_pulls("D134", "A pull that was held is judged without its filter.")
class PollFilterLost(PollSubscribedThen):
    """A pull that was held is judged without its filter."""

    def _wake(self, held: HeldPull) -> None:
        held.codes = None
        super()._wake(held)


@_pulls("D134", "A pull that was held is told to come again.")
class PollNotJudgedAgain(PollSubscribedThen):
    """A pull that was held is told to come again."""

    def _wake(self, held: HeldPull) -> None:
        held.codes = frozenset()
        super()._wake(held)


@_pulls("D134", "A pull whose time is up is held once more.")
class PollHeldAgain(Pulls):
    """A pull whose time is up without any message is held once more."""

    def _wake(self, held: HeldPull) -> None:
        if self.has_news(held):
            super()._wake(held)
        else:
            held.until = self._clock() + _HOUR


@_pulls("D134", "A pull that was held goes on at max.")
class PollFromMax(Pulls):
    """A pull that was held goes on at max."""

    def _wake(self, held: HeldPull) -> None:
        topic, queue = place(held.request.ext)
        log = self._storage.state.logs.get((topic, queue))
        held.request.ext = {**held.request.ext, "queueOffset": str(log.max if log else 0)}
        codes, held.codes = held.codes, None
        self._drop(held)
        response = self._judge(held.request, codes, False)
        held.peer.answer(held.request, response)


@_pulls("D214", "A group that is disabled meanwhile is answered.")
class PollAllowedThen(Pulls):
    """A group that is disabled meanwhile is given the message."""

    def _wake(self, held: HeldPull) -> None:
        state = self._storage.state
        self._storage.state = state._replace(disabled=frozenset())
        super()._wake(held)
        self._storage.state = self._storage.state._replace(disabled=state.disabled)


@_pulls("D214", "A topic that cannot be read any more is read.")
class PollReadThen(Pulls):
    """A topic that may not be read any more is read."""

    def _wake(self, held: HeldPull) -> None:
        topics = self._storage.state.topics
        readable = {name: Topic.of(max(1, settings.write_queues)) for name, settings in topics.items()}
        self._storage.state = self._storage.state._replace(topics=readable)
        super()._wake(held)
        self._storage.state = self._storage.state._replace(topics=topics)


@_pulls("D214", "A group that is deleted meanwhile is not made again.")
class PollGroupGone(Pulls):
    """A group that is deleted meanwhile is not made again."""

    def _wake(self, held: HeldPull) -> None:
        if held.request.ext["consumerGroup"] in self._storage.state.groups:
            super()._wake(held)
        else:
            self._drop(held)
            held.peer.answer(held.request, command(refused(Err("SUBSCRIPTION_GROUP_NOT_EXIST"))))
