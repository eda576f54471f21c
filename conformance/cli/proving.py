"""Proves units for the commands ``prove …``: which of them, for how long, and where their rows are kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, UNDECIDED, CouldNot
from rocketmq_conformance.conformance.cli.options import Number, rule_named
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.kept_rows import Confirmation, KeptRows, is_confirmed, merged
from rocketmq_conformance.conformance.proof.kinds import ALL
from rocketmq_conformance.conformance.proof.revision import revision
from rocketmq_conformance.conformance.proof.selection import EVERYTHING, Selection
from rocketmq_conformance.conformance.proof.side_by_side import More
from rocketmq_conformance.conformance.proof.unit import ALL_OF_IT, Shard, Unit
from rocketmq_conformance.conformance.startup import allow
from rocketmq_conformance.conformance.targets.broker.process import START_LIMIT
from rocketmq_conformance.reports.proof_progress import ProofProgress
from rocketmq_conformance.reports.text import count, duration
from rocketmq_conformance.suites.declare.discovery import SUITES

DIFFERENT = 1
#: The results of units, of which no other begins once the given function denies it.
Proof = Callable[[Sequence[Unit], More], Iterable[ProofResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The options that say what is proven, and what becomes of its rows."""

    #: The folder of rows, None to keep none.
    out: Path | None = None
    shard: Shard = ALL_OF_IT
    #: Leave out what the rows say was confirmed on this commit.
    resume: bool = False
    #: Seconds after which no unit begins; None for no limit.
    max_time: float | None = None
    selection: Selection = EVERYTHING


def _shard(context: click.Context, option: click.Parameter, text: str | None) -> Shard:
    try:
        return ALL_OF_IT if text is None else Shard.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _folder(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.exists() and not path.is_dir():
        raise click.BadParameter(f"{path} is a file: name a folder.")
    return path


def _suite(context: click.Context, option: click.Parameter, names: str | None) -> str:
    for name in () if names is None else names.split(","):
        if name not in SUITES:
            raise click.BadParameter(f"there is no suite {name!r}; `rocketmq-conformance list suites` names them.")
    return names or ""


suite_option = click.option("--suite", callback=_suite, metavar="NAME,NAME,…", help="Only what plays these suites.")
rule_option = click.option("--rule", metavar="ID", help="Only what can confirm this rule.")


#: For commands that start brokers without opening an address.
start_timeout_option = click.option(
    "--start-timeout",
    type=Number(0.1, 86400),
    metavar="T",
    expose_value=False,
    callback=lambda context, option, seconds: allow(seconds),
    help=f"Seconds that each start of a broker or a name server may take.  [default: {START_LIMIT:g}]",
)


def work_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --out, --shard, --resume, --max-time and --start-timeout; it gets all but the last, and --suite
    and --rule, as ``work``."""

    @wraps(command)
    def with_work(
        *args: Any,
        out: Path | None,
        shard: Shard,
        resume: bool,
        max_time: float | None,
        suite: str = "",
        rule: str | None = None,
        **others: Any,
    ) -> None:
        if resume and out is None:
            raise click.UsageError("--resume goes on with kept rows: name their folder with --out.")
        selection = Selection(suite, "" if rule is None else rule_named(rule).id)
        work = Work(out=out, shard=shard, resume=resume, max_time=max_time, selection=selection)
        command(*args, work=work, **others)

    for option in (
        start_timeout_option,
        click.option("--max-time", type=Number(min=0), help="Begin no release after this many seconds."),
        click.option("--resume", is_flag=True, help="Leave out what the rows say was confirmed on this commit."),
        click.option("--shard", callback=_shard, metavar="I/N", help="Only part I of N equal parts of the releases."),
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            callback=_folder,
            metavar="FOLDER",
            help="Folder of rows, such as docs/proof: new rows replace those of the same release and rule.",
        ),
    ):
        with_work = option(with_work)
    return with_work


def selected(units: Iterable[Unit], selection: Selection) -> list[Unit]:
    """The units of the kinds that play what is selected; a usage error when none does."""
    found = [unit for unit in units if ALL[unit.kind].takes(selection)]
    if not found:
        wanted = " and ".join(filter(None, (selection.suite, selection.rule)))
        raise click.UsageError(f"Nothing here plays {wanted}: docs/explanation/proof.md says what each proof asks.")
    return found


def settle(proof: Proof, units: Sequence[Unit], work: Work) -> int:
    """Prove units, print and keep the result of each as soon as it is known; the exit code.

    Ctrl-C stops; what was proven is kept.
    """
    began, commit = time.monotonic(), revision() if work.out else ""
    kept = _open(work.out)
    mine = work.shard.of_units(selected(units, work.selection))
    rules = {kind: ALL[kind].replaced(work.selection) for kind in dict.fromkeys(unit.kind for unit in mine)}
    todo = [unit for unit in mine if not (work.resume and kept and _is_done(kept, unit, commit, rules))]
    if len(todo) < len(mine):
        say(f"{count(len(mine) - len(todo), 'unit')} of {len(mine)} confirmed on {commit} before")
    if kept and todo and not any(rules[unit.kind] is None or rules[unit.kind] for unit in todo):
        say("No row is kept: other suites, which are not played, reach each of these rules, too.")
    differences = missing = proven = 0
    try:
        with ProofProgress(sys.stdout, len(todo)) as progress, closing(_results(proof, todo, work)) as results:
            for result in results:
                progress.unit(result.lines, time.monotonic() - began)
                if kept and result.judged:
                    _keep(kept, result, commit, rules)
                proven += 1
                differences += result.differences
                missing += not result.judged
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    except KeyboardInterrupt:
        say("Stopped.")
    left = len(todo) - proven
    hint = f", {count(left, 'unit')} left: go on with --resume" if left and kept else f", {left} left" if left else ""
    say(f"{count(proven, 'unit')} in {duration(time.monotonic() - began)}{hint}")
    return DIFFERENT if differences else COULD_NOT_RUN if missing else UNDECIDED if left else 0


def _results(proof: Proof, units: Sequence[Unit], work: Work) -> Any:
    """The results as a generator, which ends its processes when it is closed."""
    until = None if work.max_time is None else time.monotonic() + work.max_time
    yield from proof(units, lambda: until is None or time.monotonic() < until)


def _open(out: Path | None) -> KeptRows | None:
    try:
        return KeptRows(out) if out else None
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _is_done(kept: KeptRows, unit: Unit, commit: str, rules: Mapping[str, Collection[str] | None]) -> bool:
    try:
        return is_confirmed(kept.read(unit), commit, rules[unit.kind])
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _keep(kept: KeptRows, result: ProofResult, commit: str, rules: Mapping[str, Collection[str] | None]) -> None:
    now = Confirmation(datetime.now(UTC).date().isoformat(), commit)
    unit = result.unit
    try:
        before = kept.read(unit)
        rows = merged(before, now, result.rows, rules[unit.kind], result.spared)
        if rows != before:
            kept.write(unit, rows)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise CouldNot(
            f"Nothing can be written to {kept.folder} ({error.strerror}): name another folder with --out."
        ) from error
