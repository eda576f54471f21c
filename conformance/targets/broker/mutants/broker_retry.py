"""Broker mutants that the suite ``broker-retry`` kills: wrong copies of messages that come back, lost and undead ones.

Each repeats a real defect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.fakes.retries import Retries
from rocketmq_conformance.conformance.fakes.storage import DEFAULT_RETRIES, Storage
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
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

MUTANTS: list[BrokerMutant] = []
_retries = declared(MUTANTS, "retries", "broker-retry")
_storage = declared(MUTANTS, "storage", "broker-retry")
_unwritten = declared(MUTANTS, "retries", "broker-retry", **{PERMISSION: "4"})
_untimed = declared(MUTANTS, "retries", "broker-retry", **{TIMER_WHEEL: "false"})


def _without(filing: _Decided, *names: str) -> _Decided:
    """The filing of a copy without some properties."""
    if not isinstance(filing, Filing):
        return filing
    return filing._replace(properties={name: text for name, text in filing.properties.items() if name not in names})


def _is_dead(filing: _Decided) -> bool:
    return isinstance(filing, Filing) and filing.topic.startswith(DEAD)


# --- the retry topic -----------------------------------------------------------------------------------------


@_retries("D117", "A group without retry queues has one.")
class BackNeverDropped(Retries):
    def settings(self, group: str) -> RetrySettings:
        settings = super().settings(group)
        return settings._replace(queues=max(settings.queues, 1))


@_retries("D117", "A message that is dropped is refused.")
class BackDropRefused(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked, names_limit) or _FAILED


@_retries("D113", "A message may come back one queue too far.")
class BackQueueBeyond(Retries):
    """The queue that is drawn may be the number of queues."""

    def pick(self, filing: Filing) -> int:
        return self._count % (filing.queues + 1)


@_retries("D113", "A retry topic gets the queues that its group got.")
class BackTopicGrows(Retries):
    """A retry topic gets the queues that its group got meanwhile."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        storage, topic = self._storage, RETRY + asked.group
        queues, old = self.settings(asked.group).queues, storage.state.topics.get(topic)
        if old is not None and queues > old.read_queues:
            storage.create_topic(topic, Topic(queues, queues, old.perm))
        return super().decide(message, asked, names_limit)


