"""The commands of the group ``prove``: one for each proof, and the page of their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, product, starmap
from pathlib import Path
from typing import TypeVar

import click

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, finish
from rocketmq_conformance.conformance.cli.fetch import broker_jars, client_jars, fetch_jars
from rocketmq_conformance.conformance.cli.options import client_names, release_names
from rocketmq_conformance.conformance.cli.output import say, say_text
from rocketmq_conformance.conformance.cli.proving import (
    Proof,
    Work,
    rule_option,
    settle,
    start_timeout_option,
    suite_option,
    work_options,
)
from rocketmq_conformance.conformance.proof import broker as brokers_proof
from rocketmq_conformance.conformance.proof import (
    client_broker_matrix,
    java_clock,
    kinds,
    predicted_lite,
    predicted_starts,
    predicted_upgrades,
    proof_docs,
)
from rocketmq_conformance.conformance.proof import java as java_proof
from rocketmq_conformance.conformance.proof import whole as whole_proof
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.predicted_failover import RELEASES as PAIRED
from rocketmq_conformance.conformance.proof.predicted_failover import failover_pairs, prove_failovers
from rocketmq_conformance.conformance.proof.predicted_lite import prove_predicted_lite
from rocketmq_conformance.conformance.proof.predicted_mixed import prove_mixed
from rocketmq_conformance.conformance.proof.predicted_pops import RELEASES as POPPED
from rocketmq_conformance.conformance.proof.predicted_pops import prove_pops
from rocketmq_conformance.conformance.proof.predicted_resets import prove_predicted_resets
from rocketmq_conformance.conformance.proof.side_by_side import More, one_by_one
from rocketmq_conformance.conformance.proof.unit import BROKER, CLOCK, JAVA, SCRIPTED, WHOLE, Unit
from rocketmq_conformance.conformance.targets.maven import Wanted
from rocketmq_conformance.models.release import NEWEST, Release

ROWS = Path("docs/proof")
#: What is compared with a prediction: a start or reset, or an upgrade.
Compared = TypeVar("Compared", predicted_starts.Agreement, predicted_upgrades.UpgradeAgreement)


def _releases(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Releases that are given as arguments."""
    return release_names(context, option, ",".join(values))


