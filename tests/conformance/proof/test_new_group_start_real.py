"""The folklore on a real broker, with a whole Java consumer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.measurement_event import FolkloreStep


@pytest.mark.broker
@pytest.mark.java
def test_a_new_group_starts_where_the_model_says(tmp_path: Path) -> None:
    """All four releases, in one process."""
    done = subprocess.run(
        [sys.executable, "-m", "rocketmq_conformance", "prove", "folklore", "--out", "kept"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = jsonl.read(tmp_path / "kept" / "events.jsonl").events
    seen = {(event.release, event.step): event.observed for event in events if isinstance(event, FolkloreStep)}
    start, end = "every queue from 0: 76, commits 76", "every queue from 75: 1, commits 76"
    starts = {release: seen[release, "new group"] for release in ("4.9.7", "5.0.0", "5.1.4", "5.5.0")}
    assert starts == {"4.9.7": start, "5.0.0": end, "5.1.4": start, "5.5.0": start}
    assert {seen[release, step] for release in starts for step in ("expired", "remedied")} == {end}
    assert "| **wrong** |" in (tmp_path / "kept" / "folklore.md").read_text("utf-8")
