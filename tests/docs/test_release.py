"""The release script: what it refuses in a small project, and a whole release as the workflow makes it, in a clone."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest
import yaml
from fresh import python3_on_path
from places import ROOT

from rocketmq_conformance import __version__

BOOK = "conformance/engine/rulebooks/{}.txt"


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def release() -> ModuleType:
    """The script."""
    spec = spec_from_file_location("release", ROOT / ".github" / "release.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with all that a release looks at, committed: version 1.2.0, a change, and the release before it."""
    root = tmp_path / "project"
    texts = {
        "src/rocketmq_conformance/__init__.py": '__version__ = "1.2.0"\n',
        "CHANGELOG.md": "# Changelog\n\n<!-- releases begin here -->\n\n## 1.1.0 - 2027-01-01\n\n### Fixed\n\n- Old.\n",
        "changelog.d/+new.added.md": "New.\n",
        BOOK.format("1.1.0"): "A-1\n",
        BOOK.format("1.2.0"): "A-1\nA-2\n",
        "README.md": "[run](docs/run.md) [![p](docs/p.png)](docs/page.md) [x](https://example.org/y) [z](#z)\n",
        "pyproject.toml": (ROOT / "pyproject.toml").read_text("utf-8"),
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    (root / "src" / "rocketmq_conformance" / "conformance").symlink_to("../../conformance")
    git(tmp_path, "init", "-q", "project")
    for name in ("user.name", "user.email"):
        git(root, "config", name, "released@example.org")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "All")
    git(root, "tag", "v1.1.0")
    return root


# --- changelog and tag ------------------------------------------------------------------------------------------


def test_the_section_is_made_of_the_fragments_and_tagged_with_the_version(release: ModuleType, project: Path) -> None:
    assert release.changelog(project) == "### Added\n\n- New."
    assert (git(project, "status", "--porcelain"), list((project / "changelog.d").glob("*.md"))) == ("", [])
    assert release.tag(project) == "v1.2.0"
    assert git(project, "tag", "-l", "--format=%(contents)", "v1.2.0").strip() == "v1.2.0\n\n### Added\n\n- New."


def test_what_is_not_ready_is_not_tagged(release: ModuleType, project: Path) -> None:
    def refused(why: str) -> None:
        with pytest.raises(release.RefusedError, match=why):
            release.tag(project)

    refused("CHANGELOG.md has no section of 1.2.0")
    release.changelog(project)
    (project / BOOK.format("1.2.0")).rename(project / "book")
    refused("changes that are not committed")
    git(project, "commit", "-qam", "Lost")
    refused("no rule book of 1.2.0")
    (project / "book").rename(project / BOOK.format("1.2.0"))
    (project / BOOK.format("1.1.0")).write_text("A-2\n", "utf-8")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Other rules")
    refused("1.1.0.txt is not as it was released")
    git(project, "tag", "v1.2.0")
    refused("v1.2.0 is there already")


def test_a_section_is_made_once_and_of_what_is_committed(release: ModuleType, project: Path) -> None:
    (project / "README.md").write_text("", "utf-8")
    with pytest.raises(release.RefusedError, match="not committed"):
        release.changelog(project)
    git(project, "checkout", "-q", ".")
    release.changelog(project)
    with pytest.raises(release.RefusedError, match=r"a section of 1\.2\.0 already"):
        release.changelog(project)


# --- what is built ----------------------------------------------------------------------------------------------


def test_links_of_what_is_published_lead_to_the_project(release: ModuleType, project: Path) -> None:
    release.link(project, "https://example.org/kit", "1.2.0")
    at = "https://example.org/kit/blob/v1.2.0"
    urls = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    assert (urls["Source"], urls["Changelog"]) == ("https://example.org/kit", f"{at}/CHANGELOG.md")
    assert (project / "README.md").read_text("utf-8") == (
        f"[run]({at}/docs/run.md) [![p](https://example.org/kit/raw/v1.2.0/docs/p.png)]({at}/docs/page.md) "
        "[x](https://example.org/y) [z](#z)\n"
    )


def sdist_of(path: Path, texts: list[tuple[str, str]]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in texts:
            entry = tarfile.TarInfo(f"kit-1/{name}")
            entry.size = len(text)
            tar.addfile(entry, BytesIO(text.encode()))
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_with_a_file_twice_another_one_or_one_less_are_refused(
    release: ModuleType, project: Path, tmp_path: Path
) -> None:
    module = "src/rocketmq_conformance/a.py"
    with ZipFile(tmp_path / "kit.whl", "w") as opened:
        for _ in range(2):
            opened.writestr("rocketmq_conformance/a.py", "")
    with pytest.raises(release.RefusedError, match=r"kit.whl has files twice: rocketmq_conformance/a.py"):
        release.in_wheel(tmp_path / "kit.whl")
    with pytest.raises(release.RefusedError, match=r"files twice: src/rocketmq_conformance/a.py"):
        release.in_sdist(sdist_of(tmp_path / "twice.tar.gz", [(module, ""), (module, "")]))
    with pytest.raises(release.RefusedError, match=r"not the package's, or is no file: conformance/a.py"):
        release.in_sdist(sdist_of(tmp_path / "rooms.tar.gz", [("conformance/a.py", "")]))
    held = release.in_sdist(sdist_of(tmp_path / "good.tar.gz", [("README.md", ""), (module, "x")]))
    assert list(held) == ["rocketmq_conformance/a.py"]
    with pytest.raises(release.RefusedError, match=r"differ in rocketmq_conformance/a\.py\."):
        release.compare(project, held, {"rocketmq_conformance/a.py": "0"})
    with pytest.raises(release.RefusedError, match=r"lacks .*rulebooks/1\.1\.0\.txt, .*__init__\.py: add"):
        release.compare(project, held, held)


def test_a_python_that_there_is_none_of_is_not_found(release: ModuleType) -> None:
    assert release.interpreter("3.2") == ""


# --- a whole release --------------------------------------------------------------------------------------------


@pytest.mark.fresh
def test_the_workflow_makes_a_release(release: ModuleType, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(ROOT), str(clone))
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]["build"][
        "steps"
    ]
    scripts = {step["name"]: step["run"] for step in steps if "run" in step and "if" not in step}
    assert scripts.pop("Install") == "python3 -m pip install build twine towncrier"
    if not all(map(release.interpreter, release.supported(ROOT))):
        scripts["Check"] = scripts["Check"].removesuffix(" --all")
    environment = python3_on_path(tmp_path) | {
        "GITHUB_ACTOR": "someone",
        "GITHUB_SERVER_URL": "https://example.org",
        "GITHUB_REPOSITORY": "owner/kit",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    printed = {}
    for name, script in scripts.items():
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        printed[name] = done.stdout
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("### ")
    assert [path.name for path in sorted((clone / "dist").iterdir())] == [
        f"rocketmq_conformance-{__version__}-py3-none-any.whl",
        f"rocketmq_conformance-{__version__}.tar.gz",
    ]
    assert "each of them once" in printed["Check"]
    here = [python for python in release.supported(ROOT) if release.interpreter(python)]
    assert printed["Check"].count("conforms") == len(here)
    assert git(clone, "tag", "--points-at", "HEAD").strip() == printed["Tag"].strip() == f"v{__version__}"
    with ZipFile(clone / "dist" / f"rocketmq_conformance-{__version__}-py3-none-any.whl") as opened:
        metadata = opened.read(f"rocketmq_conformance-{__version__}.dist-info/METADATA").decode()
    assert "Project-URL: Source, https://example.org/owner/kit\n" in metadata
    assert "](docs/" not in metadata
