"""Rewrites every file that is made from the code, for the command ``regenerate``, in a checkout of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from zlib import crc32

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cache import cache_folder, keep
from rocketmq_conformance.conformance.cli import list as lists
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.output import say, say_text
from rocketmq_conformance.conformance.engine import corpus, covering_plans, rulebook_versions
from rocketmq_conformance.conformance.proof import proof_docs
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.unit import BROKER
from rocketmq_conformance.conformance.properties import defaults
from rocketmq_conformance.conformance.provenance import calls, history
from rocketmq_conformance.conformance.provenance.call_graph import CallGraph
from rocketmq_conformance.conformance.provenance.hashing import hashed
from rocketmq_conformance.conformance.provenance.published import broker_files
from rocketmq_conformance.conformance.targets import clause_steps
from rocketmq_conformance.models.release import NEWEST, Release
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.suites.declare.discovery import SUITES

#: Tests that write what they compare with when REWRITE_GOLDEN is set, and the files that they write.
GOLDEN_TESTS = (
    "tests/conformance/campaign/test_digests.py::test_the_golden_file_has_every_suite",
    "tests/conformance/proof/test_proof_docs.py::test_a_small_page_is_as_it_was",
    "tests/docs/test_counts.py",
    "tests/models/test_new_group_start.py::test_the_document_shows_the_run_that_is_kept",
    "tests/power/test_noticing_cases.py",
    "tests/reports/test_campaign.py",
    "tests/reports/test_console.py",
    "tests/reports/test_html.py",
)
#: Schemas of the documentation, and the format of `list operations` that each is.
_SCHEMAS = {"plan": "schema", "exec": "exec", "client": "client"}
#: Folders of documents, and what of them is no document.
_DOCUMENTS = {"docs": "*.jsonl", "examples": "__pycache__"}
#: Folders of the checkout that what is made depends on.
_ROOMS = ("models", "suites", "conformance", "reports", "tests", "docs")
GOLDEN_FILES = (
    *("tests/data/digests.json", "tests/data/noticing_cases.json", "tests/golden/*"),
    *("README.md", "docs/explanation/claims.md", "docs/explanation/client-judging.md", "docs/reference/client.md"),
)


def checkout() -> Path:
    """The folder of the checkout that the kit runs from; CouldNot when it is installed otherwise."""
    root = corpus.kit_folder().resolve().parents[1]
    if not (root / "tests").is_dir() or not corpus.in_source_tree():
        raise CouldNot("Only a checkout of the project has files to regenerate: clone it, and install it editable.")
    return root


def state_of(root: Path) -> str:
    """A digest of the files of the checkout that others are made from, and of those."""
    files = (path for name in _ROOMS for path in (root / name).rglob("*") if "__pycache__" not in path.parts)
    digest = blake2b(sys.version.encode(), digest_size=8)
    for path in sorted((*files, root / "README.md", root / "pyproject.toml")):
        if path.is_file():
            content = path.read_bytes()
            digest.update(f"{path} {len(content)} ".encode() + content)
    return digest.hexdigest()


def lacking_when_up_to_date(root: Path, state: str) -> list[str] | None:
    """What was missing in this state of the checkout, if every file was up to date in it; None otherwise."""
    with suppress(OSError, ValueError):
        kept, *lacking = _kept(root).read_text("utf-8").splitlines()
        return lacking if kept == state else None
    return None


def keep_up_to_date(root: Path, state: str, lacking: Sequence[str]) -> None:
    """Keep that in this state of the checkout every file was up to date, and what was missing."""
    with suppress(OSError):
        keep(_kept(root), "\n".join((state, *lacking)))


def _kept(root: Path) -> Path:
    return cache_folder() / "checkouts" / f"{crc32(str(root).encode()):08x}"


def stale_files(
    root: Path, *, check: bool, asks_brokers: bool, reads_sources: bool, searched: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The files that were stale, each as soon as it is known, and why; without ``check`` they are written.

    The defaults of brokers and the hashes of what rules name are among them when they are asked for: each takes
    minutes. So does a search of covering plans: of the suites ``searched``, and without ``check`` of those that have
    changed since.
    """
    yield from ((path, "brokers answer otherwise") for path in (_defaults(root, check) if asks_brokers else ()))
    yield from ((path, "the sources differ") for path in (_history(root, check) if reads_sources else ()))
    yield from _covering(root, check, searched)
    yield from ((path, "the rules have changed") for path in _rulebook(root, check))
    yield from ((path, "its test shows something else") for path in _golden(root, check))


