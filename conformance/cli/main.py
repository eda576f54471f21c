"""The command line. Exit codes: 0 conforms, 1 diverges, 2 usage, 3 undecided, 4 could not run, 5 fault of the kit."""

from __future__ import annotations

import json
import secrets
import sys
import traceback
from pathlib import Path

import click

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import CannotRunError, Hello
from rocketmq_conformance.conformance.cli.campaign import campaign
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, FAULT, KIT_FAULT, UNDECIDED, CouldNot, finish
from rocketmq_conformance.conformance.cli.judging import judge
from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    case_option,
    chosen_suites,
    default_out,
    format_option,
    judging_options,
    out_option,
    plan_argument,
    read_corpus,
    read_plan,
    releases_option,
    rule_named,
    seed_option,
    writable_folder,
)
from rocketmq_conformance.conformance.cli.report import report
from rocketmq_conformance.conformance.cli.scenario import scenario
from rocketmq_conformance.conformance.compiled import is_compiled
from rocketmq_conformance.conformance.engine.handshake import profile_of
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.suites.declare.discovery import SUITES, DiscoveryError
from rocketmq_conformance.suites.declare.schema import case_line

#: Cases and steps per suite of a smoke run.
SMOKE_CASES, SMOKE_STEPS = 3, 10


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(f"{__version__}, compiled" if is_compiled() else __version__, prog_name="rocketmq-conformance")
def cli() -> None:
    """Judge a RocketMQ client or broker by an executable reference model.

    \b
    ADDRESS says what is judged:
      port                           the bundled Python port (the default)
      python:package.module:factory  any Python implementation
      java-client:VERSION            the real Java client's own classes
      broker                         the embedded broker, which needs nothing
      broker:VERSION                 a real broker, started from jars
      broker:HOST:PORT               a broker that is already running
      mutant:NAME                    the port, or a broker, with one deliberate fault

    broker:VERSION?via=container starts the broker in a container.

    With ?clock=real&pace=N behind it a port, a mutant of one or a java-client has a real clock, N times faster.
    """


@cli.command()
@address_argument
@click.option("-k", "pattern", help="Only suites that match: a part of the name, or a pattern such as 'start-*'.")
@click.option("--rule", "rule_id", help="Only suites that can reach this rule.")
@click.option("--cases", type=click.IntRange(min=1), help="Cases per suite.")
@click.option("--steps", type=click.IntRange(min=1, max=100_000), help="Steps per case.")
@seed_option
@click.option("--max-time", type=click.FloatRange(min=0), help="Begin no case after so many seconds.")
@out_option
@click.option("-x", "stop_at_first", is_flag=True, help="Stop at the first divergence.")
@click.option(
    "--corpus",
    "more_corpus",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Play the plans of this folder first too, with those of the kit and of ./corpus.",
)
@click.option("--no-corpus", is_flag=True, help="Play generated cases only.")
@judging_options
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
    more_corpus: tuple[Path, ...],
    no_corpus: bool,
    judging: Judging,
) -> None:
    """Generate plans, run them on ADDRESS and on the model, and compare."""
    suites = chosen_suites(pattern, rule_id)
    if no_corpus and more_corpus:
        raise click.UsageError("--corpus and --no-corpus contradict each other: give one of them.")
    corpus = {} if no_corpus else read_corpus(more_corpus, suites)
    seed = secrets.randbelow(2**32) if seed is None else seed
    out = out or default_out(address, seed)
    options = Options(address, seed, cases, steps, max_time, out, stop_at_first, corpus=corpus)
    judge(suites, options, judging, named=bool(pattern or rule_id))


@cli.command()
@plan_argument
@address_argument
@case_option
@out_option
@judging_options
def replay(plan: Path, address: str, number: int | None, out: Path | None, judging: Judging) -> None:
    """Run the cases of a PLAN file again on ADDRESS."""
    read = read_plan(plan, number)
    notes = []
    if read.rulebook != rulebook.digest():
        notes.append("the plan was written under another rule book; it is judged by this one")
    options = Options(address, read.seed, out=out, plans={read.suite.name: read.cases}, notes=tuple(notes), plan=plan)
    judge([read.suite], options, judging, planned=read.profile)


