"""Properties of brokers that switch rules: the profile carries those that are off their release's default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketmq_conformance.models.release import Release, Releases

SERVER_RESET = "useServerSideResetOffset"
STRICT_LOCKS = "lockInStrictMode"
CREATES_GROUPS = "autoCreateSubscriptionGroup"
PERMISSION = "brokerPermission"
MEMORY_RATIO = "accessMessageInMemoryMaxRatio"
LONG_POLLING = "longPollingEnable"
SHORT_POLLING = "shortPollingTimeMills"
PROPERTY_FILTER = "enablePropertyFilter"
BROADCAST = "enableBroadcastOffsetStore"
TIMER_WHEEL = "timerWheelEnable"
BALANCES = "serverLoadBalancerEnable"
DEFAULT_MODE = "defaultMessageRequestMode"
DEFAULT_SHARE = "defaultPopShareQueueNum"
LIGHT = "enableLmq"
STORE = "storeType"
TABLES = "configManagerVersion"
SLAVE_READS = "slaveReadEnable"
SLAVE_CHECKS = "offsetCheckInSlave"
SLAVE_ACTS = "enableSlaveActingMaster"
POP_CHECKS_MEMORY = "initPopOffsetByCheckMsgInMem"
POP_SHOWS_RETRIES = "popResponseReturnActualRetryTopic"
#: Values of the two: queues, or tables, are in RocksDB.
ROCKSDB_STORE, ROCKSDB_TABLES = "defaultRocksDB", "v2"
#: The values of a property that is on or off, and what stands for any whole number.
BOOLEAN = ("true", "false")
INTEGER = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A property whose values the models know."""

    name: str
    #: Its values; INTEGER stands for any whole number.
    values: tuple[str, ...]
    #: What it changes when it is off its default.
    effect: str
    #: The rules that it switches.
    rules: tuple[str, ...]
    #: The releases that have it, as :meth:`Releases.parse` reads them.
    releases: str = "all"
    #: Those of them that the models know it in.
    known: str = "all"
    default: str
    #: Does it change slaves alone, or pops? Suites in which none of its rules fires need not be played with it.
    of_slaves: bool = False
    of_pops: bool = False
    #: Releases with another default, and that default.
    other: tuple[str, str] = ("", "")

    def has(self, release: Release) -> bool:
        """Does the release have the property, in a way that the models know?"""
        return release in Releases.parse(self.releases) and release in Releases.parse(self.known)

    def default_of(self, release: Release) -> str:
        """The default of a release; where it does not have the property, the value that it behaves by."""
        releases, default = self.other
        return default if releases and release in Releases.parse(releases) else self.default

    def allows(self, value: str) -> bool:
        """Is it a value of the property?"""
        return value in self.values if self.values else value.removeprefix("-").isdecimal() and value.isascii()


SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            name=SERVER_RESET,
            values=BOOLEAN,
            effect="the members make resets of offsets (false), or the broker makes them (true)",
            rules=(
                *("BQ-RESET-1", "BQ-RESET-2", "BQ-RESET-3", "BQ-RESET-QUEUE", "BQ-RESET-RANGE", "BQ-COM-5"),
                "POP-RESET-2",
            ),
            releases="5.1.0+",
            default="true",
            other=("up to 5.1.4", "false"),
        ),
        Setting(
            name=STRICT_LOCKS,
            values=BOOLEAN,
            effect="an unlock is answered before it is done",
            rules=("BQ-LOCK-3", "BQ-LOCK-STRICT"),
            releases="5.0.0+",
            default="false",
        ),
        Setting(
            name=CREATES_GROUPS,
            values=BOOLEAN,
            effect="a group that is not known is not created when it is looked up: its pulls are refused, and from "
            "5.1.1 on its members are not registered",
            rules=("BQ-GROUP-LOOKUP", "BQ-GROUP-SYSTEM", "BQ-GROUP-3", "BQ-HB-1", "BQ-PULL-1", "BQ-ASSIGN-6"),
            default="true",
        ),
        Setting(
            name=PERMISSION,
            values=("0", "1", "2", "3", "4", "5", "6", "7"),
            effect="without the bit 4 every pull and pop is refused with NO_PERMISSION, and without the bit 2 every "
            "message that is sent back; sends are answered all the same",
            rules=("BQ-PULL-BROKER", "BQ-BACK-BROKER", "POP-CHECK"),
            default="6",
        ),
        Setting(
            name=MEMORY_RATIO,
            values=INTEGER,
            effect="a message counts as being on disk when what was written after it is more than this percentage of "
            "the machine's memory: at 0 or less all messages, otherwise none of a case. A pull returns 8 of those on "
            "disk at most, and up to 5.0.0 a group without an offset is answered QUERY_NOT_FOUND where the first "
            "message is one",
            rules=("BQ-DISK-1", "BQ-QUERY-4", "BQ-PULL-7", "RUN-DYN-1"),
            default="40",
        ),
        Setting(
            name=LONG_POLLING,
            values=BOOLEAN,
            effect="a pull that finds nothing new is held for shortPollingTimeMills instead of the time it asks for, "
            "held pulls are checked as often, and no message wakes them",
            rules=("BQ-PULL-10", "BQ-PULL-SHORT"),
            default="true",
        ),
        Setting(
            name=SHORT_POLLING,
            values=INTEGER,
            effect="for how long a pull is held without long polling, and how often held pulls are checked then (ms)",
            rules=("BQ-PULL-SHORT",),
            default="1000",
        ),
        Setting(
            name=PROPERTY_FILTER,
            values=BOOLEAN,
            effect="pulls by expressions in SQL92 are answered; those that carry one that cannot be compiled find "
            "every message",
            rules=(
                "BQ-PULL-SUB",
                "BQ-PULL-FILTER",
                "BQ-CHECK-CLIENT",
                "BQ-SQL-PASS",
                "BQ-SQL-COMPILE",
                "BQ-SQL-UNKNOWN",
                "BQ-SQL-TYPE",
            ),
            releases="4.1.0+",
            default="false",
        ),
        Setting(
            name=BROADCAST,
            values=BOOLEAN,
            effect="no offsets are kept of groups that broadcast",
            rules=("BQ-BROADCAST-1", "BQ-BROADCAST-2"),
            releases="5.1.0+",
            default="true",
        ),
        Setting(
            name=TIMER_WHEEL,
            values=BOOLEAN,
            effect="messages with a time of their own are refused, and from 5.1.1 on pops; from 5.3.3 on DELETE_TOPIC "
            "answers SYSTEM_ERROR though it deletes the topic",
            rules=("BQ-TOPIC-3", "BQ-TOPIC-TIMER", "BQ-TOPIC-POP", "BQ-TIMER-OFF", "POP-CHECK"),
            releases="5.0.0+",
            default="true",
        ),
        Setting(
            name=BALANCES,
            values=BOOLEAN,
            effect="a broker that is asked which queues are a member's names all of them",
            rules=("BQ-ASSIGN-OFF",),
            releases="5.0.0+",
            default="true",
        ),
        Setting(
            name=DEFAULT_MODE,
            values=("PULL", "POP"),
            effect="how queues are assigned to groups for which nothing is set",
            rules=("BQ-ASSIGN-1",),
            releases="5.0.0+",
            default="PULL",
        ),
        Setting(
            name=DEFAULT_SHARE,
            values=INTEGER,
            effect="how many members share a queue of a group that pops and for which nothing is set",
            rules=("BQ-ASSIGN-5",),
            releases="5.0.0+",
            default="-1",
        ),
        Setting(
            name=LIGHT,
            values=BOOLEAN,
            effect="stored offsets are in a file of their own, so that those from before it was switched are not known "
            "until it is switched back; every light message queue (%LMQ%...) is a topic. In 4.9.3 it is unclassified: "
            "stored offsets are lost with every restart",
            rules=("BQ-COM-LMQ", "BQ-ASSIGN-6"),
            releases="4.9.3+",
            known="4.9.4+",
            default="false",
        ),
        Setting(
            name=STORE,
            values=("default", ROCKSDB_STORE),
            effect="queues, topics, groups and offsets are kept in RocksDB: a pull that asks for fewer than 0 messages "
            "fails where there is something to read, and one that asks for 0 finds none, or fails. Before 5.3.2 it is "
            "unclassified: searches by time are other ones",
            rules=("BQ-PULL-MOST",),
            releases="5.1.4+",
            known="5.3.2+",
            default="default",
        ),
        Setting(
            name=TABLES,
            values=("v1", ROCKSDB_TABLES),
            effect="topics, groups and offsets are kept in RocksDB, and every light message queue (%LMQ%...) is a "
            "topic",
            rules=("BQ-ASSIGN-6",),
            releases="5.3.2+",
            default="v1",
        ),
        Setting(
            name=POP_CHECKS_MEMORY,
            values=BOOLEAN,
            effect="a pop without a stored offset and with initMode MAX begins at the last message, never at message 0",
            rules=("POP-START-5",),
            of_pops=True,
            releases="5.1.4+",
            default="true",
            other=("up to 5.1.3", "false"),
        ),
        Setting(
            name=POP_SHOWS_RETRIES,
            values=BOOLEAN,
            effect="a message that comes back to a group that pops has the name of the retry topic",
            rules=("POP-ACK-5",),
            releases="5.1.4+",
            of_pops=True,
            default="false",
        ),
        Setting(
            name=SLAVE_READS,
            values=BOOLEAN,
            effect="from 5.0.0 on a slave answers pulls",
            rules=("SLV-PULL-BUSY", "SLV-PULL-READ"),
            of_slaves=True,
            default="false",
        ),
        Setting(
            name=SLAVE_CHECKS,
            values=BOOLEAN,
            effect="a slave corrects the offset of a pull as its master does",
            rules=("SLV-PULL-MOVED", "SLV-PULL-READ"),
            of_slaves=True,
            default="false",
        ),
        Setting(
            name=SLAVE_ACTS,
            values=BOOLEAN,
            effect="with totalReplicas above 1 a master that is back takes the offsets of its slave first, and a slave "
            "looks at messages before it refuses them",
            rules=("SLV-SEND", "SLV-ACT-SEND", "SLV-ACT-BACK", "SLV-ACT-OFFLINE", "SLV-LOCK-STRICT"),
            releases="5.0.0+",
            of_slaves=True,
            default="false",
        ),
    )
}
#: Values of several properties of slaves that make rules fire together.
TOGETHER: Sequence[Mapping[str, str]] = (
    {SLAVE_ACTS: "true", SLAVE_READS: "true"},
    {SLAVE_ACTS: "true", STRICT_LOCKS: "true"},
)


def are_in_files(properties: Mapping[str, str]) -> bool:
    """Does a broker with these properties keep queues and tables in files? Else in RocksDB."""
    return properties.get(STORE) != ROCKSDB_STORE and properties.get(TABLES) != ROCKSDB_TABLES
