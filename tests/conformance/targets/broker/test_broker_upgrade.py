"""Brokers of two releases that take turns: the address, the fake ones, and real ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import kit
from every import every

from rocketmq_conformance.conformance.engine.handshake import profile_of
from rocketmq_conformance.conformance.engine.plan import profile_json
from rocketmq_conformance.conformance.engine.plan import profile_of as profile_read
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import broker_upgrade

PROFILE = replace(Profile.of(broker="5.1.4"), upgraded_from=Release.parse("4.9.7"))
FAKE = "broker?like=5.1.4&upgraded-from=4.9.7"


def test_the_release_that_went_before_is_part_of_the_profile() -> None:
    adapter = open_address(FAKE)
    try:
        assert profile_of(adapter.hello(), {}) == PROFILE
    finally:
        adapter.close()
    assert profile_read(profile_json(PROFILE)) == PROFILE
    assert str(PROFILE) == "client 5.5.0, broker 5.1.4, java 17, upgraded from 4.9.7"


def test_a_broker_of_one_release_refuses_the_suite() -> None:
    adapter = open_address("broker")
    try:
        assert "upgraded-from=4.9.7" in adapter.hello().refuses(broker_upgrade.SUITE)
    finally:
        adapter.close()


@every(
    ("address", "sentence"),
    [
        ("broker:5.5.0?upgraded-from=old", "'old' is no release; write one such as upgraded-from=4.9.7."),
        ("broker:5.5.0?upgraded-from=5.5.0", "from another release than 5.5.0"),
        ("broker:5.5.0?via=container&image=a&upgraded-from=4.9.7", "write image=NAME or upgraded-from=VERSION"),
        ("broker:127.0.0.1:10911?upgraded-from=4.9.7", "for a broker that the kit starts"),
        ("broker?upgraded-from=5.5.0", "from another release than 5.5.0"),
    ],
)
def test_what_cannot_be_upgraded(address: str, sentence: str) -> None:
    with pytest.raises(AddressError) as caught:
        open_address(address)
    assert sentence in str(caught.value)


def test_releases_that_take_turns_conform_and_other_suites_judge_the_newer_one(tmp_path: Path) -> None:
    args = ("-k", "broker-upgrade", "-k", "broker-offsets", "--cases", "6", "--seed", "3", "--out", "o")
    done = kit("run", FAKE, *args, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "upgraded_from 4.9.7" in done.stdout
    scenario = kit("scenario", "upgrade", FAKE, "broker?like=5.5.0&upgraded-from=5.1.4", cwd=tmp_path)
    assert scenario.returncode == 0, scenario.stdout


@pytest.mark.broker
@pytest.mark.java
def test_real_brokers_take_turns(tmp_path: Path) -> None:
    address = "broker:5.5.0?upgraded-from=4.9.7"
    done = kit("scenario", "upgrade", address, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
