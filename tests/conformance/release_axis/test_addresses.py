"""Addresses of several implementations: ranges, single releases, and how many of them are written in few words."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.release_axis.addresses import (
    BROKER,
    CLIENT,
    addresses_of,
    names_of,
    release_of,
)
from rocketmq_conformance.conformance.release_axis.matrix import switches_between
from rocketmq_conformance.conformance.targets.address import parse_address


def test_releases_and_ranges_stand_for_addresses() -> None:
    assert addresses_of(["4.9.7..5.1.0"], BROKER) == ("broker:4.9.7", "broker:5.0.0", "broker:5.1.0")
    assert addresses_of(["4.0.0..4.1.0,5.5.0"], CLIENT) == (
        "java-client:4.0.0-incubating",
        "java-client:4.1.0-incubating",
        "java-client:5.5.0",
    )
    assert addresses_of(["broker?like=5.3.3..5.5.0&java=17", "port", "port"]) == (
        "broker?like=5.3.3&java=17",
        "broker?like=5.4.0&java=17",
        "broker?like=5.5.0&java=17",
        "port",
    )


def test_releases_behind_a_comma_are_addressed_as_the_one_before_them() -> None:
    assert addresses_of(["port", "java-client:4.9.8,5.1.4..5.2.0?via=tcp", "broker?like=4.9.8,5.3.3..5.4.0"]) == (
        "port",
        "java-client:4.9.8",
        "java-client:5.1.4?via=tcp",
        "java-client:5.2.0?via=tcp",
        "broker?like=4.9.8",
        "broker?like=5.3.3",
        "broker?like=5.4.0",
    )
    # what has no release of its own says nothing of those behind it
    assert addresses_of(["port,5.5.0", "broker:127.0.0.1:10911,5.5.0"]) == ("port", "5.5.0", "broker:127.0.0.1:10911")


def test_commands_keep_their_commas_and_dots() -> None:
    assert addresses_of(["exec:run 1.2.3..1.2.4,x"], CLIENT) == ("exec:run 1.2.3..1.2.4,x",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("5.5.0..4.9.4", "write the older one first"),
        ("4.9.4..", "no release"),
        ("4.9.9", "is none of the releases"),
        ("5.5", "no release and no range"),
        ("4.9.7,,5.5.0", "a comma has no address beside it"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        addresses_of([text], BROKER)


def test_neighbours_are_written_as_ranges() -> None:
    order = addresses_of(["broker?like=5.3.0..5.5.0"])
    assert names_of(order, order) == "broker?like=5.3.0–5.5.0"
    assert names_of((order[0], order[2], order[3]), order) == "broker?like=5.3.0, broker?like=5.3.2–5.3.3"
    assert names_of(("port",), ("port", *order)) == "port"
    assert release_of("broker:127.0.0.1:10911") is None
    assert release_of("java-client:9.9.9") is None


def test_what_parts_the_newest_releases_is_a_known_change_though_one_is_published_in_part() -> None:
    known = switches_between("broker:5.5.0", "broker:5.5.1", ["BQ-PULL-FILTER", "BQ-GROUP-3"])
    assert [switch.id for switch in known] == ["BQ-GROUP-3", "BQ-HB-FILTER"]


def test_only_what_is_the_same_tomorrow_is_kept() -> None:
    kept = ("port", "broker", "broker?like=4.9.8", "broker:5.5.0", "java-client:4.0.0-incubating", "mutant:any")
    others = ("broker:127.0.0.1:10911", "exec:run", "python:a.b:c", "broker:5.5.0?via=container&image=mine")
    others += ("java-client:5.5.0?classpath=target/classes", "java-client:5.5.1-SNAPSHOT", "broker:dir=r-5.5.1")
    assert [address for address in (*kept, *others) if parse_address(address).lasting] == list(kept)
