"""The programs that ``new-adapter`` writes to start from: built as it says, and judged."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from builds import building
from click.testing import CliRunner
from places import HELPERS

from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.conformance.targets.opener import is_program
from rocketmq_conformance.conformance.targets.skeletons import FOLDER, SKELETONS, TRIES
from rocketmq_conformance.reports.event import CONFORMS, UNSUPPORTED, SuiteEnded

IN_OTHER_LANGUAGES = [pytest.param(one, marks=pytest.mark.languages) for one in ("go", "java")]
#: What the Go client does not do.
UNREGISTERS = "unregistered from its group"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs are written, and the current folder."""
    made = tmp_path / "mine"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def written(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """Writes a program of a kind in a language, and builds it; what was printed."""

    def write(kind: str, language: str) -> str:
        wrote = CliRunner().invoke(cli, ["new-adapter", "--kind", kind, "--language", language, str(folder)])
        assert wrote.exit_code == 0, wrote.output
        if build := SKELETONS[kind, language].build:
            with building(tmp_path_factory):
                done = subprocess.run(build, shell=True, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return wrote.output

    return write


def test_each_folder_is_a_skeleton() -> None:
    assert {(one.parent.name, one.name) for one in FOLDER.glob("*/*") if one.is_dir()} == set(SKELETONS)
    assert set(TRIES) == {kind for kind, _ in SKELETONS}


def test_it_is_stepped_unless_another_kind_is_asked_for(folder: Path) -> None:
    wrote = CliRunner().invoke(cli, ["new-adapter", "--language", "python", str(folder)])
    assert wrote.output == (
        f"written  {folder}/adapter.py\n"
        f"try it   cd {folder} && rocketmq-conformance run 'exec:python3 adapter.py'\n"
    )  # fmt: skip


@pytest.mark.parametrize("language", ["python", *IN_OTHER_LANGUAGES])
def test_a_stepped_one_answers_allocation_at_once(language: str, written: Callable[[str, str], str]) -> None:
    written("stepped", language)
    events = list(run(SKELETONS["stepped", language].address, cases=60, seed=1))
    assert {one.suite: one.verdict for one in events if isinstance(one, SuiteEnded)} == {"allocation": CONFORMS}


@pytest.mark.parametrize(("kind", "name"), [("stepped", "adapter.py"), ("consumer", "consumer.py")])
def test_it_overwrites_nothing(kind: str, name: str, folder: Path) -> None:
    (folder / name).write_text("mine")
    refused = CliRunner().invoke(cli, ["new-adapter", "--kind", kind, "--language", "python", str(folder)])
    assert refused.exit_code == 2
    assert f"{name} is there already: name a folder without it." in refused.output
    assert (folder / name).read_text() == "mine"


def test_a_kind_that_is_none_is_refused(folder: Path) -> None:
    refused = CliRunner().invoke(cli, ["new-adapter", "--kind", "whole", "--language", "go", str(folder)])
    assert refused.exit_code == 2
    assert "'whole' is not one of 'stepped', 'consumer'." in refused.output
    assert not list(folder.iterdir())


@pytest.mark.languages
@pytest.mark.parametrize(("language", "missed"), [("java", []), ("go", [UNREGISTERS])])
def test_a_consumer_is_seen_to_do_all_that_its_client_does(
    language: str, missed: list[str], written: Callable[[str, str], str]
) -> None:
    printed = written("consumer", language)
    address = SKELETONS["consumer", language].address
    assert "rocketmq-conformance smoke " in printed
    assert is_program(parse_address(address))
    looked = CliRunner().invoke(cli, ["smoke", address])
    lines = [line.partition("  ") for line in looked.output.splitlines()]
    assert [what.strip().split(":")[0] for seen, _, what in lines if seen == "missed"] == missed
    assert [seen for seen, _, _ in lines if seen not in ("seen", "missed")] == ["note", "next"]
    assert len(lines) == 11
    other = run(address, suites=["whole-orderly"], cases=1, seed=1, tiers=["seeded"])
    (ended,) = [one for one in other if isinstance(one, SuiteEnded)]
    assert ended.verdict == UNSUPPORTED
    assert ended.reason == "there is only a concurrent push consumer of a cluster here"


def test_a_consumer_in_python_asks_for_a_client(written: Callable[[str, str], str]) -> None:
    printed = written("consumer", "python")
    assert "&& rocketmq-conformance smoke python:consumer:make\n" in printed
    assert printed.endswith("then     rocketmq-conformance run python:consumer:make -k whole-push --cases 12\n")
    looked = CliRunner().invoke(cli, ["smoke", "python:consumer:make"])
    assert looked.exit_code == 4
    assert "missed  connected" in looked.output
    assert "put your client into consumer.py, where TODO stands" in looked.output


@pytest.mark.paced
def test_a_consumer_in_python_conforms_with_a_client_that_does(
    written: Callable[[str, str], str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written("consumer", "python")
    made = (folder / "consumer.py").read_text()
    for place, client in {
        "self.client = None": 'import threaded_consumer\n        self.client = threaded_consumer.make(settings, "20")',
        'raise SystemExit("put your client into consumer.py, where TODO stands")': "self.client.start()",
        "        pass\n": "        self.client.shutdown()\n",
    }.items():
        assert made.count(place) == 1
        made = made.replace(place, client)
    (folder / "filled_in.py").write_text(made)
    monkeypatch.syspath_prepend(str(HELPERS))
    address = "python:filled_in:make?pace=20&lanes=4"
    events = run(address, suites=["whole-push"], cases=4, seed=2, tiers=["seeded"])
    assert [one.verdict for one in events if isinstance(one, SuiteEnded)] == [CONFORMS]
