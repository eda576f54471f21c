"""The campaign commands."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rocketmq_conformance.conformance.cli.exit import FAULT, KIT_FAULT, CouldNot, Interrupted, finish, reported
from rocketmq_conformance.conformance.cli.lazy_group import Lazy, LazyGroup
from rocketmq_conformance.conformance.cli.options import (
    Number,
    chosen_suites,
    default_out,
    like_option,
    named_releases,
    overrides,
    patience_option,
    releases_option,
    seed_option,
    start_timeout_option,
    suite_notes,
    suites_option,
    verbose_option,
)
from rocketmq_conformance.conformance.cli.output import say

CASES = 100_000
#: Addresses that the name of a folder has.
NAMED = 3
DEFAULT = ParameterSource.DEFAULT


_HERE = "rocketmq_conformance.conformance.cli"
#: The commands of the group by name; what they need is imported when they are used.
COMMANDS = {
    "diff": Lazy(
        f"{_HERE}.campaign_diff:diff",
        "Compare what two stored campaigns with the same plans did.",
        "campaign diff monday tuesday",
    ),
    "promote": Lazy(
        f"{_HERE}.campaign_promote:promote",
        "Put minimal plans of a campaign into the corpus.",
        "campaign promote nightly",
    ),
    "run": Lazy(
        f"{_HERE}.campaign:run",
        "Play cases on every ADDRESS, and compare.",
        "campaign run port --cases 100000 --out nightly",
    ),
    "trend": Lazy(
        f"{_HERE}.campaign_trend:trend",
        "Compare the latest of several stored campaigns with those before.",
        "campaign trend monday tuesday wednesday",
    ),
}


class _Group(LazyGroup):
    """A group whose first word is an address, unless it is a command."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.lazy, *context.help_option_names}:
            args = ["run", *args]
        return super().parse_args(context, args)


@click.group(cls=_Group, lazy=COMMANDS, invoke_without_command=False)
def campaign() -> None:
    """Play very many seeded cases with Spark, and keep them as tables.

    \b
    campaign ADDRESS… [OPTIONS]    play cases; `campaign run --help` lists the options
    campaign diff A B              compare two stored campaigns
    campaign promote DIR           put minimal plans into the corpus
    campaign trend DIR…            compare last night's campaign with those before it
    """


