"""The storage of the fake broker: the model's state, and beside it the messages themselves.

The model decides on ``state`` everything that a rule decides; this module only stores bytes in step with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from rocketmq_conformance.conformance.remoting import message as messages
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.models.broker import admin, group_stats, names
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import expire
from rocketmq_conformance.models.broker.members import ORDINARY_GROUP, GroupSettings
from rocketmq_conformance.models.broker.send import NO_QUEUE, inherit, send
from rocketmq_conformance.models.broker.send_back import RetrySettings, with_topic
from rocketmq_conformance.models.broker.state import (
    ABSENT,
    RETRY,
    BrokerState,
    QueueLog,
    Stored,
    Topic,
)
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err

DEFAULT_RETRIES = RetrySettings()


@dataclass
class _Log:
    """Retained messages of one queue: what filters look at, and the bytes that are handed out."""

    entries: list[StoredEntry] = field(default_factory=list)
    stored: list[bytes] = field(default_factory=list)


class Storage:
    """Topics, groups, messages and stored offsets. ``clock`` gives ms since the epoch.

    ``own`` and ``groups`` are the topics and groups that it always has; with DEFAULT_TOPIC among them, a topic that
    messages are sent to is created.
    """

    def __init__(
        self,
        rules: BrokerRules,
        clock: Callable[[], int],
        own: Mapping[str, Topic],
        groups: Collection[str] = (),
    ) -> None:
        self.rules = rules
        self._own, self._groups = own, frozenset(groups)
        self.state = self._with_own(BrokerState())
        #: The state that it began with last, without its own topics and groups and with them.
        self._begun = BrokerState(), self.state
        #: What the broker and its cluster are called.
        self.names = names.UNNAMED
        self._clock = clock
        self._logs: dict[tuple[str, int], _Log] = {}
        self._physical = 0
        #: Will an old broker believe message 0 of a new queue to be in memory (RUN-DYN-1)?
        self.hot = True
        #: Queues whose message 0 is out of memory.
        self.out: frozenset[tuple[str, int]] = frozenset()
        #: Where pulls go on.
        self.gone_on = group_stats.NOT_PULLED
        #: Settings for messages that are sent back, of groups that have other than the default ones.
        self.retries: dict[str, RetrySettings] = {}
        #: The other settings of groups, where they are not the default ones.
        self.group_settings: dict[str, GroupSettings] = {}
        #: Every message by its place in the log, whatever becomes of its topic.
        self._placed: dict[int, bytes] = {}
        #: Called when topics or groups have changed and are written to their files; None: they are kept in memory.
        self.write_topics: Callable[[], None] | None = None
        self.write_groups: Callable[[], None] | None = None

    def _with_own(self, state: BrokerState) -> BrokerState:
        return state._replace(topics={**self._own, **state.topics}, groups=state.groups | self._groups)

    def begin(self, state: BrokerState) -> None:
        """Hold this state, beside its own topics and groups; its messages, of one byte each, are made when read."""
        if state is not self._begun[0]:
            self._begun = state, self._with_own(state)
        self.state = self._begun[1]
        if self._logs:
            self._logs, self._physical = {}, 0
            self._placed = {}
        self.hot = True
        self.out = frozenset()
        self.gone_on = group_stats.NOT_PULLED

    def take_over(self, other: Storage) -> None:
        """Hold what another one holds; all of its messages are in memory."""
        logs = {key: log._replace(hot=True) for key, log in other.state.logs.items()}
        self.state = other.state._replace(logs=logs)
        self._logs, self._physical, self._placed = other._logs, other._physical, other._placed
        self.retries, self.group_settings = other.retries, other.group_settings

    def reshape(self, state: BrokerState, topic: str, queue: int) -> None:
        """Let one queue have this state and nothing else."""
        self.state = state
        self._logs.pop((topic, queue), None)

    # --- topics and groups ------------------------------------------------------------------------------------

    def create_topic(self, topic: str, settings: Topic) -> Err | None:
        """BQ-NAME-TOPIC, BQ-TOPIC-1, BQ-TOPIC-RW: None, or the error."""
        self.state, result, _ = names.create_topic(self.rules, self.state, topic, settings, self.names)
        if self.write_topics is not None:
            self.write_topics()
        return cast("Err | None", result)

    def delete_topic(self, topic: str) -> Err | None:
        """BQ-NAME-DELETE, BQ-TOPIC-3, BQ-TOPIC-TIMER: None, or the error."""
        known = {topic, *self.state.topics}
        self.gone_on = group_stats.without_topic(self.rules, self.gone_on, topic, self.state.stored)
        self.state, result, _ = names.delete_topic(self.rules, self.state, topic, self.names)
        gone = known - self.state.topics.keys()
        for key in [key for key in self._logs if key[0] in gone]:
            del self._logs[key]
        self.out = frozenset(key for key in self.out if key[0] not in gone)
        if self.write_topics is not None:
            self.write_topics()
        return cast("Err | None", result)

    def pulled(self, key: tuple[str, str, int], following: int) -> None:
        """BQ-STATS-PULLED: a pull that was not refused, by (group, topic, queue), and where it goes on."""
        self.gone_on = group_stats.pulled(self.rules, self.gone_on, key, following)

    def create_group(self, group: str, enabled: bool = True) -> Err | None:
        """BQ-NAME-GROUP, BQ-GROUP-1, BQ-GROUP-ENABLE: None, or the error."""
        self.state, result, _ = names.create_group(self.rules, self.state, group, enabled)
        if self.write_groups is not None:
            self.write_groups()
        return cast("Err | None", result)

    def set_retries(self, group: str, settings: RetrySettings) -> None:
        """Set what happens to messages that a group sends back (retryQueueNums, retryMaxTimes)."""
        self.retries[group] = settings

    def set_group(self, group: str, settings: GroupSettings) -> None:
        """Set whether a group may broadcast, and whether it is notified of changes."""
        self.group_settings[group] = settings

    def settings_of(self, group: str) -> GroupSettings:
        """The same of a group."""
        return self.group_settings.get(group, ORDINARY_GROUP)

    def delete_group(self, group: str, flag: str) -> None:
        """BQ-GROUP-2. A group that is created again has the default settings."""
        self.retries.pop(group, None)
        self.group_settings.pop(group, None)
        removed = admin.removes_offsets(self.rules, flag)
        self.gone_on = group_stats.without_group(self.rules, self.gone_on, group, removed)
        self.state = names.delete_group(self.rules, self.state, group, flag)[0]
        if self.write_groups is not None:
            self.write_groups()

    def know_group(self, group: str) -> bool:
        """Does the group exist? It is created if the broker does so."""
        if group not in self.state.groups and names.created_by_look_up(self.rules, group):
            self.create_group(group)
        return group in self.state.groups

    def know_topic(self, topic: str, default: str, queues: int) -> None:
        """BQ-TOPIC-INHERIT, BQ-COPY-1: create an unknown topic when a message is sent to it, if it may be."""
        known = self.state
        self.state, _ = inherit(self.rules, known, topic, default, queues)
        if topic.startswith(RETRY) and topic not in self.state.topics:
            self.state = with_topic(self.state, topic, Topic.of(1))
        if self.write_topics is not None and self.state is not known:
            self.write_topics()

    def unwanted(self, topic: str) -> Err | None:
        """BQ-NAME-SEND: the error of a message for a topic whose name forbids it."""
        refused = names.refuses_message(self.rules, topic)
        return None if refused is None else refused[0]

    def know_retry_topic(self, group: str) -> None:
        """BQ-HB-1: the retry topic of a group that registers."""
        topic = RETRY + group
        if topic not in self.state.topics:
            self.create_topic(topic, Topic.of(self.retries.get(group, DEFAULT_RETRIES).queues))

    # --- messages ---------------------------------------------------------------------------------------------

    def append(self, draft: Message) -> Message | Err:
        """Store a message: its queue offset, physical offset and store time are filled in. BQ-SEND-1.

        A negative queue id means any queue. ValueError when the message cannot be stored as bytes.
        """
        queue = self.queue_of(draft)
        if isinstance(queue, Err):
            return queue
        now = self._time(draft.topic, queue)
        after, result, _ = send(self.rules, self.state, draft.topic, queue, (now,), self.hot)
        return result if isinstance(result, Err) else self._add(draft, queue, after, now)

    def cover(self, topic: str, queue: int) -> None:
        """The next offset of a queue is one of the message at the offset before it."""
        draft = Message(topic=topic, queue=queue, offset=0, physical=0, body=b"")
        self.append(draft)
        self._logs[topic, queue].stored[-1] = b""

    def put(self, draft: Message) -> Message:
        """Store a message that the broker itself sends: neither its queue nor its topic are checked."""
        now, key = self._time(draft.topic, draft.queue), (draft.topic, draft.queue)
        log = self.state.logs.get(key, ABSENT)
        longer = log._replace(times=(*log.times, now), hot=log.hot and self.hot)
        return self._add(draft, draft.queue, self.state._replace(logs={**self.state.logs, key: longer}), now)

    def queue_of(self, draft: Message) -> int | Err:
        """BQ-SEND-ANY: the queue that a message is for, or that is drawn for it."""
        settings = self.state.topics.get(draft.topic)
        if draft.queue >= 0 or settings is None:
            return draft.queue
        return self.pick(settings) if settings.write_queues else NO_QUEUE

    def _time(self, topic: str, queue: int) -> int:
        """The store time of a queue's next message: never before the last one."""
        log = self.state.logs.get((topic, queue))
        return max(self._clock(), log.times[-1] if log and log.times else 0)

    def _add(self, draft: Message, queue: int, after: BrokerState, now: int) -> Message:
        """Keep the bytes of a message that ``after`` has."""
        offset = after.logs[draft.topic, queue].max - 1
        self._kept(draft.topic, queue)
        message = replace(draft, queue=queue, offset=offset, physical=self._physical, store_time=now)
        raw = messages.encode(message)
        self.state = after
        self._placed[self._physical] = raw
        self._physical += len(raw)
        kept = self._logs.setdefault((draft.topic, queue), _Log())
        properties = messages.parse_properties(message.properties)
        kept.entries.append(StoredEntry(len(raw), properties.get("TAGS"), properties))
        kept.stored.append(raw)
        return message

    @property
    def bounds(self) -> tuple[int, int]:
        """The place of the first message in the log, and that after the last one."""
        return min(self._placed, default=self._physical), self._physical

    def message_at(self, physical: int) -> Message | None:
        """The message that begins at a place of the log, if one does."""
        raw = self._placed.get(physical)
        return None if raw is None else messages.decode_all(raw)[0]

    def pick(self, settings: Topic) -> int:
        """BQ-SEND-ANY: the queue of a message that names none."""
        drawn = self._physical % settings.write_queues
        return -drawn if self.rules.draws_negative and self._physical & 2 else drawn

    def load(self, topic: str, queues: Sequence[QueueLog], stored: Stored) -> None:
        """Take over a topic with these messages, and offsets; min is looked for at the next start.

        Each message has a body of one byte, and is made when it is read.
        """
        logs = {(topic, queue): log for queue, log in enumerate(queues) if log.max}
        state = self.state
        self.state = state._replace(
            topics={**state.topics, topic: Topic.of(len(queues))},
            logs={**state.logs, **logs},
            stored={**state.stored, **stored},
        )

    def _write(self, topic: str, queue: int, log: QueueLog) -> _Log:
        """Make the bytes of a queue's messages."""
        kept = self._logs[topic, queue] = _Log()
        for at, time in enumerate(log.times):
            raw = messages.encode(
                Message(
                    topic=topic, queue=queue, offset=log.first + at, physical=self._physical, body=b"x", store_time=time
                )
            )
            self._physical += len(raw)
            kept.entries.append(StoredEntry(len(raw), None))
            kept.stored.append(raw)
        return kept

    def _kept(self, topic: str, queue: int) -> _Log | None:
        """The messages of a queue, as bytes."""
        kept = self._logs.get((topic, queue))
        if kept is None:
            log = self.state.logs.get((topic, queue))
            kept = self._write(topic, queue, log) if log is not None and log.times else None
        return kept

    def put_out(self, keys: Collection[tuple[str, int]]) -> None:
        """Message 0 of these queues is out of memory; brokers that ask the system see it (BQ-MEM-1)."""
        self.out = self.out.union(keys)
        self._see(keys, hot=False)

    def bring_back(self, keys: Collection[tuple[str, int]]) -> None:
        """Message 0 of these queues is in memory."""
        self.out = self.out.difference(keys)
        self._see(keys, hot=True)

    def _see(self, keys: Collection[tuple[str, int]], hot: bool) -> None:
        if self.rules.empty_is_unknown:
            logs = {key: log._replace(hot=hot) for key, log in self.state.logs.items() if key in keys}
            self.state = self.state._replace(logs={**self.state.logs, **logs})

    def entries(self, topic: str, queue: int) -> list[StoredEntry]:
        """The fields that filters look at, for every retained message of a queue."""
        log = self._kept(topic, queue)
        return log.entries if log else []

    def index(self, topic: str, queue: int, position: int, count: int) -> list[dict[str, int]]:
        """Entries of the index of a queue, from a position on."""
        found = []
        for message in self.retained(topic, queue):
            if position <= message.offset < position + count:
                tag = messages.parse_properties(message.properties).get("TAGS")
                size, code = len(messages.encode(message)), string_hash(tag) if tag else 0
                found.append({"physicOffset": message.physical, "physicSize": size, "tagsCode": code})
        return found

    def stored(self, topic: str, queue: int, offsets: tuple[int, ...]) -> bytes:
        """The bytes of retained messages, one after the other."""
        first = self.state.logs[topic, queue].first
        log = self._kept(topic, queue)
        return b"".join(log.stored[offset - first] for offset in offsets) if log else b""

    def retained(self, topic: str, queue: int) -> list[Message]:
        """The retained messages of a queue."""
        log = self._kept(topic, queue)
        return messages.decode_all(b"".join(log.stored)) if log else []

    def expire(self, topic: str, queue: int, first: int) -> None:
        """Lose the messages before offset ``first``, as a broker that deletes its oldest files (BQ-MIN-*)."""
        before = self.state.logs.get((topic, queue))
        self.state = expire(self.rules, self.state, {(topic, queue): first})[0]
        log = self._logs.get((topic, queue))
        if log is not None and before is not None:
            lost = self.state.logs[topic, queue].first - before.first
            for gone in messages.decode_all(b"".join(log.stored[:lost])):
                self._placed.pop(gone.physical, None)
            del log.entries[:lost]
            del log.stored[:lost]
