"""The command ``enumerate``: every plan of a suite up to a bound, counted, written or played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.options import Judging, judging_options, out_option

if TYPE_CHECKING:
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
@out_option
@judging_options
def enumerate_(
    name: str,
    address: str | None,
    steps: int,
    values: int,
    most: int,
    plan: Path | None,
    out: Path | None,
    judging: Judging,
) -> None:
    """List every plan of SUITE up to a bound, and play them on ADDRESS.

    The model is searched alone; states that are equal are searched once. Without an ADDRESS only the numbers are
    printed. --like and --with say of which release.
    """
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.enumeration import NotListedError, enumerated
    from rocketmq_conformance.conformance.engine.options import Options
    from rocketmq_conformance.conformance.engine.plan import write
    from rocketmq_conformance.suites.declare.discovery import SUITES

    suite = SUITES.get(name)
    if suite is None:
        raise click.UsageError(f"No suite is called {name!r}: `list suites` names them all.")
    profile = _profile(judging, address)
    try:
        found = enumerated(suite, profile, steps=steps, values=values, most=most)
    except NotListedError as error:
        raise click.UsageError(str(error)) from error
    if plan:
        write(plan, suite, profile, 0, [(number, list(rows)) for number, rows in enumerate(found.plans, start=1)])
    bound = _bound(found, steps, values)
    if address is None:
        for line in _table(found):
            click.echo(line)
        click.echo(bound)
        return
    cases = {number: list(rows) for number, rows in enumerate(found.plans, start=1)}
    options = Options(address, 0, out=out, plans={suite.name: cases}, notes=(bound,), plan=plan)
    judge([suite], options, judging, planned=profile)


def _profile(judging: Judging, address: str | None) -> Profile:
    """The release whose model is searched: the user's choice, else that of the address, else the newest."""
    from rocketmq_conformance.conformance.adapter import Hello
    from rocketmq_conformance.conformance.engine.handshake import profile_of
    from rocketmq_conformance.conformance.release_axis.addresses import release_of

    named = release_of(address) if address else None
    side = "broker" if address and address.startswith("broker") else "client"
    own = {side: str(named)} if named else {}
    return profile_of(Hello("", "", client=own.get("client"), broker=own.get("broker")), judging.overrides).judged()


def _table(found: Enumeration) -> list[str]:
    rows = [("steps", "new states", "transitions", "plans that these stand for")]
    rows += [
        (str(level.steps), f"{level.states:,}", f"{level.transitions:,}", f"{level.plans:,}") for level in found.levels
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _bound(found: Enumeration, steps: int, values: int) -> str:
    """What was searched, in one sentence."""
    total = sum(map(len, found.plans))
    reach = "of any length" if found.closed else f"of up to {steps} steps"
    return (
        f"every plan {reach} with {values} values of each argument: {found.states:,} states, "
        f"{found.transitions:,} transitions, played by {len(found.plans):,} plans of {total:,} steps"
    )
