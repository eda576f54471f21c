"""The broker of suite broker-cold: its files are evicted from memory while it runs, message 0 is *cold* (BQ-MEM-*).

From 5.1.0 on a broker answers 0 to a group without an offset only while message 0 is in memory, and asks the operating
system for that, if its Java can: 8 to 13 can, later ones take every message to be in memory. The page cache is not
under the kit's control: the system may drop idle pages, and it reads ahead of what was asked for. So residency is
observed beside each answer, and the answer must agree with it. One thing is certain: what was evicted stays out of
memory until the next read or write.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import TOPIC_NAMES, BrokerOffsetsModel
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-MEM-1",
        "On Java 8 to 13 message 0 is in memory while every page of its bytes in the commit log is. Asking for an "
        "offset does not bring it back; pulling it does, and so may sending.",
        "DefaultMessageStore#checkInMemByConsumeOffset, DefaultMappedFile#isLoaded @ 5.1.0, 5.5.0",
        releases="5.1.0+",
        needs="Java 8 to 13",
    ),
)

#: Most messages that one read answers.
READ_LIMIT = 32

_EVICTED = {old: Reason(("BQ-DISK-1" if old else "BQ-MEM-2",), "put out of memory") for old in (False, True)}
_READ = {there: Reason(("BQ-PULL-STATUS",), kind) for there, kind in ((True, "read"), (False, "nothing to read"))}
_ANSWERED_BY = ("BQ-QUERY-G3", "BQ-MEM-1")
_HOT, _COLD = Reason(_ANSWERED_BY, "in memory"), Reason(_ANSWERED_BY, "not in memory")
_NOT_SEEN = Reason(("BQ-QUERY-G3", "BQ-MEM-2"), "not in memory, and not seen")
_BY_DISTANCE = Reason(("BQ-QUERY-4", "BQ-DISK-1"), "not in memory, and near the end")


class BrokerColdState(NamedTuple):
    """A broker, and whether everything was evicted (``out``) without any read or write since."""

    broker: BrokerState
    out: bool = False


class BrokerColdModel:
    """The rules of such a broker, for one profile; every method is pure."""

    __slots__ = ("broker",)

    def __init__(self, profile: Profile) -> None:
        self.broker = BrokerOffsetsModel(profile)

    def initial(self) -> BrokerColdState:
        """The initial state: a broker that started on the aged store, with topic 0 and group 0."""
        old, new = aged_store.aged_broker(self.broker.rules), initial_state()
        return BrokerColdState(old._replace(topics={**old.topics, **new.topics}))

    def evict(self, state: BrokerColdState) -> Answer[BrokerColdState]:
        """BQ-MEM-2: None. The operating system was made to evict all messages."""
        return state._replace(out=True), None, _EVICTED[not self.broker.rules.empty_is_unknown]

    def send(self, state: BrokerColdState, topic: int, queue: int, count: int) -> Answer[BrokerColdState]:
        """BQ-SEND-1: the offsets of the messages, or the error. Writing brings neighbouring pages into memory."""
        after, result, why = self.broker.send(state.broker, topic, queue, count)
        return BrokerColdState(after, state.out and isinstance(result, Err)), result, why

    def read(self, state: BrokerColdState, topic: int, queue: int) -> Answer[BrokerColdState]:
        """BQ-PULL-STATUS: the offsets of the first ``READ_LIMIT`` messages of a queue whose messages are all kept."""
        count = min(state.broker.logs.get((TOPIC_NAMES[topic], queue), ABSENT).max, READ_LIMIT)
        return state._replace(out=state.out and not count), tuple(range(count)), _READ[count > 0]

    def commit(
        self, state: BrokerColdState, group: int, topic: int, queue: int, offset: int
    ) -> Answer[BrokerColdState]:
        """BQ-UPDATE-*: None, or the error. No message is read."""
        after, result, why = self.broker.commit(state.broker, group, topic, queue, offset)
        return state._replace(broker=after), result, why

    def query_pages(
        self, state: BrokerColdState, observed: Result, group: int, topic: int, queue: int, set_zero: bool | None
    ) -> Answer[BrokerColdState]:
        """BQ-QUERY-*: (the offset or the error's name, is message 0 in memory), None for no message 0.

        The second is the observed one, corrected where it is impossible.
        """
        key = TOPIC_NAMES[topic], queue
        log = state.broker.logs.get(key)
        here = None if log is None or log.first or not log.times else not state.out and _seen_in_memory(observed)
        asked = state.broker
        if log is not None and here is not None and self.broker.rules.empty_is_unknown:
            asked = asked._replace(logs={**asked.logs, key: log._replace(hot=here)})
        _, result, why = self.broker.query(asked, group, topic, queue, set_zero)
        if why.kind.endswith(("hot", "cold")) and here is not None:
            why = self._why(here, why)
        if isinstance(result, Err):
            return state, (result.code, here), why
        assert isinstance(result, int), result
        return state, (result, here), why

    def _why(self, here: bool, why: Reason) -> Reason:
        """The reason, with the rule by which message 0 counts as in memory, or does not."""
        rules = self.broker.rules
        if rules.empty_is_unknown and not rules.always_resident:
            return _HOT if here else _COLD
        if here:
            return why
        return _NOT_SEEN if rules.empty_is_unknown else _BY_DISTANCE


def _seen_in_memory(observed: Result) -> bool:
    """Was message 0 seen in memory? True where the observation does not say."""
    return not (isinstance(observed, tuple) and len(observed) == 2 and observed[1] is False)