def write_documentation(root: Path, folder: Path) -> None:
    """Write the documents of the project into a folder, as they lie here, and beside the reference what is made."""
    made = {f"{what}.md": lists.listed(what) for what in lists.PAGES}
    made["operations.md"] = lists.listed("operations", "page")
    made["proven-rules.md"] = proof_docs.page_of(KeptRows(root / "docs" / "proof"))
    made |= {f"{name}.schema.json": lists.listed("operations", form) for name, form in _SCHEMAS.items()}
    for name, other in _DOCUMENTS.items():
        shutil.copytree(root / name, folder / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns(other))
    for path in (*root.glob("*.md"), *(root / name for name in ("LICENSE", "action.yml"))):
        shutil.copy(path, folder)
    for name, text in made.items():
        (folder / "docs" / "reference" / name).write_text(text, "utf-8")


def _rulebook(root: Path, check: bool) -> Iterator[str]:
    """The rule book of this version, if it was stale; without ``check`` it is written."""
    book, text = rulebook_versions.text_of_this()
    name = f"conformance/engine/rulebooks/{book}"
    path = root / name
    if not path.exists() or path.read_text("utf-8") != text:
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        yield name


def _defaults(root: Path, check: bool) -> Iterator[str]:
    """The file of the defaults of brokers, if it was stale; without ``check`` it is written."""
    from rocketmq_conformance.conformance.proof.broker_defaults import read_defaults
    from rocketmq_conformance.conformance.proof.kinds import ALL

    try:
        read = {
            release: read_defaults(release)
            for release in (Release.parse(unit.release.partition("-incub")[0]) for unit in ALL[BROKER].units)
        }
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    text = defaults.text_of(read)
    if defaults.FILE.read_text("utf-8") != text:
        if not check:
            defaults.FILE.write_text(text, "utf-8")
        yield str(defaults.FILE.resolve().relative_to(root))


def _history(root: Path, check: bool) -> Iterator[str]:
    """The files of what requests pass, and of the hashes of that and of what rules name, that were stale; without
    ``check`` they are written."""
    try:
        passed = calls.calls_of(CallGraph(broker_files(NEWEST)))
        text = history.text_of(hashed(RULES.values(), calls=passed))
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    for file, new in ((calls.FILE, calls.text_of(passed, str(NEWEST))), (history.FILE, text)):
        if not file.exists() or file.read_text("utf-8") != new:
            if not check:
                file.write_text(new, "utf-8")
            yield str(file.resolve().relative_to(root))


def _covering(root: Path, check: bool, asked: Collection[str]) -> Iterator[tuple[str, str]]:
    """The files of covering plans, and of the steps that show clauses, that were stale; without ``check`` they are
    written. Suites that are ``asked`` for are searched, and without ``check`` those whose plans are stale."""
    own = [name for name in SUITES if name not in SUITES.brought]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        stale = {
            name for name, is_stale in zip(own, processes.map(covering_plans.is_stale, own), strict=True) if is_stale
        }
        names = [name for name in own if name in asked or (name in stale and not check)]
        for name in names:
            say(f"searching the covering plans of {name}, {'as asked' if name in asked else 'whose model has changed'}")
        for name in stale.difference(names):
            yield _file(root, name), "the suite or its model has changed since the plans were searched"
        found = processes.map(covering_plans.searched_by_name, names)
        for name, plans in zip(names, found, strict=True):
            other = not covering_plans.same(SUITES[name], plans)
            if other and not check:
                covering_plans.write(SUITES[name], plans)
            elif name in stale and not check:
                covering_plans.confirm(SUITES[name])
            if other or name in stale:
                yield _file(root, name), "other plans were found" if other else "the same plans were found again"
    text = clause_steps.text(names) if names else ""
    if text and clause_steps.FILE.read_text("utf-8") != text:
        if not check:
            clause_steps.FILE.write_text(text, "utf-8")
        yield str(clause_steps.FILE.resolve().relative_to(root)), "other steps show a clause"


def _file(root: Path, name: str) -> str:
    return str(covering_plans.file_of(SUITES[name]).relative_to(root))


def _golden(root: Path, check: bool) -> list[str]:
    """The golden files that were stale; with ``check`` they are put back as they were."""
    with _put_back(root, check) as before:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *GOLDEN_TESTS],
            cwd=root,
            env={**os.environ, "REWRITE_GOLDEN": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        after = _contents(root)
    if done.returncode:
        say_text(done.stdout + done.stderr, err=True)
        raise CouldNot("The tests that write golden files failed.")
    return [str(path.relative_to(root)) for path in after if after[path] != before.get(path)]


@contextmanager
def _put_back(root: Path, check: bool) -> Iterator[dict[Path, bytes]]:
    """The contents of the golden files; with ``check`` they are restored in the end."""
    before = _contents(root)
    try:
        yield before
    finally:
        if check:
            for path, content in _contents(root).items():
                if path not in before:
                    path.unlink()
                elif content != before[path]:
                    path.write_bytes(before[path])


def _contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for pattern in GOLDEN_FILES for path in sorted(root.glob(pattern))}
