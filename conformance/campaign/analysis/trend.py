"""The trend of campaigns, such as those of every night: the last one against all that came before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance.conformance.campaign.analysis.clusters import Cluster, clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import UNKNOWN, Cell, coverage
from rocketmq_conformance.conformance.campaign.analysis.discovery import discovery
from rocketmq_conformance.conformance.campaign.tables.folder import require_folder
from rocketmq_conformance.conformance.campaign.tables.reading import FILE, Campaign, CampaignError, open_campaign
from rocketmq_conformance.reports.campaign_trend import StoredCampaign, Trend, TrendCluster

_VERDICTS = ("conforms", "diverges", "undecided", "could_not_run", "unsupported")
#: What makes clusters of two campaigns the same.
_Key = tuple[str, str, str, str]


class _Read(NamedTuple):
    """What a campaign showed."""

    stored: StoredCampaign
    clusters: dict[_Key, Cluster]
    cells: set[Cell]


def trend(folders: Sequence[Path]) -> Trend:
    """The trend of campaigns; a folder that is none stands for those in it. They are ordered by when they began.

    CampaignError for a folder without a campaign, and for one that never began or cannot be read.
    """
    found = sorted(map(_read, _campaigns(folders)), key=lambda one: one.stored.started)
    last, before = found[-1], found[:-1]
    if not before:
        return Trend(campaigns=[last.stored])
    previous = before[-1]
    seen = {key for one in before for key in one.clusters}
    shown = {cell for one in before for cell in one.cells}
    return Trend(
        campaigns=[one.stored for one in found],
        new=[_cluster(one, last) for key, one in last.clusters.items() if key not in seen],
        gone=[_cluster(one, previous) for key, one in previous.clusters.items() if key not in last.clusters],
        staying=len(last.clusters.keys() & previous.clusters.keys()),
        new_behaviours=[list(cell) for cell in sorted(last.cells - shown)],
        gone_behaviours=[list(cell) for cell in sorted(previous.cells - last.cells)],
        notes=_notes(previous.stored, last.stored),
    )


def _campaigns(folders: Sequence[Path]) -> list[Path]:
    """The folders of campaigns, each once."""
    found: dict[Path, None] = {}
    for folder in folders:
        require_folder(folder)
        inside = [folder] if (folder / FILE).exists() else sorted(path.parent for path in folder.glob(f"*/{FILE}"))
        if not inside:
            raise CampaignError(f"{folder} holds no campaign: name the folder that has a {FILE}, or the one above it.")
        found.update(dict.fromkeys(inside))
    return list(found)


def _read(folder: Path) -> _Read:
    campaign = open_campaign(folder)
    sessions = campaign.runs().to_pylist()
    if not sessions:
        raise CampaignError(f"{folder} never began: start or resume the campaign first.")
    first, last = sessions[0], sessions[-1]
    shown = {
        (str(rule), str(kind), str(outcome)) for rows in coverage(campaign).values() for rule, kind, outcome, _ in rows
    }
    found = {(one.suite, one.address, one.against, one.fingerprint): one for one in clusters(campaign)}
    stored = StoredCampaign(
        folder=str(folder),
        started=first["started"].isoformat(),
        kit=campaign.kit,
        rulebook=campaign.rulebook,
        implementations=[f"{name} {version}".strip() for name, version in campaign.implementations.values()],
        cases=sum(last[verdict] for verdict in _VERDICTS) // len(campaign.addresses),
        steps=last["steps"],
        seconds=sum(session["seconds"] for session in sessions),
        verdict=last["verdict"],
        left=last["left"],
        clusters=len(found),
        behaviours=len(shown - {UNKNOWN}),
        chance=_chance(campaign),
    )
    return _Read(stored, found, shown - {UNKNOWN})


def _chance(campaign: Campaign) -> float:
    """The chance that the next case shows something new, over all suites."""
    results = discovery(campaign)
    return results[-1].chance if results else 1.0


def _cluster(one: Cluster, of: _Read) -> TrendCluster:
    return TrendCluster(
        suite=one.suite,
        address=one.address,
        against=one.against,
        fingerprint=one.fingerprint,
        operation=one.operation,
        rules=list(one.rules),
        cases=one.count,
        folder=of.stored.folder,
    )


def _notes(previous: StoredCampaign, last: StoredCampaign) -> list[str]:
    """What else than the implementation may explain a change."""
    found = []
    if previous.rulebook != last.rulebook:
        found.append(f"{last.folder} was judged by another rule book than {previous.folder}")
    if last.left:
        found.append(f"{last.folder} did not play {last.left:,} of its cases")
    if last.cases < previous.cases:
        found.append(f"{last.folder} has fewer cases than {previous.folder}: what is gone may only not have come up")
    return found
