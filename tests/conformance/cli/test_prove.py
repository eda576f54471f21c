"""The commands ``prove …`` as their users meet them: one sentence for bad input, and the documented exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.cli.proving import Proof, Work, settle
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.selection import Selection
from rocketmq_conformance.conformance.proof.side_by_side import More
from rocketmq_conformance.conformance.proof.unit import JAVA, Shard, Unit
from rocketmq_conformance.conformance.startup import allow, allowed
from rocketmq_conformance.reports.proof import ProofRow

ROW = ProofRow("ALLOC-AVG-1", "pure", "5.5.0", 3, 0)
OTHER = replace(ROW, release="5.4.0")
AGREES = ProofResult(unit=Unit(JAVA, "5.5.0"), lines=["java 5.5.0: pure 3 cases, 0 differences"], rows=[ROW])
AGREES_TOO = ProofResult(unit=Unit(JAVA, "5.4.0"), lines=["java 5.4.0: pure 3 cases, 0 differences"], rows=[OTHER])
DIFFERS = replace(AGREES_TOO, lines=["java 5.4.0: pure 3 cases, 1 differences"], differences=1)
MISSING = ProofResult.missing(Unit(JAVA, "9.9.9"), CannotRunError("no jars"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["java", "newest"], "'newest' is not a RocketMQ release"),
        (["broker", "newest"], "'newest' is not a RocketMQ release"),
        (["whole", "newest"], "'newest' is not a RocketMQ release"),
        (["pairs", "--clients", "4.9.7,newest"], "'newest' is not a RocketMQ release"),
        (["pairs", "--brokers", "4.9.7,"], "is not a RocketMQ release"),
        (["java", "--workers", "0"], "--workers"),
        (["java", "--suite", "nothing"], "--suite"),
        (["java", "5.5.0", "--distinct"], "--distinct chooses releases by itself: leave it out, or the releases."),
        (["java", "--real-clock", "--suite", "local-store"], "does not depend on time; what does: consume"),
        (["whole", "--fake", "--scripted"], "contradict each other"),
        (["whole", "--only", "lost"], "give --scripted too"),
        (["whole", "--fake", "--out", "rows"], "too little to keep their rows"),
        (["java", "--out", "file"], "file is a file: name a folder"),
        (["java", "--out", "old"], "it has java.jsonl. Name another folder."),
        (["java", "--resume"], "name their folder with --out"),
        (["broker", "--shard", "3/2"], "'3/2' is no shard: write i/n with i from 1 to n"),
        (["all", "--shard", "1"], "'1' is no shard"),
        (["all", "--suite", "nothing"], "there is no suite 'nothing'"),
        (["pairs", "--name-server", "4.9.7", "--out", "rows"], "--out keeps rows of name server 5.5.0 alone"),
        (["pairs", "--name-server", "4.9.7,5.5.0"], "--name-server takes one release"),
        (["pairs", "--rule", "NOTHING-1"], "no rule is called 'NOTHING-1'"),
        (["pairs", "--rule", "ALLOC-AVG-1"], "Nothing here plays ALLOC-AVG-1"),
        (["broker", "--suite", "pull"], "Nothing here plays pull"),
        (["page"], "There is no folder docs/proof"),
        (["predict", "--mixed", "--few"], "--mixed has its own releases"),
        (["predict", "--failover", "--few"], "--failover has no other options"),
        (["upgrades", "4.9.7"], "4.9.7 alone is no upgrade: write two releases or more, such as 4.9.7,5.5.0"),
        (["upgrades", "4.9.7,newest"], "'newest' is not a RocketMQ release"),
        (["clients"], "No such command"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "java.jsonl").touch()
    done = CliRunner().invoke(cli, ["prove", *words])
    assert done.exit_code == 2
    assert sentence in " ".join(done.stderr.split())
    assert done.stderr.count("Error: ") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["java", "4.0.0", "4.1.0-incubating", "5.5.0"], ["4.0.0-incubating", "4.1.0-incubating", "5.5.0"]),
        (["whole", "4.1.0"], ["4.1.0-incubating"]),
        (["broker", "4.0.0-incubating", "4.1.0"], ["4.0.0", "4.1.0"]),
        (["pairs", "--clients", "4.0.0", "--brokers", "4.0.0-incubating"], ["4.0.0-incubating 4.0.0"]),
    ],
)
def test_releases_are_spelled_as_their_rows_are(
    words: list[str], named: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    def keep(proof: Proof, units: Sequence[Unit], work: Work) -> None:
        found.extend(f"{unit.release} {unit.against}".strip() for unit in units)

    monkeypatch.setattr("rocketmq_conformance.conformance.cli.proofs._prove", keep)
    assert CliRunner().invoke(cli, ["prove", *words]).exit_code == 0
    assert found == named


def results(*found: ProofResult) -> Proof:
    """A proof that finds these results."""

    def proof(units: Sequence[Unit], more: More) -> Iterator[ProofResult]:
        yield from (one for one in found if one.unit in units and more())

    return proof


def units(*found: ProofResult) -> list[Unit]:
    return [one.unit for one in found]


@pytest.mark.parametrize(
    ("found", "code"),
    [([AGREES], 0), ([AGREES, DIFFERS], 1), ([AGREES, MISSING], 4), ([MISSING, DIFFERS], 1)],
)
def test_the_exit_code_says_what_was_found(
    found: list[ProofResult], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = Work(out=tmp_path / "rows")
    assert settle(results(*found), units(*found), work) == code
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition("] ")[2] for line in printed[:-1]] == [line for one in found for line in one.lines]
    assert [line.partition(",")[0] for line in printed[:-1]] == [f"[{n}/{len(found)}" for n in range(1, len(found) + 1)]
    assert {row.release for row in KeptRows(tmp_path / "rows").rows()} == {
        row.release for one in found for row in one.rows
    }


def test_ctrl_c_keeps_what_was_proven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(units: Sequence[Unit], more: More) -> Iterator[ProofResult]:
        yield AGREES
        raise KeyboardInterrupt

    assert settle(stopped, units(AGREES, DIFFERS), Work(out=tmp_path / "rows")) == 3
    assert "Stopped." in capsys.readouterr().out
    assert [row.release for row in KeptRows(tmp_path / "rows").rows()] == ["5.5.0"]


def test_no_unit_begins_after_the_time_limit_and_a_resumed_proof_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = units(AGREES, AGREES_TOO)
    kept = Work(out=tmp_path / "rows")
    assert settle(results(AGREES, AGREES_TOO), both, replace(kept, max_time=0.0)) == 3
    assert capsys.readouterr().out.endswith("2 units left: go on with --resume\n")
    assert settle(results(AGREES), both, kept) == 3
    asked: list[Unit] = []

    def proof(units: Sequence[Unit], more: More) -> Iterator[ProofResult]:
        asked.extend(units)
        yield AGREES_TOO

    assert settle(proof, both, replace(kept, resume=True)) == 0
    assert asked == [AGREES_TOO.unit]


def test_a_suite_whose_rules_others_reach_too_keeps_no_row_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = Work(out=tmp_path / "rows", selection=Selection("start-push"))
    assert settle(results(AGREES), units(AGREES), work) == 0
    assert "No row is kept: other suites" in capsys.readouterr().out
    assert not list((tmp_path / "rows").rglob("*.jsonl"))


def test_a_shard_proves_its_part_alone(tmp_path: Path) -> None:
    asked: list[Unit] = []
    both = units(AGREES, AGREES_TOO)
    for number in (1, 2):

        def proof(units: Sequence[Unit], more: More) -> Iterator[ProofResult]:
            asked.extend(units)
            return iter(())

        settle(proof, both, Work(shard=Shard(number, 2)))
    assert asked == both


def test_each_start_may_take_as_long_as_the_option_says() -> None:
    try:
        CliRunner().invoke(cli, ["prove", "broker", "--start-timeout", "7", "newest"])
        assert allowed() == 7
    finally:
        allow(None)


def test_what_cannot_run_at_all_is_one_sentence() -> None:
    def none(units: Sequence[Unit], more: More) -> Iterator[ProofResult]:
        raise CannotRunError("Java cannot be found: install it.")

    with pytest.raises(CouldNot, match="Java cannot be found") as error:
        settle(none, units(AGREES), Work())
    assert error.value.exit_code == 4


def test_rows_that_cannot_be_written_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "java").mkdir()
    (tmp_path / "java" / ".5.5.0.jsonl").mkdir()
    (tmp_path / "java" / "5.5.0.jsonl").mkdir()
    with pytest.raises(CouldNot, match="name another folder with --out"):
        settle(results(AGREES), units(AGREES), Work(out=tmp_path))
