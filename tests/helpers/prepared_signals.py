"""How a command of a test takes Ctrl-C, whatever the tests themselves were started by (``preexec_fn`` of Popen)."""

from __future__ import annotations

import signal


def interruptible() -> None:
    """A child of a shell's background job would ignore SIGINT; those of the tests never do."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def in_the_background() -> None:
    """As a shell starts a command with ``&``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
