"""Differences between releases on the wire."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.models.broker.wire import WireRules, description, ordinal
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release


def wire(broker: str) -> WireRules:
    return WireRules.of(Profile.of(broker=broker))


@every(
    ("release", "number"),
    [
        ("4.1.0", 232),
        ("4.3.0", 273),
        ("4.9.0", 393),
        ("4.9.4", 401),
        ("4.9.8", 409),
        ("5.0.0", 413),
        ("5.1.4", 441),
        ("5.2.0", 453),
        ("5.3.1", 475),
        ("5.3.3", 479),
        ("5.4.0", 493),
        ("5.5.0", 513),
    ],
)
def test_releases_number_themselves(release: str, number: int) -> None:
    assert ordinal(Release.parse(release)) == number
    assert wire(release).ordinal == number


@pytest.mark.parametrize(
    ("release", "name"),
    [("4.2.0", "V4_2_0_SNAPSHOT"), ("4.9.7", "V4_9_7"), ("5.0.0-ALPHA", "V5_0_0_ALPHA"), ("5.5.0", "V5_5_0")],
)
def test_releases_name_themselves(release: str, name: str) -> None:
    assert description(Release.parse(release)) == name


@every(
    ("release", "echoes", "answers", "standard", "lite"),
    [
        ("4.9.0", False, False, False, False),
        ("4.9.1", False, True, False, False),
        ("4.9.4", True, True, True, False),
        ("4.9.8", True, True, True, False),
        ("5.0.0-PREVIEW", False, False, False, False),
        ("5.0.0-ALPHA", False, True, False, False),
        ("5.0.0", False, True, True, True),
        ("5.5.0", False, True, True, True),
    ],
)
def test_what_changed_when(release: str, echoes: bool, answers: bool, standard: bool, lite: bool) -> None:
    rules = wire(release)
    found = (rules.echoes_binary, rules.unknown_answered, rules.standard_routes, rules.lite_pulls)
    assert found == (echoes, answers, standard, lite)


def test_standard_routes_go_to_those_that_can_or_ask() -> None:
    assert wire("5.5.0").standard(401, False)
    assert not wire("5.5.0").standard(400, False)
    assert wire("5.5.0").standard(0, True)
    assert not wire("4.9.3").standard(513, True)


def test_the_version_number_left_the_runtime_table() -> None:
    assert not wire("5.3.3").omits_version
    assert wire("5.4.0").omits_version
