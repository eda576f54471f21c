"""The revision of the kit that a proof is made with: a commit of its checkout, or the version of an installation."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import rocketmq_conformance
from rocketmq_conformance.conformance.engine import corpus

#: The folders whose content decides what a proof finds. Commits to anything else, such as rows, do not count.
ROOMS = ("conformance", "models", "reports", "suites", "src")


def revision() -> str:
    """The last commit that changed the kit's code, such as "0fb2a56c"; uncommitted changes add a digest of them, as in
    "0fb2a56c+3fa9c12b". Outside of a checkout it is the version, such as "v0.2.0"."""
    root = corpus.kit_folder().parents[1]
    commit = _git(root, "log", "-1", "--abbrev=8", "--format=%h", "--", *ROOMS) if (root / ".git").exists() else ""
    if not commit:
        return f"v{rocketmq_conformance.__version__}"
    changes = _git(root, "diff", "HEAD", "--binary", "--", *ROOMS)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "--", *ROOMS).splitlines()
    if not changes and not new:
        return commit
    digest = hashlib.sha256(changes.encode())
    for name in new:
        digest.update(name.encode())
        digest.update((root / name).read_bytes())
    return f"{commit}+{digest.hexdigest()[:8]}"


def _git(root: Path, *words: str) -> str:
    """The output of git in a folder; "" when there is no git, or it fails."""
    try:
        done = subprocess.run(("git", "-C", str(root), *words), capture_output=True, check=False)
    except OSError:
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
