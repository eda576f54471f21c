"""The library call for a campaign::

    from rocketmq_conformance import campaign
    code = campaign(Path("nightly"), addresses=("port",), cases=1_000_000, seed=7)

The tables are then in ``nightly`` (see ``tables/schema.py``); ``code`` is the exit code that the command would return.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.campaign.driver import Driver, SessionOptions, search_path
from rocketmq_conformance.conformance.campaign.player.player_supervisor import PlayerSupervisor
from rocketmq_conformance.conformance.campaign.spark.master import parse, reach
from rocketmq_conformance.conformance.campaign.spark.session import SUBMITTED, need_java, need_packages
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec, block_size
from rocketmq_conformance.conformance.campaign.tables import folder
from rocketmq_conformance.conformance.campaign.tables.reading import CampaignError
from rocketmq_conformance.conformance.startup import Listener, unseen
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.fanout import Fanout
from rocketmq_conformance.suites.declare.discovery import SUITES


def campaign(
    out: Path,
    *,
    resume: bool = False,
    master: str | None = None,
    partitions: int | None = None,
    max_time: float | None = None,
    max_divergences: int | None = None,
    emit: Callable[[Event], None] = lambda event: None,
    **given: Any,
) -> int:
    """Play a campaign into the folder ``out``, or resume the one there; returns the exit code.

    ``given`` are fields of ``CampaignSpec``: addresses (a tuple), cases and seed are needed for a new one; suites
    (names), steps, sample, steer, releases, patience and start_timeout (seconds) and memory (bytes) are optional.
    ``emit`` is called with every event.
    Raises CampaignError, MasterError, AddressError or CannotRunError, each with one sentence for the user.
    """
    wrong = set(given) - {item.name for item in fields(CampaignSpec)}
    if wrong:
        raise TypeError(f"a campaign has no {sorted(wrong)[0]!r}")
    with opened_campaign(out, given, resume=resume, master=master) as (spec, opened):
        reports = Fanout([jsonl.JsonlReport.to(out / jsonl.NAME)])

        def report(event: Event) -> None:
            reports(event)
            emit(event)

        try:
            return Driver(spec, SessionOptions(out, master, partitions, max_time, max_divergences), report).run(opened)
        finally:
            reports.close()


@contextmanager
def opened_campaign(
    out: Path,
    given: Mapping[str, Any],
    *,
    resume: bool,
    master: str | None = None,
    on_start: Listener = unseen,
) -> Iterator[tuple[CampaignSpec, PlayerSupervisor]]:
    """The specification of a campaign, its folder claimed, and a player that keeps every address open until the end.

    The folder is created and claimed last: a campaign that cannot start leaves nothing behind. CampaignError for a
    folder that cannot be used; AddressError and CannotRunError for an address, Java or Spark that cannot. ``on_start``
    gets to know what starts of implementations are doing.
    """
    folder.require_folder(out)
    need_packages()
    if SUBMITTED not in os.environ:
        need_java()
    if master is not None:
        reach(parse(master))
    with ExitStack() as held:
        if resume:
            held.enter_context(folder.locked(out))
            spec = folder.resume(out, dict(given))
            spec = replace(spec, **{name: given[name] for name in folder.FREE if name in given})
        else:
            folder.require_unused(out)
            spec = _first(given)
        player = held.enter_context(closing(PlayerSupervisor(spec, search_path(), on_start=on_start)))
        hellos = player.open()
        if not resume:
            spec = _chosen(spec, given, hellos)
            folder.create(out, spec)
            held.enter_context(folder.locked(out))
        yield spec, player


def _first(given: Mapping[str, Any]) -> CampaignSpec:
    """The specification as requested, before the addresses have said which suites they support."""
    addresses = tuple(given["addresses"])
    if len(set(addresses)) < len(addresses):
        raise CampaignError("An address is given twice: name every implementation once.")
    suites = given.get("suites") or tuple(name for name, suite in SUITES.items() if suite.ordinary)
    return CampaignSpec(**{**given, "addresses": addresses, "suites": tuple(suites), "block": 1})


def _chosen(spec: CampaignSpec, given: Mapping[str, Any], hellos: list[dict[str, Any]]) -> CampaignSpec:
    """The specification with its suites: those that an address supports, or those that were named, supported or not."""
    suites = spec.suites
    if not given.get("suites"):
        offered = tuple(name for name in suites if any(name not in hello["refuses"] for hello in hellos))
        suites = offered or suites
    return replace(spec, suites=suites, block=given.get("block") or block_size(spec.addresses, spec.cases))
