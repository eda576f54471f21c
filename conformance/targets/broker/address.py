"""Addresses of brokers: ``broker:VERSION[?via=jars|container][&java=N][&count=N][&set=NAME=VALUE…]``, and of running
ones ``broker:HOST:PORT[?lease=MS][&routes=kit][&slave=HOST:PORT]``.

``broker:dir=PATH[?like=VERSION][&java=N][&set=NAME=VALUE…]`` is an unpacked distribution, such as a build of one's own.

``broker[?like=VERSION][&java=N][&set=NAME=VALUE…]`` is the fake broker, which needs neither Java nor anything else.

``upgraded-from=VERSION`` is for brokers that the kit starts: this release opens the store first, and takes turns with
the other one in ``broker-upgrade``. ``set`` configures the newer one.

``count=N`` starts so many brokers for the players of a campaign, which share them; a run uses one of them.

``routes=kit`` is for a broker that the kit started in another process, whose routes are those of ``broker-assignment``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, singledispatch

from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
from rocketmq_conformance.conformance.targets.address_kinds import (
    BrokerAddress,
    FakeBrokerAddress,
    ReleasedBrokerAddress,
    RunningBrokerAddress,
    UnpackedBrokerAddress,
)
from rocketmq_conformance.conformance.targets.broker.access_settings import access_of, settings_of
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.asked_access import asked_access
from rocketmq_conformance.conformance.targets.broker.broker_location import BrokerLocation, RunningBroker
from rocketmq_conformance.conformance.targets.broker.case_names import DEFAULT_LEASE
from rocketmq_conformance.conformance.targets.broker.container import Containers
from rocketmq_conformance.conformance.targets.broker.distribution import distribution
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.profile import Profile


def open_broker(address: BrokerAddress) -> BrokerAdapter:
    """The adapter of a broker; ValueError with a sentence when the address is invalid, CannotRunError when a folder has
    no distribution. Nothing is started yet."""
    return BrokerAdapter(_location(address))


@singledispatch
def _location(address: BrokerAddress) -> BrokerLocation:
    raise AssertionError(f"{address} is no broker")


@_location.register
def _running(address: RunningBrokerAddress) -> BrokerLocation:
    lease = address.lease / 1000 if address.lease else DEFAULT_LEASE
    return RunningBroker(*address.at, lease, address.routed, access_of(settings_of()), address.slave)


@_location.register
def _released(address: ReleasedBrokerAddress) -> BrokerLocation:
    release, properties = address.release, settable(address.release, address.properties)
    asked = asked_access(release, properties, settings_of())
    in_containers = partial(Containers, release, address.image or "", address.java)

    def started(others: Sequence[StartedBroker] = ()) -> StartedBroker:
        return StartedBroker(
            release,
            image=address.image or "",
            java=address.java or 0,
            containers=in_containers if address.via == "container" else None,
            properties=properties,
            asked=asked,
            upgraded_from=address.upgraded_from,
            others=others,
        )

    return started([started() for _ in range(1, address.count)])


@_location.register
def _fake(address: FakeBrokerAddress) -> BrokerLocation:
    ours = Profile()
    release = address.like or ours.broker
    if address.upgraded_from == release:
        raise ValueError(f"A broker is upgraded from another release than {release}; name that one.")
    properties = of_the_model(release, settable(release, address.properties))
    profile = replace(ours, broker=release, java=address.java or ours.java, upgraded_from=address.upgraded_from)
    return FakeLocation(profile.configured(properties))


@_location.register
def _unpacked(address: UnpackedBrokerAddress) -> BrokerLocation:
    unpacked = distribution(address.folder, address.like)
    properties = settable(unpacked.judged, address.properties)
    asked = asked_access(unpacked.judged, properties, settings_of())
    return StartedBroker(unpacked.judged, java=address.java or 0, properties=properties, asked=asked, unpacked=unpacked)
