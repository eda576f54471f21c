"""What a broker lacks of what suites of pops need, by its release and properties."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.missing_needs import missing_needs
from rocketmq_conformance.conformance.targets.broker.part import Need
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release


@pytest.fixture
def location() -> Iterator[FakeLocation]:
    location = FakeLocation(Profile())
    yield location
    location.close()


@pytest.mark.parametrize(
    ("release", "lacks"),
    [("4.9.7", {Need.TIMERS}), ("5.1.0", {Need.TIMERS, Need.CHECK_POINTS}), ("5.1.1", {Need.TIMERS})],
)
def test_only_early_releases_without_timers_answer_pops_and_store_no_end(
    location: FakeLocation, release: str, lacks: set[Need]
) -> None:
    missing = missing_needs(location, Release.parse(release), {"timerWheelEnable": "false"})
    assert missing.keys() & {Need.TIMERS, Need.CHECK_POINTS} == lacks


def test_pops_that_are_kept_elsewhere_are_named(location: FakeLocation) -> None:
    missing = missing_needs(location, Release(5, 5, 0), {"enablePopBufferMerge": "true"})
    assert missing[Need.CHECK_POINTS].endswith("brokers without enablePopBufferMerge=true")
