"""Broker mutants that the suite ``broker-topics`` kills: wrong settings of topics and groups, and their consequences.

Each repeats a real defect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.statistics import Statistics
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.admin import ORDINARY
from rocketmq_conformance.models.broker.consumption import TopicStats
from rocketmq_conformance.models.broker.own_names import DEFAULT_TOPIC
from rocketmq_conformance.models.broker.pull import FOUND, MAX_MESSAGES, PullMessageRequest, PullResult
from rocketmq_conformance.models.broker.reset import ResetRequest, without_pending
from rocketmq_conformance.models.broker.state import READ, RETRY, WRITE, Topic
from rocketmq_conformance.models.broker.subscription import TagCodes
from rocketmq_conformance.models.outcome import Err, Result

_FORBIDDEN = Err("NO_PERMISSION")

MUTANTS: list[BrokerMutant] = []
_storage = declared(MUTANTS, "storage", "broker-topics")
_pulls = declared(MUTANTS, "pulls", "broker-topics")
_ranges = declared(MUTANTS, "pulls", "broker-topics", storeType="defaultRocksDB")
_resets = declared(MUTANTS, "resets", "broker-topics")
_offsets = declared(MUTANTS, "offsets", "broker-topics")
_statistics = declared(MUTANTS, "statistics", "broker-topics")


# --- topics --------------------------------------------------------------------------------------------------


@_storage("D97", "As many queues are read as are written.")
class TopicWrittenForBoth(Storage):
    def create_topic(self, topic: str, settings: Topic) -> None:
        super().create_topic(topic, settings._replace(read_queues=settings.write_queues))


@_storage("D97", "As many queues are written as are read.")
class TopicReadForBoth(Storage):
    def create_topic(self, topic: str, settings: Topic) -> None:
        super().create_topic(topic, settings._replace(write_queues=settings.read_queues))


@_storage("D97", "A topic without queues gets one.")
class TopicZeroIsOne(Storage):
    def create_topic(self, topic: str, settings: Topic) -> None:
        super().create_topic(topic, Topic(settings.read_queues or 1, settings.write_queues or 1, settings.perm))


@_storage("D98", "A topic keeps the permission it was created with.")
class TopicKeepsPermission(Storage):
    def create_topic(self, topic: str, settings: Topic) -> None:
        old = self.state.topics.get(topic, settings)
        super().create_topic(topic, settings._replace(perm=old.perm))


@_storage("D98", "Permission 0 counts as none sent: all is allowed.")
class TopicNoneIsAll(Storage):
    def create_topic(self, topic: str, settings: Topic) -> None:
        super().create_topic(topic, settings._replace(perm=settings.perm or ORDINARY))


@_storage("D98", "Permission 2 is taken for reading, 4 for writing.")
class TopicSwapsPermissions(Storage):
    """Takes 2 for reading and 4 for writing."""

    def create_topic(self, topic: str, settings: Topic) -> None:
        swapped = (READ if settings.perm & WRITE else 0) | (WRITE if settings.perm & READ else 0)
        super().create_topic(topic, settings._replace(perm=swapped))


@_storage("D97", "A queue that is read no longer loses its messages.")
class TopicDropsMessages(Storage):
    """Forgets the messages of queues that are read no longer."""

    def create_topic(self, topic: str, settings: Topic) -> None:
        super().create_topic(topic, settings)
        kept = {
            (name, queue): log
            for (name, queue), log in self.state.logs.items()
            if name != topic or queue < settings.read_queues
        }
        self.state = self.state._replace(logs=kept)


# --- groups --------------------------------------------------------------------------------------------------


@_storage("D99", "A group is enabled whatever it is created with.")
class GroupAlwaysEnabled(Storage):
    def create_group(self, group: str, enabled: bool = True) -> None:
        super().create_group(group)


@_storage("D99", "A known group cannot be disabled, or enabled again.")
class GroupEnabledOnce(Storage):
    """A known group keeps what it was created with."""

    def create_group(self, group: str, enabled: bool = True) -> None:
        if group not in self.state.groups:
            super().create_group(group, enabled)


@_storage("D99", "A group that was deleted comes back disabled.")
class GroupStaysDisabled(Storage):
    def delete_group(self, group: str, flag: str) -> None:
        disabled = self.state.disabled
        super().delete_group(group, flag)
        self.state = self.state._replace(disabled=disabled)


# --- messages ------------------------------------------------------------------------------------------------


@_storage("D97", "A queue that is only read takes no messages.")
class SendByWritten(Storage):
    def append(self, draft: Message) -> Message | Err:
        settings = self.state.topics.get(draft.topic)
        if settings is not None and draft.queue >= settings.write_queues:
            return Err("INVALID_PARAMETER" if self.rules.invalid_parameter else "SYSTEM_ERROR")
        return super().append(draft)


@_storage("D98", "A topic that may only be read takes no messages.")
class SendByPermission(Storage):
    def append(self, draft: Message) -> Message | Err:
        settings = self.state.topics.get(draft.topic)
        if settings is not None and not settings.perm & WRITE:
            return _FORBIDDEN
        return super().append(draft)


@_storage("D97", "A message for no queue goes to one that is read.")
class SendToRead(Storage):
    def pick(self, settings: Topic) -> int:
        return max(settings.read_queues - 1, 0)


@_storage("D97", "Where no queue is written, queue 0 takes messages.")
class SendToFirst(Storage):
    """Takes queue 0 where no queue is written."""

    def append(self, draft: Message) -> Message | Err:
        settings = self.state.topics.get(draft.topic)
        if settings is not None and draft.queue < 0 and not settings.write_queues:
            return super().append(replace(draft, queue=0))
        return super().append(draft)


@_storage("D217", "Only TBW102 can be copied for a new topic.")
class InheritOwnDefault(Storage):
    """Only TBW102 can be copied for a new topic."""

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        if default == DEFAULT_TOPIC:
            super().know_topic(topic, default, queues)


@_storage("D217", "Any topic can be copied for a new one.")
class InheritAny(Storage):
    """Any topic can be copied, whether or not its permission says so."""

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        copied = self.state.topics.get(default)
        if topic not in self.state.topics and copied is not None:
            self.create_topic(topic, Topic.of(max(min(queues, copied.write_queues), 0)))


@_storage("D217", "A new topic has the queues of the copied one.")
class InheritAllQueues(Storage):
    """A new topic has as many queues as the one that it is copied from."""

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        super().know_topic(topic, default, 1 << 16)


@_storage("D217", "A new topic has all queues that are asked for.")
class InheritAskedQueues(Storage):
    """A new topic has as many queues as are asked for."""

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        known = topic in self.state.topics
        super().know_topic(topic, default, queues)
        if not known and topic in self.state.topics and queues > 0:
            self.create_topic(topic, Topic(queues, queues, self.state.topics[topic].perm))


@_storage("D217", "A new topic has a queue at least.")
class InheritOneQueue(Storage):
    """A new topic has a queue at least."""

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        super().know_topic(topic, default, max(queues, 1))


@_storage("D217", "A new topic can be copied in its turn.")
class InheritOn(Storage):
    """A new topic can be copied in its turn."""

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        known = topic in self.state.topics
        super().know_topic(topic, default, queues)
        if not known and topic in self.state.topics:
            made = self.state.topics[topic]
            self.create_topic(topic, made._replace(perm=self.state.topics[default].perm))


@_storage("D218", "What came again to members that pop stays.")
class PopTopicStays(Storage):
    """What came again to members that pop outlives the topic."""

    def delete_topic(self, topic: str) -> Err | None:
        honest, self.rules = self.rules, replace(self.rules, pop_retries_deleted=False)
        error = super().delete_topic(topic)
        self.rules = honest
        return error


@_storage("D218", "What came again goes for groups without offsets, too.")
class PopTopicsGo(Storage):
    """What came again goes with the topic for every group, with offsets or without."""

    def delete_topic(self, topic: str) -> Err | None:
        error = super().delete_topic(topic)
        for name in [name for name in self.state.topics if name.startswith(RETRY) and name.endswith(f"_{topic}")]:
            super().delete_topic(name)
        return error


class _QueuesOfStats(Statistics):
    """Statistics of a topic have other queues: as many as ``of`` says."""

    def of(self, settings: Topic) -> int:
        raise NotImplementedError

    def topic_stats(self, topic: str) -> TopicStats | Err:
        found, settings = super().topic_stats(topic), self._storage.state.topics.get(topic)
        if isinstance(found, Err) or settings is None:
            return found
        return tuple(found[queue] if queue < len(found) else (queue, 0, 0, 0) for queue in range(self.of(settings)))


@_statistics("D97", "Statistics have the written queues only.")
class StatsOfWritten(_QueuesOfStats):
    def of(self, settings: Topic) -> int:
        return settings.write_queues


@_statistics("D97", "Statistics have the queues that are read.")
class StatsOfRead(_QueuesOfStats):
    def of(self, settings: Topic) -> int:
        return settings.read_queues


# --- pulls ---------------------------------------------------------------------------------------------------


@_pulls("D97", "A queue that is only written can be pulled from.")
class PullAnyQueue(Pulls):
    """Every queue that was ever written can be read."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        state = self._storage.state
        settings = state.topics.get(asked.topic)
        if settings is None:
            return super().find(asked, codes)
        queues = max(settings.read_queues, settings.write_queues)
        self._storage.state = state._replace(
            topics={**state.topics, asked.topic: settings._replace(read_queues=queues)}
        )
        result = super().find(asked, codes)
        self._storage.state = self._storage.state._replace(topics=state.topics)
        return result


