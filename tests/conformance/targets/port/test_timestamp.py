"""The port's clock against the model's: two ways to read ``yyyyMMddHHmmss``."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from every import every

from rocketmq_conformance.conformance.targets.port.start import NoTimeError, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import Calls
from rocketmq_conformance.models.client.timestamp import parse_timestamp

ZONES = (
    "UTC",
    "Asia/Shanghai",
    "Asia/Kolkata",
    "America/New_York",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Pacific/Apia",
    "Africa/Cairo",
)


def read(text: str | None, zone: str) -> int | None:
    try:
        return StartPosition(Calls()).time(text, zone)
    except NoTimeError:
        return None


def ordinary(chance: random.Random) -> str:
    """A time of 1902 to 2110."""
    limits = ((1902, 2110), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59))
    return "".join(f"{chance.randint(*limit):02}" for limit in limits)


def changing(chance: random.Random) -> str:
    """A night in which clocks may change."""
    day = f"20{chance.randint(0, 40):02}{chance.choice((3, 4, 9, 10, 11)):02}{chance.randint(1, 31):02}"
    return f"{day}{chance.randint(0, 4):02}{chance.choice((0, 15, 29, 30, 31, 45, 59)):02}00"


def rolling(chance: random.Random) -> str:
    """Fields beyond their ranges."""
    return f"{chance.randint(1920, 2600)}" + "".join(f"{chance.randint(0, 99):02}" for _ in range(5))


def damaged(chance: random.Random) -> str:
    """Text that only leniency can read, or nobody."""
    characters = list(ordinary(chance))
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(4, len(characters))
        characters[at : at + chance.randrange(2)] = chance.choice(" \t-+.,:/Tx 9")
    return "".join(characters)


@pytest.mark.parametrize("kind", [ordinary, changing, rolling, damaged])
def test_the_port_reads_a_timestamp_as_the_model_does(kind: Callable[[random.Random], str]) -> None:
    chance = random.Random(5)
    for _ in range(3000):
        text, zone = kind(chance), chance.choice(ZONES)
        assert read(text, zone) == parse_timestamp(text, zone), (text, zone)


@pytest.mark.parametrize("text", [None, "", "2024010102", "yesterday", "202401010000 x"])
def test_neither_reads_what_is_no_time(text: str | None) -> None:
    assert read(text, "UTC") is None
    assert parse_timestamp(text, "UTC") is None


@every(
    ("text", "zone", "milliseconds"),
    [
        ("20240101000000", "UTC", 1_704_067_200_000),
        ("20240101080000", "Asia/Shanghai", 1_704_067_200_000),
        ("20240310023000", "America/New_York", 1_710_055_800_000),
        ("20241103013000", "America/New_York", 1_730_615_400_000),
        ("20231301000000", "UTC", 1_704_067_200_000),
        ("2024010100000060 and more", "UTC", 1_704_067_260_000),
    ],
)
def test_the_port_knows_these_moments(text: str, zone: str, milliseconds: int) -> None:
    assert read(text, zone) == milliseconds
