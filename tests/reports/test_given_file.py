"""Files that a user names: read whole, refused with a reason, and never waited for without end."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rocketmq_conformance.reports import given_file, jsonl
from rocketmq_conformance.reports.given_file import MOST, text_of


def refusal(path: Path) -> str:
    try:
        text_of(path)
    except OSError as error:
        return str(error.strerror)
    return ""


def test_a_file_is_read_with_line_ends_of_any_system(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é\r\nb\n".encode())
    assert text_of(tmp_path / "a") == "é\nb\n"


def test_what_is_endless_or_huge_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(MOST + 1)
    for path in (tmp_path / "huge", Path("/dev/zero")):
        assert refusal(path) == "it is longer than 256 MB"
    with pytest.raises(ValueError, match=r"^Line 1 of /dev/zero cannot be read: it is longer"):
        jsonl.read(Path("/dev/zero"))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "Is a directory"
    assert refusal(tmp_path / "none") == "No such file or directory"
    for name in ("\ud800", "a\0b"):
        assert refusal(Path(name)) == "no file can have this name"


def test_a_pipe_is_read_and_one_that_nobody_writes_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("it is read"))
    writer.start()
    assert text_of(tmp_path / "pipe") == "it is read"
    writer.join()
    monkeypatch.setattr(given_file, "PATIENCE", 0.05)
    assert refusal(tmp_path / "pipe") == "nothing came in 0.05 s"