@_pulls("D98", "A topic without permission to read can be pulled from.")
class PullAnyPermission(Pulls):
    """The permission of a topic is for the routes only."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        state = self._storage.state
        settings = state.topics.get(asked.topic)
        if settings is None:
            return super().find(asked, codes)
        self._storage.state = state._replace(topics={**state.topics, asked.topic: settings._replace(perm=ORDINARY)})
        result = super().find(asked, codes)
        self._storage.state = self._storage.state._replace(topics=state.topics)
        return result


@_pulls("D98", "A pull's queue is checked before the permission.")
class PullQueueFirst(Pulls):
    """Looks at the queue id before the permission."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        settings = self._storage.state.topics.get(asked.topic)
        if result == _FORBIDDEN and settings is not None and not 0 <= asked.queue < settings.read_queues:
            return Err("INVALID_PARAMETER" if self._storage.rules.invalid_parameter else "SYSTEM_ERROR")
        return result


@_pulls("D99", "A pull's topic is checked before its group.")
class PullTopicFirst(Pulls):
    """Looks the topic up before the group."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        return Err("TOPIC_NOT_EXIST") if asked.topic not in self._storage.state.topics else result


@_pulls("D40", "A pull without permission stores its offset.")
class PullRefusedCommits(Pulls):
    """Stores the offset of a pull before it is refused."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        state = self._storage.state
        if result == _FORBIDDEN and asked.commit is not None:
            stored = {**state.stored, (asked.group, asked.topic, asked.queue): asked.commit}
            self._storage.state = state._replace(stored=stored)
        return result


