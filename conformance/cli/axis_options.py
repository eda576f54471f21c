"""Options that ``diff``, ``matrix`` and ``bisect`` share: which plans, which limits, and how the result is written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.options import (
    chosen_suites,
    max_wait_option,
    patience_option,
    start_timeout_option,
)
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.cli.written_page import format_option

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.release_axis.cache import Cache
    from rocketmq_conformance.conformance.release_axis.plans import Plans

#: Cases of each suite beside the corpus, and their seed: the same every time, so that what was played is found again.
CASES, SEED = 10, 1
#: Where what was played is kept by default.
KEPT = Path("conformance-out") / "cells"
cases_option = click.option(
    "--cases",
    type=click.IntRange(0),
    default=CASES,
    show_default=True,
    help="Cases drawn for each suite, beside the corpus.",
)
seed_option = click.option("--seed", type=int, default=SEED, show_default=True, help="Seed of the plans.")


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """The options that say how to play and how to write."""

    #: "text", "markdown", "json" or "html".
    form: str
    cache: Path | None
    #: start_timeout, patience and max_wait in seconds, and progress.
    limits: dict[str, Any]

    def stored(self) -> Cache:
        """The cache of what implementations did."""
        from rocketmq_conformance.conformance.release_axis.cache import Cache

        return Cache(self.cache)


def comparing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --format, --cache, --no-cache and the limits, as one argument ``comparing``.

    Invalid addresses are usage errors there, and what is missing on this machine ends with 4.
    """

    @wraps(command)
    def wrapped(
        *args: Any,
        form: str,
        cache: Path,
        fresh: bool,
        start_timeout: float,
        patience: float,
        max_wait: float,
        **named: Any,
    ) -> None:
        from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
        from rocketmq_conformance.conformance.targets.address import AddressError

        limits = {
            "start_timeout": start_timeout,
            "patience": patience,
            "max_wait": max_wait,
        }
        comparing = Comparing(form=form, cache=None if fresh else cache, limits=limits)
        try:
            command(*args, comparing=comparing, **named)
        except AddressError as error:
            raise click.UsageError(str(error)) from error
        except (AdapterError, CannotRunError) as error:
            raise CouldNot(str(error)) from error
        except OSError as error:
            raise CouldNot(f"Writing failed ({error}): free the disk or name another folder.") from error

    for option in (
        start_timeout_option,
        max_wait_option,
        patience_option,
        click.option("--no-cache", "fresh", is_flag=True, help="Play everything again, and keep nothing."),
        click.option(
            "--cache",
            type=click.Path(path_type=Path, file_okay=False),
            default=KEPT,
            show_default=True,
            help="Folder of what was played before: by kit, plans and implementation.",
        ),
        format_option,
    ):
        wrapped = option(wrapped)
    return wrapped


def addresses(values: Sequence[str], prefix: str, option: str, least: int = 1) -> tuple[str, ...]:
    """The addresses of an option or argument; usage errors for what cannot be read, and for too few of them."""
    from rocketmq_conformance.conformance.release_axis.addresses import addresses_of
    from rocketmq_conformance.conformance.targets.address import AddressError, parse_address

    try:
        found = addresses_of(values, prefix)
        for one in found:
            parse_address(one)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
    if len(found) < least:
        raise click.UsageError(f"{option} names {len(found)} address{'es'[: 2 * (len(found) != 1)]}: name {least}.")
    return found


def plans(patterns: Sequence[str], seed: int, cases: int) -> list[Plans]:
    """The plans of the chosen suites."""
    from rocketmq_conformance.conformance.release_axis.plans import plans_of

    return plans_of(chosen_suites(patterns, None), seed, cases)


def progress(address: str, text: str) -> None:
    """Say on a terminal what is under way."""
    if sys.stderr.isatty():
        say(f"{address}: {text}", err=True)
