"""Promoting: minimal plans of a campaign or run become plans of the corpus, and nothing is ever lost."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import command_line
import pytest
from click.testing import CliRunner, Result
from command_line import Ended

from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.campaign.promote import Promoted, matching, minimal_plans, promote, read
from rocketmq_conformance.conformance.cli.campaign_promote import promote as command
from rocketmq_conformance.conformance.engine import corpus, plan
from rocketmq_conformance.conformance.engine.plan import PlanError
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DivergenceFound
from rocketmq_conformance.suites.declare.discovery import SUITES

REMOVE = {"remove": {"queue": 0}}
UPDATE = {"update": {"queue": 0, "offset": 1, "increase_only": False}}
INCREASE = {"update": {"queue": 0, "offset": 1, "increase_only": True}}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source tree of the kit is no place for what tests promote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(corpus, "kit_folder", lambda: tmp_path / "site-packages" / "suites" / "corpus")


def kept(path: Path, *cases: list[dict[str, Any]], suite: str = "remote-store") -> Path:
    """A plan file with these cases."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plan.write(path, SUITES[suite], Profile(), 1, [])
    lines = [json.dumps({"case": number, "steps": steps}) for number, steps in enumerate(cases)]
    path.write_text(path.read_text() + "\n".join(lines) + "\n")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def invoke_promote(*args: str) -> Result:
    return CliRunner().invoke(command, args)


# --- which plans --------------------------------------------------------------------------------------------------


def test_a_run_keeps_minimal_plans_beside_whole_ones_and_a_campaign_in_a_folder_of_their_own(tmp_path: Path) -> None:
    kept(tmp_path / "run" / "remote-store.plan.jsonl", [REMOVE])
    first = kept(tmp_path / "run" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE])
    assert minimal_plans(tmp_path / "run") == [first]
    two = [
        kept(tmp_path / "campaign" / "plans" / f"remote-store.{fingerprint}.plan.jsonl", [REMOVE])
        for fingerprint in "ba"
    ]
    kept(tmp_path / "campaign" / "remote-store.cccccccc.plan.jsonl", [REMOVE])
    assert minimal_plans(tmp_path / "campaign") == two[::-1]


@pytest.mark.parametrize("sign", ["campaign.json", "events.jsonl"])
def test_a_campaign_or_run_that_found_nothing_has_nothing_to_promote(sign: str, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    with pytest.raises(PlanError, match="is neither a campaign nor the --out of a run"):
        minimal_plans(tmp_path / "c")
    (tmp_path / "c" / sign).write_text("")
    assert minimal_plans(tmp_path / "c") == []
    done = invoke_promote("c")
    assert (done.exit_code, done.output) == (0, "c kept no minimal plan: there is nothing to promote.\n")
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], ["allocation.11", "remote-store.22", "start-push.33"]),
        (["start"], ["start-push.33"]),
        (["22", "11"], ["allocation.11", "remote-store.22"]),
        (["*-*.*"], ["remote-store.22", "start-push.33"]),
        (["remote-store.22.plan.jsonl", "remote-*"], ["remote-store.22"]),
    ],
)
def test_patterns_pick_plans_by_parts_of_their_names(patterns: list[str], chosen: list[str]) -> None:
    plans = [Path(f"o/{name}.plan.jsonl") for name in ("allocation.11", "remote-store.22", "start-push.33")]
    assert [corpus.stem(path) for path in matching(plans, patterns)] == chosen


# --- what becomes of them -------------------------------------------------------------------------------------------


def test_plans_are_copied_as_they_are(tmp_path: Path) -> None:
    source = kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE, UPDATE])
    (tmp_path / "to").mkdir()
    done = promote(read([source]), tmp_path / "to")
    assert done == [Promoted(source, tmp_path / "to" / source.name, True, 2)]
    assert (tmp_path / "to" / source.name).read_bytes() == source.read_bytes()
    assert names(tmp_path / "to") == [source.name]


