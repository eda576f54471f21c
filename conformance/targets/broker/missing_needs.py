"""What suites need of a broker and this one lacks: a process of the kit's own, properties, an upgrade."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.properties.harmless import why_harmless
from rocketmq_conformance.conformance.targets.broker.broker_location import BrokerLocation
from rocketmq_conformance.conformance.targets.broker.fake_name_server import routed
from rocketmq_conformance.conformance.targets.broker.part import Need
from rocketmq_conformance.models.broker.configuration import (
    CREATES_GROUPS,
    LIGHT,
    PERMISSION,
    ROCKSDB_STORE,
    ROCKSDB_TABLES,
    STORE,
    TABLES,
    TIMER_WHEEL,
)
from rocketmq_conformance.models.broker.state import READ
from rocketmq_conformance.models.broker.switches import POP_NEEDS_TIMERS, POPS
from rocketmq_conformance.models.release import Release

#: Properties by which a broker forgets a member that is silent, or closes a connection.
_FORGETS = ("serverChannelMaxIdleTimeSeconds", "channelExpiredTimeout", "subscriptionExpiredTimeout")
_NOT_STARTED = "needs a broker that the kit starts itself; judge broker:VERSION instead of HOST:PORT"
_NO_SLAVE = (
    "needs the broker's slave: name it, as in broker:HOST:PORT?slave=HOST:PORT, or judge broker:VERSION for one of the "
    "kit's own"
)
_OTHER_FILE = "damages consumerOffset.json, which is not read with enableLmq=true"
_NOT_UPGRADED = "needs the store of another release; judge such as broker:5.5.0?upgraded-from=4.9.7"
_NO_ROUTES = "needs a broker that reaches the kit's name server; judge it without via=container"
_NOT_READABLE = f"looks at messages by pulls, and {PERMISSION} has no bit 4"
#: Why nothing can be played at a slave.
AT_SLAVE = (
    "the broker is a slave (brokerRole=SLAVE): what a case creates there is gone once it has asked its master; judge "
    "its master, or broker:VERSION -k broker-slave for a pair"
)
#: Properties by which a broker keeps in memory, or in RocksDB, what is popped.
KEEPS_POPS = ("enablePopBufferMerge", "popConsumerKVServiceEnable")
#: Brokers before POP_NEEDS_TIMERS answer pops there all the same, and never store where they end.
_STORES_NO_POPS = f"looks at where pops end, which this release stores only with {TIMER_WHEEL}=true"
_NO_TIMERS = f"waits for what comes back, and {TIMER_WHEEL} is false: every pop is refused"
_NO_NEW_GROUPS = f"was compared with brokers that create groups, and {CREATES_GROUPS} is false"


def missing_needs(source: BrokerLocation, release: Release | None, read: Mapping[str, str]) -> dict[Need, str]:
    """What a broker of a release with these properties lacks, each with the reason why a suite cannot be judged."""
    own, missing = source.own, {}
    if own is None:
        needs = (Need.PROCESS, Need.AGED_STORE, Need.LEVELS, Need.PAGE_CACHE, Need.UPGRADE, Need.SLAVE)
        missing = {**dict.fromkeys(needs, _NOT_STARTED), Need.SLAVE: _NO_SLAVE}
        if source.beside is not None:
            del missing[Need.SLAVE]
        if not source.routed:
            missing[Need.ROUTES] = _NOT_STARTED
    else:
        if not source.routed and release is not None and routed(release):
            missing[Need.ROUTES] = _NO_ROUTES
        if unaged := _unaged(read):
            missing[Need.AGED_STORE] = unaged
        if read.get(LIGHT) == "true":
            missing[Need.OFFSETS_FILE] = _OTHER_FILE
        if own.cold:
            missing[Need.PAGE_CACHE] = own.cold
        if own.unpaired:
            missing[Need.SLAVE] = own.unpaired
        if own.upgraded_from is None:
            missing[Need.UPGRADE] = _NOT_UPGRADED
    if forgets := _forgets(read):
        missing[Need.SILENCE] = forgets
    if kept := [f"{name}=true" for name in KEEPS_POPS if read.get(name) == "true"]:
        missing[Need.CHECK_POINTS] = f"pops, which was compared with brokers without {' and '.join(kept)}"
    if read.get(TIMER_WHEEL) == "false":
        missing[Need.TIMERS] = _NO_TIMERS
        if release is not None and POPS.on(release) and not POP_NEEDS_TIMERS.on(release):
            missing[Need.CHECK_POINTS] = _STORES_NO_POPS
    if not readable(read):
        missing[Need.OPEN] = _NOT_READABLE
    elif read.get(CREATES_GROUPS) == "false":
        missing[Need.OPEN] = _NO_NEW_GROUPS
    return missing


def readable(read: Mapping[str, str]) -> bool:
    """May be pulled from a broker with these properties?"""
    permission = read.get(PERMISSION, "")
    return not permission.isdecimal() or bool(int(permission) & READ)


def _unaged(read: Mapping[str, str]) -> str:
    """Why a broker with these properties does not read the aged store; "" when it does."""
    off = [
        f"{name}={value}"
        for name, value in ((STORE, ROCKSDB_STORE), (TABLES, ROCKSDB_TABLES))
        if read.get(name) == value
    ]
    return f"begins with the aged store, whose files are not read with {' and '.join(off)}" if off else ""


def _forgets(read: Mapping[str, str]) -> str:
    """Why a broker with these properties forgets whoever is silent for a while; "" when it does not."""
    short = [f"{name}={read[name]}" for name in _FORGETS if name in read and not why_harmless(name, read[name])]
    return f"waits longer than a broker with {' and '.join(short)} remembers who is silent" if short else ""
