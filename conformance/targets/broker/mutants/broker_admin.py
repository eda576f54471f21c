"""Broker mutants that the suite ``broker-admin`` kills: wrong resets, clones, corrections, deletions, and commits.

Each repeats a real defect.
"""

from __future__ import annotations

from typing import cast

from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.group_stats import QueueStats, group_stats
from rocketmq_conformance.models.broker.pull import PullMessageRequest
from rocketmq_conformance.models.broker.reset import LIST, TABLE, OffsetPairs, ResetRequest
from rocketmq_conformance.models.broker.state import ABSENT
from rocketmq_conformance.models.broker.subscription import TagCodes
from rocketmq_conformance.models.outcome import Err, Result

MUTANTS: list[BrokerMutant] = []
_resets = declared(MUTANTS, "resets", "broker-admin")
_old_resets = declared(MUTANTS, "resets", "broker-admin", release="4.9.7")
_pulls = declared(MUTANTS, "pulls", "broker-admin")
_storage = declared(MUTANTS, "storage", "broker-admin", "broker-offsets")


# --- resets --------------------------------------------------------------------------------------------------


@_resets("D62", "A reset is forgotten once a pull has taken it.")
class ResetNotStored(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        stored = self._storage.state.stored
        result = super().reset(asked)
        self._storage.state = self._storage.state._replace(stored=stored)
        return result


@_resets("D63", "A reset is stored, and no member is notified.")
class ResetNotPending(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        pending = self._storage.state.pending
        result = super().reset(asked)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


@_resets("D57", "A reset of a queue to max ends at the last message.")
class ResetNowByTime(Resets):
    """Searches as old releases did: the last message counts as the end."""

    def reset(self, asked: ResetRequest) -> Result:
        if asked.timestamp >= 0 or asked.queue < 0 or asked.offset not in {None, -1}:
            return super().reset(asked)
        log = self._storage.state.logs.get((asked.topic, asked.queue), ABSENT)
        return super().reset(asked._replace(offset=max(log.max - 1, log.min)))


@_resets("D61", "A reset of one queue moves the others too.")
class ResetWholeTopic(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        return super().reset(asked._replace(queue=-1))


@_resets("D58", "A reset without force stores no larger offset.")
class ResetNeverForwards(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        before = self._storage.state
        result = super().reset(asked)
        if asked.force:
            return result
        kept = {key: old for key, old in before.stored.items() if self._storage.state.stored[key] > old}
        self._storage.state = self._storage.state._replace(stored={**self._storage.state.stored, **kept})
        return result


@_resets("D58", "A group without members cannot be reset.")
class ResetNeedsMembers(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        if asked.group not in self._consumers.groups:
            return Err("CONSUMER_NOT_ONLINE")
        return super().reset(asked)


@_resets("D61", "A reset to max + 1 is refused.")
class ResetUntilMax(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        log = self._storage.state.logs.get((asked.topic, asked.queue), ABSENT)
        known = asked.topic in self._storage.state.topics and asked.group in self._storage.state.groups
        if known and asked.queue >= 0 and asked.offset == log.max + 1:
            return Err("SYSTEM_ERROR")
        return super().reset(asked)


@_old_resets("D387", "Members always get a table of offsets.")
class ResetTableForCpp(Resets):
    def form(self, notified: OffsetPairs | None) -> str | None:
        return TABLE


@_old_resets("D387", "Members always get a list of offsets.")
class ResetListForAll(Resets):
    def form(self, notified: OffsetPairs | None) -> str | None:
        return LIST


@_old_resets("D387", "A client in C++ is answered by a list.")
class ResetAnswersList(Resets):
    def answer_form(self, notified: OffsetPairs | None) -> str | None:
        return self.form(notified)


# --- clones --------------------------------------------------------------------------------------------------


@_resets("D65", "A clone stores max, and skips what was not consumed.")
class CloneCopiesMax(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        super().clone(source, destination, topic, offline)
        state = self._storage.state
        stored = {
            key: state.logs.get(key[1:], ABSENT).max if key[:2] == (destination, topic) else offset
            for key, offset in state.stored.items()
        }
        self._storage.state = state._replace(stored=stored)


@_resets("D66", "A clone without a topic clones all of them.")
class CloneBlankIsAll(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        topics = {key[1] for key in self._storage.state.stored if key[0] == source}
        for each in [topic] if topic else sorted(topics):
            super().clone(source, destination, each, offline)


@_resets("D67", "A clone leaves the destination's other queues as they were.")
class CloneMerges(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        before = self._storage.state.stored
        super().clone(source, destination, topic, offline)
        self._storage.state = self._storage.state._replace(stored={**before, **self._storage.state.stored})


@_resets("D67", "A clone ignores which topic it is asked for.")
class CloneEveryTopic(Resets):
    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        for each in sorted(self._storage.state.topics):
            super().clone(source, destination, each, offline)


# --- deletions -----------------------------------------------------------------------------------------------


@_storage("D64", "A deleted topic leaves its pending resets.")
class TopicKeepsResets(Storage):
    def delete_topic(self, topic: str) -> None:
        pending = self.state.pending
        super().delete_topic(topic)
        self.state = self.state._replace(pending=pending)


@_storage("D64", "A group deleted with its offsets leaves its resets.")
class GroupKeepsResets(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        pending = self.state.pending
        super().delete_group(group, flag)
        self.state = self.state._replace(pending=pending)


@_storage("D69", "A deleted group loses its offsets unasked.")
class GroupAlwaysCleans(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        super().delete_group(group, CLEAN_OFFSET if self.rules.clean_offset else REMOVE_OFFSET)


@_storage("D69", "A deleted group keeps its offsets even if the request says to clean them.")
class GroupNeverCleans(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        super().delete_group(group, KEEP)


# --- pulls ---------------------------------------------------------------------------------------------------


@_pulls("D63", "A pull leaves the reset pending.")
class ResetToldForEver(Pulls):
    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        pending = self._storage.state.pending
        result = super().find(asked, codes)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


@_pulls("D40", "A pull that takes a reset ignores its commit flag.")
class ResetOverCommitFlag(Pulls):
    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        marked = (asked.group, asked.topic, asked.queue) in self._storage.state.pending
        return super().find(asked._replace(commit=None) if marked else asked, codes)


# --- corrections ---------------------------------------------------------------------------------------------


@_resets("D68", "A correction leaves the offsets of filtered groups.")
class CorrectionKeepsGroups(Resets):
    """Leaves groups out of the answer only."""

    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        stored = self._storage.state.stored
        result = super().correction(topic, left_out, compared)
        self._storage.state = self._storage.state._replace(stored=stored)
        return result


@_resets("D68", "A correction deletes offsets of its own topic only.")
class CorrectionOneTopic(Resets):
    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        others = {key: offset for key, offset in self._storage.state.stored.items() if key[1] != topic}
        result = super().correction(topic, left_out, compared)
        self._storage.state = self._storage.state._replace(stored={**others, **self._storage.state.stored})
        return result


@_resets("D68", "A correction that fails deletes nothing.")
class CorrectionUndone(Resets):
    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        stored = self._storage.state.stored
        result = super().correction(topic, left_out, compared)
        if isinstance(result, Err):
            self._storage.state = self._storage.state._replace(stored=stored)
        return result


@_resets("D68", "A correction passes no group over.")
class CorrectionOfAll(Resets):
    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        return super().correction(topic, frozenset(), compared)


@_resets("D68", "A correction compares no group.")
class CorrectionNotCompared(Resets):
    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        return super().correction(topic, left_out, "")


@_resets("D68", "A correction counts offsets below min as min.")
class CorrectionCountsNegative(Resets):
    """Offsets below min count as min."""

    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        result = super().correction(topic, left_out, compared)
        if isinstance(result, Err):
            return result
        stored = self._storage.state.stored
        low = {key[2] for key, offset in stored.items() if key[1] == topic and offset < 0}
        return tuple(sorted({**dict(cast(OffsetPairs, result)), **dict.fromkeys(low, 0)}.items()))


@_resets("D68", "A correction answers the largest offset.")
class CorrectionLargest(Resets):
    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        result = super().correction(topic, left_out, compared)
        if isinstance(result, Err):
            return result
        largest: dict[int, int] = {}
        for (_, name, queue), offset in self._storage.state.stored.items():
            if name == topic:
                largest[queue] = max(offset, largest.get(queue, offset))
        return tuple((queue, max(offset, largest[queue])) for queue, offset in cast(OffsetPairs, result))


@_pulls("D67", "A refused pull has subscribed to nothing.")
class CloneRefusedPull(Pulls):
    """A pull that is refused for its language has subscribed to nothing."""

    def _judge(self, request: Command, codes: TagCodes | Err, commits: bool) -> Command:
        honest, self._pulled = self._pulled, self._pulled
        if isinstance(codes, Err):
            self._pulled = lambda group, topic: None
        response = super()._judge(request, codes, commits)
        self._pulled = honest
        return response


# --- statistics of groups ------------------------------------------------------------------------------------


class _Stats(Resets):
    """Each queue has other statistics."""

    def changed(self, group: str, found: QueueStats) -> QueueStats:
        """The statistics of a queue."""
        raise AssertionError("every kind changes them")

    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        return tuple(self.changed(group, found) for found in super().stats(group, topic))


@_resets("D222", "Statistics of a group have what it stored, though a reset is pending.")
class StatsWithoutResets(Resets):
    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        known = self._storage.state
        self._storage.state = known._replace(pending={})
        found = super().stats(group, topic)
        self._storage.state = known
        return found


@_resets("D222", "Statistics of a group have a negative offset as it was stored.")
class StatsNegative(_Stats):
    def changed(self, group: str, found: QueueStats) -> QueueStats:
        topic, queue, high, offset, following, time = found
        stored = self._storage.state.stored.get((group, topic, queue), offset)
        return topic, queue, high, min(stored, offset), following, time


@_resets("D222", "Statistics of a group do not say where its pulls go on.")
class StatsWithoutPulls(_Stats):
    def changed(self, group: str, found: QueueStats) -> QueueStats:
        return *found[:4], None, found[5]


@_resets("D222", "Statistics of a group say that its pulls go on where it stored.")
class StatsPulledStored(_Stats):
    def changed(self, group: str, found: QueueStats) -> QueueStats:
        return *found[:4], found[3], found[5]


@_resets("D222", "Statistics of a group say that its pulls go on below what it stored.")
class StatsPulledBelow(_Stats):
    def changed(self, group: str, found: QueueStats) -> QueueStats:
        return *found[:4], self._storage.gone_on.get((group, *found[:2]), found[3]), found[5]


@_resets("D222", "Statistics of a group have the time of the message that comes next.")
class StatsNextTime(_Stats):
    def changed(self, group: str, found: QueueStats) -> QueueStats:
        log = self._storage.state.logs.get(found[:2], ABSENT)
        at = found[3] - log.first
        return *found[:5], log.times[at] if 0 <= at < len(log.times) else 0


@_resets("D222", "Statistics of a group have topics that its members do not subscribe to.")
class StatsElsewhere(Resets):
    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        storage = self._storage
        answer = group_stats(storage.rules, storage.state, storage.gone_on, group, topic, ())
        return cast("tuple[QueueStats, ...]", answer[1])


@_resets("D222", "Statistics of a group for all topics have only one of them.")
class StatsOneTopic(Resets):
    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        found = super().stats(group, topic)
        return tuple(one for one in found if one[0] == found[0][0])


@_resets("D222", "Statistics of a group leave out queues for which it stored nothing.")
class StatsStoredAlone(Resets):
    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        stored = self._storage.state.stored
        return tuple(one for one in super().stats(group, topic) if (group, *one[:2]) in stored)


@_storage("D222", "Where a group's pulls go on is known when it comes back.")
class StatsPullsOfDeleted(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        known = self.gone_on
        super().delete_group(group, flag)
        self.gone_on = known


@_storage("D222", "A commit ends what is known of where pulls go on.")
class StatsPullsCommitted(Storage):
    def pulled(self, key: tuple[str, str, int], following: int) -> None:
        if key not in self.state.stored:
            super().pulled(key, following)
