"""The command ``switches``: what changes between two releases, in either direction."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from command_line import kit

from rocketmq_conformance.conformance.release_axis.switch_page import switched
from rocketmq_conformance.models.broker import switches as broker
from rocketmq_conformance.models.client import switches as client
from rocketmq_conformance.models.release import PUBLISHED, switches_of


def test_what_changes_on_the_way_is_what_differs_at_its_ends() -> None:
    declared = {"client": switches_of(client), "broker": switches_of(broker)}
    offenders = []
    for one, other in [*pairwise(PUBLISHED), (PUBLISHED[0], PUBLISHED[-1]), (PUBLISHED[-1], PUBLISHED[0])]:
        for side, every in declared.items():
            found = switched(side, one, other)
            wanted = {switch.id for switch in every if switch.on(one) != switch.on(other)}
            late = [at for at, switch in found if switch.on(at) != switch.on(other)]
            if {switch.id for _, switch in found} != wanted or late:
                offenders.append((side, str(one), str(other)))
    assert offenders == []


def test_they_are_shown_with_their_rules_and_sources(tmp_path: Path) -> None:
    shown = kit("switches", "5.4.0..5.5.0", cwd=tmp_path)
    back = kit("switches", "5.5.0..5.4.0", "--side", "client", "--format", "json", cwd=tmp_path)
    newer = kit("switches", "5.5.0..9.9.9", cwd=tmp_path)
    assert [each.returncode for each in (shown, back, newer)] == [0, 0, 0]
    assert "From 5.4.0 to 5.5.0" in shown.stdout
    assert "R01" in shown.stdout
    found = json.loads(back.stdout)
    assert "brokers" not in found
    assert [(each["switch"], each["on"], each["release"]) for each in found["clients"] if each["switch"] == "R01"] == [
        ("R01", False, "5.4.0")
    ]
    assert "The kit knows releases up to" in newer.stdout
