"""The tutorials, followed by the letter: what they show is what their commands print."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from places import ROOT
from tutorial import printed, unlike


def test_output_is_compared_by_words_and_in_order() -> None:
    assert printed("a  b\n…\nc", "x a b\n\n y c\n")
    assert printed("rule  X\n               goes on", "rule X goes\non")
    assert not printed("c\na", "a b c")
    assert not printed("a c", "a b c")


def test_each_tutorial_is_followed() -> None:
    followed = (ROOT / "tests" / "docs" / "test_tutorials.py").read_text("utf-8")
    # the one for Hypothesis has tests, which test_api.py runs
    pages = {path.name for path in (ROOT / "docs" / "tutorial").glob("*.md")} - {"hypothesis.md"}
    assert [page for page in sorted(pages) if f'unlike("{page}"' not in followed] == []


def test_judge_a_port(tmp_path: Path) -> None:
    quick = {
        "run port --workers auto": "run port -k remote-store --tier cover",
        "my_port:make\n```": "my_port:make --tier cover\n```",
    }
    assert unlike("judge-a-port.md", tmp_path, quick) == []


def test_ask_about_your_cluster(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert unlike("ask-about-your-cluster.md", tmp_path, {"9876": str(port)}) == []


@pytest.mark.paced
def test_judge_a_program(tmp_path: Path) -> None:
    without_go = {"cd my-consumer && ": ": # ", "run client:": "--version #"}
    assert unlike("judge-a-program.md", tmp_path, without_go) == []


@pytest.mark.spark
def test_campaign(tmp_path: Path) -> None:
    assert unlike("campaign.md", tmp_path) == []
