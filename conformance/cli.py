"""The command line. Exit codes: 0 conforms, 1 diverges, 2 usage, 3 undecided, 4 could not run, 5 fault of the kit."""

from __future__ import annotations

import json
import os
import secrets
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
from rocketmq_conformance import __version__
from rocketmq_conformance.conformance import plan as plans
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Hello
from rocketmq_conformance.conformance.address import FORMS, AddressError, open_address
from rocketmq_conformance.conformance.hello import hello_of, profile_of
from rocketmq_conformance.conformance.options import Options
from rocketmq_conformance.conformance.runner import Runner
from rocketmq_conformance.conformance.stage import PATIENCE, Stage
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports import jsonl, junit
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.ledger import Ledger
from rocketmq_conformance.suites.registry import SUITES
from rocketmq_conformance.suites.schema import case_line
from rocketmq_conformance.suites.suite import Suite

COULD_NOT_RUN, FAULT = 4, 5
SIDES = ("client", "broker", "java")
#: Cases and steps per suite of a smoke run.
SMOKE_CASES, SMOKE_STEPS = 3, 10


class _Could(click.ClickException):
    """Something that is needed is missing; one sentence, exit code 4."""

    exit_code = COULD_NOT_RUN


def _releases(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for value in values:
        side, equals, release = value.partition("=")
        if not equals or side not in SIDES:
            raise click.BadParameter(f"write client=RELEASE, broker=RELEASE or java=N, not {value!r}")
        if side == "java":
            if not (release.isdecimal() and int(release)):
                raise click.BadParameter(f"write the number of a Java release, such as java=17, not {value!r}")
            found[side] = release
            continue
        try:
            found[side] = str(Release.parse(release))
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return found


_ADDRESS = click.argument("address", default="port")
_WITH = click.option(
    "--with",
    "releases",
    multiple=True,
    callback=_releases,
    metavar="SIDE=RELEASE",
    help="Judge a side by this release: client=4.9.8, broker=5.1.4 or java=11 (the broker's).",
)
_LIKE = click.option("--like", metavar="RELEASE", help="Judge a port as this release of the Java client.")
_OUT = click.option("--out", type=click.Path(path_type=Path), help="Folder for plans, events and reports.")
_SEED = click.option("--seed", type=int, help="Seed of the plans; a random one is chosen and printed when absent.")
_FORMAT = click.option("--format", "form", type=click.Choice(["human", "jsonl"]), default="human")
_PATIENCE = click.option(
    "--patience", type=click.FloatRange(0.1, 86_400), default=PATIENCE, show_default=True, help="Seconds per operation."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="rocketmq-conformance")
def cli() -> None:
    """Judge a RocketMQ client or broker by an executable reference model.

    \b
    ADDRESS says what is judged:
      port                           the bundled Python port (the default)
      python:package.module:factory  any Python implementation
      java-client:VERSION            the real Java client's own classes
      broker:VERSION                 a real broker, started from jars
      broker:HOST:PORT               a broker that is already running
      mutant:NAME                    the port with one deliberate fault
    """


@cli.command()
@_ADDRESS
@click.option("-k", "pattern", help="Only suites that match: a part of the name, or a pattern such as 'start-*'.")
@click.option("--rule", "rule_id", help="Only suites that can reach this rule.")
@click.option("--cases", type=click.IntRange(min=1), help="Cases per suite.")
@click.option("--steps", type=click.IntRange(min=1, max=100_000), help="Steps per case.")
@_SEED
@click.option("--max-time", type=click.FloatRange(min=0), help="Begin no case after so many seconds.")
@_OUT
@click.option("-x", "stop_at_first", is_flag=True, help="Stop at the first divergence.")
@_FORMAT
@_WITH
@_LIKE
@_PATIENCE
def run(
    address: str,
    pattern: str | None,
    rule_id: str | None,
    cases: int | None,
    steps: int | None,
    seed: int | None,
    max_time: float | None,
    out: Path | None,
    stop_at_first: bool,
    form: str,
    releases: dict[str, str],
    like: str | None,
    patience: float,
) -> None:
    """Generate plans, run them on ADDRESS and on the model, and compare."""
    suites = _chosen(pattern, rule_id)
    seed = secrets.randbelow(2**32) if seed is None else seed
    out = out or Path("conformance-out") / f"{_slug(address)}-{seed}"
    options = Options(address, seed, cases, steps, max_time, out, stop_at_first)
    _judge(address, suites, options, form, _overrides(releases, like), patience, named=bool(pattern or rule_id))


@cli.command()
@click.argument("plan", type=click.Path(path_type=Path))
@_ADDRESS
@click.option("--case", "number", type=int, help="Only this case of the plan.")
@_OUT
@_FORMAT
@_WITH
@_LIKE
@_PATIENCE
def replay(
    plan: Path,
    address: str,
    number: int | None,
    out: Path | None,
    form: str,
    releases: dict[str, str],
    like: str | None,
    patience: float,
) -> None:
    """Run the cases of a PLAN file again on ADDRESS."""
    read = _read_plan(plan, number)
    notes = []
    if read.rulebook != rulebook.digest():
        notes.append("the plan was written under another rule book; it is judged by this one")
    options = Options(address, read.seed, out=out, plans={read.suite.name: read.cases}, notes=tuple(notes), plan=plan)
    _judge(address, [read.suite], options, form, _overrides(releases, like), patience, planned=read.profile)


@cli.command()
@click.argument("plan", type=click.Path(path_type=Path))
@_ADDRESS
@click.option("--case", "number", type=int, help="Only this case of the plan.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the shrunk plan.  [default: beside PLAN]")
@_FORMAT
@_WITH
@_LIKE
@_PATIENCE
def shrink(
    plan: Path,
    address: str,
    number: int | None,
    out: Path | None,
    form: str,
    releases: dict[str, str],
    like: str | None,
    patience: float,
) -> None:
    """Find the shortest plan that shows the first divergence of a PLAN file on ADDRESS."""
    read = _read_plan(plan, number)
    folder = out or plan.parent / f"{plan.name.removesuffix('.jsonl').removesuffix('.plan')}-shrunk"
    cases = {read.suite.name: read.cases}
    options = Options(address, read.seed, out=folder, stop_at_first=True, plans=cases, plan=plan)
    _judge(address, [read.suite], options, form, _overrides(releases, like), patience, planned=read.profile)


@cli.command()
@_ADDRESS
@_FORMAT
@_WITH
@_LIKE
@_PATIENCE
def smoke(address: str, form: str, releases: dict[str, str], like: str | None, patience: float) -> None:
    """A few short cases of every suite: is ADDRESS plugged in rightly?"""
    options = Options(address, 1, SMOKE_CASES, SMOKE_STEPS)
    _judge(address, _chosen(None, None), options, form, _overrides(releases, like), patience)


@cli.command("list")
@click.argument("what", type=click.Choice(["suites", "rules", "operations", "mutants"]))
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "schema"]),
    default="human",
    help="schema: of operations, the JSON Schema of a plan's case lines.",
)
def list_(what: str, form: str) -> None:
    """Name the suites, rules, operations or mutants."""
    if form == "schema":
        if what != "operations":
            raise click.UsageError("Only operations have a schema: write `list operations --format schema`.")
        click.echo(json.dumps(case_line(SUITES.values()), indent=2))
    elif what == "suites":
        for suite in SUITES.values():
            note = "" if suite.ordinary else "  (only when named with -k)"
            click.echo(f"{suite.name:<18} {suite.side.value:<7} {suite.sentence}{note}")
    elif what == "rules":
        for rule in rulebook.RULES.values():
            click.echo(f"{rule.id:<20} {rule.level.value:<9} {rule.releases:<18} {rule.sentence}")
    elif what == "operations":
        for suite in SUITES.values():
            for op in suite.operations:
                fields = ", ".join(name for name, _ in op.form.domains)
                click.echo(f"{suite.name}/{op.form.name}({fields})  {op.form.sentence}")
    else:
        from rocketmq_conformance.conformance.port.mutants import MUTANTS

        for mutant in MUTANTS.values():
            note = f"  (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
            click.echo(f"{mutant.name:<32} {mutant.defect:<5} {mutant.sentence}{note}")


