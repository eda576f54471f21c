"""Broker mutants with faults in what a slave takes from its master, and what it refuses.

The suite ``broker-slave`` kills them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.administration import Administration
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.replication import Replication
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.responses import PlainHandler
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import SLAVE_ACTS, SLAVE_READS, STRICT_LOCKS
from rocketmq_conformance.models.broker.group_stats import NOT_PULLED, GoneOn
from rocketmq_conformance.models.broker.reset import ResetRequest
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Result

MUTANTS: list[BrokerMutant] = []
_replication = declared(MUTANTS, "replication", "broker-slave")
_offsets = declared(MUTANTS, "offsets", "broker-slave")
_pulls = declared(MUTANTS, "pulls", "broker-slave")
_read_slave = declared(MUTANTS, "pulls", "broker-slave", slaveReadEnable="true")
_resets = declared(MUTANTS, "resets", "broker-slave")
_storage = declared(MUTANTS, "storage", "broker-slave")
_old_pulls = declared(MUTANTS, "pulls", "broker-slave", release="4.9.7")
_old_administration = declared(MUTANTS, "administration", "broker-slave", release="4.9.7")
_acting = declared(MUTANTS, "replication", "broker-slave", **{SLAVE_ACTS: "true"})
_acting_storage = declared(MUTANTS, "storage", "broker-slave", **{SLAVE_ACTS: "true"})
_acting_read = declared(MUTANTS, "replication", "broker-slave", **{SLAVE_ACTS: "true", SLAVE_READS: "true"})
_acting_strict = declared(MUTANTS, "replication", "broker-slave", **{SLAVE_ACTS: "true", STRICT_LOCKS: "true"})


def _as_master(rules: BrokerRules) -> BrokerRules:
    return replace(rules, slave=False)


@_replication("D70", "A slave keeps an offset that is newer than its master's.")
class SlaveKeepsNewer(Replication):
    """Of two offsets the larger one counts."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        after = super().taken(slave, master)
        newer = {key: max(offset, slave.stored.get(key, offset)) for key, offset in after.stored.items()}
        return after._replace(stored=newer)


@_replication("D230", "A slave keeps offsets of queues of which its master has none.")
class SlaveMergesQueues(Replication):
    """Offsets are put beside each other by queue, not by topic and group."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        return super().taken(slave, master)._replace(stored={**slave.stored, **master.stored})


@_replication("D230", "A slave forgets the groups that its master has no offsets of.")
class SlaveHasTheMastersAlone(Replication):
    """The table of the master replaces that of the slave."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        return super().taken(slave, master)._replace(stored=master.stored)


@_replication("D70", "A slave takes no offset that it has one for.")
class SlaveKeepsItsOwn(Replication):
    """What is stored at the slave counts."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        return super().taken(slave, master)._replace(stored={**master.stored, **slave.stored})


@_replication("D230", "A slave takes over resets that are pending.")
class SlaveTakesResets(Replication):
    """A reset that no pull has taken away at the master counts at the slave, too."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        return super().taken(slave, master)._replace(pending=master.pending)


@_replication("D230", "A slave keeps groups that its master has deleted.")
class SlaveKeepsGroups(Replication):
    """Groups are added, and never removed."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        return super().taken(slave, master)._replace(groups=slave.groups | master.groups)


@_replication("D230", "A slave keeps topics that its master has deleted.")
class SlaveKeepsTopics(Replication):
    """Topics are added, and never removed."""

    def taken(self, slave: BrokerState, master: BrokerState) -> BrokerState:
        return super().taken(slave, master)._replace(topics={**slave.topics, **master.topics})


@_replication("D242", "A slave of 5.5.0 takes offsets that real ones cannot read.")
class SlaveReadsAll(Replication):
    """What the answer says of pulls is left out."""

    def unread(self, gone_on: GoneOn) -> bool:
        return False


@_replication("D230", "A slave whose master is gone forgets its offsets.")
class SlaveForgetsAlone(Replication):
    """An answer that does not come counts as an empty one."""

    def alone(self) -> None:
        self._storage.state = self._storage.state._replace(stored={})


@_replication("D230", "A slave does not get the first message of a queue.")
class SlaveMissesTheFirst(Replication):
    """Messages begin with the second one."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._missed: set[tuple[str, int]] = set()

    def message(self, message: Message) -> None:
        key = message.topic, message.queue
        if key in self._missed:
            super().message(message)
        self._missed.add(key)


@_offsets("D70", "A slave takes a commit, and does not store it.")
class SlaveDropsCommits(Offsets):
    """A commit at the slave is answered, and forgotten."""

    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        before = self._storage.state
        result = super().commit(group, topic, queue, committed)
        if self._storage.rules.slave:
            self._storage.state = before
        return result


@_offsets("D70", "A slave takes no commits.")
class SlaveTakesNoCommits(Offsets):
    """A commit at the slave is refused."""

    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        return Err("SYSTEM_ERROR") if self._storage.rules.slave else super().commit(group, topic, queue, committed)


@_offsets("D230", "A slave answers no queries.")
class SlaveAnswersNoQueries(Offsets):
    """A query at the slave finds nothing."""

    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        return Err("QUERY_NOT_FOUND") if self._storage.rules.slave else super().query(group, topic, queue, set_zero)