@_pulls("D63", "A pull without permission takes a pending reset away.")
class PullRefusedTakes(Pulls):
    """A pull that is refused takes a pending reset away."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        if result == _FORBIDDEN:
            key = asked.group, asked.topic, asked.queue
            self._storage.state = without_pending(self._storage.state, key)
        return result


@_pulls("D100", "A pull for no message, or fewer, finds 32.")
class PullNegativeIs32(Pulls):
    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        return super().find(asked._replace(most=asked.most if asked.most > 0 else MAX_MESSAGES), codes)


@_pulls("D100", "A pull for 0 messages finds none.")
class PullZeroIsNone(Pulls):
    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        if asked.most or isinstance(result, Err):
            return result
        status, following, low, high, found = cast(PullResult, result)
        return (status, asked.offset, low, high, ()) if found else (status, following, low, high, found)


@_pulls("D100", "A pull for fewer than 0 messages fails.")
class PullMakesRoom(Pulls):
    """Makes room for as many messages as are asked for, as 4.9.2 to 4.9.8 do."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        self._storage.rules = replace(self._storage.rules, makes_room=True)
        return super().find(asked, codes)


@_pulls("D100", "A pull finds more than 32 messages if it asks for more.")
class PullFindsAll(Pulls):
    """Finds as many messages as are asked for, however many that is."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        if isinstance(result, Err):
            return result
        status, following, low, high, found = cast(PullResult, result)
        if status != FOUND or len(found) < MAX_MESSAGES:
            return result
        end = min(following + asked.most - len(found), high)
        return status, end, low, high, (*found, *range(following, end))


# --- resets --------------------------------------------------------------------------------------------------


@_resets("D58", "A reset moves the queues that are written.")
class ResetWritten(Resets):
    """Goes by the queues that are written."""

    def reset(self, asked: ResetRequest) -> Result:
        state = self._storage.state
        settings = state.topics.get(asked.topic)
        if settings is None or not self._storage.rules.server_reset:
            return super().reset(asked)
        changed = settings._replace(read_queues=settings.write_queues)
        self._storage.state = state._replace(topics={**state.topics, asked.topic: changed})
        result = super().reset(asked)
        self._storage.state = self._storage.state._replace(topics=state.topics)
        return result


@_resets("D58", "A reset of a topic that is not read succeeds.")
class ResetNoQueue(Resets):
    """A reset of no queue at all is a success."""

    def reset(self, asked: ResetRequest) -> Result:
        settings = self._storage.state.topics.get(asked.topic)
        result = super().reset(asked)
        nothing = result == Err("SYSTEM_ERROR") and settings is not None and not settings.read_queues
        return ((), None) if nothing else result


# --- offsets -------------------------------------------------------------------------------------------------


@_offsets("D98", "A query needs permission to read the topic.")
class QueryByPermission(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        settings = self._storage.state.topics.get(topic)
        if settings is not None and not settings.perm & READ:
            return _FORBIDDEN
        return super().query(group, topic, queue, set_zero)


@_offsets("D97", "A commit of a queue that is only written is refused.")
class CommitByRead(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        settings = self._storage.state.topics.get(topic)
        if settings is not None and queue is not None and settings.read_queues <= queue < settings.write_queues:
            return Err("INVALID_PARAMETER" if self._storage.rules.invalid_parameter else "SYSTEM_ERROR")
        return super().commit(group, topic, queue, committed)


@_offsets("D99", "A commit of a disabled group is refused.")
class CommitByGroup(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        if group in self._storage.state.disabled:
            return _FORBIDDEN
        return super().commit(group, topic, queue, committed)


@_offsets("D97", "A queue that is only written has no offset.")
class QueryOfRead(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        settings = self._storage.state.topics.get(topic)
        if settings is not None and queue is not None and settings.read_queues <= queue < settings.write_queues:
            return Err("QUERY_NOT_FOUND")
        return super().query(group, topic, queue, set_zero)


@_offsets("D97", "A search in a queue that is only written finds 0.")
class SearchOfRead(Offsets):
    def search(self, topic: str, queue: int, timestamp: int, boundary: str) -> int:
        settings = self._storage.state.topics.get(topic)
        if settings is not None and settings.read_queues <= queue < settings.write_queues:
            return 0
        return super().search(topic, queue, timestamp, boundary)


@_ranges("D100", "An empty range of RocksDB finds one message.")
class PullEmptyRange(Pulls):
    """Reads a queue in RocksDB as one in files is read."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        self._storage.rules = replace(self._storage.rules, ranges=False)
        return super().find(asked, codes)
