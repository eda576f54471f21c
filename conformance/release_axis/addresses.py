"""Addresses of several implementations, as options name them: releases, ranges of them, and addresses of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocketmq_conformance.conformance.predict import releases as known
from rocketmq_conformance.conformance.predict.releases import RELEASES, range_of
from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.conformance.targets.address_kinds import RELEASE
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.models.release import KNOWN, Release

#: How each side's published releases are addressed.
BROKER, CLIENT = "broker:", "java-client:"
#: Releases without a broker on Maven Central, which ranges of brokers leave out.
_WITHOUT_BROKER = frozenset(map(Release.parse, ("4.9.6", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.1.2")))
_RELEASES = re.compile(rf"({RELEASE}(?:\.\.{RELEASE})?)([?&].*)?")
_RANGE = re.compile(rf"{RELEASE}\.\.{RELEASE}")
_ONE = re.compile(rf"{RELEASE}(\.\.{RELEASE})?(?=[?&]|$)")
#: Addresses that may have commas and dots in them: a value that begins so is one address.
_WHOLE = ("exec:", "client:", "client?", "python:")


def addresses_of(values: Iterable[str], prefix: str = "") -> tuple[str, ...]:
    """The addresses that options name, each once: commas part them.

    "4.9.4..5.5.0" stands for the published releases at ``prefix``, and in an address for one address of each release.
    Without a prefix, releases behind a comma are addressed as the one before it: "java-client:4.9.8,5.5.0".
    ValueError with a sentence for a range that is empty and for a release that is not published; of those after the
    releases that the kit was made with Maven says which there are.
    """
    found: list[str] = []
    for value in values:
        #: What stands around the release of the last address.
        around = prefix, ""
        for part in [value] if value.startswith(_WHOLE) else value.split(","):
            text = part.strip()
            if not text:
                raise ValueError("a comma has no address beside it: write such as 4.9.8,5.5.0")
            if around[0] and (listed := _RELEASES.fullmatch(text)):
                before, after = around[0], listed[2] or around[1]
                found += [published(before, release) + after for release in _releases(before, listed[1])]
            elif around[0] and re.fullmatch(r"[\d.]+", text):
                raise ValueError(f"{text!r} is no release and no range: write such as 4.9.8 or 4.9.4..5.5.0")
            elif not text.startswith(_WHOLE) and (between := _RANGE.search(text)):
                before, after = text[: between.start()], text[between.end() :]
                found += [published(before, release) + after for release in _releases(before, between[0])]
            else:
                found.append(text)
            if not prefix and not text.startswith(_WHOLE) and (one := _ONE.search(text)) and one.start():
                around = text[: one.start()], text[one.end() :]
    return tuple(dict.fromkeys(found))


def published(prefix: str, release: Release) -> str:
    """The address of a published release; the first two clients kept the suffix of their incubation."""
    return prefix + (maven_version(release) if prefix == CLIENT else str(release))


def _releases(prefix: str, text: str) -> tuple[Release, ...]:
    """The releases of a range that are published at a prefix; a single release is taken as it is."""
    found = range_of(text, {BROKER: known.BROKER, CLIENT: known.CLIENT}.get(prefix, ""))
    if prefix != BROKER or ".." not in text:
        return found
    return tuple(release for release in found if release not in _WITHOUT_BROKER)


def release_of(address: str) -> Release | None:
    """The release that an address stands for, without other options, if the rules know it; None for any other
    address."""
    one = parse_address(address)
    alone = dict(one.options).keys() <= {"like"}
    return one.published if alone and (one.published in RELEASES or one.published == KNOWN) else None


def names_of(addresses: Iterable[str], order: Iterable[str]) -> str:
    """Addresses in few words: releases of one kind that are neighbours in ``order`` are one range."""
    every, chosen = list(order), set(addresses)
    runs: list[list[str]] = []
    for at, address in enumerate(every):
        if address not in chosen:
            continue
        joins = runs and at and runs[-1][-1] == every[at - 1] and _are_alike(every[at - 1], address)
        if joins:
            runs[-1].append(address)
        else:
            runs.append([address])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{release_of(run[-1])}" for run in runs)


def _are_alike(one: str, other: str) -> bool:
    """Are both releases of one kind?"""
    return None not in (release_of(one), release_of(other)) and type(parse_address(one)) is type(parse_address(other))