class _Otherwise(Pulls):
    """A slave that answers pulls by other rules."""

    changed: Mapping[str, bool]

    def _look(self, *asked: object) -> object:  # type: ignore[override]
        rules = self._storage.rules
        self._storage.rules = replace(rules, **cast("dict[str, Any]", self.changed)) if rules.slave else rules
        try:
            return super()._look(*asked)  # type: ignore[arg-type]
        finally:
            self._storage.rules = rules


@_pulls("D230", "A slave answers pulls that it should refuse.")
class SlaveIsRead(_Otherwise):
    changed = MappingProxyType({"slave": False})


@_read_slave("D230", "A slave that is read corrects offsets.")
class SlaveCorrects(_Otherwise):
    changed = MappingProxyType({"slave": False})


@_read_slave("D230", "A slave that is read does not store what pulls carry to commit.")
class ReadSlaveStoresNoPulls(_Otherwise):
    changed = MappingProxyType({"slave_rejects": False})


@_old_pulls("D230", "A slave of 4.x stores what pulls carry to commit.")
class SlaveStoresPulls(_Otherwise):
    changed = MappingProxyType({"slave_rejects": True, "slave_reads": True})


@_old_pulls("D230", "A slave of 4.x corrects the offsets of pulls.")
class SlaveCorrectsPulls(_Otherwise):
    changed = MappingProxyType({"slave_checks": True})


@_old_administration("D230", "A slave creates and deletes topics and groups.")
class SlaveTakesChanges(Administration):
    def _changed(self, handler: PlainHandler, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return handler(code, ext, body)


@_resets("D230", "A slave makes resets.")
class SlaveResets(Resets):
    """A reset at the slave moves the group there."""

    def reset(self, asked: ResetRequest) -> Result:
        rules = self._storage.rules
        self._storage.rules = _as_master(rules)
        try:
            return super().reset(asked)
        finally:
            self._storage.rules = rules


@_storage("D230", "A slave stores what is sent to it.")
class SlaveTakesMessages(Storage):
    """A message for the slave is stored there."""

    def append(self, draft: Message) -> Message | Err:
        rules = self.rules
        self.rules = _as_master(rules)
        try:
            return super().append(draft)
        finally:
            self.rules = rules


@_offsets("D230", "A slave finds nothing by time.")
class SlaveSearchesInVain(Offsets):
    """A search at the slave is answered by 0."""

    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        return 0 if self._storage.rules.slave else super().search(topic, queue, time, boundary)


@_replication("D295", "A queue that is locked at a master is locked at its slave.")
class PairSharesLocks(Replication):
    def granted(self, own: tuple[Queue, ...], other: Callable[[], tuple[Queue, ...]] | None) -> tuple[Queue, ...]:
        return tuple(queue for queue in own if other is None or queue in other())


@_acting("D70", "A master that is back keeps its own offsets.")
class MasterTakesNothingBack(Replication):
    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        return master


@_acting("D70", "A master that is back takes none but newer offsets.")
class MasterTakesNewerBack(Replication):
    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        after = super().taken_back(master, slave)
        return after._replace(stored={key: max(one, master.stored.get(key, one)) for key, one in after.stored.items()})


@_acting("D230", "A master that is back puts the offsets of its slave beside its own, queue by queue.")
class MasterMergesQueues(Replication):
    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        return master._replace(stored={**master.stored, **slave.stored})


@_acting("D230", "A master that is back has the offsets of its slave alone.")
class MasterHasTheSlavesAlone(Replication):
    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        return master._replace(stored=slave.stored)


@_acting("D230", "A master that is back takes the groups of its slave, too.")
class MasterTakesGroupsBack(Replication):
    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        return super().taken_back(master, slave)._replace(groups=slave.groups)


@_acting("D230", "A master that is back takes the topics of its slave, too.")
class MasterTakesTopicsBack(Replication):
    def taken_back(self, master: BrokerState, slave: BrokerState) -> BrokerState:
        return super().taken_back(master, slave)._replace(topics=slave.topics)


@_acting_read("D242", "A master of 5.5.0 comes online though it cannot read the offsets of its slave.")
class MasterReadsAll(Replication):
    """What the answer says of pulls is left out, of a slave alone."""

    def take_back(self, slave: BrokerState, gone_on: GoneOn) -> bool:
        return super().take_back(slave, NOT_PULLED)


@_acting_storage("D230", "A slave that may act as master refuses messages before it looks at them.")
class ActingSlaveIsBusy(Storage):
    def append(self, draft: Message) -> Message | Err:
        return Err("SYSTEM_BUSY") if self.rules.slave else super().append(draft)


@_acting_storage("D230", "A slave that may act as master stores messages.")
class ActingSlaveTakesMessages(SlaveTakesMessages):
    pass


@_acting_strict("D295", "A strict lock takes one of a pair.")
class StrictLockTakesOne(Replication):
    def granted(self, own: tuple[Queue, ...], other: Callable[[], tuple[Queue, ...]] | None) -> tuple[Queue, ...]:
        return own


@_acting_strict("D295", "A strict lock takes those of a pair that are there.")
class StrictLockTakesWhoIsThere(Replication):
    def granted(self, own: tuple[Queue, ...], other: Callable[[], tuple[Queue, ...]] | None) -> tuple[Queue, ...]:
        return super().granted(own, other) if other else own
