"""Files of expected divergences: what is known to diverge, who signed for it, and until when.

The file is TOML, a table per divergence::

    [[expected]]
    suite = "allocation"
    rule = "ALLOC-ROOM-1"
    implementation = "rocketmq-client-go"
    releases = "2.1.0..2.1.2"
    fingerprint = "9b1c2d3e"
    reason = "it filters by room and takes its block from the list before the filter"
    link = "https://github.com/apache/rocketmq-client-go/issues/1"
    owner = "clients team"
    expires = 2027-06-30
    plan = '''
    {"allocate_by_machine_room": {…}}
    '''

``plan`` has a step a line, as plan files write them; it is replayed before any other case, so that an entry whose
divergence is gone is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.engine import plan as plans
from rocketmq_conformance.conformance.engine.documents import json_of, toml_of
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.given_file import text_of as text_of_file
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Row

#: The keys of an entry that are text.
TEXTS = ("suite", "rule", "implementation", "releases", "fingerprint", "reason", "link", "owner", "plan")
KEYS = (*TEXTS, "expires")
#: Keys that may be left out, with what they then are.
DEFAULTS = {"implementation": "*", "releases": "all", "link": ""}
_HEADER = re.compile(r"\s*\[\[\s*expected\s*\]\]")
_FINGERPRINT = re.compile(r"[0-9a-f]{8}")
_RANGE = ".."


class ExpectedError(ValueError):
    """A file of expected divergences that cannot be read; the text is one sentence with what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A divergence that is expected."""

    file: str
    #: The line at which the entry begins.
    line: int
    suite: str
    rule: str
    #: The name of the implementation, with ``*`` and ``?`` as in names of files.
    implementation: str
    #: "all", a version, or FIRST..LAST of them.
    releases: str
    fingerprint: str
    reason: str
    link: str
    owner: str
    expires: date
    #: The minimal plan, a step a line.
    plan: str
    #: The steps of the plan; empty when the entry is not valid.
    rows: tuple[Row, ...]
    #: Why the entry is not valid, or "".
    invalid: str

    def aside(self, name: str, version: str) -> str:
        """Why it does not concern an implementation, or ""."""
        if not fnmatchcase(name.lower(), self.implementation.lower()):
            return f"it is about {self.implementation}, not {name}"
        return "" if in_range(version, self.releases) else f"it is about {self.releases}, not {version or 'no version'}"

    def event(self, *, cases: int = 0, aside: str = "", fault: str = "") -> event.ExpectedDivergence:
        """The entry as an event."""
        return event.ExpectedDivergence(
            file=self.file,
            line=self.line,
            suite=self.suite,
            rule=self.rule,
            fingerprint=self.fingerprint,
            reason=self.reason,
            owner=self.owner,
            link=self.link,
            expires=self.expires.isoformat(),
            cases=cases,
            aside=aside,
            fault=fault,
        )


def in_range(version: str, releases: str) -> bool:
    """Is a version in "all", equal to a version, or in FIRST..LAST? One that cannot be compared is compared as text."""
    if releases == "all":
        return True
    first, dots, last = releases.partition(_RANGE)
    if not dots:
        return version.removeprefix("v") == releases.removeprefix("v")
    return _order(first) <= _order(version) and (not last or _order(version) <= _order(last))


def _order(version: str) -> tuple[tuple[int, int, str], ...]:
    """A key that orders versions part by part, numbers as numbers."""
    parts = re.findall(r"\d+|[a-z]+", version.lower().removeprefix("v"))
    # what ends stands before what has a further number, and behind what has a word such as "beta"
    return (*((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts), (0, 1, ""))


def read(path: Path) -> list[Entry]:
    """The entries of a file; ExpectedError when it is no TOML, or an entry lacks what all of them need.

    An entry that this kit does not understand (no such suite, rule or step) is read, and is not valid.
    """
    try:
        text = text_of_file(path)
        found = toml_of(text)
    except OSError as error:
        raise ExpectedError(
            f"{path} cannot be read ({error.strerror}): name a file of expected divergences."
        ) from error
    except UnicodeDecodeError as error:
        raise ExpectedError(f"{path} is no file of expected divergences: it is not UTF-8 text.") from error
    except ValueError as error:
        raise ExpectedError(f"{path} is not TOML: {error}. Mend that line.") from error
    tables = found.pop("expected", [])
    if found or not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        extra = f", and not {', '.join(map(repr, found))}" if found else ""
        raise ExpectedError(f"{path} must consist of [[expected]] tables{extra}.")
    return [_entry(path, line, table) for line, table in zip(_lines(text, len(tables)), tables, strict=True)]


def _lines(text: str, wanted: int) -> Sequence[int]:
    """The lines at which the tables begin, those inside texts of several lines left out."""
    found, inside = [], ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside and _HEADER.match(line):
            found.append(number)
        for quotes in re.findall("'''|\"\"\"", line):
            inside = "" if inside == quotes else inside or quotes
    return found if len(found) == wanted else [1] * wanted


def _entry(path: Path, line: int, table: Mapping[str, Any]) -> Entry:
    def wrong(what: str) -> ExpectedError:
        return ExpectedError(f"{path}, line {line}: {what}.")

    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise wrong(f"an entry has no {unknown[0]!r}; it has {', '.join(KEYS)}")
    missing = [name for name in KEYS if name not in table and name not in DEFAULTS]
    if missing:
        raise wrong(f"the entry has no {', '.join(missing)}")
    bad = [name for name in TEXTS if not isinstance(table.get(name, ""), str)]
    if bad:
        raise wrong(f"{bad[0]} must be text in quotes")
    expires = table["expires"]
    if type(expires) is not date:
        raise wrong("expires must be a date such as 2027-06-30, without quotes")
    texts = {name: table.get(name, DEFAULTS.get(name, "")) for name in TEXTS}
    rows, invalid = _plan(texts)
    return Entry(file=str(path), line=line, **texts, expires=expires, rows=rows, invalid=invalid)


def _plan(texts: Mapping[str, str]) -> tuple[tuple[Row, ...], str]:
    """The steps of an entry's plan, and why the entry is not valid."""
    suite = SUITES.get(texts["suite"])
    if suite is None:
        return (), f"no suite is called {texts['suite']!r}"
    if texts["rule"] not in suite.rules:
        return (), f"{suite.name} has no rule {texts['rule']!r}"
    if not _FINGERPRINT.fullmatch(texts["fingerprint"]):
        return (), f"{texts['fingerprint']!r} is no fingerprint of eight hexadecimal digits"
    if not texts["reason"].strip() or not texts["owner"].strip():
        return (), "reason and owner must not be empty"
    try:
        steps = [json_of(line) for line in texts["plan"].splitlines() if line.strip()]
        rows = plans.rows_of(suite, steps)
    except (ValueError, plans.PlanError) as error:
        return (), f"its plan cannot be read ({error})"
    return (rows, "") if rows else ((), "its plan has no steps")


def text_of(entries: Iterable[Entry]) -> str:
    """The entries as a file."""
    return "\n".join(map(_table, entries))


def _table(entry: Entry) -> str:
    values = asdict(entry)
    lines = [
        "[[expected]]",
        *(f"{name} = {json.dumps(clean(values[name]), ensure_ascii=False)}" for name in TEXTS[:-1]),
    ]
    lines.append(f"expires = {entry.expires.isoformat()}")
    lines += ["plan = '''", entry.plan.strip(), "'''", ""]
    return "\n".join(lines)
