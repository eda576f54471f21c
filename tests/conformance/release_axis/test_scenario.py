"""Scenarios: those of the kit conform, and files that are none get one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import kit
from places import ROOT

from rocketmq_conformance.conformance.release_axis import scenario as scenarios

STEP = """
[[step]]
says = "A group is created."
create_group = { group = 0 }
"""
HEAD = 'title = "A story."\nsuite = "broker-admin"\n'


def test_every_scenario_of_the_kit_is_played_to_its_end(tmp_path: Path) -> None:
    offenders = []
    for one in scenarios.known():
        done = kit("scenario", one.name, one.example, "--format", "json", cwd=tmp_path)
        document = json.loads(done.stdout) if done.stdout else {}
        every = all(len(step["answers"]) == 1 for step in document.get("steps", [{"answers": []}]))
        if (done.returncode, document.get("verdict"), every) != (0, "conforms", True):
            offenders.append((one.name, done.returncode, done.stdout[-500:] + done.stderr))
    assert offenders == []


def test_scenarios_are_listed(tmp_path: Path) -> None:
    done = kit("scenario", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [one.name for one in scenarios.known()]


def test_the_page_in_docs_has_them_all() -> None:
    page = (ROOT / "docs" / "guides" / "scenarios.md").read_text("utf-8")
    assert [one.name for one in scenarios.known() if f"| `{one.name}` | `{one.suite.name}` |" not in page] == []


def test_releases_that_answer_alike_share_a_row(tmp_path: Path) -> None:
    done = kit("scenario", "start-at-the-end", "broker?like=4.9.7", "broker", "--format", "markdown", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "| broker?like=4.9.7 | error SYSTEM\\_ERROR | BQ-RESET-1 |" in done.stdout
    assert "| broker?like=4.9.7, broker | done | BQ-CLONE-1 |" in done.stdout


def test_an_answer_against_the_rules_fails(tmp_path: Path) -> None:
    done = kit("scenario", "failing-listener", "port", "mutant:commits-top", cwd=tmp_path)
    assert done.returncode == 1
    assert "Against the rules of its release: mutant:commits-top" in done.stdout
    assert ", against the rules" in done.stdout


def test_what_does_not_play_its_suite_is_no_pass(tmp_path: Path) -> None:
    assert kit("scenario", "new-group", "broker", cwd=tmp_path).returncode == 4
    done = kit("scenario", "new-group", "port", "broker", cwd=tmp_path)
    assert done.returncode == 3
    assert "What was not played" in done.stdout


def test_a_scenario_of_ones_own_is_a_plan_that_can_be_replayed(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(HEAD + STEP)
    assert kit("scenario", "mine.toml", "--plan", "mine.plan.jsonl", cwd=tmp_path).returncode == 0
    assert kit("replay", "mine.plan.jsonl", "broker", cwd=tmp_path).returncode == 0
    shown = kit("scenario", "mine.toml", "broker", cwd=tmp_path)
    assert shown.returncode == 0
    assert "1. A group is created." in shown.stdout


def test_the_name_is_of_one_that_there_is(tmp_path: Path) -> None:
    done = kit("scenario", "nothing", "port", cwd=tmp_path)
    assert done.returncode == 2
    assert "No scenario is called 'nothing': name one of broadcasting, " in done.stderr


def test_addresses_are_asked_for(tmp_path: Path) -> None:
    done = kit("scenario", "new-group", cwd=tmp_path)
    assert done.returncode == 2
    assert "Name addresses that play whole-push, such as port." in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read (No such file or directory)"),
        ("\udcff", "not UTF-8 text"),
        ("title =", "is not TOML: "),
        (HEAD + "steps = 1" + STEP, "has 'steps': a scenario has title, suite and [[step]], nothing else"),
        ('suite = "broker-admin"' + STEP, "has no title"),
        ('title = "A story."\nsuite = "broker"' + STEP, "is for the suite 'broker', which there is not"),
        (HEAD, "has no steps"),
        (HEAD + "[[step]]\ncreate = { group = 0 }", "step 1: broker-admin has no operation 'create'"),
        (HEAD + STEP + "[[step]]\ncreate_group = 1", "step 2: create_group takes exactly group"),
        (HEAD + "[[step]]\ncreate_group = { group = 7 }", "step 1: create_group cannot have group = 7"),
        (HEAD + "[[step]]\ncreate_group = { }", "step 1: create_group cannot have group = null"),
        (HEAD + "[[step]]\nsays = 1\ncreate_group = { group = 0 }", "says = 1 is no sentence"),
    ],
)
def test_a_file_that_is_no_scenario_gets_one_sentence(text: str | None, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = kit("scenario", "mine.toml", "broker", cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split()), done.stderr
