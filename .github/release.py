"""Makes a release: its section of the changelog, its archives, what is checked of them, and its tag.

    python .github/release.py changelog              CHANGELOG.md of the files in changelog.d, committed
    python .github/release.py build OUT [--url URL]  wheel and sdist of what is committed, with links to URL
    python .github/release.py check OUT [--all]      twine, each file once, and the wheel tried by every Python here
    python .github/release.py tag                    vVERSION, with the section as its text

It works on the checkout that it lies in, pushes nothing and publishes nothing: the workflow does. It needs build, twine
and towncrier. ``check --all`` fails where a Python that is supported is not here. Exit codes: 0, or 1 with a sentence.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
NAME = "rocketmq_conformance"
BOOKS = "conformance/engine/rulebooks"
#: What an sdist has beside the package: made for it, or read when the wheel is made.
BESIDE = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
#: Files of the rooms that are about the checkout.
LEFT_OUT = re.compile(r"(.*/)?(README\.md|\.gitignore)|.*\.md")
#: What is tried in a fresh environment: the package that was installed is imported, and the port conforms.
_IMPORTED = "import rocketmq_conformance as kit; print(kit.__version__, kit.__file__)"


class RefusedError(Exception):
    """Why there is no release, in a sentence."""


# --- steps ------------------------------------------------------------------------------------------------------


def changelog(root: Path) -> str:
    """Turn the fragments into the section of this version, and commit that; the section."""
    refuse_changes(root)
    version = version_of(root)
    if section(root, version):
        raise RefusedError(f"CHANGELOG.md has a section of {version} already: raise __version__.")
    run(sys.executable, "-m", "towncrier", "build", "--yes", "--version", version, cwd=root)
    run("git", "commit", "-q", "-a", "-m", f"Release {version}", cwd=root)
    return section(root, version)


def build(root: Path, out: Path, url: str = "") -> list[Path]:
    """Build the sdist, and the wheel from that, of what is committed; nothing else gets into them."""
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise RefusedError(f"{out} is not empty: name a new folder.")
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-release-") as folder:
        source = Path(folder) / "source"
        run("git", "clone", "-q", str(root), str(source), cwd=Path(folder))
        if url:
            link(source, url.rstrip("/"), version_of(source))
        run(sys.executable, "-m", "build", "--outdir", str(out.resolve()), str(source), cwd=Path(folder))
    return sorted(out.iterdir())


def check(root: Path, out: Path, *, every_python: bool = False) -> list[str]:
    """Check what was built; what was found, in lines."""
    version, out = version_of(root), out.resolve()
    wheel, sdist = out / f"{NAME}-{version}-py3-none-any.whl", out / f"{NAME}-{version}.tar.gz"
    if sorted(out.iterdir()) != sorted((wheel, sdist)):
        raise RefusedError(f"{out} has not just the wheel and the sdist of {version}: build them into a new folder.")
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist), cwd=root)
    said = compare(root, in_wheel(wheel), in_sdist(sdist))
    pythons = supported(root)
    here = {python: found for python in pythons if (found := interpreter(python))}
    if absent := [python for python in pythons if python not in here]:
        if every_python or not here:
            raise RefusedError(f"Python {', '.join(absent)} is not here: install it, or leave out --all.")
        said.append(f"not here, and not tried: Python {', '.join(absent)}")
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-release-") as folder:
        for python, program in here.items():
            said.append(f"Python {python}: {tried(program, wheel, version, Path(folder) / python)}")
        again = Path(folder) / "again"
        run(next(iter(here.values())), "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(again), str(sdist), cwd=out)
        (rebuilt,) = again.iterdir()
        if in_wheel(rebuilt) != in_wheel(wheel):
            raise RefusedError("The wheel of the sdist has other files than the wheel.")
    return [*said, "the wheel that pip makes of the sdist has the same files"]


def tag(root: Path) -> str:
    """Tag what is committed as a release; the tag's name."""
    refuse_changes(root)
    version = version_of(root)
    name, text = f"v{version}", section(root, version)
    tags = run("git", "tag", "--list", "v*", cwd=root).split()
    if name in tags:
        raise RefusedError(f"{name} is there already: raise __version__.")
    if not text:
        raise RefusedError(f"CHANGELOG.md has no section of {version}: make it (changelog).")
    if not (root / BOOKS / f"{version}.txt").exists():
        raise RefusedError(f"There is no rule book of {version}: run `rocketmq-conformance regenerate`.")
    for earlier in tags:
        book = f"{BOOKS}/{earlier.removeprefix('v')}.txt"
        if subprocess.run(["git", "diff", "--quiet", earlier, "--", book], cwd=root, check=False).returncode:
            raise RefusedError(f"{book} is not as it was released: earlier rule books never change.")
    # lines of Markdown headings are no comments here
    run("git", "tag", "-a", "--cleanup=whitespace", "-m", f"{name}\n\n{text}", name, cwd=root)
    return name


# --- the project ------------------------------------------------------------------------------------------------


def version_of(root: Path) -> str:
    """The version that a tree of the project has."""
    found = re.search(r'^__version__ = "(.+)"$', (root / "src" / NAME / "__init__.py").read_text("utf-8"), re.MULTILINE)
    if not found:
        raise RefusedError("src/rocketmq_conformance/__init__.py has no __version__.")
    return found[1]


def supported(root: Path) -> list[str]:
    """The Pythons that the classifiers name, such as 3.11."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def section(root: Path, version: str) -> str:
    """What the changelog says of a version, without its heading; "" when it says nothing."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## {re.escape(version)} - [^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def refuse_changes(root: Path) -> None:
    if run("git", "status", "--porcelain", "--untracked-files=no", cwd=root):
        raise RefusedError("There are changes that are not committed.")