@cli.command()
@click.argument("rule_id", metavar="RULE")
def explain(rule_id: str) -> None:
    """Say what RULE demands, of which releases, and where it comes from."""
    rule = _rule(rule_id)
    click.echo(f"{rule.id}  ({rule.level.value}, {rule.origin.value})")
    click.echo(f"  {rule.sentence}")
    click.echo(f"  releases  {rule.releases}")
    click.echo(f"  source    {rule.source}")
    reached = [suite.name for suite in SUITES.values() if rule.id in suite.rules]
    click.echo(f"  suites    {', '.join(reached) or 'none reaches it; it is proven beside them'}")


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 lets the system choose.")
@click.option("--topic", "topics", multiple=True, metavar="NAME[=QUEUES]", help="A topic that is there from the start.")
@click.option("--fault", "faults", multiple=True, metavar="REQUEST=FAULT", help="Play a request code by a fault.")
@click.option("--auto-create/--no-auto-create", default=True, show_default=True, help="Create topics on first use.")
@_WITH
def serve(
    host: str, port: int, topics: tuple[str, ...], faults: tuple[str, ...], auto_create: bool, releases: dict[str, str]
) -> None:
    """Run an embedded name server and broker, answered by the model, until interrupted."""
    from rocketmq_conformance.conformance.remoting.serve import serve as serve_broker

    profile = profile_of(Hello("serve", __version__), releases)

    def ready(address: str) -> None:
        click.echo(f"serving name server and broker at {address} (broker {profile.broker}); Ctrl-C ends it")

    try:
        serve_broker(profile, host, port, topics=topics, faults=faults, auto_create=auto_create, ready=ready)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise _Could(str(error)) from error
    except KeyboardInterrupt:
        click.echo("stopped")


