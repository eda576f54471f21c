"""The command ``regenerate``: it names stale files, changes nothing with --check, and needs a checkout."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from places import ROOT

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.cli import missing, regenerating
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.suites.declare.discovery import SUITES


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose pages are not made yet, and whose golden files are as they should be."""
    for folder in ("docs/proof", "tests", "suites/corpus"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(regenerating.corpus, "kit_folder", lambda: tmp_path / "suites" / "corpus")
    monkeypatch.setattr(regenerating, "_golden", lambda root, check: [])
    monkeypatch.setattr(regenerating, "_covering", lambda root, check, asked: ())
    monkeypatch.setattr(missing, "everything", lambda root: ["rule X-1: no proof has a row for it"])
    return tmp_path


BOOK = f"conformance/engine/rulebooks/{__version__}.txt"


def test_check_names_stale_files_and_changes_nothing(checkout: Path) -> None:
    done = CliRunner().invoke(cli, ["regenerate", "--check"], standalone_mode=False)
    assert [line for line in done.output.splitlines() if line.startswith("stale")] == [
        f"stale  {BOOK}: the rules have changed"
    ]
    assert not (checkout / BOOK).exists()
    assert done.return_value == 1


def test_pages_are_written_once(checkout: Path) -> None:
    for words in (["written", "missing"], ["missing"]):
        done = CliRunner().invoke(cli, ["regenerate"])
        assert done.exit_code == 0
        assert list(dict.fromkeys(line.split()[0] for line in done.output.splitlines())) == words
    assert "missing  rule X-1: no proof has a row for it" in done.output
    assert CliRunner().invoke(cli, ["regenerate", "--check"]).exit_code == 0


def test_a_checkout_that_was_up_to_date_is_looked_at_again_when_a_file_changes(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / "cache"))

    def last(*options: str) -> str:
        return CliRunner().invoke(cli, ["regenerate", *options]).output.splitlines()[-1].split()[0]

    assert [last() for _ in range(3)] == ["missing", "missing", "Nothing"]
    assert "missing  rule X-1" in CliRunner().invoke(cli, ["regenerate"]).output
    monkeypatch.setattr(missing, "everything", lambda root: [])
    (checkout / "docs" / "page.md").write_text("old")
    looked = [last("--check"), last(), last("--check"), last("--covering-of", "start-pull")]
    assert looked == ["Every", "Nothing", "Nothing", "Every"]
    (checkout / "docs" / "page.md").write_text("new")
    assert [last(), last()] == ["Every", "Nothing"]
    (checkout / BOOK).write_text("other rules")
    assert [last("--check"), last("--check"), last(), last()] == ["stale", "stale", "written", "Nothing"]


def test_covering_plans_of_named_suites_alone_are_searched(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(regenerating, "_covering", lambda root, check, names: asked.append(names) or ())
    assert CliRunner().invoke(cli, ["regenerate", "--covering-of", "start-pull"]).exit_code == 0
    assert CliRunner().invoke(cli, ["regenerate", "--covering"]).exit_code == 0
    assert asked == [("start-pull",), tuple(SUITES)]
    done = CliRunner().invoke(cli, ["regenerate", "--covering-of", "start-pul"])
    assert done.exit_code == 2
    assert "there is no suite start-pul" in done.output


@pytest.fixture
def covering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for covering plans. Those of three suites are stale, and of one the search finds others."""
    plans = regenerating.covering_plans
    stored = {name: plans.stored(SUITES[name]) for name in ("identity", "timers", "start-pull")}
    monkeypatch.setattr(plans, "folder", lambda: tmp_path)
    monkeypatch.setattr(plans, "confirm", lambda suite: plans.file_of(suite).touch())
    monkeypatch.setattr(plans, "is_stale", lambda name: name in stored)
    monkeypatch.setattr(plans, "stored", lambda suite: stored[suite.name])
    monkeypatch.setattr(plans, "searched_by_name", lambda name: stored[name][2 * (name == "timers") :])
    monkeypatch.setattr(regenerating, "ProcessPoolExecutor", lambda mp_context: ThreadPoolExecutor(1))
    monkeypatch.setattr(regenerating.clause_steps, "text", lambda names: "")
    return tmp_path


def test_covering_plans_of_suites_that_have_changed_are_searched_and_the_reason_is_said(
    covering: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = dict(regenerating._covering(covering, check=False, asked=()))
    assert written == {
        "identity.plan.jsonl": "the same plans were found again",
        "start-pull.plan.jsonl": "the same plans were found again",
        "timers.plan.jsonl": "other plans were found",
    }
    assert {path.name for path in covering.iterdir()} == {*written}
    assert "searching the covering plans of timers, whose model has changed" in capsys.readouterr().out


def test_a_check_searches_only_what_is_asked_for_and_names_the_others(covering: Path) -> None:
    changed = "the suite or its model has changed since the plans were searched"
    assert dict(regenerating._covering(covering, check=True, asked=("timers",))) == {
        "identity.plan.jsonl": changed,
        "start-pull.plan.jsonl": changed,
        "timers.plan.jsonl": "other plans were found",
    }
    assert [*covering.iterdir()] == []


def test_an_installation_has_nothing_to_regenerate(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    done = CliRunner().invoke(cli, ["regenerate"])
    assert done.exit_code == 4
    assert "Only a checkout" in done.output


def test_golden_files_are_put_back_by_check(tmp_path: Path) -> None:
    data = tmp_path / "tests" / "data"
    data.mkdir(parents=True)
    (data / "digests.json").write_text("before")
    for check, left in ((True, "before"), (False, "after")):
        with regenerating._put_back(tmp_path, check) as before:
            (data / "digests.json").write_text("after")
        assert list(before.values()) == [b"before"]
        assert (data / "digests.json").read_text() == left


def test_a_rule_without_rows_is_missing_a_proof(tmp_path: Path) -> None:
    (tmp_path / "docs" / "proof").mkdir(parents=True)
    lacking = list(missing.rules_without_proof(tmp_path))
    assert "rule OFF-R-READ: no proof has a row for it" in lacking


@pytest.mark.tables  # whose page is among those that are made, needs the extra
def test_the_documentation_has_the_pages_that_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the kit may be installed from a wheel here
    monkeypatch.setattr(regenerating, "checkout", lambda: ROOT)
    assert CliRunner().invoke(cli, ["regenerate", "--docs", str(tmp_path)]).exit_code == 0
    folder = tmp_path / "docs" / "reference"
    made = {path.name for path in folder.iterdir()} - {path.name for path in (ROOT / "docs" / "reference").iterdir()}
    assert made == {
        *("beliefs.md", "clauses.md", "commands.md", "operations.md", "properties.md", "proven-rules.md"),
        *("switches.md", "tables.md", "versions.md"),
        *("client.schema.json", "exec.schema.json", "plan.schema.json"),
    }
    assert [name for name in made if not (folder / name).read_text("utf-8").startswith(("# ", "{"))] == []
