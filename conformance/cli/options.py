"""Options and arguments that several commands share, and the checks of their values.

Checks raise usage errors (exit code 2), or :class:`CouldNot` (4) where something beyond the command line is missing.
Functions that need models, suites or plans import them themselves, so that no command's --help loads them.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT, PATIENCE, START_TIMEOUT
from rocketmq_conformance.conformance.engine.selection import select, selection_notes
from rocketmq_conformance.models.release import Release

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.engine.corpus import StoredCase
    from rocketmq_conformance.conformance.engine.expected_file import Entry
    from rocketmq_conformance.conformance.engine.plan import Plan
    from rocketmq_conformance.conformance.engine.rulebook_versions import RuleBook
    from rocketmq_conformance.models.rule import Rule
    from rocketmq_conformance.suites.declare.suite import Suite

SIDES = ("client", "broker", "java")


class Number(click.FloatRange):
    """A number in a range, which ``nan`` and infinities are not, though they pass any check of bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; a usage error for anything else."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


def named_releases(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Releases by side, of an option that is given as SIDE=RELEASE."""
    found = {}
    for value in values:
        side, equals, release = value.partition("=")
        if not equals or side not in SIDES:
            raise click.BadParameter(f"write client=RELEASE, broker=RELEASE or java=N, not {value!r}")
        if side == "java":
            if not re.fullmatch("[1-9][0-9]?", release):
                raise click.BadParameter(f"write the number of a Java release, such as java=17, not {value!r}")
            found[side] = release
            continue
        try:
            found[side] = str(Release.parse(release))
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return found


def worker_count(context: click.Context, option: click.Parameter, value: str) -> int:
    """How many processes an option asks for: a number, or ``auto`` for one for each processor."""
    if value == "auto":
        return os.cpu_count() or 1
    if not re.fullmatch("[1-9][0-9]{0,3}", value):
        raise click.BadParameter(f"write a number from 1 on, or auto, not {value!r}")
    return int(value)


def release_names(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Releases of an option that is given as 4.9.7,5.5.0."""
    try:
        return tuple(str(Release.parse(text.strip())) for text in value.split(",")) if value else ()
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def client_names(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Releases of clients of such an option, as Maven spells them: 4.0.0 is 4.0.0-incubating."""
    from rocketmq_conformance.conformance.targets.java_client.release import published_version  # --help needs it not

    return tuple(map(published_version, release_names(context, option, value)))


address_argument = click.argument("address", default="port")
through_option = click.option(
    "--through",
    metavar="BROKER",
    help="Connect the programs of client:COMMAND, or consumers in Python, to this real broker instead of the fake one: "
    "broker:VERSION or broker:HOST:PORT. A proxy between them watches the traffic.",
)
#: The file that ``-`` names where a plan is asked for.
STANDARD_INPUT = Path("/dev/stdin")
plan_argument = click.argument("plan", type=click.Path(path_type=Path))
case_option = click.option("--case", "number", type=int, help="Only this case of the plan.")
out_option = click.option("--out", type=click.Path(path_type=Path), help="Folder for plans, events and reports.")
max_time_option = click.option(
    "--max-time",
    type=Number(min=0),
    help="After this many seconds of playing begin no case, and search for no shorter plan. What is being played is "
    "finished, and what differs is played twice more.",
)
stop_option = click.option("-x", "stop_at_first", is_flag=True, help="Stop at the first divergence.")
suites_option = click.option(
    "-k",
    "--suite",
    "patterns",
    metavar="NAME",
    multiple=True,
    help="Only the suite of this name; where there is none, those that match: a part of the name, or a pattern such as "
    "'start-*'. May be repeated.",
)
rule_option = click.option("--rule", "rule_id", help="Only suites in which this rule can fire.")
expected_option = click.option(
    "--expected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Divergences that are signed for (TOML, see docs/guides/expected.md): counted, and no failure.",
)
rulebook_option = click.option(
    "--rulebook",
    metavar="VERSION",
    help="Judge by the rules of this release of the kit: divergences from newer ones are counted, and no failure.",
)
seed_option = click.option(
    "--seed", type=int, help="Seed of the plans; a random one is chosen and printed when absent."
)
quirks_option = click.option(
    "--quirks", is_flag=True, help="Judge accidents of Java, too (always done for java-client and port)."
)
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Print everything: each divergence in full, and the coverage of every rule."
)
format_option = click.option("--format", "form", type=click.Choice(["human", "jsonl"]), default="human")
releases_option = click.option(
    "--with",
    "releases",
    multiple=True,
    callback=named_releases,
    metavar="SIDE=RELEASE",
    help="Judge a side by this release: client=4.9.8, broker=5.1.4 or java=11 (the broker's).",
)
like_option = click.option("--like", metavar="RELEASE", help="Judge a client as this release of the Java client.")
patience_option = click.option(
    "--patience", type=Number(0.1, 86_400), default=PATIENCE, show_default=True, help="Seconds per operation."
)
start_timeout_option = click.option(
    "--start-timeout",
    type=Number(0.1, 86_400),
    default=START_TIMEOUT,
    show_default=True,
    help="Seconds for downloads and for starting what is judged.",
)
max_wait_option = click.option(
    "--max-wait",
    type=Number(0, 86_400),
    default=LONGEST_WAIT,
    show_default=True,
    help="Longest wait for one tick, in seconds, when the implementation has a real clock.",
)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """The options that say how to judge and how to report."""

    #: "human" or "jsonl".
    form: str
    #: Release by side ("client", "broker", "java").
    overrides: dict[str, str]
    #: Seconds per operation.
    patience: float
    #: Seconds that are waited at once for an implementation with a real clock.
    max_wait: float
    #: Seconds that the start of the implementation may take.
    start_timeout: float
    #: Print everything, not a summary; for people.
    verbose: bool


def judging_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --verbose, --format, --with, --like, --patience, --max-wait and --start-timeout.

    It gets them as one argument, ``judging``.

    To be the last decorator, so that these options stand last in the command's help.
    """

    @wraps(command)
    def with_judging(
        *args: Any,
        form: str,
        releases: dict[str, str],
        like: str | None,
        patience: float,
        max_wait: float,
        start_timeout: float,
        verbose: bool,
        **others: Any,
    ) -> None:
        judging = Judging(
            form=form,
            overrides=overrides(releases, like),
            patience=patience,
            max_wait=max_wait,
            start_timeout=start_timeout,
            verbose=verbose,
        )
        command(*args, judging=judging, **others)

    for option in (
        start_timeout_option,
        max_wait_option,
        patience_option,
        like_option,
        releases_option,
        format_option,
        verbose_option,
    ):
        with_judging = option(with_judging)
    return with_judging


def address_through(address: str, broker: str | None) -> str:
    """The address, with the broker of --through; a usage error where that makes no sense."""
    if broker is None:
        return address
    from rocketmq_conformance.conformance.targets.address import AddressError, going_through, parse_address

    try:
        return str(going_through(parse_address(address), broker))
    except AddressError as error:
        raise click.BadParameter(str(error), param_hint="--through") from error


def overrides(releases: dict[str, str], like: str | None) -> dict[str, str]:
    """The releases of --with, and that of --like for the client."""
    if like is None:
        return releases
    try:
        return {**releases, "client": str(Release.parse(like))}
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--like") from error


def chosen_suites(patterns: Sequence[str], rule_id: str | None) -> list[Suite]:
    """The suites of a run, those of all patterns together; usage errors for what matches nothing."""
    from rocketmq_conformance.suites.declare.discovery import SUITES

    if not patterns:
        suites = [suite for suite in SUITES.values() if suite.ordinary or rule_id is not None]
    else:
        selected = selected_names(patterns, SUITES)
        suites = [suite for suite in SUITES.values() if suite.name in selected]
    if rule_id is not None:
        rule = rule_named(rule_id)
        suites = [suite for suite in suites if rule.id in suite.rules]
        if not suites:
            raise click.UsageError(f"No chosen suite can reach the rule {rule.id}; see `explain {rule.id}`.")
        if not patterns:  # slow ones only if no other reaches it
            suites = [suite for suite in suites if suite.ordinary] or suites
    return suites


def selected_names(patterns: Sequence[str], names: Collection[str], what: str = "suite") -> set[str]:
    """The names that patterns select, all together; a usage error for one that selects none."""
    found = {pattern: select(pattern, names) for pattern in patterns}
    for pattern, some in found.items():
        if not some:
            raise click.UsageError(f"No {what} matches {pattern!r}: {_instead(pattern, names, what)}")
    return {name for some in found.values() for name in some}


def _instead(pattern: str, names: Collection[str], what: str) -> str:
    """What somebody who named nothing may have meant, and for a suite what the kit does not judge."""
    near = get_close_matches(pattern, names, 3, 0.75)
    meant = f"is it {' or '.join(near)}?" if near else f"`list {what}s` names them all."
    if what == "suite" and not near:
        return f"producing, transactions, ACLs and storage are not judged; {meant}"
    return meant


def suite_notes(patterns: Sequence[str]) -> tuple[str, ...]:
    """A sentence for every -k that is not the name of a suite, with the suites that it selects."""
    from rocketmq_conformance.suites.declare.discovery import SUITES

    return tuple(f"-k {note}" for note in selection_notes(patterns, SUITES))


def rule_named(rule_id: str) -> Rule:
    """The rule of the rule book that has this id, in any case of its letters."""
    from rocketmq_conformance.models import rulebook

    try:
        return rulebook.rule(rule_id)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error


def read_plan(path: Path, number: int | None) -> Plan:
    """The plan of a file, or of standard input by ``-``; only the case ``number`` of it, if one is given."""
    from rocketmq_conformance.conformance.engine import plan as plans

    try:
        read = plans.read(STANDARD_INPUT if path == Path("-") else path)
    except plans.PlanError as error:
        raise click.UsageError(str(error).replace(str(STANDARD_INPUT), "standard input")) from error
    if number is None:
        return read
    if number not in read.cases:
        raise click.UsageError(f"{path} has no case {number}.")
    return replace(read, cases={number: read.cases[number]})


def name_of(plan: Path) -> str:
    """The name of a plan's file without its endings, "plan" where it comes from standard input."""
    return plan.name.removesuffix(".jsonl").removesuffix(".plan") if plan != Path("-") else "plan"


def plan_notes(plan: Plan) -> tuple[str, ...]:
    """Sentences on a plan that its user should know."""
    from rocketmq_conformance.models import rulebook

    notes = []
    if plan.rulebook != rulebook.digest():
        notes.append("the plan was written under another rule book; it is judged by this one")
    if plan.cut_off:
        notes.append("the last line of the plan is cut off: its case is left out")
    return tuple(notes)


def read_corpus(
    more: Sequence[Path], suites: Sequence[Suite]
) -> tuple[dict[str, list[StoredCase]], dict[str, list[StoredCase]]]:
    """The plans of the folders ``more`` of --corpus by suite, and those of the corpus beside them; usage errors for
    what is none or is damaged."""
    from rocketmq_conformance.conformance.engine import corpus
    from rocketmq_conformance.conformance.engine import plan as plans

    try:
        for folder in more:
            if not corpus.files(folder):
                raise click.UsageError(f"{folder} has no plans of a corpus ({corpus.PATTERN}): name another folder.")
        every = corpus.folders(more)
        named = [folder for folder in every if folder in more]
        return corpus.cases(named, suites), corpus.cases(every[len(named) :], suites)
    except plans.PlanError as error:
        raise click.UsageError(str(error)) from error


def read_expected(path: Path) -> tuple[Entry, ...]:
    """The entries of a file of expected divergences; a usage error when it is none."""
    from rocketmq_conformance.conformance.engine import expected_file

    try:
        return tuple(expected_file.read(path))
    except expected_file.ExpectedError as error:
        raise click.UsageError(str(error)) from error


def read_rulebook(version: str) -> RuleBook:
    """The rule book of a release of the kit; a usage error when there is none."""
    from rocketmq_conformance.conformance.engine import rulebook_versions

    try:
        return rulebook_versions.of_version(version)
    except KeyError as error:
        raise click.UsageError(error.args[0]) from error


def writable_folder(path: Path, option: str = "--out") -> Path:
    """A folder that is there now, and can be written to; ``option`` is how another one can be named."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CouldNot(
            f"Nothing can be written to {path} ({error.strerror}): name another folder with {option}."
        ) from error
    return path


def default_out(address: str, seed: int) -> Path:
    """The folder in which a run is kept by default."""
    slug = "".join(c if c.isalnum() or c in ".-" else "-" for c in address).strip("-")
    return Path("conformance-out") / f"{slug}-{seed}"