@cli.command()
@click.argument("names", nargs=-1)
@_SEED
@click.option(
    "--cases", type=click.IntRange(min=1), default=2000, show_default=True, help="Cases per suite and mutant."
)
@_OUT
@_FORMAT
def power(names: tuple[str, ...], seed: int | None, cases: int, out: Path | None, form: str) -> None:
    """Run the mutants (all, or NAMES) and print which of them were noticed, and how soon."""
    from rocketmq_conformance.conformance.power import measure
    from rocketmq_conformance.reports.power import PowerReport

    seed = 1 if seed is None else seed
    reports: list[Report] = [
        PowerReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout),
    ]
    if out:
        reports.append(jsonl.JsonlReport.to(_folder(out) / "power.jsonl"))
    fanout = Fanout(reports)
    try:
        code = measure(names, seed, cases, fanout)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error
    finally:
        fanout.close()
    _finish(code)


def _chosen(pattern: str | None, rule_id: str | None) -> list[Suite]:
    """The suites of a run; usage errors for what matches nothing."""
    if pattern is None:
        suites = [suite for suite in SUITES.values() if suite.ordinary or rule_id is not None]
    else:
        suites = [suite for suite in SUITES.values() if pattern in suite.name or fnmatch(suite.name, pattern)]
        if not suites:
            raise click.UsageError(f"No suite matches {pattern!r}; there are {', '.join(SUITES)}.")
    if rule_id is not None:
        rule = _rule(rule_id)
        suites = [suite for suite in suites if rule.id in suite.rules]
        if not suites:
            raise click.UsageError(f"No chosen suite can reach the rule {rule.id}.")
    return suites


