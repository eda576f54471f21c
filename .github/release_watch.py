"""Looks for releases of RocketMQ that the rules do not know, and drafts an issue about each.

    python .github/release_watch.py [--out FOLDER] [--release RELEASE]... [--arguments "--max-time 600"]

A release is new when Maven names its client or broker, and neither ``PUBLISHED`` nor ``BROKER_ALONE`` does. Its methods
are compared (``provenance``), and what is published of it is judged by the newest rules (``run``). FOLDER gets a draft
in Markdown for each release, with the minimal plans, beside the pages. Exit codes: 0 nothing is new, 1 drafts were
written, 4 Maven cannot be asked.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.maven import versions_of
from rocketmq_conformance.models.release import PUBLISHED, Release
from rocketmq_conformance.reports.text import clean

#: What is judged of a release, by the artifact that has it.
ADDRESSES = {"rocketmq-client": "java-client", "rocketmq-broker": "broker"}
#: Releases of which Maven had the broker alone when the rules came to know them.
BROKER_ALONE = ("5.3.4", "5.5.1")
#: The most characters of an output, a summary or a plan that a draft repeats.
MOST = 20_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("release-watch"), help="default: release-watch")
    parser.add_argument("--release", action="append", default=[], help="look at this one, new or not")
    parser.add_argument("--arguments", default="", help="more arguments of `run`; default: none")
    given = parser.parse_args()
    try:
        named = versions_of([*ADDRESSES], str(PUBLISHED[0]))
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 4
    releases = given.release or unknown(named)
    given.out.mkdir(parents=True, exist_ok=True)
    for release in releases:
        addresses = [f"{kind}:{release}" for artifact, kind in ADDRESSES.items() if release in named[artifact]]
        draft = given.out / f"{release}.md"
        draft.write_text(drafted(release, addresses, given.out, shlex.split(given.arguments)), "utf-8")
        print(f"{release}: {draft}")
    print(f"{len(releases)} of the releases that Maven names are looked at." if releases else "Nothing is new.")
    return 1 if releases else 0


def unknown(named: Mapping[str, Collection[str]]) -> list[str]:
    """The releases that nothing was said of yet, the oldest first; snapshots and the like are none."""
    found = {}
    alone = set(BROKER_ALONE) - set(named["rocketmq-client"])
    for version in {one for versions in named.values() for one in versions} - alone:
        try:
            found[Release.parse(version)] = version
        except ValueError:
            continue
    return [version for release, version in sorted(found.items()) if release not in PUBLISHED]


def drafted(release: str, addresses: Sequence[str], out: Path, arguments: Sequence[str]) -> str:
    """The draft about a release."""
    code, compared = kit("provenance", release)
    parts = [
        f"# RocketMQ {release}: {'methods that rules name have changed' if code else 'no method has changed'}",
        fenced(compared, "console"),
        "After a release: read what is listed, then see docs/guides/provenance.md.",
    ]
    for address in addresses:
        folder = out / address.replace(":", "-")
        code, printed = kit("run", address, "--out", str(folder), *arguments)
        summary = folder / "summary.md"
        parts.append(f"## `{address}`: exit code {code}")
        parts.append(read(summary) if summary.exists() else fenced(printed, "console"))
        for plan in sorted(folder.glob("*.*.plan.jsonl")):
            parts += [f"`{plan.name}`, for `rocketmq-conformance replay`:", fenced(read(plan), "json")]
    if not addresses:
        parts.append("Maven has neither its client nor its broker.")
    return "\n\n".join(parts) + "\n"


def kit(*words: str) -> tuple[int, str]:
    """The exit code of a command of the kit, and what it printed."""
    print("+", shlex.join(words), flush=True)
    command = [sys.executable, "-m", "rocketmq_conformance", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def read(path: Path) -> str:
    """The text of a file of a run, as far as a draft repeats it."""
    return path.read_text("utf-8", "replace")[:MOST]


def fenced(text: str, language: str) -> str:
    """A block of code, whatever stands in it."""
    lines = [clean(line).replace("```", "` ` `") for line in text[:MOST].splitlines()]
    return "\n".join([f"```{language}", *lines, "```"])


if __name__ == "__main__":
    sys.exit(main())
