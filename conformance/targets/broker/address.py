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
from types import MappingProxyType

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
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
from rocketmq_conformance.conformance.targets.broker.process import Broker
from rocketmq_conformance.conformance.targets.near_name import no_option
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

FORM = (
    "broker:VERSION (such as broker:5.5.0), broker:HOST:PORT (such as broker:127.0.0.1:10911) or broker:dir=PATH (an "
    "unpacked distribution)"
)
_FOLDER = "dir="
#: Brokers that one address may start: each takes about half a gigabyte.
MANY = 64
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
_HOST_AND_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/]+)):(\d{1,5})")


def open_broker(
    name: str, options: Mapping[str, str] = MappingProxyType({}), pairs: Sequence[str] = ()
) -> BrokerAdapter:
    """The adapter for what follows ``broker:``; ValueError with a sentence when it is invalid.

    ``options`` are those of the address's query part, ``pairs`` the properties that it sets. Nothing is started yet.
    """
    if name.startswith(_FOLDER):
        return _unpacked(name.removeprefix(_FOLDER), options, pairs)
    _refuse_unknown(
        "A broker address",
        options,
        ("via", "lease", "image", "java", "routes", "upgraded-from", "count"),
        "via=jars with java=N or count=N, via=container with image=NAME or java=N, upgraded-from=VERSION, "
        "set=NAME=VALUE, and lease=MS for HOST:PORT",
    )
    place = _HOST_AND_PORT.fullmatch(name)
    if place:
        if "via" in options:
            raise ValueError("broker:HOST:PORT cannot be started via anything: the broker is already running.")
        if "upgraded-from" in options:
            raise ValueError("upgraded-from is for a broker that the kit starts; write it with broker:VERSION.")
        if "count" in options:
            raise ValueError("count is for brokers that the kit starts; write it with broker:VERSION.")
        if pairs:
            raise ValueError("A running broker is judged as it is configured; write set=… with broker:VERSION.")
        port = int(place[3])
        if not 0 < port < 65536:
            raise ValueError(f"{port} is no port; write {FORM}.")
        if options.get("routes", "kit") != "kit":
            raise ValueError("routes says whose name server the broker asks; leave it out, or write routes=kit.")
        return BrokerAdapter(
            RunningBroker(
                place[1] or place[2],
                port,
                _lease(options.get("lease")),
                "routes" in options,
                access_of(settings_of()),
            )
        )
    if "routes" in options:
        raise ValueError("routes is for a running broker; write it with broker:HOST:PORT.")
    if "lease" in options:
        raise ValueError("lease is how long the locks of a running broker live; write it with broker:HOST:PORT.")
    try:
        release = Release.parse(name)
    except ValueError:
        raise ValueError(f"{name!r} is neither a release nor HOST:PORT; write {FORM}.") from None
    properties = settable(release, pairs)
    via = options.get("via", "jars")
    if via not in ("jars", "container"):
        raise CannotRunError(f"Brokers cannot be started via {via!r}; write via=jars or via=container.")
    if via == "jars":
        if "image" in options:
            raise ValueError(f"image is about containers; write broker:{name}?via=container&image=….")
        java = _feature(options.get("java"))
        asked = asked_access(release, properties, settings_of())
        older = _older(options, release)

        def started(others: Sequence[StartedBroker] = ()) -> StartedBroker:
            return StartedBroker(
                release, java=java, properties=properties, asked=asked, upgraded_from=older, others=others
            )

        return BrokerAdapter(started([started() for _ in range(1, _count(options.get("count")))]))
    if "upgraded-from" in options:
        raise ValueError("upgraded-from takes two releases to one folder: write it without via=container.")
    if "count" in options:
        raise ValueError("count is for brokers from jars: write it without via=container.")
    if "image" in options and "java" in options:
        raise ValueError("An image brings its own Java; write image=NAME or java=N.")
    return BrokerAdapter(_contained(release, options.get("image"), _feature(options.get("java")), properties))


def open_fake(options: Mapping[str, str] = MappingProxyType({}), pairs: Sequence[str] = ()) -> BrokerAdapter:
    """The adapter of the fake broker; ValueError with a sentence when an option is invalid."""
    known = ("like", "java", "upgraded-from")
    _refuse_unknown("The fake broker", options, known, "like=VERSION, java=N, upgraded-from=VERSION and set=NAME=VALUE")
    ours = Profile()
    try:
        release = Release.parse(options.get("like", str(ours.broker)))
    except ValueError:
        raise ValueError(f"{options['like']!r} is no release; write one such as broker?like=4.9.8.") from None
    java = _feature(options.get("java")) or ours.java
    properties = of_the_model(release, settable(release, pairs))
    profile = replace(ours, broker=release, java=java, upgraded_from=_older(options, release))
    return BrokerAdapter(FakeLocation(profile.configured(properties)))


def _refuse_unknown(whose: str, options: Mapping[str, str], known: Sequence[str], forms: str) -> None:
    """ValueError for the first option that is not known; set=NAME=VALUE, which may be repeated, is read before."""
    if sentence := no_option(whose, options, (*known, "set"), forms):
        raise ValueError(sentence)


def _unpacked(path: str, options: Mapping[str, str], pairs: Sequence[str]) -> BrokerAdapter:
    """A broker of an unpacked distribution; ValueError with a sentence when an option is invalid, CannotRunError when
    the folder is none."""
    _refuse_unknown("broker:dir=PATH", options, ("like", "java"), "like=VERSION, java=N and set=NAME=VALUE")
    if not path:
        raise ValueError("broker:dir= names no folder; write such as broker:dir=distribution/target/rocketmq-5.5.1.")
    try:
        like = Release.parse(options["like"]) if "like" in options else None
    except ValueError:
        raise ValueError(f"{options['like']!r} is no release; write one such as like=5.5.0.") from None
    unpacked = distribution(path, like)
    properties = settable(unpacked.judged, pairs)
    asked = asked_access(unpacked.judged, properties, settings_of())
    java = _feature(options.get("java"))
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
    text = options.get("upgraded-from")
    if text is None:
        return None
    try:
        older = Release.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is no release; write one such as upgraded-from=4.9.7.") from None
    if older == release:
        raise ValueError(f"A broker is upgraded from another release than {release}; name that one.")
    return older


def _feature(text: str | None) -> int:
    """A feature release of Java, 0 for none; ValueError with a sentence when it is invalid."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise ValueError(f"{text!r} is no Java release; write a number, such as java=17.")
    return int(text)


def _count(text: str | None) -> int:
    """How many brokers are started for the players of a campaign; ValueError with a sentence when it is no number."""
    if text is None:
        return 1
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= MANY):
        raise ValueError(f"{text!r} is no number of brokers; write one from 1 to {MANY}, such as count=2.")
    return int(text)


def _lease(text: str | None) -> float:
    """Seconds; ValueError with a sentence when it is no number of ms."""
    if text is None:
        return DEFAULT_LEASE
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{text!r} is no lease; write how many ms the broker's locks live, such as lease=1000.")
    return int(text) / 1000
