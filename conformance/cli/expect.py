"""The commands ``expect …``: a file of expected divergences is added to, checked and cleared of what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, finish
from rocketmq_conformance.conformance.cli.lazy_group import example_of
from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    judging_options,
    quirks_option,
    read_expected,
    read_plan,
)
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.reports.given_file import text_of

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.engine.expected_file import Entry
    from rocketmq_conformance.reports.event import ExpectedDivergence
    from rocketmq_conformance.reports.run_summary import RunSummary

#: Days until an entry expires, unless a date is given.
DAYS = 180

file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.group()
def expect() -> None:
    """Keep a file of expected divergences, which `run --expected FILE` takes."""


@expect.command(epilog=example_of("expect add known.toml conformance-out --reason 'see PROJ-7' --owner 'clients team'"))
@file_argument
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--reason", required=True, help="Why the implementation diverges.")
@click.option("--owner", required=True, help="Who signs for it.")
@click.option("--link", default="", help="Where it is followed up.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help=f"The last day.  [default: in {DAYS} days]")
@click.option("--releases", help="Versions that it concerns: all, 2.1.2, or 2.1.0..2.1.2.  [default: that of the run]")
@click.option("--fingerprint", "fingerprints", multiple=True, help="Only this divergence. May be repeated.")
def add(
    file: Path,
    folder: Path,
    reason: str,
    owner: str,
    link: str,
    expires: datetime | None,
    releases: str | None,
    fingerprints: tuple[str, ...],
) -> None:
    """Add to FILE the divergences of a run, of its folder DIR, that are not in it yet."""
    from rocketmq_conformance.conformance.cli.reporting import summary_of
    from rocketmq_conformance.conformance.engine import expected_file

    summary = summary_of(folder)
    known = {entry.fingerprint for entry in read_expected(file)} if file.exists() else set()
    last = expires.date() if expires else datetime.now(UTC).date() + timedelta(days=DAYS)
    entries = [
        replace(entry, reason=reason, owner=owner, link=link, releases=releases or entry.releases)
        for entry in _found(summary, last)
        if entry.fingerprint not in known and (not fingerprints or entry.fingerprint in fingerprints)
    ]
    missing = [
        fingerprint
        for fingerprint in fingerprints
        if fingerprint not in known and fingerprint not in {entry.fingerprint for entry in entries}
    ]
    if missing:
        raise click.UsageError(f"{folder} has no minimal plan of a divergence {missing[0]}.")
    before = text_of(file) if file.exists() else ""
    _write(file, "\n".join(filter(None, (before.rstrip("\n") and before, expected_file.text_of(entries)))))
    say(f"{file}: {len(entries)} added")


def _found(summary: RunSummary, expires: date) -> list[Entry]:
    """The divergences of a run that have a minimal plan, as entries that nobody has signed for."""
    from rocketmq_conformance.conformance.engine import expected_file, plan

    header, entries = summary.header, dict[str, expected_file.Entry]()
    assert header is not None
    for one in summary.divergences:
        if not one.plan or one.fingerprint in entries:
            continue
        read = read_plan(Path(one.plan), None)
        rule = next((rule.get("id", "") for rule in one.rules), "")
        if not rule or len(read.cases) != 1:
            raise click.UsageError(f"{one.plan} is no minimal plan of a divergence from a rule: run the suite again.")
        (rows,) = read.cases.values()
        entries[one.fingerprint] = expected_file.Entry(
            file="",
            line=0,
            suite=one.suite,
            rule=rule,
            implementation=_in_any_folder(header.implementation),
            releases=header.version or "all",
            fingerprint=one.fingerprint,
            reason="",
            link="",
            owner="",
            expires=expires,
            plan="\n".join(plan.steps_text(read.suite, [row])[1:-1] for row in rows),
            rows=tuple(rows),
            invalid="",
        )
    return list(entries.values())


def _in_any_folder(implementation: str) -> str:
    """The name of an implementation; of a program with an absolute path, one that it has in any folder."""
    command, *words = implementation.split(" ")
    return " ".join([f"*/{Path(command).name}" if command.startswith("/") else command, *words])


@expect.command(epilog=example_of("expect verify known.toml client:./my-consumer"))
@file_argument
@address_argument
@quirks_option
@judging_options
def verify(file: Path, address: str, quirks: bool, judging: Judging) -> None:
    """Replay the plans of FILE on ADDRESS: exit code 1 when an entry is out of date."""
    found = _checked(file, address, quirks, judging)
    _show(found)
    finish(1 if any(one.fault for one in found) else 0)


@expect.command(epilog=example_of("expect prune known.toml client:./my-consumer"))
@file_argument
@address_argument
@quirks_option
@judging_options
def prune(file: Path, address: str, quirks: bool, judging: Judging) -> None:
    """Replay the plans of FILE on ADDRESS, and take the entries out of FILE that do not diverge any more."""
    from rocketmq_conformance.conformance.engine.expected_divergences import GONE

    found = _checked(file, address, quirks, judging)
    gone = {one.line for one in found if one.fault == GONE}
    begins = [*sorted(one.line for one in read_expected(file))]
    lines = text_of(file).splitlines(keepends=True)
    ends = [*[line - 1 for line in begins[1:]], len(lines)]
    kept = lines[: begins[0] - 1] if begins else lines
    for begin, end in zip(begins, ends, strict=False):
        if begin not in gone:
            kept += lines[begin - 1 : end]
    _write(file, "".join(kept))
    _show([one for one in found if one.line not in gone])
    say(f"{file}: {len(gone)} of {len(begins)} removed")


def _checked(file: Path, address: str, quirks: bool, judging: Judging) -> Sequence[ExpectedDivergence]:
    """What became of every entry."""
    from rocketmq_conformance.conformance import api
    from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
    from rocketmq_conformance.conformance.targets.address import AddressError

    try:
        return api.verify_expected(
            address,
            read_expected(file),
            quirks=quirks,
            releases=judging.overrides,
            patience=judging.patience,
            max_wait=judging.max_wait,
            start_timeout=judging.start_timeout,
        )
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except (AdapterError, CannotRunError) as error:
        raise CouldNot(str(error)) from error


def _show(found: Sequence[ExpectedDivergence]) -> None:
    for one in found:
        what = one.fault or one.aside or "it diverges as expected"
        say(f"{one.file}, line {one.line}: {one.rule} in {one.suite}: {what}")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise CouldNot(f"Nothing can be written to {file} ({error.strerror}): name another file.") from error
