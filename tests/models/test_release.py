"""Releases of two lines, switches in both, and the profile that picks rules."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from every import every

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import (
    KNOWN,
    Release,
    Releases,
    Switch,
    changes,
    nearest_published,
    newer_than_known,
    switches_of,
)
from rocketmq_conformance.models.rule import Rule

#: Releases in the order in which rules see them.
ORDER = (
    *("4.0.0", "4.1.0", "4.2.0", "4.3.0", "4.5.1", "4.6.0", "4.6.1", "4.7.0", "4.7.1", "4.8.0"),
    *("4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.8"),
    *("5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.0", "5.1.1", "5.1.3", "5.1.4"),
    *("5.2.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0", "5.5.1"),
)

#: First releases of 4.x and 5.x that have a switch, and the first of 5.x without it: the table of the notes.
TABLE: dict[str, tuple[str | None, str | None, str | None]] = {
    "not_found_only": (None, "5.0.0-ALPHA", None),
    "wrong_not_found": (None, "5.0.0-ALPHA", "5.0.0"),
    "asks_no_zero": (None, "5.0.0", "5.1.0"),
    "file_merges": ("4.9.8", "5.2.0", None),
    "file_ints": (None, "5.4.0", "5.5.0"),
    "freezes": (None, "5.2.0", None),
    "names_pulled_tags": ("4.1.0", "5.0.0-PREVIEW", None),
    "flags_lite": ("4.6.1", "5.0.0-PREVIEW", None),
    "lite_requests": (None, "5.0.0", None),
    "names_broker": ("4.9.5", "5.0.0", None),
    "limits_bytes": (None, "5.0.0-ALPHA", None),
    "orders_numbers": (None, "5.5.1", None),
    "offsets_at_master": ("4.9.3", "5.0.0-ALPHA", None),
    "reads_at_master": ("4.9.3", "5.0.0-ALPHA", None),
    "commits_at_master": ("4.9.3", None, None),
    "has_20_threads": ("4.5.1", "5.0.0-PREVIEW", None),
    "leaves_vip_off": ("4.5.1", "5.0.0-PREVIEW", None),
    "awaits_listeners": ("4.7.1", "5.0.0-PREVIEW", None),
    "sets_api_timeout": ("4.9.2", "5.0.0-ALPHA", None),
    "checked_start": ("4.9.0", "5.0.0-PREVIEW", None),
    "unknown_throws": (None, "5.0.0-ALPHA", None),
    "lite_starts": ("4.6.1", "5.0.0-PREVIEW", None),
    "locks_twice": (None, "5.0.0-PREVIEW", None),
    "lite_max_throws": ("4.9.1", "5.0.0-ALPHA", None),
    "room_filtered": ("4.8.0", "5.0.0-PREVIEW", None),
    "room_checked": ("4.9.3", "5.0.0-ALPHA", None),
    "room_check_shared": ("4.9.4", "5.0.0", None),
    "reports_balance": (None, "5.0.0-PREVIEW", None),
    "balances_all": (None, "5.2.0", None),
    "nothing_is_unknown": (None, "5.5.0", None),
    "corrects_at_once": (None, "5.2.0", None),
    "flow_controlled": ("4.9.5", "5.1.0", None),
    "retries_sooner": ("4.6.0", "5.0.0-PREVIEW", None),
    "next_slave": ("4.8.0", "5.0.0-PREVIEW", None),
    "selects": ("4.1.0", "5.0.0-PREVIEW", None),
    "names_tags": ("4.3.0", "5.0.0-PREVIEW", None),
    "weighs": ("4.2.0", "5.0.0-PREVIEW", None),
    "counts_bytes": ("4.2.0", "5.0.0-PREVIEW", None),
    "resets_bytes": ("4.9.8", "5.2.0", None),
    "allows_no_body": (None, "5.3.2", None),
    "commits_nothing": ("4.0.0", "5.0.0-PREVIEW", None),
    "begins_anew": ("4.0.0", "5.0.0-PREVIEW", None),
    "passes_over_rest": ("4.0.0", "5.0.0-PREVIEW", None),
    "skips_uncached": (None, "5.1.0", None),
    "cleans_counted": ("4.2.0", "5.0.0-PREVIEW", None),
    "cleans_guarded": ("4.9.3", "5.0.0-ALPHA", None),
    "copies_origin": (None, "5.4.0", None),
    "orderly_origin": ("4.9.4", "5.0.0", None),
    "orderly_times": (None, "5.1.1", None),
    "orderly_topic": ("4.5.1", "5.0.0-PREVIEW", None),
    "born_locked": ("4.9.5", "5.0.0-PREVIEW", None),
    "requests_round": (None, "5.0.0-PREVIEW", None),
    "broadcasts_unlocked": (None, "5.3.2", None),
    "skips_dropped": (None, "5.0.0-PREVIEW", None),
    "unlocks_idle": (None, "5.2.0", None),
    "notifies_of_unknown": (None, "5.0.0-PREVIEW", None),
    "lite_commits_later": ("4.6.1", "5.0.0-PREVIEW", None),
    "lite_keeps_others": ("4.9.4", "5.0.0", None),
    "lite_remembers": ("4.7.1", "5.0.0-PREVIEW", None),
    "lite_ends_dropped": ("4.7.1", "5.0.0-PREVIEW", None),
    "lite_late_ends": ("4.9.0", "5.0.0-PREVIEW", None),
    "lite_start_ends": (None, "5.3.2", None),
    "lite_seeks_at_once": ("4.9.2", "5.0.0-ALPHA", None),
    "lite_shows_queues": (None, "5.1.1", None),
    "lite_flow_controlled": ("4.9.5", "5.1.0", None),
    "assigned": (None, "5.0.0-PREVIEW", None),
    "probes": (None, "5.0.0-PREVIEW", "5.3.2"),
    "probes_once": (None, "5.0.0", "5.3.2"),
    "pops_born": (None, "5.2.0", None),
    "announces_changes": ("4.1.0", "5.0.0-PREVIEW", None),
    "divides_thresholds": ("4.2.0", "5.0.0-PREVIEW", None),
    "brief_heartbeats": (None, "5.1.3", None),
    "notifies_listener": (None, "5.2.0", None),
    "retries_round": (None, "5.2.0", None),
    "skips_disabled": (None, "5.3.2", None),
    "numbers_starts": ("4.9.0", "5.0.0-PREVIEW", None),
    "streams": ("4.9.4", "5.0.0", None),
    "keeps_store": ("4.2.0", "5.0.0-PREVIEW", None),
    "serial_resets": ("4.9.0", "5.0.0-PREVIEW", None),
    "resets_at_once": (None, "5.5.0", None),
}


def test_releases_are_ordered_with_the_previews_of_a_release_before_it() -> None:
    releases = [Release.parse(text) for text in ORDER]
    assert all(one < other and not other < one for one, other in pairwise(releases))
    assert sorted(set(releases)) == releases


def test_numbers_compare_as_numbers() -> None:
    assert Release.parse("4.10.0") > Release.parse("4.9.8")


@every("text", ORDER)
def test_a_release_reads_back_as_it_is_written(text: str) -> None:
    assert str(Release.parse(text)) == text


def test_an_incubating_release_is_that_release() -> None:
    assert Release.parse("4.0.0-incubating") == Release.parse("4.0.0")


@every("text", ["", "5", "5.1", "v5.1.4", "5.1.4 ", "5.1.4-SNAPSHOT", "5.1.4.1", "5.x.0"])
def test_what_is_no_release_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text)) + " is not a RocketMQ release; write one such as"):
        Release.parse(text)
    with pytest.raises(ValueError, match=r"3\.2\.6 is older than 4\.0\.0, with which the rules begin"):
        Release.parse("3.2.6")


def made(v4: str | None = None, v5: str | None = None, until_v5: str | None = None) -> Switch:
    return Switch("X", "A change", v4=v4, v5=v5, until_v5=until_v5, rules=("A-RULE",), source="")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("all", "4.0.0 5.0.0-PREVIEW 5.5.0", ""),
        ("4.9.0+", "4.9.0 4.9.8 5.0.0-PREVIEW 5.5.0", "4.8.0"),
        ("4.9.8+, 5.2.0+", "4.9.8 5.2.0 5.5.0", "4.9.7 5.0.0-PREVIEW 5.1.4"),
        ("up to 5.1.4", "4.0.0 5.1.4", "5.2.0"),
        ("4.6.0 – 4.9.3, 5.0.0-PREVIEW, 5.0.0-ALPHA", "4.6.0 4.9.3 5.0.0-ALPHA", "4.5.2 4.9.4 5.0.0"),
        ("up to 5.0.0-PREVIEW, 5.0.0+", "4.9.8 5.0.0-PREVIEW 5.0.0 5.5.0", "5.0.0-ALPHA"),
    ],
)
def test_ranges_of_releases_have_both_their_ends(text: str, inside: str, outside: str) -> None:
    releases = Releases.parse(text)
    assert [name for name in inside.split() if Release.parse(name) not in releases] == []
    assert [name for name in outside.split() if Release.parse(name) in releases] == []


@pytest.mark.parametrize("text", ["", "5.x", "3.x – 5.1.0", "from 5.1.0", "5.1.0+ with luck", "5.1.0+,5.2.0"])
def test_what_is_no_range_of_releases_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a RocketMQ release"):
        Releases.parse(text)
    with pytest.raises(ValueError, match="is not a RocketMQ release"):
        Rule("X-1", "A rule.", "Nowhere#nothing @ 5.5.0", releases=text)


def test_a_switch_of_one_line_is_off_in_the_other() -> None:
    only_4 = made(v4="4.9.3")
    assert [only_4.on(Release.parse(text)) for text in ("4.9.2", "4.9.3", "4.9.8", "5.5.0")] == [
        False,
        True,
        True,
        False,
    ]
    only_5 = made(v5="5.1.0", until_v5="5.3.0")
    assert [only_5.on(Release.parse(text)) for text in ("4.9.8", "5.0.0", "5.1.0", "5.2.0", "5.3.0", "5.5.0")] == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]


def test_what_5_lost_again_4_keeps() -> None:
    assert made(v4="4.9.0", v5="5.0.0", until_v5="5.1.0").on(Release.parse("4.9.8"))


def test_what_changes_between_two_releases_are_the_switches_that_one_of_them_has() -> None:
    arrives, leaves, before = made(v5="5.1.0"), made(v5="5.0.0", until_v5="5.1.0"), made(v5="5.0.0")
    old, new = Release.parse("5.0.0"), Release.parse("5.1.0")
    switches = (arrives, leaves, before)
    assert changes(switches, old, new, arrives.rules) == changes(switches, new, old, arrives.rules) == (arrives, leaves)
    assert changes(switches, old, new, ("ANOTHER-RULE",)) == ()


def test_what_changes_is_said_of_the_release_that_has_it_and_of_one_that_has_lost_it() -> None:
    switch = made(v5="5.0.0", until_v5="5.1.0")
    assert switch.change_at(Release.parse("5.0.0")) == "A change"
    assert switch.change_at(Release.parse("5.1.0")) == "No longer: A change"
    assert switches_of(SimpleNamespace(ONE=switch, other="text")) == (switch,)  # type: ignore[arg-type]


def test_every_switch_of_a_client_is_in_the_table() -> None:
    assert set(ClientRules.__dataclass_fields__) == set(TABLE)


def test_client_switches_change_at_the_documented_releases() -> None:
    offenders = []
    for text in ORDER:
        rules = ClientRules.of(Profile.of(text))
        for name, (since_4, since_5, until_5) in TABLE.items():
            since = since_5 if text >= "5" else since_4
            on = since is not None and ORDER.index(text) >= ORDER.index(since)
            if text >= "5" and until_5 is not None:
                on = on and ORDER.index(text) < ORDER.index(until_5)
            if getattr(rules, name) is not on:
                offenders.append((text, name, on))
    assert not offenders, offenders[:5]


def test_the_profile_names_both_sides_and_the_java_of_the_broker() -> None:
    assert str(Profile.of("4.9.8", "5.1.4", 11)) == "client 4.9.8, broker 5.1.4, java 11"


def test_the_newest_release_judges_newer_ones() -> None:
    judged = Profile.of("6.0.0", "5.9.0").judged()
    assert (judged.client, judged.broker) == (KNOWN, KNOWN)
    known = Profile.of("4.9.8", "5.1.4", 8)
    assert known.judged() == known
    assert known.accidents
    assert known.mended() == replace(known, accidents=False)


def test_a_release_that_the_rules_do_not_know_is_said() -> None:
    assert newer_than_known("Broker b", KNOWN) == []
    (sentence,) = newer_than_known("Broker b", Release.parse("9.0.0"), "predicted as")
    assert sentence == f"Broker b 9.0.0 is newer than {KNOWN}, the newest the rules know: predicted as {KNOWN}"


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("5.5.1-SNAPSHOT", "5.5.0"),
        ("5.1.5", "5.1.4"),
        ("5.4.0-SNAPSHOT", "5.4.0"),
        ("5.0.0-ALPHA-2", "5.0.0-ALPHA"),
        ("4.0.0-PREVIEW", "4.0.0"),
    ],
)
def test_a_version_that_is_not_published_is_near_to_one_that_is(version: str, nearest: str) -> None:
    assert str(nearest_published(version)) == nearest


def test_a_version_without_a_release_is_near_to_none() -> None:
    with pytest.raises(ValueError, match="'newest' is not a RocketMQ release"):
        nearest_published("newest")
