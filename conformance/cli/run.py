"""The command ``run``: generates plans, plays them on an address and compares with the model."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    address_through,
    chosen_suites,
    default_out,
    expected_option,
    judging_options,
    max_time_option,
    out_option,
    quirks_option,
    read_corpus,
    read_expected,
    read_rulebook,
    rule_named,
    rule_option,
    rulebook_option,
    seed_option,
    stop_option,
    suite_notes,
    suites_option,
    through_option,
    worker_count,
)
from rocketmq_conformance.reports.tiers import CORPUS, COVER, HYPOTHESIS, SEEDED, TIERS


@click.command()
@address_argument
@suites_option
@rule_option
@click.option("--cases", type=click.IntRange(min=1), help="Cases per suite.")
@click.option("--steps", type=click.IntRange(min=1, max=100_000), help="Steps per case.")
@seed_option
@max_time_option
@out_option
@stop_option
@click.option(
    "--workers",
    callback=worker_count,
    default="1",
    metavar="N|auto",
    help="How many suites are played at a time, each in a process that opens ADDRESS for itself; auto: one for each "
    "processor.",
)
@click.option(
    "--corpus",
    "more_corpus",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Also play the plans of this folder, before anything else.",
)
@click.option(
    "--tier",
    "tiers",
    type=click.Choice(TIERS),
    multiple=True,
    help="Only this tier: the covering plans, the corpus, cases from the seed, or cases that Hypothesis draws. May be "
    "repeated; all of them by default.",
)
@click.option("--examples", type=click.IntRange(min=1), help="Cases per suite that Hypothesis draws.")
@expected_option
@quirks_option
@rulebook_option
@through_option
@judging_options
def run(
    address: str,
    patterns: tuple[str, ...],
    rule_id: str | None,
    cases: int | None,
    steps: int | None,
    seed: int | None,
    max_time: float | None,
    out: Path | None,
    stop_at_first: bool,
    workers: int,
    more_corpus: tuple[Path, ...],
    tiers: tuple[str, ...],
    examples: int | None,
    expected: Path | None,
    quirks: bool,
    rulebook: str | None,
    through: str | None,
    judging: Judging,
) -> None:
    """Generate plans, run them on ADDRESS and on the model, and compare."""
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    address = address_through(address, through)
    suites = chosen_suites(patterns, rule_id)
    tiers = tiers or TIERS
    if more_corpus and CORPUS not in tiers:
        raise click.UsageError("--corpus needs the tier corpus: add --tier corpus, or leave --corpus out.")
    if cases is not None and SEEDED not in tiers:
        raise click.UsageError("--cases is a number of cases from the seed: add --tier seeded, or leave --cases out.")
    if examples is not None and HYPOTHESIS not in tiers:
        raise click.UsageError("--examples needs the tier hypothesis: add --tier hypothesis, or leave it out.")
    if stop_at_first and workers > 1:
        raise click.UsageError(
            "-x stops at the first divergence, and --workers play several suites at a time: leave one of them out."
        )
    seed = secrets.randbelow(2**32) if seed is None else seed
    out = out or default_out(address, seed)
    notes = suite_notes(patterns)
    first, corpus = read_corpus(more_corpus, suites) if CORPUS in tiers else ({}, {})
    options = Options(
        address,
        seed,
        cases if SEEDED in tiers else 0,
        steps,
        max_time,
        out,
        stop_at_first,
        notes=notes,
        cover=COVER in tiers,
        examples=examples if HYPOTHESIS in tiers else 0,
        first=first,
        corpus=corpus,
        expected=read_expected(expected) if expected else (),
        quirks=quirks,
        rulebook=read_rulebook(rulebook) if rulebook else None,
    )
    rule = rule_named(rule_id).id if rule_id else ""
    judge(suites, options, judging, named=bool(patterns or rule_id), rule=rule, workers=workers)