def test_the_same_steps_are_there_once_under_any_name(tmp_path: Path) -> None:
    there = kept(tmp_path / "to" / "remote-store.bbbbbbbb.plan.jsonl", [UPDATE], [REMOVE])
    sources = [
        kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE]),
        kept(tmp_path / "o" / "remote-store.cccccccc.plan.jsonl", [UPDATE, REMOVE]),
        kept(tmp_path / "o" / "remote-store.dddddddd.plan.jsonl", [UPDATE, REMOVE]),
    ]
    done = promote(read(sources), tmp_path / "to")
    new = tmp_path / "to" / sources[1].name
    assert [(one.target, one.new) for one in done] == [(there, False), (new, True), (new, False)]
    assert names(tmp_path / "to") == [there.name, new.name]
    assert not any(one.new for one in promote(read(sources), tmp_path / "to"))


def test_no_plan_is_replaced_by_another_one_of_its_name(tmp_path: Path) -> None:
    name = "remote-store.aaaaaaaa.plan.jsonl"
    there = kept(tmp_path / "to" / name, [REMOVE])
    before = there.read_bytes()
    for at, step in enumerate((UPDATE, INCREASE), start=2):
        (done,) = promote(read([kept(tmp_path / "o" / name, [step])]), tmp_path / "to")
        assert (done.target.name, done.new) == (f"remote-store.aaaaaaaa-{at}.plan.jsonl", True)
    assert there.read_bytes() == before
    assert len(corpus.cases([tmp_path / "to"], SUITES.values())["remote-store"]) == 3


def test_nothing_is_copied_when_one_of_them_is_damaged(tmp_path: Path) -> None:
    kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE])
    kept(tmp_path / "o" / "remote-store.bbbbbbbb.plan.jsonl").write_text("")
    done = invoke_promote("o", "--to", "to")
    assert done.exit_code == 2
    assert "bbbbbbbb.plan.jsonl is empty" in done.output
    assert not (tmp_path / "to").exists()


def test_a_copy_that_fails_leaves_no_part_of_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE])
    written = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        written(path, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    done = invoke_promote("o", "--to", "to")
    assert done.exit_code == 4
    assert done.output == "Error: Writing to to failed (No space left on device): name another folder with --to.\n"
    assert names(tmp_path / "to") == []


# --- what is said -----------------------------------------------------------------------------------------------------


def test_what_was_promoted_and_what_was_there_is_reported_in_order(tmp_path: Path) -> None:
    kept(tmp_path / "corpus" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE])
    kept(tmp_path / "o" / "remote-store.bbbbbbbb.plan.jsonl", [REMOVE])
    kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [UPDATE, REMOVE])
    kept(tmp_path / "o" / "allocation.cccccccc.plan.jsonl", [{"sort_queues": {"queues": []}}], suite="allocation")
    done = invoke_promote("o")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "promoted to corpus",
        "  allocation.cccccccc.plan.jsonl      1 step",
        "  remote-store.aaaaaaaa-2.plan.jsonl  2 steps, from remote-store.aaaaaaaa.plan.jsonl",
        "already in corpus",
        "  remote-store.bbbbbbbb.plan.jsonl    has the steps of remote-store.aaaaaaaa.plan.jsonl",
        "2 promoted, 1 already there. Every `run` in this folder plays them first.",
    ]


def test_a_folder_of_another_name_is_reported_with_the_option_that_plays_it(tmp_path: Path) -> None:
    kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE])
    done = invoke_promote("o", "--to", "my plans")
    assert done.output.splitlines()[-1] == "1 promoted, 0 already there. `run --corpus 'my plans'` plays them first."
    assert names(tmp_path / "my plans") == ["remote-store.aaaaaaaa.plan.jsonl"]