@_retries("D113", "A retry topic is made with one queue.")
class BackTopicOfOne(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        made = RETRY + asked.group not in self._storage.state.topics
        decided = super().decide(message, asked, names_limit)
        if made and RETRY + asked.group in self._storage.state.topics:
            self._storage.create_topic(RETRY + asked.group, Topic.of(1))
        return decided


@_retries("D117", "A message that is refused makes no retry topic.")
class BackTopicLate(Retries):
    """A message that is refused makes no retry topic."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        before = self._storage.state
        decided = super().decide(message, asked, names_limit)
        if isinstance(decided, Err):
            self._storage.state = before
        return decided


@_retries("D117", "A retry topic that may not be written is written.")
class BackWrittenAnyway(Retries):
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


@_retries("D117", "A place where no message begins is accepted.")
class BackOfNothing(Retries):
    """A place where no message begins is accepted."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        decided = super().decide(message, asked, names_limit)
        return None if message is None and decided == _FAILED else decided


@_retries("D117", "A message whose topic is gone cannot come back.")
class BackOfLivingTopics(Retries):
    """A message whose topic was deleted cannot be found."""

    def look(self, physical: int) -> Message | None:
        message = super().look(physical)
        return message if message is not None and message.topic in self._storage.state.topics else None


@_retries("D116", "A message comes back only by the name of the topic it lies in.")
class BackFenced(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        decided = super().decide(message, asked, names_limit)
        if message is not None and asked.origin not in {None, message.topic} and isinstance(decided, Filing):
            return _FAILED
        return decided


@_retries("D116", "A message that comes again forgets its first topic.")
class BackTopicLost(Retries):
    """A message that came back forgets the topic that it was first sent to."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if message is None or not isinstance(filing, Filing):
            return filing
        return filing._replace(properties={**filing.properties, RETRY_TOPIC: message.topic})


@_retries("D116", "A copy names the message that was sent back last.")
class BackIdLost(Retries):
    """A copy names the message that was sent back last."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if message is None or not isinstance(filing, Filing):
            return filing
        return filing._replace(properties={**filing.properties, ORIGIN: self.kept(message).id})


@_retries("D116", "A copy has neither tag nor keys.")
class BackPropertiesLost(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return _without(super().decide(message, asked, names_limit), "TAGS", "KEYS")


@_retries("D116", "A copy is stored as if its sender waited for it.")
class BackWaitsForDisk(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return _without(super().decide(message, asked, names_limit), WAIT)


# --- levels --------------------------------------------------------------------------------------------------


@_retries("D114", "Level 0 means level 2 and the times.")
class BackLevelLow(Retries):
    """Level 0 is level 1, and one more for each time."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        times = 0 if message is None else message.reconsume_times
        level = asked.level or 2 + times
        return super().decide(message, asked._replace(level=level), names_limit)


@_retries("D114", "Level 0 means level 3 every time.")
class BackLevelSame(Retries):
    """Level 0 is level 3, however often the message came back."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(level=asked.level or 3), names_limit)


@_retries("D114", "The level of a request counts for nothing.")
class BackLevelIgnored(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(level=min(asked.level, 0)), names_limit)


@_retries("D114", "A level beyond the last one means at once.")
class BackBeyondAtOnce(Retries):
    """A message for a level beyond the last one does not wait."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if isinstance(filing, Filing) and filing.level and asked.level > len(self.levels):
            return filing._replace(level=0)
        return filing


@_retries("D114", "Messages come back at once.")
class BackNeverWaits(Retries):
    def wait(self, level: int) -> int:
        return 0


@_retries("D114", "A message that waited has no level any more.")
class BackLevelCleared(Retries):
    """A message that waited does not say so any more."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return _without(super().decide(message, asked, names_limit), DELAY)


# --- limits --------------------------------------------------------------------------------------------------


@_retries("D115", "A message that comes again is not counted.")
class BackNeverCounts(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        return filing._replace(times=filing.times - 1) if isinstance(filing, Filing) else filing


@_retries("D115", "A message comes once more than the limit says.")
class BackOnceMore(Retries):
    """A message comes back once more than the limit says."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        most = asked.most if asked.most is None else asked.most + 1
        return super().decide(message, asked._replace(most=most), names_limit)


@_retries("D115", "The limit of a request counts for nothing.")
class BackLimitOfGroup(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked, False)


@_retries("D115", "The limit of a group counts for nothing.")
class BackLimitSixteen(Retries):
    """The limit of the group counts for nothing."""

    def settings(self, group: str) -> RetrySettings:
        return super().settings(group)._replace(most=DEFAULT_RETRIES.most)


@_retries("D112", "A send-back without a limit fails.")
class BackLimitNeeded(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        decided = super().decide(message, asked, names_limit)
        return _FAILED if names_limit and asked.most is None and isinstance(decided, Filing) else decided


@_retries("D115", "The limit that an old client sends is believed.")
class BackLimitOfOld(Retries):
    """The limit of a client that knows none is believed, too."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked, True)


@_storage("D99", "A known group keeps its settings for retries.")
class BackSettingsOnce(Storage):
    """A known group keeps the settings that it has."""

    def set_retries(self, group: str, settings: RetrySettings) -> None:
        self.retries.setdefault(group, settings)


@_storage("D99", "A group that was deleted comes back with its limit.")
class BackSettingsStay(Storage):
    """A group that was deleted comes back with its old settings."""

    def delete_group(self, group: str, flag: str) -> None:
        kept = dict(self.retries)
        super().delete_group(group, flag)
        self.retries = kept


# --- dead letters --------------------------------------------------------------------------------------------


@_retries("D114", "A negative level means level 0.")
class DeadNegativeIsZero(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(level=max(asked.level, 0)), names_limit)


@_retries("D111", "Dead letters cannot be read.")
class DeadUnreadable(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        topic = DEAD + asked.group
        made = topic not in self._storage.state.topics
        decided = super().decide(message, asked, names_limit)
        if made and topic in self._storage.state.topics:
            self._storage.create_topic(topic, Topic(1, 1, WRITE))
        return decided


@_retries("D111", "A dead letter waits at its last level once more.")
class DeadWaits(Retries):
    """A dead letter that waited for its last retry waits as long again."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        if message is None or not isinstance(filing, Filing) or not _is_dead(filing):
            return filing
        level = int(self.kept(message).properties.get(DELAY, "0"))
        return filing._replace(level=max(level, 0), properties={**filing.properties, DELAY: str(level)})


@_retries("D111", "A dead letter does not name the first message.")
class DeadWithoutId(Retries):
    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        return _without(filing, ORIGIN) if _is_dead(filing) else filing


@_retries("D112", "A dead letter needs no topic in its request.")
class DeadUnnamed(Retries):
    """A dead letter whose request names no topic is accepted."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        return super().decide(message, asked._replace(origin=asked.origin or "unnamed"), names_limit)


@_retries("D115", "A message that came too often is dropped.")
class DeadDropped(Retries):
    """A message that came back too often is dropped."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        filing = super().decide(message, asked, names_limit)
        return None if _is_dead(filing) else filing


# --- copies --------------------------------------------------------------------------------------------------


@_retries("D112", "A copy without a limit fails.")
class CopyLimitNeeded(Retries):
    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        return _FAILED if most is None and names_limit else super().decide_copy(copy, most, names_limit)


@_retries("D115", "A copy that reaches the limit is a dead letter.")
class CopyAtLimit(Retries):
    """A copy that says as many times as the limit is a dead letter already."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        return super().decide_copy(copy, most if most is None else most - 1, names_limit)


@_retries("D115", "A copy is never a dead letter.")
class CopyNeverDead(Retries):
    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        return super().decide_copy(copy, 1 << 30, names_limit)


@_retries("D114", "A copy does not wait.")
class CopyAtOnce(Retries):
    """A copy does not wait at its level."""

    def delayed(self, draft: Message) -> Message | Err | None:
        return None


@_retries("D115", "A copy is counted once more.")
class CopyCountedTwice(Retries):
    """A copy is counted once more, though its client did."""

    def copied(self, copy: Message, most: int | None, version: int) -> Message | Err:
        made = super().copied(copy, most, version)
        return made if isinstance(made, Err) else replace(made, reconsume_times=made.reconsume_times + 1)


@_retries("D111", "A copy that is a dead letter waits.")
class CopyDeadWaits(Retries):
    def copied(self, copy: Message, most: int | None, version: int) -> Message | Err:
        made = super().copied(copy, most, version)
        if isinstance(made, Err) or not made.topic.startswith(DEAD):
            return made
        return replace(made, properties=copy.properties)


# --- locks, permissions and groups -------------------------------------------------------------------------------


@_retries("D219", "Locks do not matter to copies.")
class CopyLockedLives(Retries):
    """Locks do not matter to copies."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        honest, self.locked = self.locked, lambda group: False
        filing = super().decide_copy(copy, most, names_limit)
        self.locked = honest
        return filing


@_retries("D219", "A group that gave its lock back has dead letters.")
class CopyUnlockedDies(Retries):
    """A group that has locked anything, whether or not it holds it, has dead letters."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        honest, self.locked = self.locked, lambda group: True
        filing = super().decide_copy(copy, most, names_limit)
        self.locked = honest
        return filing


@_retries("D219", "A copy of a group that holds a lock is refused.")
class CopyLockedRefused(Retries):
    """A copy of a group that holds a lock is refused."""

    def decide_copy(self, copy: Message, most: int | None, names_limit: bool) -> Filing | Err:
        if self.locked(copy.topic.removeprefix(RETRY)):
            return _FAILED
        return super().decide_copy(copy, most, names_limit)


@_unwritten("D117", "A broker that may not be written takes messages back.")
class BackForbidden(Retries):
    """The permission of the broker is for sends and pulls."""

    def decide(self, message: Message | None, asked: BackRequest, names_limit: bool) -> _Decided:
        storage = self._storage
        honest, storage.rules = storage.rules, replace(storage.rules, writeable=True)
        decided = super().decide(message, asked, names_limit)
        storage.rules = honest
        return decided


@_retries("D215", "A message comes at once, whatever time it has.")
class TimerNever(Retries):
    """A message comes at once, whatever time it has."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return None


@_retries("D215", "Only a time in seconds counts.")
class TimerSeconds(Retries):
    """The other two properties are not looked at."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return super().due({name: text for name, text in properties.items() if name not in TIMERS[1:]}, level)


@_retries("D215", "Of several times the last one counts.")
class TimerLast(Retries):
    """Of several times the last one counts."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        found = [name for name in TIMERS if name in properties]
        return super().due({name: text for name, text in properties.items() if name not in found[:-1]}, level)


@_retries("D215", "A message whose time is refused comes at once.")
class TimerIllegal(Retries):
    """A message whose time is refused comes at once."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        due = super().due(properties, level)
        return None if isinstance(due, Err) else due


@_retries("D215", "A time that is over is refused.")
class TimerOver(Retries):
    """A time that is over is refused."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        due = super().due(properties, level)
        timed = not level and OUT not in properties and any(properties.get(name) for name in TIMERS)
        return Err("MESSAGE_ILLEGAL") if due is None and timed else due


@_retries("D215", "A message that has waited waits once more.")
class TimerTwice(Retries):
    """A message that has waited waits once more."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return super().due({name: text for name, text in properties.items() if name != OUT}, level)


@_retries("D215", "A message comes seconds before its time.")
class TimerEarly(Retries):
    """A time is rounded to two seconds before."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        due = super().due(properties, level)
        return due - 2 * self.second if isinstance(due, int) else due


@_retries("D215", "A time counts before a delay level.")
class TimerBeforeLevel(Retries):
    """Of a message with a time and a delay level the time counts."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        return super().due(properties, 0)


@_retries("D215", "A message with a delay level keeps its time.")
class TimerKept(Retries):
    """A message with a delay level keeps its time."""

    def untimed(self, properties: dict[str, str]) -> dict[str, str]:
        return properties


@_retries("D215", "A message that waited does not say where it was for.")
class TimerUnnamed(Retries):
    """A message that waited does not say where it was for."""

    def _timed(self, draft: Message, properties: Mapping[str, str], due: int) -> Message:
        self._keep(draft, due - self._clock())
        return draft


@_untimed("D215", "Messages wait without a timer wheel, too.")
class TimerWithoutWheel(Retries):
    """A broker without a timer wheel has messages wait, too."""

    def due(self, properties: Mapping[str, str], level: int) -> int | Err | None:
        storage = self._storage
        honest, storage.rules = storage.rules, replace(storage.rules, timer_wheel=True)
        due = super().due(properties, level)
        storage.rules = honest
        return due
