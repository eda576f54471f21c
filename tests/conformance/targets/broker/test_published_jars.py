"""Jars of a broker that is published in part: its own, and those of the release before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker import published_jars as module
from rocketmq_conformance.conformance.targets.broker.published_jars import broker_class_path, published_jars
from rocketmq_conformance.models.release import Release

OWN = {"rocketmq-broker", "rocketmq-store"}
REST = "rocketmq-filter", "rocketmq-remoting"


def path(name: str, version: str) -> Path:
    return Path(f"/m2/{name}-{version}.jar")


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The modules that are published of 9.0.1; the releases before are whole."""
    own = set(OWN)

    def class_path(artifacts: Sequence[str], version: str) -> tuple[Path, ...]:
        if version == "9.0.1":
            raise CannotRunError("Maven cannot get rocketmq-broker 9.0.1: Could not find artifact rocketmq-filter.")
        if version.startswith("8"):
            raise CannotRunError("Maven cannot get it: Could not transfer artifact.")
        return (*(path(name, version) for name in (*sorted(OWN), *REST)), Path("/m2/netty-4.jar"))

    monkeypatch.setattr(module, "class_path", class_path)
    monkeypatch.setattr(module, "jars_alone", lambda wanted, version: {one: path(one, version) for one in own})
    published_jars.cache_clear()
    return own


def test_modules_that_are_not_published_are_those_of_the_release_before(maven: set[str]) -> None:
    older = str(module.PUBLISHED[-1])
    assert broker_class_path(("rocketmq-broker",), "9.0.1") == (
        path("rocketmq-broker", "9.0.1"),
        path("rocketmq-store", "9.0.1"),
        *(path(name, older) for name in REST),
        Path("/m2/netty-4.jar"),
    )
    assert published_jars("9.0.1").note("9.0.1") == (
        f"rocketmq-filter, rocketmq-remoting are of {older}, as Maven has only a part of 9.0.1; broker:dir=PATH judges "
        "a build that is whole"
    )
    assert published_jars("5.4.0").note("5.4.0") == ""


def test_without_its_broker_a_release_is_judged_as_a_build(maven: set[str]) -> None:
    maven.remove("rocketmq-broker")
    with pytest.raises(CannotRunError, match=r"no broker 9\.0\.1\. A build of it is judged as broker:dir=PATH"):
        published_jars("9.0.1")


def test_what_is_wrong_with_maven_stays_wrong(maven: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotRunError, match="Could not transfer"):
        published_jars("8.0.0")
    monkeypatch.setattr(module, "PUBLISHED", (Release(8, 0, 0),))  # the release before cannot be had either
    with pytest.raises(CannotRunError, match=r"rocketmq-broker 9\.0\.1: Could not find artifact rocketmq-filter"):
        published_jars("9.0.1")
