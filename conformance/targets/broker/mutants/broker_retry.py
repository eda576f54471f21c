"""Broker mutants that the suite ``broker-retry`` kills: wrong copies of messages that come back, lost and undead ones.

Each repeats a real defect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.fakes.retries import Retries
from rocketmq_conformance.conformance.fakes.storage import DEFAULT_RETRIES, Storage
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, mutants_of
from rocketmq_conformance.models.broker.admin import ORDINARY
from rocketmq_conformance.models.broker.configuration import PERMISSION, TIMER_WHEEL
from rocketmq_conformance.models.broker.send_back import (
    DELAY,
    ORIGIN,
    RETRY_TOPIC,
    WAIT,
    BackRequest,
    Filing,
    RetrySettings,
)
from rocketmq_conformance.models.broker.state import DEAD, RETRY, WRITE, Topic
from rocketmq_conformance.models.broker.timer import OUT, TIMERS
from rocketmq_conformance.models.outcome import Err

_FAILED = Err("SYSTEM_ERROR")
#: What is decided about a message that is sent back.
_Decided = Filing | Err | None


def _without(filing: _Decided, *names: str) -> _Decided:
    """The filing of a copy without some properties."""
    if not isinstance(filing, Filing):
        return filing
    return filing._replace(properties={name: text for name, text in filing.properties.items() if name not in names})


def _is_dead(filing: _Decided) -> bool:
    return isinstance(filing, Filing) and filing.topic.startswith(DEAD)


# --- the retry topic -----------------------------------------------------------------------------------------


class NeverDrops(Retries):
    def settings(self, group: str) -> RetrySettings:
        settings = super().settings(group)
        return settings._replace(queues=max(settings.queues, 1))


class RefusesDropped(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked, names_limit) or _FAILED


class QueueBeyond(Retries):
    """The queue that is drawn may be the number of queues."""

    def pick(self, filing: Filing) -> int:
        return self._count % (filing.queues + 1)


class GrowsTopic(Retries):
    """A retry topic gets the queues that its group got meanwhile."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        storage, topic = self._storage, RETRY + asked.group
        queues, old = self.settings(asked.group).queues, storage.state.topics.get(topic)
        if old is not None and queues > old.read_queues:
            storage.create_topic(topic, Topic(queues, queues, old.perm))
        return super().decide(message, asked, names_limit)