@click.command()
@click.argument("addresses", nargs=-1, metavar="ADDRESS...", required=False)
@click.option(
    "--cases", type=click.IntRange(min=1), help=f"Cases in all, spread over the suites.  [default: {CASES:,}]"
)
@suites_option
@seed_option
@click.option("--steps", type=click.IntRange(min=1, max=100_000), help="Steps per case.")
@click.option("--master", metavar="URL", help="Where Spark runs: local[N], spark://HOST:PORT …  [default: local[*]]")
@click.option("--partitions", type=click.IntRange(min=1), help="Partitions of every Spark job.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the campaign; all workers must see it.")
@click.option("--resume", is_flag=True, help="Resume the campaign in --out.")
@click.option("--max-time", type=Number(min=0), help="Begin no block of cases after this many seconds.")
@click.option(
    "--max-divergences", type=click.IntRange(min=1), help="Begin no block after this many cases that diverge."
)
@click.option("--sample", type=Number(0, 1), help="Share of the cases that conform whose steps are stored.")
@click.option("--steer", type=Number(0, 0.9), help="Share of the cases for suites that still find something new.")
@click.option("--memory", type=click.IntRange(min=64), help="MiB that a worker's player may take.  [default: 2048]")
@click.option(
    "--plans",
    multiple=True,
    callback=named_releases,
    metavar="SIDE=RELEASE",
    help="Draw the plans for this release, to compare campaigns of several.  [default: that of the first ADDRESS]",
)
@releases_option
@like_option
@patience_option
@verbose_option
@start_timeout_option
@click.option("--format", "form", type=click.Choice(["human", "jsonl"]), default="human")
def run(
    addresses: tuple[str, ...],
    cases: int | None,
    patterns: tuple[str, ...],
    seed: int | None,
    steps: int | None,
    master: str | None,
    partitions: int | None,
    out: Path | None,
    resume: bool,
    max_time: float | None,
    max_divergences: int | None,
    sample: float | None,
    steer: float | None,
    memory: int | None,
    plans: dict[str, str],
    releases: dict[str, str],
    like: str | None,
    patience: float,
    verbose: bool,
    start_timeout: float,
    form: str,
) -> None:
    """Play cases on every ADDRESS: all play the same plans and are compared with the model and with one another.

    Releases may be listed, java-client:4.9.8,5.5.0, or be a range, java-client:4.9.4..5.5.0. Without ADDRESS it is
    the bundled port. Exit codes are those of `run`.
    """
    # Adapters, Spark and the reports are imported when they are needed: --help does not.
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.targets.address import AddressError
    from rocketmq_conformance.reports import html, jsonl, junit, markdown
    from rocketmq_conformance.reports.campaign import CampaignReport
    from rocketmq_conformance.reports.fanout import Fanout, Report
    from rocketmq_conformance.reports.start_display import StartDisplay

    try:
        from rocketmq_conformance.conformance.campaign.api import opened_campaign
        from rocketmq_conformance.conformance.campaign.driver import Driver, SessionOptions
        from rocketmq_conformance.conformance.campaign.player.player_supervisor import PlayerFaultError
        from rocketmq_conformance.conformance.campaign.spark.master import MasterError
        from rocketmq_conformance.conformance.campaign.tables.reading import FILE, CampaignError, DamagedError
        from rocketmq_conformance.conformance.release_axis.addresses import addresses_of
    except ModuleNotFoundError as error:
        raise CouldNot(f"A campaign needs {error.name}: install the kit as rocketmq-conformance[spark].") from error
    source = click.get_current_context().get_parameter_source
    try:
        addresses = addresses_of(addresses)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    asked: dict[str, Any] = {
        "addresses": addresses or None,
        "cases": cases,
        "seed": seed,
        "steps": steps,
        "sample": sample,
        "steer": steer,
        "plans": plans or None,
        "releases": overrides(releases, like) or None,
        # a resumed campaign keeps its own unless the user says otherwise
        "patience": patience if source("patience") != DEFAULT else None,
        "start_timeout": start_timeout if source("start_timeout") != DEFAULT else None,
        "memory": None if memory is None else memory << 20,
        "suites": tuple(suite.name for suite in chosen_suites(patterns, None)) if patterns else None,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    if resume and out is None:
        raise click.UsageError("--resume needs the campaign's folder: name it with --out.")
    if not resume:
        seed = asked.setdefault("seed", secrets.randbelow(2**32))
        chosen = asked.setdefault("addresses", ("port",))
        asked.setdefault("cases", CASES)
        named = "-".join(chosen) if len(chosen) <= NAMED else f"{'-'.join(chosen[:NAMED])}-and-{len(chosen) - NAMED}"
        out = out or Path(f"{default_out(named, seed)}-campaign")
    assert out is not None
    human = form == "human"
    reports: list[Report] = [CampaignReport(sys.stdout, verbose=verbose) if human else jsonl.JsonlReport(sys.stdout)]
    fanout = Fanout(reports)
    code = FAULT
    try:
        with (
            StartDisplay(sys.stderr) as display,
            opened_campaign(out, asked, resume=resume, master=master, on_start=display) as (spec, opened),
        ):
            fanout.add(jsonl.JsonlReport.to(out / jsonl.NAME))
            fanout.add(junit.JunitReport(out / junit.NAME))
            fanout.add(html.HtmlReport(out / html.NAME))
            fanout.add(markdown.MarkdownReport(out))
            notes = suite_notes(patterns)
            options = SessionOptions(out, master, partitions, max_time, max_divergences, notes)
            code = Driver(spec, options, fanout).run(opened)
    except (CannotRunError, DamagedError) as error:
        raise CouldNot(str(error)) from error
    except (AddressError, CampaignError, MasterError) as error:
        raise click.UsageError(str(error)) from error
    except PlayerFaultError as error:
        say(str(error), err=True)
        say(KIT_FAULT, err=True)
        finish(FAULT)
    except OSError as error:
        raise CouldNot(
            f"Writing to {out} failed ({error.strerror or error}): free the disk, then go on with --resume."
        ) from error
    except KeyboardInterrupt as error:
        known = f": {out} keeps what is finished, go on with --resume." if (out / FILE).exists() else "."
        raise Interrupted(f"Interrupted{known}") from error
    finally:
        fanout.close()
    finish(reported(fanout, code))
