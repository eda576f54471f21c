"""A campaign's folder: who may begin in it, and who may go on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import command_line
import pytest
from command_line import Ended

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.campaign.api import campaign
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables import blocks, folder
from rocketmq_conformance.conformance.campaign.tables.reading import DIGEST, FILE, CampaignError, open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import RUNS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.models import rulebook

pytestmark = pytest.mark.tables

SPEC = CampaignSpec(
    ("port", "mutant:asks-no-zero"), ("allocation", "remote-store"), cases=100, seed=7, block=16, steps=9
)


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    folder.create(out, SPEC)
    return out


def everything(place: Path) -> dict[str, tuple[int, bytes]]:
    """All files of a folder, when they were written, and what is in them."""
    return {
        str(file.relative_to(place)): (file.stat().st_mtime_ns, file.read_bytes() if file.is_file() else b"")
        for file in [place, *place.rglob("*")]
    }


# --- beginning --------------------------------------------------------------------------------------------------


def test_a_campaign_begins_in_a_folder_that_there_is_not(begun: Path) -> None:
    content = json.loads((begun / FILE).read_text("utf-8"))
    assert content["version"] == VERSION
    assert (content["kit"], content["rulebook"]) == (__version__, rulebook.digest())
    assert CampaignSpec.of(content["configuration"]) == SPEC
    assert [file.name for file in begun.iterdir()] == [FILE]


def test_a_campaign_begins_in_an_empty_folder(tmp_path: Path) -> None:
    folder.create(tmp_path, SPEC)
    assert folder.resume(tmp_path, {}) == SPEC


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        folder.create(tmp_path / "file" / "out", SPEC)


# --- going on ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"seed": 7, "cases": 100},
        {"addresses": SPEC.addresses, "suites": SPEC.suites, "steps": 9, "releases": {}},
        {"patience": 1.5, "memory": 1 << 30},
    ],
)
def test_who_asks_for_the_same_or_for_nothing_goes_on(begun: Path, asked: dict[str, Any]) -> None:
    (begun / folder.STOP).touch()
    assert folder.resume(begun, asked) == SPEC
    assert not (begun / folder.STOP).exists()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"seed": 8}, "was started with seed 7, not 8: leave it out to resume that campaign, or start another one"),
        ({"cases": 101}, "was started with cases 100, not 101"),
        ({"steps": 10}, "was started with steps 9, not 10"),
        ({"sample": 0.5}, "was started with sample 0.0, not 0.5"),
        ({"steer": 0.5}, "was started with steer 0.0, not 0.5"),
        ({"releases": {"client": "4.9.8"}}, 'was started with releases {}, not {"client": "4.9.8"}'),
        ({"addresses": ("port",)}, "was started with addresses port, mutant:asks-no-zero, not port:"),
        ({"suites": ("allocation",)}, "was started with suites allocation, remote-store, not allocation:"),
    ],
)
def test_who_asks_for_something_else_does_not_go_on(begun: Path, asked: dict[str, Any], sentence: str) -> None:
    before = everything(begun)
    with pytest.raises(CampaignError) as refusal:
        folder.resume(begun, asked)
    assert sentence in str(refusal.value)
    assert everything(begun) == before


def test_other_rules_do_not_go_on(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was = rulebook.digest()
    monkeypatch.setattr(rulebook, "digest", lambda: "another")
    with pytest.raises(CampaignError, match=f"was judged by the rule book {was} of kit .*, and this kit has another: "):
        folder.resume(begun, {})


def test_another_release_of_the_kit_with_the_same_rules_goes_on_with_a_note(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder.note_of_kit(open_campaign(begun)) == ""
    monkeypatch.setattr(folder, "__version__", "99.0")
    assert folder.resume(begun, {})
    assert "and kit 99.0 goes on: it has the same rules, and may draw" in folder.note_of_kit(open_campaign(begun))


def rewritten(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def rewrite(out: Path) -> None:
        content = json.loads((out / FILE).read_text("utf-8"))
        change(content)
        del content[DIGEST]
        (out / FILE).write_text(json.dumps(content), "utf-8")

    return rewrite


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda out: (out / FILE).unlink(), "holds no campaign: name the folder that has a campaign.json"),
        (lambda out: (out / FILE).write_text("{"), "campaign.json is damaged: it is not JSON"),
        (lambda out: (out / FILE).write_bytes(b"\xff"), "campaign.json is damaged: it is not UTF-8 text"),
        (lambda out: (out / FILE).write_text("[]"), "campaign.json is damaged: it has no version"),
        (
            rewritten(lambda content: content.update(version=VERSION + 1)),
            f"this kit reads up to {VERSION}: use a newer kit",
        ),
        (
            rewritten(lambda content: content["configuration"].pop("seed")),
            "the configuration's 'seed' is no whole number",
        ),
        (
            rewritten(lambda content: content["configuration"].pop("sample")),
            "is damaged (the configuration lacks 'sample')",
        ),
        (
            rewritten(lambda content: content["configuration"].update(steer="x")),
            "is damaged (the configuration has a wrong 'steer')",
        ),
        (rewritten(lambda content: content["configuration"].update(suites=["none"])), "has a wrong 'suites')"),
    ],
)
def test_what_cannot_be_read_does_not_go_on(begun: Path, damage: Callable[[Path], None], sentence: str) -> None:
    damage(begun)
    before = everything(begun)
    with pytest.raises(CampaignError) as refusal:
        folder.resume(begun, {})
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert everything(begun) == before


# --- as a user meets it -----------------------------------------------------------------------------------------


def kit(*args: str, cwd: Path, **env: str) -> Ended:
    return command_line.kit("campaign", *args, cwd=cwd, **env)


def refused(done: Ended, code: int, sentence: str) -> None:
    """One sentence, and the right exit code."""
    assert done.returncode == code, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(re.findall("^Error: ", done.stderr, re.MULTILINE)) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["port"], "holds a campaign already: go on with --resume, or name another folder"),
        (["--resume", "--seed", "8"], "was started with seed 7, not 8"),
        (["port", "--resume"], "was started with addresses port, mutant:asks-no-zero, not port"),
        (["--resume", "-k", "alloc*"], "was started with suites allocation, remote-store, not allocation"),
        (["--resume", "--cases", "7"], "was started with cases 100, not 7"),
        (["--resume", "--with", "client=4.9.8"], "was started with releases"),
        (["--resume", "--master", "nowhere"], "Spark knows no master 'nowhere'"),
    ],
)
def test_another_campaign_in_the_folder_stays_as_it_is(begun: Path, args: list[str], sentence: str) -> None:
    before = everything(begun)
    refused(kit(*args, "--out", str(begun), cwd=begun.parent), 2, sentence)
    assert everything(begun) == before


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["nothing:"], 2, "nothing"),
        (["port", "--cases", "0"], 2, "--cases"),
        (["port", "--steer", "1"], 2, "--steer"),
        (["port", "--memory", "1"], 2, "--memory"),
        (["port", "-k", "none"], 2, "none"),
        (["port", "--master", "spark://127.0.0.1:1"], 4, "No Spark master answers at spark://127.0.0.1:1"),
        (["python:broken_adapters:FailsToBegin"], 4, "cannot begin"),
        (["python:broken_adapters:BadHello"], 4, "must return a Hello"),
        (["--resume"], 2, "out holds no campaign: name the folder that has a campaign.json"),
    ],
)
def test_a_campaign_that_cannot_begin_leaves_nothing_behind(
    args: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    refused(kit(*args, "--out", "out", cwd=tmp_path), code, sentence)
    assert not list(tmp_path.iterdir())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear all")
    before = everything(tmp_path)
    refused(kit("port", "--out", "out", cwd=tmp_path), 2, "out is not empty, and it holds no campaign")
    refused(kit("port", "--out", "out/letter.txt", cwd=tmp_path), 2, "out/letter.txt is a file: name a folder")
    refused(kit("--resume", "--out", "out", cwd=tmp_path), 2, "out holds no campaign")
    assert everything(tmp_path) == before


def test_a_campaign_that_is_being_played_is_left_to_its_player(begun: Path) -> None:
    (begun / folder.STOP).write_text("interrupted")
    before = everything(begun)
    with folder.locked(begun):
        done = kit("--resume", "--out", str(begun), cwd=begun.parent)
        refused(done, 2, f"The campaign in {begun} is being played by another process: wait for its end, or end it")
    assert everything(begun) == before
    with folder.locked(begun):  # as often as nobody else has it
        pass


def test_a_claim_ends_with_its_process(begun: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from rocketmq_conformance.conformance.campaign.tables import folder\n"
        "with folder.locked(Path(sys.argv[1])):\n    print(flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(begun)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(CampaignError, match="is being played by another process"), folder.locked(begun):
            pass
        other.kill()
    with folder.locked(begun):
        pass


def test_no_java(tmp_path: Path) -> None:
    done = kit("port", "--out", "out", cwd=tmp_path, PATH="", JAVA_HOME="")
    refused(done, 4, "A campaign runs on Spark, which needs Java, and there is none: install a Java runtime")
    assert not list(tmp_path.iterdir())


def test_resuming_needs_a_folder(tmp_path: Path) -> None:
    refused(kit("--resume", cwd=tmp_path), 2, "--resume needs the campaign's folder: name it with --out.")


def test_a_damaged_specification_is_named(begun: Path) -> None:
    (begun / FILE).write_bytes(b"PAR1 and no more of it")
    refused(kit("--resume", "--out", str(begun), cwd=begun.parent), 4, f"{begun / FILE} is damaged")


@pytest.mark.parametrize("name", ["cases/suite=allocation/block-00000000.parquet", "runs/run-0000.parquet"])
def test_a_damaged_table_is_set_aside(begun: Path, name: str) -> None:
    file = begun / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"PAR1 and no more of it")
    assert folder.resume(begun, {}) == SPEC
    assert [path.name for path in file.parent.iterdir()] == [f"_damaged-{file.name}"]


def test_a_table_of_a_newer_version_is_reported(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(blocks, "VERSION", VERSION + 1)
        blocks.write(begun / "runs" / "run-0000.parquet", RUNS.empty_table())
    before = everything(begun)
    refused(
        kit("--resume", "--out", str(begun), cwd=begun.parent),
        2,
        f"run-0000.parquet has tables of version {VERSION + 1}; this kit reads up to {VERSION}: use a newer kit.",
    )
    assert everything(begun) == before


def test_the_library_says_the_same(begun: Path) -> None:
    with pytest.raises(CampaignError, match="was started with seed 7, not 8"):
        campaign(begun, resume=True, seed=8)
    with pytest.raises(TypeError, match="a campaign has no 'colour'"):
        campaign(begun, resume=True, colour="red")
    with pytest.raises(CampaignError, match="twice"):
        campaign(begun.parent / "new", addresses=("port", "port"), cases=3, seed=1)
    assert replace(SPEC) == folder.resume(begun, {})


@pytest.mark.parametrize("place", ["hdfs://name:8020/nightly", "s3a://lab/nightly", "file:///nightly"])
@pytest.mark.parametrize("command", [["--out"], ["--resume", "--out"], ["trend"]])
def test_other_storage_is_for_copies(command: list[str], place: str, tmp_path: Path) -> None:
    ended = command_line.kit("campaign", *command, place, cwd=tmp_path)
    assert ended.returncode == 2
    assert f"only `campaign diff` reads {place.partition('://')[0]}://…: name a folder without a scheme" in ended.stderr
    assert not list(tmp_path.iterdir())
