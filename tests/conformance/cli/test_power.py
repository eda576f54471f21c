"""The command ``power``: what it promotes into a corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketmq_conformance.conformance.cli.power import power
from rocketmq_conformance.conformance.engine import corpus


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source tree of the kit is no place for what tests promote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(corpus, "kit_folder", lambda: tmp_path / "site-packages" / "suites" / "corpus")


def invoke_power(*args: str) -> Result:
    return CliRunner().invoke(power, [*args, "--cases", "50"])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_corpus_gets_a_plan_for_every_mutant_that_none_notices(tmp_path: Path) -> None:
    first = invoke_power("zero-is-none", "python-split", "--promote", "c")
    assert first.exit_code == 0, first.output
    assert "promoted to c\n" in first.stdout
    assert "2 promoted, 0 already there. `run --corpus c` plays them first.\n" in first.stdout
    kept = names(tmp_path / "c")
    assert [name.split(".")[0] for name in kept] == ["allocation", "remote-store"]
    assert all(corpus.read(path).cases for path in (tmp_path / "c").iterdir())
    again = invoke_power("zero-is-none", "sends-next", "--promote", "c")
    assert f"zero-is-none is noticed by {kept[1]} already\n" in again.stdout
    assert "1 promoted, 0 already there." in again.stdout
    assert len(names(tmp_path / "c")) == 3
    assert invoke_power("zero-is-none", "--promote", "c").stdout.endswith("already\nNothing was promoted.\n")


def test_a_mutant_that_the_plan_of_another_one_notices_adds_none(tmp_path: Path) -> None:
    done = invoke_power("increase-only-ignored", "keeps-smaller", "--promote", "c")
    (kept,) = names(tmp_path / "c")
    assert f"keeps-smaller is noticed by {kept} already\n" in done.stdout
    assert "1 promoted, 0 already there." in done.stdout


def test_plans_go_into_the_corpus_of_this_folder_by_default(tmp_path: Path) -> None:
    assert "Every `run` in this folder plays them first." in invoke_power("zero-is-none", "--promote").stdout
    assert len(names(tmp_path / "corpus")) == 1


def test_events_stay_alone_on_standard_output() -> None:
    done = invoke_power("zero-is-none", "--promote", "c", "--format", "jsonl")
    assert all(line.startswith("{") for line in done.stdout.splitlines())
    assert "1 promoted" in done.stderr


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["--promote", "zero-is-none"], 2, "write the names of mutants before it"),
        (["zero-is-none", "--promote", "file"], 4, "name another folder with --promote"),
        (["zero-is-none", "--promote", "damaged"], 2, "is empty"),
    ],
)
def test_a_folder_that_is_no_corpus_gets_one_sentence(
    args: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "remote-store.a.plan.jsonl").write_text("")
    done = invoke_power(*args)
    assert done.exit_code == code
    assert sentence in done.stderr
    assert done.stdout == ""


def test_answers_of_an_implementation_are_corrupted(tmp_path: Path) -> None:
    done = CliRunner().invoke(power, ["--at", "port", "-k", "allocation", "--out", "o"])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert any(re.fullmatch(r"allocation +\d+ of \d+ noticed", line) for line in lines)
    assert any(re.fullmatch(r"swapped +(\d+) +\1 +\d+", line) for line in lines)
    assert "RocketMQ promises no answer there" in done.stdout
    assert re.search(
        r"Power: \d+ of \d+ corrupted answers noticed \(9\d\.\d%\), \d+ of the others explained", done.stdout
    )
    kept = (tmp_path / "o" / "power.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(kept[at])["event"] for at in (0, 1, -1)] == [
        "corruption-started", "corruption-judged", "corruption-ended",
    ]  # fmt: skip


def test_the_matrix_of_rules_is_asked_for() -> None:
    short, whole = (
        CliRunner().invoke(power, ["--at", "port", "-k", "allocation", "--cases", "3", *more]).stdout
        for more in ([], ["-v"])
    )
    assert "ALLOC-CH-4 " not in short
    assert re.search(r"ALLOC-AVG-1 +\d/\d", whole)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--at", "nowhere"], "'nowhere' is no address"),
        (["--at", "port", "zero-is-none"], "leave out NAMES and --promote"),
        (["--at", "port", "--promote", "c"], "leave out NAMES and --promote"),
        (["-k", "allocation"], "go with --at"),
    ],
)
def test_what_contradicts_itself_is_refused(args: list[str], sentence: str) -> None:
    done = CliRunner().invoke(power, args)
    assert done.exit_code == 2
    assert sentence in done.output
