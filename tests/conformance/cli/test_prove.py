"""The commands ``prove …`` as their users meet them: one sentence for bad input, and the documented exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.cli.prove import settle
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.reports.proof import ProofRow, read_rows

ROW = ProofRow("ALLOC-AVG-1", "pure", "5.5.0", 3, 0)
AGREES = ProofResult(release="5.5.0", lines=["client 5.5.0: pure 3 cases, 0 differences"], rows=[ROW])
DIFFERS = ProofResult(release="5.4.0", lines=["client 5.4.0: pure 3 cases, 1 differences"], rows=[ROW], differences=1)
MISSING = ProofResult(release="9.9.9", lines=["client 9.9.9: not judged: no jars"], rows=[], judged=False)


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
        (["java", "--real-clock", "--suite", "local-store"], "does not depend on time; what does: consume"),
        (["whole", "--fake", "--scripted"], "contradict each other"),
        (["whole", "--only", "lost"], "give --scripted too"),
        (["java", "--out", "nowhere/rows.jsonl"], "there is no folder nowhere"),
        (["java", "--out", "."], "is a folder"),
        (["page"], "Missing argument"),
        (["clients"], "No such command"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["prove", *words])
    assert done.exit_code == 2
    assert sentence in " ".join(done.stderr.split())
    assert done.stderr.count("Error: ") == 1


@pytest.mark.parametrize(
    ("found", "code"),
    [([AGREES], 0), ([AGREES, DIFFERS], 1), ([AGREES, MISSING], 4), ([MISSING, DIFFERS], 1)],
)
def test_the_exit_code_says_what_was_found(
    found: list[ProofResult], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    assert settle(lambda: found, out) == code
    said = capsys.readouterr().out.splitlines()
    assert said[:-1] == [line for one in found for line in one.lines]
    assert {row.rule for row in read_rows(out)} == {row.rule for one in found for row in one.rows}


def test_what_cannot_run_at_all_is_one_sentence() -> None:
    def none() -> list[ProofResult]:
        raise CannotRunError("Java cannot be found: install it.")

    with pytest.raises(CouldNot, match="Java cannot be found") as error:
        settle(none, None)
    assert error.value.exit_code == 4


def test_rows_that_cannot_be_written_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CouldNot, match="name another file with --out"):
        settle(lambda: [AGREES], tmp_path)
