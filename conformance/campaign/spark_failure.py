"""What Spark says when it fails, as one sentence."""

from __future__ import annotations

import re
from contextlib import suppress

from rocketmq_conformance.conformance.campaign.shipping import INSTALL

_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_OTHER_PYTHON = re.compile(r"Python in worker has different version: (.+?) than that in driver: (.+?),? ")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'|(\w+) >= \S+ must be installed")
_TRACEBACK = "Traceback (most recent call last)"
#: The last line of a Python traceback.
_RAISED = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*)$", re.MULTILINE)


def why(error: BaseException) -> str:
    """Why a session or a job failed, as one sentence without stack traces."""
    said = _message(error)
    found = _NO_PROGRAM.search(said)
    if found:
        return f"The workers have no {found[1]}: set PYSPARK_PYTHON to a Python that they have."
    found = _OTHER_PYTHON.search(said)
    if found:
        worker, driver = (".".join(re.findall(r"\d+", text)[:2]) for text in found.groups())
        return (
            f"The workers have Python {worker} and the driver has {driver}: "
            "set PYSPARK_PYTHON to the same Python on all machines."
        )
    found = _NO_MODULE.search(said)
    if found:
        return f"The Python of the workers has no {found[1] or found[2]}: install it there with `{INSTALL}`."
    raised = _RAISED.findall(said) if _TRACEBACK in said else []
    line = raised[-1] if raised else next(filter(None, map(str.strip, said.splitlines())), type(error).__name__)
    return line.rstrip(".") + "."


def _message(error: BaseException) -> str:
    """What an error says; of an error in Java, what its first cause says."""
    cause = getattr(error, "java_exception", None)
    # errors ask Java for their words, and it may be gone
    with suppress(Exception):
        if cause is None:
            return str(error)
        while cause.getCause() is not None:
            cause = cause.getCause()
        return str(cause.getMessage() or cause.toString())
    return str(getattr(error, "_desc", ""))
