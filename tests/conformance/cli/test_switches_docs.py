"""The page of the switches is what their declarations make, and each of them cites rules of the book."""

from __future__ import annotations

import re

from rocketmq_conformance.conformance.cli.switches_docs import by_number, page
from rocketmq_conformance.models.broker import switches as broker_switches
from rocketmq_conformance.models.client import switches as client_switches
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rulebook import RULES

SWITCHES = [*by_number(client_switches), *by_number(broker_switches)]


def test_every_switch_has_a_row_with_its_releases_rules_and_sources() -> None:
    rows = page().split("\n")
    assert len(SWITCHES) > 80
    assert [switch.id for switch in SWITCHES if not any(row.startswith(f"| {switch.id} | ") for row in rows)] == []
    assert (
        "| S17 | The client asks the broker not to answer 0 for a group without an offset. | never | 5.0.0 to before "
        "5.1.0 | OFF-R-FETCH | `RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker` |"
    ) in rows
    numbers = [switch.id for switch in by_number(broker_switches)]
    assert numbers.index("BQ-PULL-7") < numbers.index("BQ-PULL-12") < numbers.index("BQ-PULL-LITE")


def test_every_switch_cites_rules_of_the_book_and_places_in_the_source() -> None:
    place = re.compile(r"([A-Z]\w+(\.[A-Z]\w+)*)?(#[a-z]\w+)?")
    offenders = [
        (switch.id, cited)
        for switch in SWITCHES
        for cited in [*switch.rules, *switch.source.split(", ")]
        if cited not in RULES and not place.fullmatch(cited)
    ]
    assert not offenders, offenders
    assert [switch.id for switch in SWITCHES if not switch.rules or not set(switch.rules) <= RULES.keys()] == []


def test_every_switch_has_a_first_release_and_says_what_changed() -> None:
    offenders = []
    for switch in SWITCHES:
        releases = [text for text in (switch.v4, switch.v5, switch.until_v5) if text]
        if any(str(Release.parse(text)) != text for text in releases) or not (switch.v4 or switch.v5):
            offenders.append((switch.id, releases))
        if not re.fullmatch(r"(?!.*\.$)[A-Za-z].+", switch.change):
            offenders.append((switch.id, switch.change))
    assert not offenders, offenders


def test_what_a_release_has_no_longer_is_said() -> None:
    (lost,) = [switch for switch in SWITCHES if switch.id == "S17"]
    assert [lost.change_at(Release.parse(release)).partition(":")[0] for release in ("5.0.0", "5.1.0")] == [
        "The client asks the broker not to answer 0 for a group without an offset",
        "No longer",
    ]
