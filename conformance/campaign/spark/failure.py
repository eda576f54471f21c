"""Errors of Spark and of its JVM, each as one sentence for the user."""

from __future__ import annotations

import re
from contextlib import suppress

from rocketmq_conformance.conformance.campaign.spark.shipping import INSTALL

_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_OTHER_PYTHON = re.compile(r"Python in worker has different version: (.+?) than that in driver: (.+?),? ")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'|(\w+) >= \S+ must be installed")
_TRACEBACK = "Traceback (most recent call last)"
#: The last line of a Python traceback.
_RAISED = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*)$", re.MULTILINE)


def failure_sentence(error: BaseException) -> str:
    """Why a session or a job failed, as one sentence without stack traces."""
    messages = _messages(error)
    said = "\n".join(messages)
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
    lines = filter(None, map(str.strip, messages[-1].splitlines()))
    line = str(raised[-1]) if raised else next(lines, type(error).__name__)
    return line.rstrip(".") + "."


def _messages(error: BaseException) -> list[str]:
    """The messages of an error; of a Java error, its own and those of its causes, the first cause last."""
    cause = getattr(error, "java_exception", None)
    found = []
    # errors ask Java for their words, and it may be gone
    with suppress(Exception):
        if cause is None:
            return [str(error)]
        while cause is not None:
            found.append(str(cause.getMessage() or cause.toString()))
            cause = cause.getCause()
    return found or [str(getattr(error, "_desc", ""))]
