"""The command ``provenance`` with arguments that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import kit


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("five",), "RELEASE: 'five' is not a RocketMQ release"),
        (("5.5.0..5.4.0",), "RELEASE: 5.5.0..5.4.0 has no release"),
        (("5.5.0", "--against", "five"), "--against: 'five' is not a RocketMQ release"),
        (("5.5.0", "--against", "5.6.0"), "--against: 5.6.0 was not reviewed; 5.5.0 is the newest that was."),
    ],
)
def test_releases_that_are_none(args: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = kit("provenance", *args, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
