"""What is off its default at a master and its slave that run already, where they are judged as a pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.properties.found import UNCLASSIFIED, FoundProperty, off_default
from rocketmq_conformance.models.broker.configuration import MEMORY_RATIO, SETTINGS, SLAVE_ACTS
from rocketmq_conformance.models.release import Release

#: What makes two brokers a pair, and the values that the models know.
_ROLES: Mapping[str, tuple[str, ...]] = {
    "brokerId": ("0", "1"),
    "brokerRole": ("ASYNC_MASTER", "SLAVE"),
    "totalReplicas": ("1", "2"),
    "inSyncReplicas": ("1",),
}


#: By how much a broker lowers this property when it starts as a slave (BrokerStartup#createBrokerController).
_LOWERED = 10


def off_default_of_pair(
    release: Release | None, master: Mapping[str, str], slave: Mapping[str, str]
) -> Iterator[FoundProperty]:
    """What is off its default at either of the two, by name: what concerns slaves alone as the slave has it. Where they
    differ otherwise, the models do not know what that changes."""
    if _is_lowered(master, slave):
        slave = {**slave, MEMORY_RATIO: master[MEMORY_RATIO]}
    pair = [{one.name: one for one in off_default(release, each)} for each in (master, slave)]
    for name in sorted({*pair[0], *pair[1]}):
        own, its = pair[0].get(name), pair[1].get(name)
        setting = SETTINGS.get(name)
        if setting is not None and setting.of_slaves and name != SLAVE_ACTS:
            if its is not None:
                yield its
        elif all(each is None or each.value in _ROLES.get(name, ()) for each in (own, its)):
            continue
        elif own is not None and its is not None and own.value == its.value:
            yield own
        else:
            one = own or its
            assert one is not None
            yield replace(one, kind=UNCLASSIFIED, effect="master and slave differ in it", rules=())


def _is_lowered(master: Mapping[str, str], slave: Mapping[str, str]) -> bool:
    """Does the slave have the ratio that it makes of its master's?"""
    ratios = [each.get(MEMORY_RATIO, "") for each in (master, slave)]
    return all(one.isdecimal() for one in ratios) and int(ratios[0]) - int(ratios[1]) == _LOWERED