class OneQueueTopic(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        made = RETRY + asked.group not in self._storage.state.topics
        decided = super().decide(message, asked, names_limit)
        if made and RETRY + asked.group in self._storage.state.topics:
            self._storage.create_topic(RETRY + asked.group, Topic.of(1))
        return decided


class TopicForAccepted(Retries):
    """A message that is refused makes no retry topic."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        before = self._storage.state
        decided = super().decide(message, asked, names_limit)
        if isinstance(decided, Err):
            self._storage.state = before
        return decided


class WritesAnyway(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        storage, topic = self._storage, RETRY + asked.group
        old = storage.state.topics.get(topic)
        if old is None or old.perm & WRITE:
            return super().decide(message, asked, names_limit)
        storage.create_topic(topic, old._replace(perm=ORDINARY))
        decided = super().decide(message, asked, names_limit)
        storage.create_topic(topic, old)
        return decided


# --- the message ---------------------------------------------------------------------------------------------


class AcceptsNothing(Retries):
    """A place where no message begins is accepted."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        decided = super().decide(message, asked, names_limit)
        return None if message is None and decided == _FAILED else decided


class LivingTopics(Retries):
    """A message whose topic was deleted cannot be found."""

    def look(self, physical: int) -> Message | None:
        message = super().look(physical)
        return message if message is not None and message.topic in self._storage.state.topics else None


class Fenced(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        decided = super().decide(message, asked, names_limit)
        if message is not None and asked.origin not in {None, message.topic} and isinstance(decided, Filing):
            return _FAILED
        return decided


class FirstTopicLost(Retries):
    """A message that came back forgets the topic that it was first sent to."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if message is None or not isinstance(filing, Filing):
            return filing
        return filing._replace(properties={**filing.properties, RETRY_TOPIC: message.topic})


class FirstIdLost(Retries):
    """A copy names the message that was sent back last."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if message is None or not isinstance(filing, Filing):
            return filing
        return filing._replace(properties={**filing.properties, ORIGIN: self.kept(message).id})


class ForgetsProperties(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return _without(super().decide(message, asked, names_limit), "TAGS", "KEYS")


class WaitsForStore(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return _without(super().decide(message, asked, names_limit), WAIT)


# --- levels --------------------------------------------------------------------------------------------------


class LevelsFromFirst(Retries):
    """Level 0 is level 1, and one more for each time."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        times = 0 if message is None else message.reconsume_times
        level = asked.level or 2 + times
        return super().decide(message, asked._replace(level=level), names_limit)


class SameLevel(Retries):
    """Level 0 is level 3, however often the message came back."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(level=asked.level or 3), names_limit)


class LevelIgnored(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(level=min(asked.level, 0)), names_limit)


class BeyondIsNow(Retries):
    """A message for a level beyond the last one does not wait."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if isinstance(filing, Filing) and filing.level and asked.level > len(self.levels):
            return filing._replace(level=0)
        return filing


class NeverWaits(Retries):
    def wait(self, level: int) -> int:
        return 0


class DelayCleared(Retries):
    """A message that waited does not say so any more."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return _without(super().decide(message, asked, names_limit), DELAY)


# --- limits --------------------------------------------------------------------------------------------------


class NeverCounts(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        return filing._replace(times=filing.times - 1) if isinstance(filing, Filing) else filing


class OneMore(Retries):
    """A message comes back once more than the limit says."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        most = asked.most if asked.most is None else asked.most + 1
        return super().decide(message, asked._replace(most=most), names_limit)


class GroupLimit(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked, False)


class SixteenTimes(Retries):
    """The limit of the group counts for nothing."""

    def settings(self, group: str) -> RetrySettings:
        return super().settings(group)._replace(most=DEFAULT_RETRIES.most)


class LimitNeeded(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        decided = super().decide(message, asked, names_limit)
        return _FAILED if names_limit and asked.most is None and isinstance(decided, Filing) else decided


class LimitOfOldClients(Retries):
    """The limit of a client that knows none is believed, too."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked, True)


class ForgetsSettings(Storage):
    """A known group keeps the settings that it has."""

    def set_retries(self, group: str, settings: RetrySettings) -> None:
        self.retries.setdefault(group, settings)


class KeepsSettings(Storage):
    """A group that was deleted comes back with its old settings."""

    def delete_group(self, group: str, flag: str) -> None:
        kept = dict(self.retries)
        super().delete_group(group, flag)
        self.retries = kept


# --- dead letters --------------------------------------------------------------------------------------------


class NegativeIsZero(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(level=max(asked.level, 0)), names_limit)


class DeadUnreadable(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        topic = DEAD + asked.group
        made = topic not in self._storage.state.topics
        decided = super().decide(message, asked, names_limit)
        if made and topic in self._storage.state.topics:
            self._storage.create_topic(topic, Topic(1, 1, WRITE))
        return decided


class DeadWait(Retries):
    """A dead letter that waited for its last retry waits as long again."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if message is None or not isinstance(filing, Filing) or not _is_dead(filing):
            return filing
        level = int(self.kept(message).properties.get(DELAY, "0"))
        return filing._replace(level=max(level, 0), properties={**filing.properties, DELAY: str(level)})


class DeadWithoutId(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        return _without(filing, ORIGIN) if _is_dead(filing) else filing


class DeadUnnamed(Retries):
    """A dead letter whose request names no topic is accepted."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(origin=asked.origin or "unnamed"), names_limit)


class NoDeadLetters(Retries):
    """A message that came back too often is dropped."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        return None if _is_dead(filing) else filing


# --- copies --------------------------------------------------------------------------------------------------


class CopyLimitNeeded(Retries):
    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        return _FAILED if most is None and names_limit else super().decide_copy(copy, most, names_limit)


class CopyAtLimit(Retries):
    """A copy that says as many times as the limit is a dead letter already."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        return super().decide_copy(copy, most if most is None else most - 1, names_limit)


class CopyNeverDead(Retries):
    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        return super().decide_copy(copy, 1 << 30, names_limit)


class CopyAtOnce(Retries):
    """A copy does not wait at its level."""

    def delayed(self, draft: Message) -> Message | Err | None:
        return None


class CopyCounts(Retries):
    """A copy is counted once more, though its client did."""

    def copied(self, copy: Message, most: int | None, version: int) -> Message | Err:
        made = super().copied(copy, most, version)
        return made if isinstance(made, Err) else replace(made, reconsume_times=made.reconsume_times + 1)


class DeadCopyWaits(Retries):
    def copied(self, copy: Message, most: int | None, version: int) -> Message | Err:
        made = super().copied(copy, most, version)
        if isinstance(made, Err) or not made.topic.startswith(DEAD):
            return made
        return replace(made, properties=copy.properties)


# --- locks, permissions and groups -------------------------------------------------------------------------------


class LockedCopiesLive(Retries):
    """Locks do not matter to copies."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        honest, self.locked = self.locked, lambda group: False
        filing = super().decide_copy(copy, most, names_limit)
        self.locked = honest
        return filing


class UnlockedCopiesDie(Retries):
    """A group that has locked anything, whether or not it holds it, has dead letters."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        honest, self.locked = self.locked, lambda group: True
        filing = super().decide_copy(copy, most, names_limit)
        self.locked = honest
        return filing


class LockedCopiesRefused(Retries):
    """A copy of a group that holds a lock is refused."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        if self.locked(copy.topic.removeprefix(RETRY)):
            return _FAILED
        return super().decide_copy(copy, most, names_limit)


class BacksAnyway(Retries):
    """The permission of the broker is for sends and pulls."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        storage = self._storage
        honest, storage.rules = storage.rules, replace(storage.rules, writeable=True)
        decided = super().decide(message, asked, names_limit)
        storage.rules = honest
        return decided


class NoTimers(Retries):
    """A message comes at once, whatever time it has."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return None


class OnlySeconds(Retries):
    """The other two properties are not looked at."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return super().due({name: text for name, text in properties.items() if name not in TIMERS[1:]}, level)


class LastTimeCounts(Retries):
    """Of several times the last one counts."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        found = [name for name in TIMERS if name in properties]
        return super().due({name: text for name, text in properties.items() if name not in found[:-1]}, level)


class IllegalAtOnce(Retries):
    """A message whose time is refused comes at once."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        due = super().due(properties, level)
        return None if isinstance(due, Err) else due


class OverRefused(Retries):
    """A time that is over is refused."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        due = super().due(properties, level)
        timed = not level and OUT not in properties and any(properties.get(name) for name in TIMERS)
        return Err("MESSAGE_ILLEGAL") if due is None and timed else due


class TwiceTimed(Retries):
    """A message that has waited waits once more."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return super().due({name: text for name, text in properties.items() if name != OUT}, level)


class TooEarly(Retries):
    """A time is rounded to two seconds before."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        due = super().due(properties, level)
        return due - 2 * self.second if isinstance(due, int) else due


class TimeBeforeLevel(Retries):
    """Of a message with a time and a delay level the time counts."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return super().due(properties, 0)


class KeepsTimes(Retries):
    """A message with a delay level keeps its time."""

    def untimed(self, properties: dict[str, str]) -> dict[str, str]:
        return properties


class ComesUnnamed(Retries):
    """A message that waited does not say where it was for."""

    def _timed(self, draft: Message, properties: Mapping[str, str], due: int) -> Message:
        self._keep(draft, due - self._clock())
        return draft


class WaitsWithoutWheel(Retries):
    """A broker without a timer wheel has messages wait, too."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        storage = self._storage
        honest, storage.rules = storage.rules, replace(storage.rules, timer_wheel=True)
        due = super().due(properties, level)
        storage.rules = honest
        return due


_retries = mutants_of("retries", "broker-retry")
_unwritten = mutants_of("retries", "broker-retry", **{PERMISSION: "4"})
_untimed = mutants_of("retries", "broker-retry", **{TIMER_WHEEL: "false"})
_storage = mutants_of("storage", "broker-retry")

MUTANTS: tuple[BrokerMutant, ...] = (
    _retries("back-never-dropped", "D117", "A group without retry queues has one.", NeverDrops),
    _retries("back-drop-refused", "D117", "A message that is dropped is refused.", RefusesDropped),
    _retries("back-queue-beyond", "D113", "A message may come back one queue too far.", QueueBeyond),
    _retries("back-topic-grows", "D113", "A retry topic gets the queues that its group got.", GrowsTopic),
    _retries("back-topic-of-one", "D113", "A retry topic is made with one queue.", OneQueueTopic),
    _retries("back-topic-late", "D117", "A message that is refused makes no retry topic.", TopicForAccepted),
    _retries("back-written-anyway", "D117", "A retry topic that may not be written is written.", WritesAnyway),
    _retries("back-of-nothing", "D117", "A place where no message begins is accepted.", AcceptsNothing),
    _retries("back-of-living-topics", "D117", "A message whose topic is gone cannot come back.", LivingTopics),
    _retries("back-fenced", "D116", "A message comes back only by the name of the topic it lies in.", Fenced),
    _retries("back-topic-lost", "D116", "A message that comes again forgets its first topic.", FirstTopicLost),
    _retries("back-id-lost", "D116", "A copy names the message that was sent back last.", FirstIdLost),
    _retries("back-properties-lost", "D116", "A copy has neither tag nor keys.", ForgetsProperties),
    _retries("back-waits-for-disk", "D116", "A copy is stored as if its sender waited for it.", WaitsForStore),
    _retries("back-level-low", "D114", "Level 0 means level 2 and the times.", LevelsFromFirst),
    _retries("back-level-same", "D114", "Level 0 means level 3 every time.", SameLevel),
    _retries("back-level-ignored", "D114", "The level of a request counts for nothing.", LevelIgnored),
    _retries("back-beyond-at-once", "D114", "A level beyond the last one means at once.", BeyondIsNow),
    _retries("back-never-waits", "D114", "Messages come back at once.", NeverWaits),
    _retries("back-level-cleared", "D114", "A message that waited has no level any more.", DelayCleared),
    _retries("back-never-counts", "D115", "A message that comes again is not counted.", NeverCounts),
    _retries("back-once-more", "D115", "A message comes once more than the limit says.", OneMore),
    _retries("back-limit-of-group", "D115", "The limit of a request counts for nothing.", GroupLimit),
    _retries("back-limit-sixteen", "D115", "The limit of a group counts for nothing.", SixteenTimes),
    _retries("back-limit-needed", "D112", "A send-back without a limit fails.", LimitNeeded),
    _retries("back-limit-of-old", "D115", "The limit that an old client sends is believed.", LimitOfOldClients),
    _storage("back-settings-once", "D99", "A known group keeps its settings for retries.", ForgetsSettings),
    _storage("back-settings-stay", "D99", "A group that was deleted comes back with its limit.", KeepsSettings),
    _retries("dead-negative-is-zero", "D114", "A negative level means level 0.", NegativeIsZero),
    _retries("dead-unreadable", "D111", "Dead letters cannot be read.", DeadUnreadable),
    _retries("dead-waits", "D111", "A dead letter waits at its last level once more.", DeadWait),
    _retries("dead-without-id", "D111", "A dead letter does not name the first message.", DeadWithoutId),
    _retries("dead-unnamed", "D112", "A dead letter needs no topic in its request.", DeadUnnamed),
    _retries("dead-dropped", "D115", "A message that came too often is dropped.", NoDeadLetters),
    _retries("copy-limit-needed", "D112", "A copy without a limit fails.", CopyLimitNeeded),
    _retries("copy-at-limit", "D115", "A copy that reaches the limit is a dead letter.", CopyAtLimit),
    _retries("copy-never-dead", "D115", "A copy is never a dead letter.", CopyNeverDead),
    _retries("copy-at-once", "D114", "A copy does not wait.", CopyAtOnce),
    _retries("copy-counted-twice", "D115", "A copy is counted once more.", CopyCounts),
    _retries("copy-dead-waits", "D111", "A copy that is a dead letter waits.", DeadCopyWaits),
    _retries("copy-locked-lives", "D219", "Locks do not matter to copies.", LockedCopiesLive),
    _retries("copy-unlocked-dies", "D219", "A group that gave its lock back has dead letters.", UnlockedCopiesDie),
    _retries("copy-locked-refused", "D219", "A copy of a group that holds a lock is refused.", LockedCopiesRefused),
    _unwritten("back-forbidden", "D117", "A broker that may not be written takes messages back.", BacksAnyway),
    _retries("timer-never", "D215", "A message comes at once, whatever time it has.", NoTimers),
    _retries("timer-seconds", "D215", "Only a time in seconds counts.", OnlySeconds),
    _retries("timer-last", "D215", "Of several times the last one counts.", LastTimeCounts),
    _retries("timer-illegal", "D215", "A message whose time is refused comes at once.", IllegalAtOnce),
    _retries("timer-over", "D215", "A time that is over is refused.", OverRefused),
    _retries("timer-twice", "D215", "A message that has waited waits once more.", TwiceTimed),
    _retries("timer-early", "D215", "A message comes seconds before its time.", TooEarly),
    _retries("timer-before-level", "D215", "A time counts before a delay level.", TimeBeforeLevel),
    _retries("timer-kept", "D215", "A message with a delay level keeps its time.", KeepsTimes),
    _retries("timer-unnamed", "D215", "A message that waited does not say where it was for.", ComesUnnamed),
    _untimed("timer-without-wheel", "D215", "Messages wait without a timer wheel, too.", WaitsWithoutWheel),
)