def test_in_the_source_tree_the_corpus_is_the_kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "kit_folder", lambda: tmp_path / "suites" / "corpus")
    (tmp_path / "pyproject.toml").write_text("")
    kept(tmp_path / "o" / "remote-store.aaaaaaaa.plan.jsonl", [REMOVE])
    assert invoke_promote("o").output.splitlines() == [
        "promoted to suites/corpus",
        "  remote-store.aaaaaaaa.plan.jsonl  1 step",
        "1 promoted, 0 already there. Every `run` plays them first.",
    ]


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["nowhere"], 2, "nowhere is no folder: name that of a campaign, or the --out of a run."),
        (["file"], 2, "file is no folder"),
        (["empty"], 2, "empty has no minimal plans (SUITE.FINGERPRINT.plan.jsonl)"),
        (["o", "allo"], 2, "No minimal plan matches 'allo'; there are remote-store.aaaaaaaa."),
        (["o", "store", "allo"], 2, "No minimal plan matches 'allo'"),
        (["empty-run", "allo"], 2, "No minimal plan matches 'allo'; there are none."),
        (["damaged"], 2, "damaged/remote-store.aaaaaaaa.plan.jsonl is empty"),
        (["misnamed"], 2, "misnamed/allocation.aaaaaaaa.plan.jsonl is for the suite remote-store"),
        (["newer"], 2, "is a plan of format 99"),
        (["o", "--to", "file"], 4, "Nothing can be written to file (File exists): name another folder with --to."),
        (["o", "--to", "damaged"], 2, "damaged/remote-store.aaaaaaaa.plan.jsonl is empty"),
        (["o", "--to", "whole"], 2, "whole/remote-store.plan.jsonl is in a corpus and its name says no suite"),
        ([], 2, "Missing argument 'DIR'"),
    ],
)
def test_bad_input_gets_one_sentence(args: list[str], code: int, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    name = "remote-store.aaaaaaaa.plan.jsonl"
    kept(tmp_path / "o" / name, [REMOVE])
    kept(tmp_path / "whole" / "remote-store.plan.jsonl", [REMOVE])
    kept(tmp_path / "empty-run" / "events.jsonl")
    kept(tmp_path / "damaged" / name).write_text("")
    kept(tmp_path / "misnamed" / "allocation.aaaaaaaa.plan.jsonl", [REMOVE])
    kept(tmp_path / "newer" / name).write_text('{"plan": 99}\n')
    done = invoke_promote(*args)
    assert done.exit_code == code, done.output
    assert sentence in done.output
    assert done.output.count("Error:") == 1
    assert not (tmp_path / "corpus").exists()


# --- from a run to the next one ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("colour", ["NO_COLOR", "FORCE_COLOR"])
def test_what_a_run_found_is_promoted_and_played_by_the_next_run(
    colour: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # these runs play the kit's own corpus

    def kit(*args: str) -> Ended:
        return command_line.kit(*args, cwd=tmp_path, **{colour: "1"})

    broken = ["run", "python:broken_adapters:OffByOne", "-k", "remote-store"]
    found = kit(*broken, "--seed", "1", "--cases", "300", "--tier", "seeded", "--out", "o")
    assert found.returncode == 1, found.stdout + found.stderr
    promoted = kit("campaign", "promote", "o", "--to", "corpus")
    assert promoted.returncode == 0, promoted.stdout + promoted.stderr
    assert promoted.stdout.endswith("0 already there. Every `run` in this folder plays them first.\n")
    assert "\x1b[" not in promoted.stdout
    plans = names(tmp_path / "corpus")
    assert plans
    again = kit(*broken, "--tier", "corpus", "--out", "p")
    assert again.returncode == 1, again.stdout + again.stderr
    assert any(f"remote-store, corpus plan {corpus.stem(Path(name))}" in again.stdout for name in plans)
    assert kit("run", "port", "-k", "remote-store", "--cases", "5", "--out", "q").returncode == 0


def test_a_divergence_at_the_first_step_is_promoted_and_played_first_like_any_other(tmp_path: Path) -> None:
    def found(**more: Any) -> list[DivergenceFound]:
        events = run("mutant:remembers-beginning", suites=["pull"], seed=3, cases=2, **more)
        return [event for event in events if isinstance(event, DivergenceFound)]

    kept = [event for event in found(tiers=["seeded"], out=tmp_path / "o") if event.plan]
    first = next(event for event in kept if event.shrink_executions == 0)
    assert (len(first.steps), first.found_steps) == (1, 1)
    assert shlex.split(first.replay)[1:] == ["replay", first.plan, "mutant:remembers-beginning"]
    corpus.kit_folder().mkdir(parents=True)
    done = invoke_promote("o", first.fingerprint, "--to", "corpus")
    assert done.exit_code == 0, done.output
    assert names(tmp_path / "corpus") == [Path(first.plan).name]
    again = found(tiers=["corpus", "seeded"])[0]
    assert (again.case, again.fingerprint) == (-1, first.fingerprint)
