"""Addresses of brokers: ``broker:VERSION[?via=jars|container][&java=N][&count=N][&set=NAME=VALUE…]``, and of running
ones ``broker:HOST:PORT[?lease=MS][&routes=kit]``.

``broker:dir=PATH[?like=VERSION][&java=N][&set=NAME=VALUE…]`` is an unpacked distribution, such as a build of one's own.

``broker[?like=VERSION][&java=N][&set=NAME=VALUE…]`` is the fake broker, which needs neither Java nor anything else.

``upgraded-from=VERSION`` is for brokers that the kit starts: this release opens the store first, and takes turns with
the other one in ``broker-upgrade``. ``set`` configures the newer one.

``count=N`` starts so many brokers for the players of a campaign, which share them; a run uses one of them.

``routes=kit`` is for a broker that the kit started in another process, whose routes are those of ``broker-assignment``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
from rocketmq_conformance.conformance.targets.address import (
    BrokerAddress,
    FakeBrokerAddress,
    RunningBrokerAddress,
    UnpackedBrokerAddress,
)
from rocketmq_conformance.conformance.targets.broker.access_settings import access_of, settings_of
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.aged_store import store_writer
from rocketmq_conformance.conformance.targets.broker.asked_access import asked_access
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.case_names import DEFAULT_LEASE
from rocketmq_conformance.conformance.targets.broker.container import Containers
from rocketmq_conformance.conformance.targets.broker.distribution import distribution
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.managed_broker import SHORT_LEASE, StartedBroker
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.targets.near_name import refuse_unknown
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

FORM = (
    "broker:VERSION (such as broker:5.5.0), broker:HOST:PORT (such as broker:127.0.0.1:10911) or broker:dir=PATH (an "
    "unpacked distribution)"
)
#: Brokers that one address may start: each takes about half a gigabyte.
MANY = 64
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
#: Options that are not for brokers that are running, that are started, and that are started in containers.
_NOT_RUNNING = {
    "via": "broker:HOST:PORT cannot be started via anything: the broker is already running.",
    "upgraded-from": "upgraded-from is for a broker that the kit starts; write it with broker:VERSION.",
    "count": "count is for brokers that the kit starts; write it with broker:VERSION.",
}
_NOT_STARTED = {
    "routes": "routes is for a running broker; write it with broker:HOST:PORT.",
    "lease": "lease is how long the locks of a running broker live; write it with broker:HOST:PORT.",
}
_NOT_CONTAINED = {
    "upgraded-from": "upgraded-from takes two releases to one folder: write it without via=container.",
    "count": "count is for brokers from jars: write it without via=container.",
}


def open_broker(address: BrokerAddress) -> BrokerAdapter:
    """The adapter of a broker; ValueError with a sentence when the address is invalid, CannotRunError when a folder has
    no distribution. Nothing is started yet."""
    options, pairs = address.options, address.properties
    if isinstance(address, FakeBrokerAddress):
        return _fake(options, pairs)
    if isinstance(address, UnpackedBrokerAddress):
        return _unpacked(address.name, options, pairs)
    refuse_unknown(
        "A broker address",
        options,
        ("via", "lease", "image", "java", "routes", "upgraded-from", "count", "set"),
        "via=jars with java=N or count=N, via=container with image=NAME or java=N, upgraded-from=VERSION, "
        "set=NAME=VALUE, and lease=MS for HOST:PORT",
    )
    return _running(address) if isinstance(address, RunningBrokerAddress) else _released(address.name, options, pairs)


def _running(address: RunningBrokerAddress) -> BrokerAdapter:
    _refuse(address.options, _NOT_RUNNING)
    if address.properties:
        raise ValueError("A running broker is judged as it is configured; write set=… with broker:VERSION.")
    if not 0 < address.port < 65536:
        raise ValueError(f"{address.port} is no port; write {FORM}.")
    if address.options.get("routes", "kit") != "kit":
        raise ValueError("routes says whose name server the broker asks; leave it out, or write routes=kit.")
    millis = _number(
        address.options, "lease", "no lease; write how many ms the broker's locks live, such as lease=1000"
    )
    lease, routed = millis / 1000 if millis else DEFAULT_LEASE, "routes" in address.options
    return BrokerAdapter(RunningBroker(address.host, address.port, lease, routed, access_of(settings_of())))


def _released(name: str, options: Mapping[str, str], pairs: Sequence[str]) -> BrokerAdapter:
    _refuse(options, _NOT_STARTED)
    release = _release(name, f"neither a release nor HOST:PORT; write {FORM}")
    properties = settable(release, pairs)
    via = options.get("via", "jars")
    if via not in ("jars", "container"):
        raise CannotRunError(f"Brokers cannot be started via {via!r}; write via=jars or via=container.")
    if via == "container":
        _refuse(options, _NOT_CONTAINED)
        if "image" in options and "java" in options:
            raise ValueError("An image brings its own Java; write image=NAME or java=N.")
        return BrokerAdapter(_contained(release, options.get("image"), _feature(options), properties))
    if "image" in options:
        raise ValueError(f"image is about containers; write broker:{name}?via=container&image=….")
    java = _feature(options)
    asked = asked_access(release, properties, settings_of())
    older = _older(options, release)

    def started(others: Sequence[StartedBroker] = ()) -> StartedBroker:
        return StartedBroker(release, java=java, properties=properties, asked=asked, upgraded_from=older, others=others)

    count = _number(options, "count", f"no number of brokers; write one from 1 to {MANY}, such as count=2", MANY) or 1
    return BrokerAdapter(started([started() for _ in range(1, count)]))


def _fake(options: Mapping[str, str], pairs: Sequence[str]) -> BrokerAdapter:
    known = ("like", "java", "upgraded-from", "set")
    refuse_unknown("The fake broker", options, known, "like=VERSION, java=N, upgraded-from=VERSION and set=NAME=VALUE")
    ours = Profile()
    release = _release(options.get("like", str(ours.broker)), "no release; write one such as broker?like=4.9.8")
    java = _feature(options) or ours.java
    properties = of_the_model(release, settable(release, pairs))
    profile = replace(ours, broker=release, java=java, upgraded_from=_older(options, release))
    return BrokerAdapter(FakeLocation(profile.configured(properties)))


def _refuse(options: Mapping[str, str], sentences: Mapping[str, str]) -> None:
    """ValueError for the first option that has a sentence."""
    for name, sentence in sentences.items():
        if name in options:
            raise ValueError(sentence)


def _release(text: str, otherwise: str) -> Release:
    try:
        return Release.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is {otherwise}.") from None


def _unpacked(path: str, options: Mapping[str, str], pairs: Sequence[str]) -> BrokerAdapter:
    refuse_unknown("broker:dir=PATH", options, ("like", "java", "set"), "like=VERSION, java=N and set=NAME=VALUE")
    if not path:
        raise ValueError("broker:dir= names no folder; write such as broker:dir=distribution/target/rocketmq-5.5.1.")
    like = _release(options["like"], "no release; write one such as like=5.5.0") if "like" in options else None
    unpacked = distribution(path, like)
    properties = settable(unpacked.judged, pairs)
    asked = asked_access(unpacked.judged, properties, settings_of())
    java = _feature(options)
    return BrokerAdapter(
        StartedBroker(unpacked.judged, java=java, properties=properties, asked=asked, unpacked=unpacked)
    )


def _contained(release: Release, image: str | None, java: int, properties: Mapping[str, str]) -> StartedBroker:
    """A broker in a container; ValueError with a sentence when the image is invalid."""
    if image is not None and not _IMAGE.fullmatch(image):
        raise ValueError(f"{image!r} is no name of an image; write one such as image=apache/rocketmq:{release}.")
    asked = asked_access(release, properties, settings_of())

    def make() -> Broker:
        host = Containers(release, image or "", java or None)
        return Broker(
            release, store_writer(properties), lease=SHORT_LEASE, host=host, properties=properties, asked=asked
        )

    return StartedBroker(release, make, image or "", contained=True, properties=properties, asked=asked)


def _older(options: Mapping[str, str], release: Release) -> Release | None:
    """The release whose store is taken over; ValueError with a sentence when it is none, or the same one."""
    if "upgraded-from" not in options:
        return None
    older = _release(options["upgraded-from"], "no release; write one such as upgraded-from=4.9.7")
    if older == release:
        raise ValueError(f"A broker is upgraded from another release than {release}; name that one.")
    return older


def _feature(options: Mapping[str, str]) -> int:
    """A feature release of Java, 0 for none."""
    return _number(options, "java", "no Java release; write a number, such as java=17") or 0


def _number(options: Mapping[str, str], name: str, otherwise: str, most: int = 2**31) -> int | None:
    """An option that is a whole number above 0; ValueError with a sentence when it is something else."""
    text = options.get(name)
    if text is not None and not (text.isascii() and text.isdecimal() and 0 < int(text) <= most):
        raise ValueError(f"{text!r} is {otherwise}.")
    return None if text is None else int(text)
