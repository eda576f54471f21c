"""A slave: what it takes from its master, and what it refuses (SLV-*).

Messages are sent to a slave by its master, as they come. Offsets, topics and groups are not: the slave asks for them,
every 10 s from 4.5.0 to 5.0.0-ALPHA, and every minute in all other releases. In between it answers by what it has, and
takes commits of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.group_stats import GoneOn
from rocketmq_conformance.models.broker.state import BrokerState, Stored
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

T = TypeVar("T")

RULES = (
    Rule(
        "SLV-SYNC-OFFSETS",
        "A slave that asks its master for offsets takes those of a topic and group as a whole: whatever it had stored "
        "for a queue of them is gone, newer offsets and queues that the master has no offset of, too.",
        "SlaveSynchronize#syncConsumerOffset @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-SYNC-KEEPS",
        "Offsets of a topic and group that the master has none of stay at the slave, also once the group or the topic "
        "was deleted at the master.",
        "SlaveSynchronize#syncConsumerOffset @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-SYNC-TABLES",
        "The topics and groups of a slave become those of its master: what was created or deleted at the slave alone "
        "is undone.",
        "SlaveSynchronize#syncTopicConfig, #syncSubscriptionGroupConfig @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-SYNC-RESETS",
        "Resets that are pending at the master are not given to the slave, which has the offsets that were stored with "
        "them.",
        "SlaveSynchronize#syncConsumerOffset @ 5.1.0, 5.3.3, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "SLV-SYNC-PULLED",
        "A slave takes no offsets from a master that has answered a pull since it was started: it cannot read what the "
        "answer says of pulls, and keeps the offsets that it has. Topics and groups are taken.",
        "SlaveSynchronize#syncConsumerOffset, ConsumerOffsetManager#getPullOffsetTable @ 5.5.0",
        releases="5.5.0+",
        level=Level.QUIRK,
    ),
    Rule(
        "SLV-GONE",
        "A slave whose master is gone keeps what it has and what is committed to it.",
        "SlaveSynchronize#syncConsumerOffset @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-QUERY",
        "A slave answers queries, min, max and searches by time by its own offsets, topics, groups and messages, and "
        "does not ask its master.",
        "ConsumerManageProcessor#queryConsumerOffset @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-UPDATE",
        "A slave takes commits by the checks of any broker, and answers by them at once; its master never has them.",
        "ConsumerManageProcessor#updateConsumerOffset @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-MESSAGES",
        "A slave has the messages of its master at the same offsets.",
        "CommitLog#appendData @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-SEND",
        "A slave stores no message of a client: SERVICE_NOT_AVAILABLE once topic and queue are found, from 5.0.0 "
        "SYSTEM_BUSY before anything else.",
        "DefaultMessageStore#checkStoreStatus @ 4.9.7; SendMessageProcessor#rejectRequest @ 5.0.0, 5.3.3, 5.5.0",
        needs="brokerRole=SLAVE; from 5.0.0 enableSlaveActingMaster off, the default",
    ),
    Rule(
        "SLV-LOCK",
        "A slave grants locks from a table of its own: a queue that is locked at its master is free there.",
        "AdminBrokerProcessor#lockBatchMQ @ 4.9.7, 5.3.3, 5.5.0",
    ),
    Rule(
        "SLV-LOCK-STRICT",
        "In strict mode a lock is granted that more than half of the replicas grant, as many as are configured. Of a "
        "master and its slave both have to, and while one of the two is gone the other one grants none.",
        "AdminBrokerProcessor#lockBatchMQ @ 5.0.0, 5.3.3, 5.5.0",
        releases="5.0.0+",
        needs="lockInStrictMode, enableSlaveActingMaster and totalReplicas=2",
    ),
    Rule(
        "SLV-ACT-SEND",
        "A slave that may act as master looks at a message before it refuses it: SERVICE_NOT_AVAILABLE once topic and "
        "queue are found, also while its master is gone.",
        "SendMessageProcessor#rejectRequest, HookUtils#checkBeforePutMessage @ 5.0.0, 5.3.3, 5.5.0",
        releases="5.0.0+",
        needs="brokerRole=SLAVE, and enableSlaveActingMaster",
    ),
    Rule(
        "SLV-ACT-BACK",
        "A master that is back first takes the offsets of its slave, of a topic and group as a whole: older ones than "
        "its own, too, and those of groups that it has deleted. It takes neither topics nor groups. It keeps its own "
        "offsets if their data version is newer, which every 500th commit raises.",
        "BrokerPreOnlineService#syncMetadataReverse @ 5.0.0, 5.3.3, 5.5.0",
        releases="5.0.0+",
        needs="enableSlaveActingMaster, and totalReplicas above 1",
    ),
    Rule(
        "SLV-ACT-OFFLINE",
        "A master stays offline while its slave has anything to say of pulls that it answered since it was started: "
        "the master cannot read the offsets of such a slave, and asks again every second.",
        "BrokerPreOnlineService#syncMetadataReverse, ConsumerOffsetManager#getPullOffsetTable @ 5.5.0",
        releases="5.5.0+",
        level=Level.QUIRK,
        needs="enableSlaveActingMaster, totalReplicas above 1, and slaveReadEnable",
    ),
    Rule(
        "SLV-PULL-BUSY",
        "A slave refuses every pull with SYSTEM_BUSY before it looks at it, also when its master is gone.",
        "PullMessageProcessor#rejectRequest @ 5.0.0, 5.3.3, 5.5.0",
        releases="5.0.0+",
        needs="brokerRole=SLAVE, and slaveReadEnable off, the default",
    ),
    Rule(
        "SLV-PULL-COMMIT",
        "A pull that carries an offset to commit does not store it at a slave of 4.x and the 5.0.0 previews.",
        "PullMessageProcessor#processRequest @ 4.3.0, 4.9.7, 5.0.0-ALPHA",
        releases="up to 5.0.0-ALPHA",
        needs="brokerRole=SLAVE",
    ),
    Rule(
        "SLV-PULL-MOVED",
        "A slave does not correct the offset of a pull: where a master would answer PULL_OFFSET_MOVED it answers "
        "PULL_RETRY_IMMEDIATELY, and the offset that was asked for.",
        "DefaultMessageStore#nextOffsetCorrection @ 4.9.7; PullMessageProcessor#processRequest @ 4.9.7",
        releases="up to 5.0.0-ALPHA",
        needs="brokerRole=SLAVE, and offsetCheckInSlave off, the default",
    ),
    Rule(
        "SLV-PULL-READ",
        "A slave that is read does not correct the offset of a pull, either, unless it has offsetCheckInSlave, and "
        "stores what a pull carries to commit.",
        "DefaultPullMessageResultHandler#handle @ 5.1.0, 5.3.3; DefaultMessageStore#nextOffsetCorrection @ 5.3.3",
        releases="5.0.0+",
        needs="brokerRole=SLAVE, and slaveReadEnable; off by default",
    ),
    Rule(
        "SLV-RESET",
        "A slave makes no reset: SYSTEM_ERROR before topic and group are looked at.",
        "AdminBrokerProcessor#resetOffsetInner @ 5.1.0, 5.3.3, 5.5.0",
        releases="5.1.0+",
        needs="brokerRole=SLAVE, and useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "SLV-ADMIN",
        "A slave refuses to create, change and delete topics and groups, with SYSTEM_ERROR.",
        "AdminBrokerProcessor#validateSlave @ 4.9.4, 4.9.7, 5.0.0, 5.1.3",
        releases="4.9.4 – 4.9.8, 5.0.0 – 5.1.3",
        needs="brokerRole=SLAVE",
    ),
)

BUSY, UNAVAILABLE, REFUSED = Err("SYSTEM_BUSY"), Err("SERVICE_NOT_AVAILABLE"), Err("SYSTEM_ERROR")
NOT_PULLED = BUSY, Reason(("SLV-PULL-BUSY",), "a slave that is not read")
NOT_RESET = REFUSED, Reason(("SLV-RESET",), "a slave")
FENCED: tuple[Err, Reason] = REFUSED, Reason(("SLV-ADMIN",), "a slave")
_SENT = {True: Reason(("SLV-SEND",), "refused at once"), False: Reason(("SLV-SEND",), "topic and queue are found")}
_ACT_SENT = Reason(("SLV-ACT-SEND",), "topic and queue are found")
OFFLINE: tuple[Err, Reason] = Err("OFFLINE"), Reason(("SLV-ACT-OFFLINE",), "offsets that cannot be read")

#: The rules of what may differ between the two when a slave asks, the rarest first.
_DIFFERENCES = {
    "offsets that cannot be read": ("SLV-SYNC-PULLED",),
    "resets stay": ("SLV-SYNC-RESETS", "SLV-SYNC-OFFSETS"),
    "a queue only the slave has": ("SLV-SYNC-OFFSETS",),
    "newer at the slave": ("SLV-SYNC-OFFSETS",),
    "kept at the slave": ("SLV-SYNC-KEEPS",),
    "newer at the master": ("SLV-SYNC-OFFSETS",),
    "new at the master": ("SLV-SYNC-OFFSETS",),
    "other groups": ("SLV-SYNC-TABLES",),
    "other topics": ("SLV-SYNC-TABLES",),
}
_SAME = Reason(("SLV-SYNC-TABLES",), "the same")
#: What a master takes that is back, the rarest first.
_TAKEN = {
    kind: Reason(("RUN-RESTART-1", "SLV-ACT-BACK"), kind)
    for kind in ("a queue is lost", "only the slave has them", "older offsets", "newer offsets", "nothing new")
}
IN_VAIN = Reason(("SLV-GONE",), "asked in vain")


def slave_rules(profile: Profile) -> BrokerRules:
    """The rules of a slave."""
    return replace(BrokerRules.of(profile), slave=True)


def refuses_messages(rules: BrokerRules, at_once: bool) -> tuple[Err, Reason] | None:
    """SLV-SEND: the error of a message for a slave, before anything is looked at or once its queue is found."""
    if not rules.slave or (rules.slave_rejects and not rules.slave_acts) != at_once:
        return None
    return (BUSY if at_once else UNAVAILABLE), _ACT_SENT if rules.slave_acts else _SENT[at_once]


def refuses_pulls(rules: BrokerRules) -> bool:
    """SLV-PULL-BUSY: does a slave refuse every pull?"""
    return rules.slave and rules.slave_rejects and not rules.slave_reads


def refuses_changes(rules: BrokerRules) -> bool:
    """SLV-ADMIN: does a slave refuse to change topics and groups?"""
    return rules.slave and rules.slave_fenced


def stores_pulls(rules: BrokerRules) -> bool:
    """SLV-PULL-COMMIT: does a pull with the commit flag store an offset?"""
    return not rules.slave or rules.slave_rejects


def unread(rules: BrokerRules, gone_on: GoneOn) -> bool:
    """SLV-SYNC-PULLED: is there anything in the offsets of a master that its slave cannot read?"""
    return rules.slave_unread and bool(gone_on)


def synchronised(slave: BrokerState, master: BrokerState, unread: bool = False) -> Answer[BrokerState]:
    """SLV-SYNC-*: the slave once it has asked its master for topics, offsets, which may be ``unread``, and groups."""
    stored = slave.stored if unread else merged(slave.stored, master.stored)
    after = BrokerState(master.topics, master.groups, slave.logs, stored, slave.pending, master.disabled)
    return after, None, _asked(tuple(_differences(slave, master, unread)))


def taken_back(master: BrokerState, slave: BrokerState) -> Answer[BrokerState]:
    """SLV-ACT-BACK: the master that is back once it has taken the offsets of its slave."""
    return (
        master._replace(stored=merged(master.stored, slave.stored)),
        None,
        _TAKEN[_taken(master.stored, slave.stored)],
    )


def _taken(own: Stored, theirs: Stored) -> str:
    """What the master takes, by the rarest of it; a key of ``_TAKEN``."""
    whole, groups = {key[:2] for key in theirs}, {key[:2] for key in own}
    differs = (
        any(key[:2] in whole and key not in theirs for key in own),
        any(key[:2] not in groups for key in theirs),
        any(offset < own[key] for key, offset in theirs.items() if key in own),
        any(offset > own[key] for key, offset in theirs.items() if key in own),
    )
    return next((kind for kind, differ in zip(_TAKEN, differs, strict=False) if differ), "nothing new")


def granted(rules: BrokerRules, own: Sequence[T], other: Collection[T] | None) -> tuple[T, ...]:
    """SLV-LOCK, SLV-LOCK-STRICT: the queues of which one of a pair grants the lock, by those that it and the ``other``
    one would grant by themselves; None for one that is gone."""
    if not takes_both(rules):
        return tuple(own)
    return tuple(queue for queue in own if other is not None and queue in other)


def takes_both(rules: BrokerRules) -> bool:
    """SLV-LOCK-STRICT: does a lock take both of a pair?"""
    return rules.strict_locks and rules.slave_acts


def merged(own: Stored, taken: Stored) -> dict[tuple[str, str, int], int]:
    """Stored offsets once those of another broker were taken: of a topic and group as a whole."""
    whole = {key[:2] for key in taken}
    return {**{key: offset for key, offset in own.items() if key[:2] not in whole}, **taken}


@cache
def _asked(kinds: tuple[str, ...]) -> Reason:
    """The reason of what differed, which is called by the rarest of it; one object for each."""
    rules = dict.fromkeys(rule for kind in kinds for rule in _DIFFERENCES[kind])
    return Reason(tuple(rules), kinds[0]) if kinds else _SAME


def _differences(slave: BrokerState, master: BrokerState, unread: bool) -> Iterator[str]:
    """What differed between the two, in the order of ``_DIFFERENCES``."""
    whole = {key[:2] for key in master.stored}
    alone = slave.stored.keys() - master.stored.keys()
    common = master.stored.keys() & slave.stored.keys()
    differs = (
        unread and merged(slave.stored, master.stored) != slave.stored,
        not unread and any(master.stored.get(key) == offset for key, offset in master.pending.items()),
        not unread and any(key[:2] in whole for key in alone),
        not unread and any(slave.stored[key] > master.stored[key] for key in common),
        not unread and any(key[:2] not in whole for key in alone),
        not unread and any(slave.stored[key] < master.stored[key] for key in common),
        not unread and bool(master.stored.keys() - slave.stored.keys()),
        slave.groups != master.groups,
        slave.topics != master.topics,
    )
    return (kind for kind, differ in zip(_DIFFERENCES, differs, strict=True) if differ)
