"""The trend of campaigns as data, on the console and as JSON Lines: what is new, what is gone, what time would show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TextIO

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.divergence_block import grid
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration, first_names
from rocketmq_conformance.reports.text_table import text_table

#: Clusters and rules that are listed without being asked for.
LISTED = 10
_HOUR = 3600


@dataclass(frozen=True, kw_only=True)
class StoredCampaign:
    """One of the campaigns."""

    folder: str
    #: When it began (ISO 8601, UTC).
    started: str
    kit: str
    rulebook: str
    #: Name and version of each implementation.
    implementations: list[str]
    #: Cases that were played on every address, and steps of all addresses.
    cases: int
    steps: int
    #: Of all its sessions.
    seconds: float
    verdict: str
    #: Cases that were asked for and not played.
    left: int
    clusters: int
    #: Answers (rule, kind of state, outcome class) of all addresses, each once.
    behaviours: int
    #: The chance that the next case shows a new answer or transition.
    chance: float


@dataclass(frozen=True, kw_only=True)
class TrendCluster:
    """A cluster that came or went with the last campaign."""

    suite: str
    address: str
    against: str
    fingerprint: str
    operation: str
    rules: list[str]
    cases: int
    #: The folder of the campaign whose numbers these are.
    folder: str


@dataclass(frozen=True, kw_only=True)
class Trend:
    """Campaigns in the order of time; the last one is compared with those before."""

    campaigns: list[StoredCampaign]
    #: Clusters of the last campaign that none before had, and of the one before that the last does not have.
    new: list[TrendCluster] = field(default_factory=list)
    gone: list[TrendCluster] = field(default_factory=list)
    #: Clusters of both.
    staying: int = 0
    #: Answers [rule, kind of state, outcome class] that the last one showed first, and that only the one before showed.
    new_behaviours: list[list[str]] = field(default_factory=list)
    gone_behaviours: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when the last campaign has no new cluster, 1 when it has, 3 when there is none to compare it with."""
        return 3 if len(self.campaigns) < 2 else int(bool(self.new))

    @property
    def cases_an_hour(self) -> float:
        """What the last campaign played in an hour; 0 when it took no time."""
        last = self.campaigns[-1]
        return last.cases / last.seconds * _HOUR if last.seconds else 0.0

    @property
    def found_an_hour(self) -> float:
        """How many of the cases of a further hour may be expected to show something new, at most."""
        return self.cases_an_hour * self.campaigns[-1].chance

    def lines(self) -> Iterator[str]:
        """The trend as JSON Lines: a line per campaign, cluster and changed answer, one footer."""
        for campaign in self.campaigns:
            yield _line("campaign", asdict(campaign))
        for kind, clusters in (("new", self.new), ("gone", self.gone)):
            for one in clusters:
                yield _line(f"{kind}-cluster", asdict(one))
        for kind, behaviours in (("new", self.new_behaviours), ("gone", self.gone_behaviours)):
            for rule, state, outcome in behaviours:
                yield _line(f"{kind}-behaviour", {"rule": rule, "state_kind": state, "outcome": outcome})
        further = {"cases": round(self.cases_an_hour), "cases_with_something_new": self.found_an_hour}
        end = {"staying": self.staying, "further_hour": further, "notes": self.notes, "exit_code": self.exit_code}
        yield _line("end", end)


def _line(kind: str, content: dict[str, object]) -> str:
    return json.dumps({"line": kind, **content})


def show(trend: Trend, stream: TextIO, *, width: int | None = None, verbose: bool = False) -> None:
    """Print the trend on the console: every cluster, or the first ones."""
    screen = Screen(stream, width)
    screen.show(Text.assemble(("rocketmq-conformance", "bold"), " campaign trend"), "")
    screen.show(_table(trend.campaigns))
    screen.gap()
    for title, style, found in (("New", "red", trend.new), ("Gone", "green", trend.gone)):
        if found:
            screen.show(Rule(Text(f"{title} clusters", style=f"bold {style}"), style=style, align="left"))
            shown = found if verbose else found[:LISTED]
            screen.show(grid([(clean(one.suite), _cluster(one)) for one in shown]))
            if len(shown) < len(found):
                screen.show(Text(f"{len(found) - len(shown):,} more: --verbose prints them"))
            screen.gap()
    numbers = f"{len(trend.new):,} new, {len(trend.gone):,} gone, {trend.staying:,} staying"
    rows: list[tuple[str, RenderableType]] = [("clusters", Text(numbers))]
    for title, behaviours in (("new answers", trend.new_behaviours), ("gone answers", trend.gone_behaviours)):
        if behaviours:
            rules = list(dict.fromkeys(rule for rule, _, _ in behaviours))
            some = ", ".join(rules) if verbose else first_names(rules)
            rows.append((title, Text(clean(f"{len(behaviours):,}, of {some}"))))
    rows.append(("a further hour", Text(_further(trend))))
    rows += [("note", Text(clean(note), style="yellow")) for note in trend.notes]
    screen.show(grid(rows), "")
    screen.show(_last_line(trend), wrap=False)


def _table(campaigns: Sequence[StoredCampaign]) -> Table:
    columns = ("began", "folder", "judged", "cases", "took", "clusters", "answers", "next new")
    table = text_table(columns, numbers=columns[3:], folded=columns[:3])
    for one in campaigns:
        table.add_row(
            clean(one.started[:16].replace("T", " ")),
            clean(one.folder),
            clean(", ".join(one.implementations)),
            f"{one.cases:,}" + ("…" if one.left else ""),
            duration(one.seconds),
            Text(f"{one.clusters:,}", style="red" if one.clusters else ""),
            f"{one.behaviours:,}",
            f"{one.chance:.2%}",
        )
    return table


def _cluster(one: TrendCluster) -> Text:
    against = "" if one.against == "model" else f" against {one.against}"
    where = f"{count(one.cases, 'case')} on {one.address}{against}"
    return Text(clean(f"{one.fingerprint}  {one.operation}: {', '.join(one.rules)}; {where}"))


def _further(trend: Trend) -> str:
    cases, found = trend.cases_an_hour, trend.found_an_hour
    if not cases:
        return "unknown: the last campaign took no time"
    if not found:
        return f"about {cases:,.0f} cases; none of the last campaign's cases was alone with what it showed"
    return f"about {cases:,.0f} cases, of which at most about {found:,.0f} would show a new answer or transition"


def _last_line(trend: Trend) -> Text:
    code = f" (exit code {trend.exit_code})"
    if trend.exit_code == 3:
        return Text.assemble("Trend: ", ("nothing to compare with", "bold yellow"), f"{code}: name a second campaign.")
    if trend.new:
        return Text.assemble("Trend: ", (count(len(trend.new), "new cluster"), "bold red"), f"{code}.")
    return Text.assemble("Trend: ", ("no new cluster", "bold green"), f"{code}.")
