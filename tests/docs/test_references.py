"""The documents name files, headings, modules and commands that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
from documented_commands import DOCUMENTS
from places import ROOT

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.proof.proof_docs import unjudged

#: What a made-up example is called.
MADE_UP = ("retry_delay", "retry-delay", "NAME")
_PATH = re.compile(r"`((?:models|suites|conformance|reports|docs|tests|examples|benchmarks|src)/[\w./*<>…-]*)`")
_MODULE_FILE = re.compile(r"`([\w/]+\.py)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MODULE = re.compile(r"python -m ([\w.]+)")
_COMMAND = re.compile(r"rocketmq-conformance ([a-z]+(?:-[a-z]+)*)\b")


def found(pattern: re.Pattern[str]) -> Iterator[tuple[Path, str]]:
    """What a pattern finds in the documents, with the document."""
    for path in DOCUMENTS:
        for text in pattern.findall(path.read_text("utf-8")):
            yield path, text


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as they are made for readers."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(document: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    path = document.parent / name if name else document
    return not path.exists() or (bool(anchor) and path.suffix == ".md" and anchor not in anchors(path))


def test_links_lead_to_files_and_headings() -> None:
    links = [(path, link) for path, link in found(_LINK) if "://" not in link]
    assert len(links) > 60
    assert [f"{path.name}: {link}" for path, link in links if leads_nowhere(path, link)] == []


def test_every_page_is_in_the_contents() -> None:
    docs = ROOT / "docs"
    listed = {link.partition("#")[0] for path, link in found(_LINK) if path == docs / "index.md"}
    pages = {path.relative_to(docs).as_posix() for path in docs.glob("*/*.md") if path.parent.name != "decisions"}
    assert pages - listed == set()


def test_files_that_are_named_exist() -> None:
    named = [(path, name) for path, name in found(_PATH) if not re.search("[<…]", name)]
    assert len(named) > 60
    missing = [
        f"{path.name}: {name}"
        for path, name in named
        if not any(word in name for word in MADE_UP) and not any(ROOT.glob(name.rstrip("/")))
    ]
    assert missing == []


def test_modules_that_are_named_without_their_room_exist() -> None:
    have = [f"/{path.relative_to(ROOT)}" for path in ROOT.rglob("*.py") if ".tox" not in path.parts]
    missing = [
        f"{path.name}: {name}"
        for path, name in found(_MODULE_FILE)
        if not any(word in name for word in MADE_UP) and not any(file.endswith(f"/{name}") for file in have)
        # a tutorial writes files of its own
        if path.parent.name != "tutorial"
    ]
    assert missing == []


def test_modules_to_run_exist() -> None:
    ours = [(path, module) for path, module in found(_MODULE) if module.startswith("rocketmq_conformance")]
    assert [f"{path.name}: {module}" for path, module in ours if not find_spec(module)] == []


def test_commands_exist() -> None:
    commands = list(found(_COMMAND))
    assert len(commands) > 20
    known = cli.list_commands(click.Context(cli))
    assert [f"{path.name}: {name}" for path, name in commands if name not in known] == []


def test_every_broker_that_is_named_is_published() -> None:
    others = [ROOT / "tox.ini", *(path for path in (ROOT / "examples" / "ci").iterdir() if path.is_file())]
    texts = {path: path.read_text("utf-8") for path in [*DOCUMENTS, *others]}
    missing = [
        f"{path.relative_to(ROOT)}: broker:{release}"
        for path, text in texts.items()
        for release in re.findall(r"\bbroker:(\d+\.\d+\.\d+)(?![\w.-])", text)
        if release in unjudged("broker")
    ]
    assert missing == []
