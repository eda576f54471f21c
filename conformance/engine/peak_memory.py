"""The most memory that this process has taken so far."""

from __future__ import annotations

import sys


def peak_memory() -> int:
    """In bytes, with a Java machine in this process and without its children; 0 where nothing says it (Windows)."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10