def _rule(rule_id: str) -> Any:
    try:
        return rulebook.rule(rule_id)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error


def _overrides(releases: dict[str, str], like: str | None) -> dict[str, str]:
    if like is None:
        return releases
    try:
        return {**releases, "client": str(Release.parse(like))}
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--like") from error


def _read_plan(path: Path, number: int | None) -> plans.Plan:
    try:
        read = plans.read(path)
    except plans.PlanError as error:
        raise click.UsageError(str(error)) from error
    if number is None:
        return read
    if number not in read.cases:
        raise click.UsageError(f"{path} has no case {number}.")
    return replace(read, cases={number: read.cases[number]})


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise _Could(f"Nothing can be written to {out} ({error.strerror}): name another folder with --out.") from error
    return out


def _slug(address: str) -> str:
    return "".join(c if c.isalnum() or c in ".-" else "-" for c in address).strip("-")


def _judge(
    address: str,
    suites: Sequence[Suite],
    options: Options,
    form: str,
    overrides: dict[str, str],
    patience: float,
    *,
    planned: Profile | None = None,
    named: bool = False,
) -> None:
    """Judge an address and end the process with the run's exit code."""
    try:
        adapter = open_address(address)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise _Could(str(error)) from error
    options = replace(
        options, judged_as=tuple(word for item in overrides.items() for word in ("--with", "=".join(item)))
    )
    stage = Stage(adapter, Profile(), patience)
    try:
        hello = hello_of(stage)
        profile = profile_of(hello, overrides)
        stage.use(profile)
        if planned is not None and planned != profile:
            options = replace(
                options, notes=(*options.notes, f"the plan was written for {planned}; it is judged by {profile}")
            )
        if not named and planned is None:
            suites = [suite for suite in suites if not hello.refuses(suite)] or suites
        if options.out:
            _folder(options.out)
        code = _run(stage, hello, profile, options, suites, form)
    except (AdapterError, CannotRunError) as error:
        stage.close()
        raise _Could(str(error)) from error
    except OSError as error:
        stage.close()
        raise _Could(f"Writing the run failed ({error}): free the disk or name another folder with --out.") from error
    finally:
        stage.close()
    _finish(code)


def _run(stage: Stage, hello: Hello, profile: Profile, options: Options, suites: Sequence[Suite], form: str) -> int:
    ledger = Ledger()
    reports: list[Report] = [ConsoleReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout)]
    if options.out:
        reports += [jsonl.JsonlReport.to(options.out / jsonl.NAME), junit.JunitReport(options.out / junit.NAME)]
    fanout = Fanout(reports)

    def emit(event: Event) -> None:
        ledger.add(event)
        fanout(event)

    try:
        Runner(stage, hello, profile, options, emit).run(suites)
    finally:
        fanout.close()
    for fault in fanout.faults:
        click.echo(fault, err=True)
    if any(not isinstance(error, OSError) for error in fanout.errors):
        return FAULT
    # nobody reading standard output any more is no reason to doubt the verdict; a full disk is
    if any(not isinstance(error, BrokenPipeError) for error in fanout.errors):
        return COULD_NOT_RUN
    return ledger.conclusion().exit_code


def _finish(code: int) -> None:
    """End the process; a Java machine's threads must not keep it alive."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads it any more: nothing is left to be said at the end either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if "jpype" in sys.modules:
        os._exit(code)
    sys.exit(code)


def main() -> None:
    """The console script."""
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        _finish(3)
    except click.ClickException as error:
        error.show()
        _finish(error.exit_code)
    except click.exceptions.Exit as end:
        _finish(end.exit_code)
    except Exception:
        traceback.print_exc()
        click.echo(
            "This is a fault of the kit, not of what is judged: please report it with the lines above.", err=True
        )
        _finish(FAULT)


__all__ = ["FORMS", "cli", "main"]
