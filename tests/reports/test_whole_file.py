"""A file that is written anew is the old one or the new one, whatever happens meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_conformance.reports.whole_file import write_whole


def test_a_file_is_the_old_one_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_whole(path, "old, with an ö")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new, until it fails \ud800")
    assert [(one, one.read_text("utf-8")) for one in tmp_path.iterdir()] == [(path, "old, with an ö")]


def test_nothing_stays_beside_a_file_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_whole(path, "old")
    write_whole(path, "new")
    assert [(one, one.read_text("utf-8")) for one in tmp_path.iterdir()] == [(path, "new")]
