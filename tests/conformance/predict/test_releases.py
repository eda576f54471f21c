"""Which releases there are: a list that the kit was made with, and Maven's answer about later ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict import releases
from rocketmq_conformance.conformance.predict.releases import (
    BROKER,
    CLIENT,
    RELEASES,
    later_releases,
    of_description,
    of_ordinal,
    range_of,
)
from rocketmq_conformance.models.broker.wire import ordinal
from rocketmq_conformance.models.release import KNOWN, Release

NEXT, PART = Release(9, 0, 0), Release(9, 0, 1)


class Maven:
    """Names versions, and counts how often it is asked."""

    def __init__(self, **versions: str) -> None:
        self.versions = {BROKER: versions.get("broker", "").split(), CLIENT: versions.get("client", "").split()}
        self.asked = 0
        self.reached = True

    def __call__(self, artifacts: Sequence[str], since: str) -> dict[str, tuple[str, ...]]:
        self.asked += 1
        assert since == str(RELEASES[-1])
        if not self.reached:
            raise CannotRunError("Maven cannot say which releases there are: no network.")
        return {one: tuple(self.versions[one]) for one in artifacts}


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maven:
    """One that has two later releases, of the second of which only the broker."""
    found = Maven(broker="5.0.0 9.0.0 9.0.1 9.1.0-rc", client="5.0.0 9.0.0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(releases, "versions_of", found)
    return found


def test_releases_that_the_kit_was_made_with_are_asked_of_nobody(maven: Maven) -> None:
    assert range_of("4.9.4..5.5.0")[-1] == Release(5, 5, 0)
    with pytest.raises(ValueError, match=r"^4\.9\.9 is none of the releases from 4\.0\.0 to "):
        range_of("4.9.9")
    assert maven.asked == 0


def test_later_ones_are_asked_of_maven(maven: Maven) -> None:
    assert range_of("9.0.1") == (PART,)
    assert range_of("5.5.0..9.0.1")[-2:] == range_of("5.5.0..9.0.1", BROKER)[-2:] == (NEXT, PART)
    assert range_of("5.5.0..9.0.1", CLIENT)[-1] == NEXT
    with pytest.raises(ValueError, match=r"^Maven has no release 9\.9\.9: on .* it named .*, and 9\.0\.0, 9\.0\.1$"):
        range_of("9.9.9")


def test_the_answer_is_kept_for_a_day_and_where_maven_cannot_be_asked(maven: Maven) -> None:
    first, second = date(2031, 1, 1), date(2031, 1, 2)
    assert later_releases(first) == later_releases(first)
    assert maven.asked == 1
    maven.reached = False
    assert later_releases(second).asked == first
    assert later_releases(second).releases == {BROKER: (NEXT, PART), CLIENT: (NEXT,)}
    maven.reached = True
    assert later_releases(second).asked == second


def test_without_maven_the_list_is_called_what_it_is(maven: Maven) -> None:
    maven.reached = False
    sentence = (
        r"^9\.0\.0 is not on the list that this kit was made with, 4\.0\.0 to .*; Maven cannot say .*: no network$"
    )
    with pytest.raises(ValueError, match=sentence):
        range_of("9.0.0")


def test_a_broker_of_a_release_without_a_client_is_known() -> None:
    assert KNOWN not in RELEASES
    assert of_description("V5_5_1") == of_ordinal(ordinal(KNOWN)) == KNOWN