def link(source: Path, url: str, version: str) -> None:
    """Write the project's links into its metadata, and have those of the README lead to this version of it."""
    at = f"{url}/blob/v{version}"
    links = {
        "Source": url,
        "Documentation": f"{at}/README.md#where-to-go-on",
        "Changelog": f"{at}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    settings = source / "pyproject.toml"
    lines = "".join(f'{name} = "{address}"\n' for name, address in links.items())
    settings.write_text(f"{settings.read_text('utf-8')}\n[project.urls]\n{lines}", "utf-8")
    readme = source / "README.md"
    text = re.sub(r"(!\[[^]]*\]\()(?![a-z]+:|#)", rf"\g<1>{url}/raw/v{version}/", readme.read_text("utf-8"))
    readme.write_text(re.sub(r"(\]\()(?![a-z]+:|#)", rf"\g<1>{at}/", text), "utf-8")


# --- archives ---------------------------------------------------------------------------------------------------


def in_wheel(wheel: Path) -> dict[str, str]:
    """The files of the package in a wheel with the digests of their content; RefusedError when it has one twice."""
    with ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if not name.endswith("/")]
        once(wheel.name, names)
        return {name: sha256(opened.read(name)).hexdigest() for name in names if name.startswith(f"{NAME}/")}


def in_sdist(sdist: Path) -> dict[str, str]:
    """The same of an sdist, by the names that they have in the wheel; RefusedError when it has others, or a link."""
    with tarfile.open(sdist) as opened:
        members = [member for member in opened.getmembers() if not member.isdir()]
        names = [member.name.partition("/")[2] for member in members]
        once(sdist.name, names)
        package, made = f"src/{NAME}/", f"src/{NAME}.egg-info/"
        others = [name for name in names if name not in BESIDE and not name.startswith((package, made))]
        links = [member.name for member in members if not member.isreg()]
        if others or links:
            raise RefusedError(
                f"{sdist.name} has what is not the package's, or is no file: {', '.join(others + links)}."
            )
        return {
            name.removeprefix("src/"): sha256(read.read()).hexdigest()
            for name, member in zip(names, members, strict=True)
            if name.startswith(package) and (read := opened.extractfile(member))
        }


def once(archive: str, names: Sequence[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()):
        raise RefusedError(f"{archive} has files twice: {', '.join(twice)}.")


def compare(root: Path, wheel: Mapping[str, str], sdist: Mapping[str, str]) -> list[str]:
    """Wheel and sdist have every file of the rooms once, and the same."""
    if different := sorted({*wheel.items()} ^ {*sdist.items()}):
        raise RefusedError(f"Wheel and sdist differ in {', '.join(sorted({name for name, _ in different}))}.")
    absent = [name for name in committed(root) if name not in wheel]
    if absent:
        raise RefusedError(f"The wheel lacks {', '.join(absent)}: add them to package-data in pyproject.toml.")
    return [f"wheel and sdist have the same {len(wheel)} files, each of them once"]


def committed(root: Path) -> Iterator[str]:
    """The files of the package that are committed, by the names that they have in a wheel."""
    package = root / "src" / NAME
    rooms = [path.name for path in package.iterdir() if path.is_symlink()]
    for name in run("git", "ls-files", "--", f"src/{NAME}", *rooms, cwd=root).splitlines():
        place = name.removeprefix("src/") if name.startswith("src/") else f"{NAME}/{name}"
        if place.removeprefix(f"{NAME}/") not in rooms and not LEFT_OUT.fullmatch(name):
            yield place


# --- environments -----------------------------------------------------------------------------------------------


def interpreter(python: str) -> str:
    """A Python of a release, such as 3.11: the one on the path, or one of pyenv; "" when there is none that runs."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{python}"), *sorted(map(str, pyenv.glob(f"{python}.*/bin/python{python}")))]
    for found in filter(None, candidates):
        command = [found, "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.strip() == python:
            return found
    return ""


def tried(program: str, wheel: Path, version: str, folder: Path) -> str:
    """What becomes of a wheel in a fresh environment: it is imported from there, and the port conforms."""
    run(program, "-m", "venv", str(folder), cwd=wheel.parent)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    run(str(scripts / "python"), "-m", "pip", "install", "-q", str(wheel), cwd=folder)
    imported, _, file = run(str(scripts / "python"), "-I", "-c", _IMPORTED, cwd=folder).strip().partition(" ")
    if imported != version or not Path(file).resolve().is_relative_to(folder.resolve()):
        raise RefusedError(f"{wheel.name} is imported as {imported} from {file}.")
    port = ("run", "port", "--cases", "20", "--workers", "auto", "--out", str(folder / "out"))
    printed = run(str(scripts / "rocketmq-conformance"), *port, cwd=folder)
    return next(line.strip() for line in printed.splitlines() if "conforms" in line)


def run(*command: str, cwd: Path) -> str:
    """What a command prints, without a checkout on the path of modules; RefusedError with its end when it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise RefusedError(f"{' '.join(command[:6])} ended with {done.returncode}:\n{said}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("changelog")
    for name in ("build", "check"):
        steps.add_parser(name).add_argument("out", type=Path)
    steps.choices["build"].add_argument("--url", default="", help="where the project is, for its links")
    steps.choices["check"].add_argument("--all", action="store_true", help="every supported Python must be here")
    steps.add_parser("tag")
    given = parser.parse_args()
    try:
        match given.step:
            case "changelog":
                print(changelog(ROOT))
            case "build":
                print(*build(ROOT, given.out, given.url), sep="\n")
            case "check":
                print(*check(ROOT, given.out, every_python=given.all), sep="\n")
            case "tag":
                print(tag(ROOT))
    except RefusedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
