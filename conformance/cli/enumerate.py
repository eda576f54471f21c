"""The command ``enumerate``: every plan of a suite up to a bound, counted, written or played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.exit import UNDECIDED, CouldNot
from rocketmq_conformance.conformance.cli.options import Judging, judging_options, out_option
from rocketmq_conformance.conformance.cli.output import say, say_text
from rocketmq_conformance.reports.text import in_columns

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.campaign.enumeration import PlayedPlans
    from rocketmq_conformance.conformance.engine.enumeration import Enumeration
    from rocketmq_conformance.models.profile import Profile

#: The most transitions by default: what is found and kept in some 10 s.
MOST = 300_000


@click.command(name="enumerate")
@click.argument("name", metavar="SUITE")
@click.argument("address", required=False)
@click.option("--steps", type=click.IntRange(1), default=3, show_default=True, help="Steps of a plan.")
@click.option(
    "--values", type=click.IntRange(1), default=2, show_default=True, help="Values of each argument, simplest first."
)
@click.option("--most", type=click.IntRange(1), default=MOST, show_default=True, help="The most transitions.")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Write the plans.")
@click.option("--master", metavar="URL", help="Search and play on Spark: local[N], spark://HOST:PORT …")
@out_option
@judging_options
def enumerate_(
    name: str,
    address: str | None,
    steps: int,
    values: int,
    most: int,
    plan: Path | None,
    master: str | None,
    out: Path | None,
    judging: Judging,
) -> None:
    """List every plan of SUITE up to a bound, and play them on ADDRESS.

    The model is searched alone; states that are equal are searched once. Without an ADDRESS only the numbers are
    printed. --like and --with say of which release. With --master the processes of Spark search, and each opens the
    ADDRESS for itself; the first plan of each kind that does not conform is then played once more here.
    """
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.enumeration import NotListedError, enumerated
    from rocketmq_conformance.conformance.engine.options import Options
    from rocketmq_conformance.conformance.engine.plan import write
    from rocketmq_conformance.reports.event import CONFORMS
    from rocketmq_conformance.suites.declare.discovery import SUITES

    suite = SUITES.get(name)
    if suite is None:
        raise click.UsageError(f"No suite is called {name!r}: `list suites` names them all.")
    profile = _profile(judging, address)
    played = None
    try:
        if master is None:
            found = enumerated(suite, profile, steps=steps, values=values, most=most)
        else:
            found, played = _on_spark(master, name, profile, address, (steps, values, most), judging)
    except NotListedError as error:
        raise click.UsageError(str(error)) from error
    cases = {number: list(rows) for number, rows in enumerate(found.plans, start=1)}
    if plan:
        write(plan, suite, profile, 0, list(cases.items()))
    bound = _bound(found, steps, values)
    if address is None:
        for line in [*_table(found), bound]:
            say(line)
        return
    if played is not None:
        for line in _played(played, bound, master or ""):
            say(line)
        if set(played.verdicts) == {CONFORMS}:
            say("")
            say("Verdict: conforms (exit code 0).")
            return
        say_text("\nThe first plan of each kind that does not conform, played here:\n\n")
        cases = {number: cases[number] for number in played.examples}
    again = ("enumerate", name, address, "--steps", str(steps), "--values", str(values), "--most", str(most))
    options = Options(address, 0, out=out, plans={suite.name: cases}, notes=(bound,), plan=plan, plans_again=again)
    try:
        judge([suite], options, judging, planned=profile)
    except SystemExit as end:
        if played is None or end.code:
            raise
        say("It conforms here and did not on Spark: the verdict is undecided (exit code 3).", err=True)
        raise SystemExit(UNDECIDED) from end


def _on_spark(
    master: str, suite: str, profile: Profile, address: str | None, bound: tuple[int, int, int], judging: Judging
) -> tuple[Enumeration, PlayedPlans | None]:
    """Search on Spark, and play there when there is an address."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.campaign.enumeration import enumerated_on, played_on
    from rocketmq_conformance.conformance.campaign.spark.master import MasterError
    from rocketmq_conformance.conformance.campaign.spark.session import HANDING_OUT, open_session

    steps, values, most = bound
    try:
        with open_session(master, name=f"enumerate {suite}", config=HANDING_OUT) as spark:
            found = enumerated_on(spark, suite, profile, steps=steps, values=values, most=most)
            if address is None:
                return found, None
            return found, played_on(spark, address, suite, found.plans, judging.overrides)
    except MasterError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise CouldNot(str(error)) from error


def _played(played: PlayedPlans, bound: str, master: str) -> list[str]:
    ended = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(played.verdicts.items()))
    reasons = [f"  plan {number}: {reason}" for number, reason in played.examples.items() if reason]
    return [bound, f"played on {master}: {ended}", *reasons[:10]]


def _profile(judging: Judging, address: str | None) -> Profile:
    """The release whose model is searched: the user's choice, else that of the address, else the newest."""
    from rocketmq_conformance.conformance.adapter import Hello
    from rocketmq_conformance.conformance.engine.handshake import profile_of
    from rocketmq_conformance.conformance.release_axis.addresses import release_of
    from rocketmq_conformance.conformance.targets.address import AddressError, parse_address
    from rocketmq_conformance.conformance.targets.address_kinds import BrokerAddress

    own: dict[str, str] = {}
    try:
        if address and (named := release_of(address)):
            own["broker" if isinstance(parse_address(address), BrokerAddress) else "client"] = str(named)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    return profile_of(Hello("", "", client=own.get("client"), broker=own.get("broker")), judging.overrides).judged()


def _table(found: Enumeration) -> list[str]:
    rows = [("steps", "new states", "transitions", "plans that these stand for")]
    rows += [
        (str(level.steps), f"{level.states:,}", f"{level.transitions:,}", f"{level.plans:,}") for level in found.levels
    ]
    return [*in_columns(rows, right=True)]


def _bound(found: Enumeration, steps: int, values: int) -> str:
    """What was searched, in one sentence."""
    total = sum(map(len, found.plans))
    reach = "of any length" if found.closed else f"of up to {steps} steps"
    return (
        f"every plan {reach} with {values} values of each argument: {found.states:,} states, "
        f"{found.transitions:,} transitions, played by {len(found.plans):,} plans of {total:,} steps"
    )
