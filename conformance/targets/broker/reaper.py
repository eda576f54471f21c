"""A process that removes a container and a folder when its input ends, that is, when its parent has ended."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path


def main(container: str, home: str) -> None:
    """Wait for the end of the input."""
    sys.stdin.read()
    import docker

    with suppress(Exception):  # the parent, which could report it, has ended
        docker.from_env().containers.get(container).remove(force=True)
    shutil.rmtree(Path(home), ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