def _clients(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Releases of clients that are given as arguments, as Maven spells them."""
    return client_names(context, option, ",".join(values))


_releases_argument = click.argument("releases", nargs=-1, callback=_releases)
_clients_argument = click.argument("releases", nargs=-1, callback=_clients)


def _workers_option(default: int, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option("--workers", type=click.IntRange(min=1), default=default, help=text)


@click.command(name="all")
@suite_option
@rule_option
@work_options
def all_(work: Work) -> None:
    """Prove everything: all releases of clients and brokers, and all pairs.

    It takes hours. With --out docs/proof --resume it goes on where it stopped, and --shard spreads it over machines.
    """
    units = [unit for kind in kinds.ALL.values() for unit in kind.units]
    _prove(lambda units, more: kinds.prove_all(units, work.selection, more), units, work)


@click.command()
@_clients_argument
@click.option(
    "--distinct",
    is_flag=True,
    help="Of releases that have the same rules, only the newest; of suites in which several in a row answer the same, "
    "only the first and the last, and covering plans with the newest.",
)
@click.option("--cover", is_flag=True, help="Play covering plans with every release, which takes longer.")
@click.option("--real-clock", is_flag=True, help="Only suites that depend on time, on the clock of the machine.")
@click.option(
    "--scripted",
    callback=client_names,
    metavar="R,R,…",
    help="Also whole consumers of these releases, on brokers that fail by a script.",
)
@_workers_option(java_proof.WORKERS, "Processes, each with a Java machine.  [default: one per CPU, up to 4]")
@suite_option
@rule_option
@work_options
def java(
    releases: tuple[str, ...],
    distinct: bool,
    cover: bool,
    real_clock: bool,
    scripted: tuple[str, ...],
    workers: int,
    work: Work,
) -> None:
    """Ask the classes of real Java clients.

    RELEASES are such as 4.9.8 5.5.0; without them it is every release. --suite and --rule have --cover with them.
    """
    for suite in filter(None, work.selection.suite.split(",")) if real_clock else ():
        if suite not in java_clock.TIMED:
            raise click.UsageError(f"{suite} does not depend on time; what does: {', '.join(java_clock.TIMED)}.")
    if releases and distinct:
        raise click.UsageError("--distinct chooses releases by itself: leave it out, or the releases.")
    chosen = releases or (java_proof.distinct() if distinct else java_proof.RELEASES)
    every = cover or work.selection
    covered = java_proof.covering(chosen if every else java_proof.COVERED)
    left: Mapping[str, Collection[str]] = {}
    exhaustive = java_proof.EXHAUSTIVE
    if distinct and not real_clock:
        say(f"looking where {len(chosen)} releases in a row answer the same, for half a minute", err=True)
        exhaustive = java_proof.exhaustive_among(chosen)
        covered = covered if every else java_proof.covering_among(chosen)
        left = java_proof.repeated(chosen, covered, exhaustive)
    kind = CLOCK if real_clock else JAVA
    selection = kinds.ALL[kind].played(work.selection)

    _prove(
        _with_jars(
            client_jars,
            lambda units, more: kinds.prove_clients(units, workers, covered, selection, more, left, exhaustive),
        ),
        (*kinds.of_releases(kind, chosen), *kinds.of_releases(SCRIPTED, scripted)),
        work,
    )


@click.command()
@_releases_argument
@_workers_option(brokers_proof.WORKERS, f"Releases side by side.  [default: {brokers_proof.WORKERS}]")
@suite_option
@rule_option
@work_options
def broker(releases: tuple[str, ...], workers: int, work: Work) -> None:
    """Ask real brokers, started from jars.

    RELEASES are such as 4.9.7 5.5.0; without them it is these two, and few of the starts on damaged files.
    """
    selection = kinds.ALL[BROKER].played(work.selection)
    brief = not releases and not selection
    _prove(
        _with_jars(
            lambda release: broker_jars(Release.parse(release)),
            lambda units, more: brokers_proof.prove_all(units, workers, selection, more, brief=brief),
        ),
        kinds.of_releases(BROKER, releases or brokers_proof.RELEASES),
        work,
    )


@click.command()
@click.option("--clients", callback=client_names, metavar="R,R,…", help="Client releases, such as 4.9.7,5.5.0.")
@click.option("--brokers", callback=release_names, metavar="R,R,…", help="Broker releases, such as 4.9.7,5.5.0.")
@click.option(
    "--name-server",
    callback=release_names,
    metavar="R",
    help=f"Release of the name server; rows are kept with the newest one alone.  [default: {NEWEST}]",
)
@rule_option
@work_options
def pairs(clients: tuple[str, ...], brokers: tuple[str, ...], name_server: tuple[str, ...], work: Work) -> None:
    """Ask every pair of a real client and a real broker.

    They talk over TCP. Without --clients and --brokers it is ten releases of both.
    """
    if len(name_server) > 1:
        raise click.UsageError("--name-server takes one release: run the command once for each.")
    named_by = Release.parse(name_server[0]) if name_server else NEWEST
    if work.out and named_by != NEWEST:
        raise click.UsageError(f"--out keeps rows of name server {NEWEST} alone: leave one of the two options out.")
    known = client_broker_matrix.RELEASES
    proof = partial(client_broker_matrix.prove, name_server=named_by)
    _prove(proof, kinds.of_pairs(clients or known, brokers or known), work)


@click.command()
@click.option("--clients", callback=client_names, metavar="R,R,…", help="Client releases, such as 4.9.7,5.5.0.")
@click.option("--brokers", callback=release_names, metavar="R,R,…", help="Broker releases, such as 4.9.7,5.5.0.")
@click.option("--few", is_flag=True, help="A few cases of starts only.")
@click.option("--mixed", is_flag=True, help="Only a cluster of brokers of two releases, with a slave.")
@click.option("--failover", is_flag=True, help="Only pairs of a master and a slave, of --brokers if given.")
@click.option("--pops", is_flag=True, help="Only groups that pop, on --brokers if given.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The page of agreements.")
@start_timeout_option
def predict(
    clients: tuple[str, ...],
    brokers: tuple[str, ...],
    few: bool,
    mixed: bool,
    failover: bool,
    pops: bool,
    out: Path | None,
) -> None:
    """Compare what `predict start` and `predict failover` say with what real consumers then do, and `predict reset`
    with real brokers.

    Without --clients and --brokers it is ten brokers with the newest client, ten clients with the newest broker, a
    cluster of brokers of two releases, pairs of a master and its slave, and groups that pop on every broker from 5.0.0.
    """
    if mixed and (clients or brokers or few):
        raise click.UsageError("--mixed has its own releases: leave out --clients, --brokers and --few.")
    if mixed:
        _compare(prove_mixed(), out, predicted_starts.page_of)
        return
    for name, alone in (("failover", failover), ("pops", pops)):
        if alone and (clients or few):
            raise click.UsageError(f"--{name} has no other options than --brokers: leave out --clients and --few.")
    if failover or pops:
        agreements = prove_pops(brokers or POPPED) if pops else prove_failovers(failover_pairs(brokers or PAIRED))
        _compare(agreements, out, predicted_starts.page_of)
        return
    newest, named = (str(NEWEST),), clients or brokers
    chosen = list(product(clients or newest, brokers or newest)) if named else predicted_starts.pairs()
    brokers = tuple(dict.fromkeys(broker for _, broker in chosen))
    lite = [pair for pair in predicted_lite.PAIRS if not few and (not named or pair in chosen)]
    agreements = chain(
        predicted_starts.prove(chosen, few),
        map(prove_predicted_resets, () if few else brokers),
        starmap(prove_predicted_lite, lite),
        () if few or named else prove_mixed(),
        () if few or named else prove_failovers(failover_pairs()),
        () if few or named else prove_pops(),
    )
    _compare(agreements, out, predicted_starts.page_of)


def _paths(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Releases between commas, two or more."""
    paths = tuple(tuple(text.split(",")) for text in values)
    for path in paths:
        _releases(context, option, path)
        if len(path) == 1:
            raise click.BadParameter(f"{path[0]} alone is no upgrade: write two releases or more, such as 4.9.7,5.5.0.")
    return paths


@click.command()
@click.argument("paths", nargs=-1, callback=_paths, metavar="[R,R,…]...")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The page of agreements.")
@start_timeout_option
def upgrades(paths: tuple[tuple[str, ...], ...], out: Path | None) -> None:
    """Compare what `predict upgrade` says with what the next broker shows on the same store.

    Each argument is a path of releases, such as 4.9.7,5.5.0,4.9.7: a broker of each starts on the store of the one
    before. Without one it is three paths, up and back.
    """
    agreements = chain.from_iterable(map(predicted_upgrades.prove, paths or predicted_upgrades.PATHS))
    _compare(agreements, out, predicted_upgrades.page_of)


def _compare(agreements: Iterable[Compared], out: Path | None, page_of: Callable[[Sequence[Compared]], str]) -> None:
    """Print each agreement once it is known, write the page of all if one is wanted, and end with the exit code."""
    found = []
    for agreement in agreements:
        found.append(agreement)
        say(str(agreement))
        for difference in agreement.differences:
            say(f"  {difference}")
    if out:
        _write_page(out, page_of(found))
    differ = any(agreement.differences for agreement in found)
    finish(1 if differ else COULD_NOT_RUN if any(agreement.missing for agreement in found) else 0)


def _write_page(out: Path, text: str) -> None:
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written ({error.strerror}): name another file.") from error


@click.command()
@_clients_argument
@click.option("--fake", is_flag=True, help="On the fake broker instead of real ones.")
@click.option("--scripted", is_flag=True, help="On fake brokers whose faults come from a table.")
@click.option("--only", default="", metavar="TEXT", help="Only the scripted cases that have this in their name.")
@rule_option
@work_options
def whole(releases: tuple[str, ...], fake: bool, scripted: bool, only: str, work: Work) -> None:
    """Run whole Java consumers, with threads and sockets.

    RELEASES are such as 4.9.7 5.5.0, of consumer and broker alike; without them it is ten, or with --scripted every
    client release.
    """
    if fake and scripted:
        raise click.UsageError("--fake and --scripted contradict each other: give one of them.")
    if only and not scripted:
        raise click.UsageError("--only picks scripted cases: give --scripted too.")
    if work.out and (fake or only):
        raise click.UsageError("--fake and --only prove too little to keep their rows: leave out --out.")
    one = partial(whole_proof.prove, fake=fake, only=only, rule=work.selection.rule)
    chosen = releases or (java_proof.RELEASES if scripted else whole_proof.RELEASES)
    units = kinds.of_releases(SCRIPTED if scripted else WHOLE, chosen)
    _prove(lambda units, more: one_by_one(one, units, more), units, work)


@click.command()
@click.argument("rows", default=ROWS, type=click.Path(path_type=Path))
def page(rows: Path) -> None:
    """Show what was proven, rule by rule, as Markdown.

    ROWS is the folder that the other commands wrote with --out, docs/proof by default.
    """
    if not rows.is_dir():
        raise click.UsageError(f"There is no folder {rows}: name the one that a proof wrote with --out.")
    try:
        text = proof_docs.page_of(KeptRows(rows))
    except OSError as error:
        raise click.UsageError(f"{error.filename} cannot be used: {error.strerror}.") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    say_text(text)


def _with_jars(jars: Callable[[str], list[Wanted]], proof: Proof) -> Proof:
    """A proof that first gets the jars of all releases, which is sooner than one by one."""

    def prove(units: Sequence[Unit], more: More) -> Iterable[ProofResult]:
        with suppress(CannotRunError):  # each release says it for itself
            fetch_jars(chain.from_iterable(jars(unit.release) for unit in units))
        return proof(units, more)

    return prove


def _prove(proof: Proof, units: Sequence[Unit], work: Work) -> None:
    finish(settle(proof, units, work))
