"""report.html: one page for a run or a campaign, made from its events alone.

The page is one file that fetches nothing, and says so to the browser: a Content-Security-Policy allows the page's own
style and script, by their hashes, and nothing else. Every text of an event is cleaned (``text.clean``) and escaped by
the template engine; none is taken for markup.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_conformance.reports.event import Event, RunStarted, SuiteEnded
from rocketmq_conformance.reports.html_view import view
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.whole_file import write_whole

if TYPE_CHECKING:
    from jinja2 import Environment

#: Name of the file in the folder of a run.
NAME = "report.html"
#: Seconds between two writings while the run goes on; the begin and the end are always written.
PAUSE = 5.0


class HtmlReport:
    """Writes the page of a run: when it begins, now and then when a suite ends, and when it is closed.

    Before the end, the file on disk is the page of a run that was cut off, so that a killed run leaves no pass.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._summary = RunSummary()
        self._written = 0.0

    def __call__(self, event: Event) -> None:
        """Enter the event."""
        self._summary.add(event)
        late = isinstance(event, SuiteEnded) and time.monotonic() - self._written > PAUSE
        if late or isinstance(event, RunStarted):
            self._write()

    def close(self) -> None:
        """Write the page for the last time."""
        self._write()

    def _write(self) -> None:
        write_whole(self._path, render(self._summary))
        self._written = time.monotonic()


def html_page(events: Iterable[Event]) -> str:
    """The page of a stream of events, whole or not."""
    summary = RunSummary()
    for event in events:
        summary.add(event)
    return render(summary)


def render(summary: RunSummary) -> str:
    """The page of the events that a summary has collected."""
    return environment().get_template("page.html.j2").render(page=view(summary))


@cache
def environment() -> Environment:
    """The templates of pages."""
    # Imported with the first page: commands that make none need not wait for it.
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # The only text that is not escaped: what the page itself is made of, under the hash that lets a browser use it.
    for name in ("style", "script"):
        text = _source(f"{name}.j2")
        digest = base64.b64encode(sha256(text.encode()).digest()).decode()
        made.globals[name] = Markup(text)
        made.globals[f"{name}_hash"] = f"sha256-{digest}"
    return made


def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text("utf-8")
