"""Published sources, got by Maven."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import kit

pytestmark = pytest.mark.java


def test_a_reviewed_release_is_as_it_was_reviewed(tmp_path: Path) -> None:
    done = kit("provenance", "5.5.0", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("5.5.0 beside what was reviewed: ")


def test_what_a_release_changed_is_shown_with_its_rules(tmp_path: Path) -> None:
    done = kit("provenance", "5.5.0", "--against", "5.4.0", cwd=tmp_path)
    assert done.returncode == 1
    assert "changed: AdminBrokerProcessor#deleteSubscriptionGroup, read for BQ-GROUP-2, BQ-GROUP-3" in done.stdout
    assert "+        || LiteMetadataUtil.isLiteGroupType(" in done.stdout
    assert "+++" not in kit("provenance", "5.5.0", "--against", "5.4.0", "--no-diff", cwd=tmp_path).stdout


def test_a_release_that_there_is_none_of(tmp_path: Path) -> None:
    done = kit("provenance", "9.9.9", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr.endswith(
        "Error: No sources of 9.9.9 are published: Maven finds no rocketmq-client and no rocketmq-store.\n"
    )
