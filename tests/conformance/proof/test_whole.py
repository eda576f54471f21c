"""The proof of whole consumers: its cases, what is expected of them, and the real thing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from every import every
from places import ROOT

from rocketmq_conformance.conformance.proof import java
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.whole import RELEASES, cases, expected
from rocketmq_conformance.models.client import (
    whole_answers,
    whole_broadcast_listener,
    whole_faults,
    whole_files,
    whole_group,
    whole_listener,
    whole_load,
    whole_messages,
    whole_slaves,
)
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: The first message of each place to begin at, when nothing is stored: young, expired and gone queues.
FIRSTS = {
    "4.9.7": {LAST: (0, 12, 12), FIRST: (0, 4, 12), TIMESTAMP: (0, 6, 12)},
    "5.0.0": {LAST: (12, 12, 12), FIRST: (0, 4, 12), TIMESTAMP: (6, 6, 12)},
    "5.5.0": {LAST: (0, 12, 12), FIRST: (0, 4, 12), TIMESTAMP: (0, 6, 12)},
}


def test_every_case_has_a_group_of_its_own() -> None:
    every = list(cases())
    assert len(every) == 54
    assert len({case.group for case in every}) == len(every)


@every("release", FIRSTS)
@every("kind", [PUSH, ORDERLY, LITE])
def test_the_table_of_new_groups_is_as_known(release: str, kind: str) -> None:
    model = StartModel(Profile.of(release, release), ORDINARY)
    for case in cases():
        if case.kind == kind and case.stored is None:
            first = FIRSTS[release][case.where][("young", "expired", "gone").index(case.shape)]
            assert expected(model, case)[0] == (first, 13 - first, 13), case


def test_the_rules_of_a_case_are_those_of_whole_consumers() -> None:
    model = StartModel(Profile.of("5.5.0", "5.5.0"), ORDINARY)
    rules = {case: set(expected(model, case)[1].rules) for case in cases()}
    assert all({"WHOLE-FIRST", "WHOLE-COMMIT"} <= found for found in rules.values())
    assert {case.kind for case, found in rules.items() if "WHOLE-MOVED" in found} == {PUSH, ORDERLY}
    assert {case.kind for case, found in rules.items() if "WHOLE-MOVED-LITE" in found} == {LITE}


#: What a broker that never fails shows; the other rules need one that does.
HONEST = {"WHOLE-FIRST", "WHOLE-MOVED", "WHOLE-MOVED-LITE", "WHOLE-COMMIT"}


def test_the_rows_that_are_kept_are_those_of_every_release() -> None:
    rows = KeptRows(ROOT / "docs" / "proof").rows()
    real, scripted = ([row for row in rows if row.side == side] for side in ("whole", "scripted"))
    assert {row.release for row in real} == set(RELEASES)
    assert {row.rule for row in real} >= HONEST
    assert {row.release for row in scripted} == set(java.RELEASES)
    assert {row.rule for row in (*real, *scripted)} == {
        *HONEST,
        *(
            rule.id
            for part in (
                *(whole_group, whole_faults, whole_files, whole_messages),
                *(whole_load, whole_answers, whole_broadcast_listener, whole_listener, whole_slaves),
            )
            for rule in part.RULES
        ),
    }
    assert [row for row in (*real, *scripted) if row.differences] == []


def prove(*args: str, cwd: Path) -> str:
    """What the proof prints."""
    done = subprocess.run(
        [sys.executable, "-m", "rocketmq_conformance", "prove", "whole", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.java
def test_whole_consumers_do_what_the_model_says_on_the_fake_broker(tmp_path: Path) -> None:
    assert "4.9.7: 86 cases, 0 differences" in prove("--fake", "4.9.7", cwd=tmp_path)  # a real one is 5.5.0


@pytest.mark.java
def test_a_broker_that_fails_by_a_script_is_asked_for_by_an_option(tmp_path: Path) -> None:
    output = prove("--scripted", "--rule", "WHOLE-LOST", "--out", "rows", "4.9.8", cwd=tmp_path)
    assert re.search(r"scripted 4\.9\.8: [0-9] cases, 0 differences", output)
    assert {row.rule for row in KeptRows(tmp_path / "rows").rows()} == {"WHOLE-LOST"}


@pytest.mark.broker
@pytest.mark.java
def test_whole_consumers_do_what_the_model_says_on_a_real_broker(tmp_path: Path) -> None:
    assert "whole 5.5.0: 86 cases, 0 differences" in prove("5.5.0", cwd=tmp_path)