@cli.command()
@plan_argument
@address_argument
@case_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the shrunk plan.  [default: beside PLAN]")
@judging_options
def shrink(plan: Path, address: str, number: int | None, out: Path | None, judging: Judging) -> None:
    """Find the shortest plan that shows the first divergence of a PLAN file on ADDRESS."""
    read = read_plan(plan, number)
    folder = out or plan.parent / f"{plan.name.removesuffix('.jsonl').removesuffix('.plan')}-shrunk"
    cases = {read.suite.name: read.cases}
    options = Options(address, read.seed, out=folder, stop_at_first=True, plans=cases, plan=plan)
    judge([read.suite], options, judging, planned=read.profile)


@cli.command()
@address_argument
@judging_options
def smoke(address: str, judging: Judging) -> None:
    """A few short cases of every suite: is ADDRESS plugged in rightly?"""
    options = Options(address, 1, SMOKE_CASES, SMOKE_STEPS)
    judge(chosen_suites(None, None), options, judging)


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
                fields = ", ".join(name for name, _ in op.spec.domains)
                click.echo(f"{suite.name}/{op.spec.name}({fields})  {op.spec.sentence}")
    else:
        from rocketmq_conformance.conformance.targets.mutants import MUTANTS

        for mutant in MUTANTS.values():
            note = f"  (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
            click.echo(f"{mutant.name:<32} {mutant.defect:<5} {mutant.sentence}{note}")


@cli.command()
@click.argument("rule_id", metavar="RULE")
def explain(rule_id: str) -> None:
    """Say what RULE demands, of which releases, and where it comes from."""
    rule = rule_named(rule_id)
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
@click.option(
    "--lease",
    type=click.IntRange(min=1),
    metavar="MS",
    help="How long locks of queues live; a minute unless given. Judge it as broker:HOST:PORT?lease=MS.",
)
@releases_option
def serve(
    host: str,
    port: int,
    topics: tuple[str, ...],
    faults: tuple[str, ...],
    auto_create: bool,
    lease: int | None,
    releases: dict[str, str],
) -> None:
    """Run an embedded name server and broker, answered by the model, until interrupted."""
    from rocketmq_conformance.conformance.fakes.serve import serve as serve_broker
    from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME

    profile = profile_of(Hello("serve", __version__), releases)

    def ready(address: str) -> None:
        click.echo(f"serving name server and broker at {address} (broker {profile.broker}); Ctrl-C ends it")

    try:
        serve_broker(
            profile,
            host,
            port,
            topics=topics,
            faults=faults,
            auto_create=auto_create,
            lease=lease or MAX_LIVE_TIME,
            ready=ready,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    except KeyboardInterrupt:
        click.echo("stopped")


@cli.command()
@click.argument("names", nargs=-1)
@seed_option
@click.option(
    "--cases", type=click.IntRange(min=1), default=2000, show_default=True, help="Cases per suite and mutant."
)
@out_option
@format_option
def power(names: tuple[str, ...], seed: int | None, cases: int, out: Path | None, form: str) -> None:
    """Run the mutants (all, or NAMES) and print which of them were noticed, and how soon."""
    from rocketmq_conformance.conformance.targets.mutation_score import measure
    from rocketmq_conformance.reports.power import PowerReport

    seed = 1 if seed is None else seed
    reports: list[Report] = [
        PowerReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout),
    ]
    if out:
        reports.append(jsonl.JsonlReport.to(writable_folder(out) / "power.jsonl"))
    fanout = Fanout(reports)
    try:
        code = measure(names, seed, cases, fanout)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error
    finally:
        fanout.close()
    finish(code)


cli.add_command(campaign)
cli.add_command(report)
cli.add_command(scenario)


def main() -> None:
    """The console script."""
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        finish(UNDECIDED)
    except click.ClickException as error:
        error.show()
        finish(error.exit_code)
    except click.exceptions.Exit as end:
        finish(end.exit_code)
    except DiscoveryError as error:
        click.echo(f"Error: {error}", err=True)
        finish(COULD_NOT_RUN)
    except Exception:
        traceback.print_exc()
        click.echo(KIT_FAULT, err=True)
        finish(FAULT)
