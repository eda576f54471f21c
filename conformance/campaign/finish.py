"""The end of a session, as events: minimal plans of divergences by kind, a negative control per suite, and coverage."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.campaign.analysis.clusters import Cluster, clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.engine import are_large, engine_of
from rocketmq_conformance.conformance.campaign.analysis.rebuild import parse_result
from rocketmq_conformance.conformance.campaign.analysis.separating_features import SeparatorFinder
from rocketmq_conformance.conformance.campaign.analysis.voices import voices
from rocketmq_conformance.conformance.campaign.progress import CampaignProgress, Part
from rocketmq_conformance.conformance.campaign.spark.spark_job import SparkJobs
from rocketmq_conformance.conformance.campaign.spark.worker import FINISHED, Job, closing_task
from rocketmq_conformance.conformance.campaign.tables.folder import STOP
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.divergence import rule_json, said
from rocketmq_conformance.conformance.engine.verdict import worst_of
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.decode import event_of
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, UNDECIDED, Event
from rocketmq_conformance.reports.text import count
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.reach import reachable

#: Clusters that are shrunk; further ones are reported with the steps that found them.
SHRUNK = 200
#: Clusters, the largest first, that get separating features; that takes about a quarter of a second each.
SEPARATED = 40


class ClosingEvents:
    """Makes the events that close a session."""

    def __init__(
        self,
        campaign: Campaign,
        progress: CampaignProgress,
        jobs: SparkJobs,
        job: Job,
        hellos: list[dict[str, Any]],
        shown: Path,
    ) -> None:
        """``shown`` is the campaign's folder as the user wrote it, which is how commands for the user name it."""
        self.shown = shown
        self.campaign = campaign
        self.engine = engine_of(jobs.spark if are_large([campaign]) else None)
        self.progress = progress
        self.jobs = jobs
        self.job = job
        self.hellos = dict(zip(campaign.addresses, hellos, strict=True))
        #: Was the planted wrong answer noticed? By suite and address, where one could be planted.
        self.controls: dict[Part, bool] = {}
        self._silent: dict[Part, list[str]] = {}

    @property
    def sound(self) -> bool:
        """Did every part that conforms notice the wrong answer that was planted in it?"""
        return all(self.controls.get(part, False) for part, counts in self.progress.counts.items() if counts[CONFORMS])

    @property
    def silent_everywhere(self) -> list[str]:
        """Rules that could have fired in a suite, and never did."""
        return sorted({rule for rules in self._silent.values() for rule in rules})

    def events(self, *, play: bool) -> Iterator[Event]:
        """Everything between the last case and the end of the campaign.

        ``play`` says whether controls are played and divergences shrunk; otherwise divergences are reported as
        they were found.
        """
        found = clusters(self.campaign, self.engine)
        answers = self._played(found) if play else {}
        yield from self._divergences(found, answers)
        yield from self._suites()
        yield from self.progress.discovery.results()
        if len(self.campaign.addresses) > 1:
            yield from voices(self.campaign, self.engine)
        yield from sorted(self.progress.lost, key=lambda one: (one.suite, one.case, one.address))

    # --- what is played ----------------------------------------------------------------------------------------

    def _played(self, found: list[Cluster]) -> dict[int, str]:
        """Have the controls played and the clusters shrunk; returns their events (JSON) by position of the cluster."""
        plans = str(Path(self.job.folder) / "plans")
        controls = [(part, self.progress.good[part]) for part in self.progress.parts if part in self.progress.good]
        work: list[dict[str, Any]] = [
            {"do": "report", "suite": one.suite, "address": one.address, "against": one.against, "case": one.case}
            | {"folder": plans}
            for one in found[:SHRUNK]
        ]
        work += [
            {"do": "control", "suite": suite, "address": address, "case": case} for (suite, address), case in controls
        ]
        if not work:
            return {}
        rows = self.jobs.run(closing_task(self.job, work), work, stop=self._stop)
        shrunk = len(work) - len(controls)
        for (part, _), row in zip(controls, rows[shrunk:], strict=True):
            if row["status"] == FINISHED and (noticed := json.loads(row["text"])) is not None:
                self.controls[part] = noticed
        return {at: json.loads(row["text"]) for at, row in enumerate(rows[:shrunk]) if row["status"] == FINISHED}

    def _stop(self) -> None:
        with suppress(OSError):
            (self.campaign.folder / STOP).write_text(event.INTERRUPTED, "utf-8")

    # --- events ------------------------------------------------------------------------------------------------

    def _divergences(self, found: list[Cluster], answers: dict[int, str]) -> Iterator[Event]:
        """One event per kind. Two kinds whose minimal plans have the same fingerprint are counted as one."""
        kinds: dict[tuple[str, str, str, str], event.DivergenceFound] = {}
        finder = SeparatorFinder(self.campaign, found[:SEPARATED], self.engine)
        for at, one in enumerate(found):
            answer = answers.get(at)
            divergence = event_of(json.loads(answer)) if answer else _unshrunk(one, self.job)
            assert isinstance(divergence, event.DivergenceFound)
            texts = (divergence.plan, divergence.replay)
            plan, replay = (text.replace(self.job.folder, str(self.shown)) for text in texts)
            divergence = replace(divergence, plan=plan, replay=replay)
            separates = finder.separators(one) if at < SEPARATED else []
            divergence = replace(
                divergence, cases=one.count, address=one.address, against=one.against, separates=separates
            )
            key = one.suite, one.address, one.against, divergence.fingerprint
            before = kinds.get(key)
            if before:
                shorter = min(before, divergence, key=lambda each: (len(each.steps) or each.found_steps, each.case))
                divergence = replace(shorter, cases=before.cases + divergence.cases)
            kinds[key] = divergence
        yield from kinds.values()

    def _suites(self) -> Iterator[Event]:
        covered = coverage(self.campaign, self.engine)
        for part in self.progress.parts:
            suite, address = part
            refused = self.hellos[address]["refuses"].get(suite, "")
            rows = covered.get(part, [])
            fired = {row[0] for row in rows}
            if rows:
                profile = plan.profile_of(self.hellos[address]["profile"])
                self._silent[part] = [rule for rule in reachable(SUITES[suite], profile) if rule not in fired]
            counts = self.progress.counts[part]
            verdict, reason = self._verdict(part)
            yield event.SuiteEnded(
                suite=suite,
                verdict=verdict,
                cases=dict(counts),
                steps=self.progress.steps[part],
                seconds=self.progress.seconds[part],
                coverage=rows,
                silent_rules=self._silent.get(part, []),
                control=self.controls.get(part),
                unsupported=dict.fromkeys(sorted(self.progress.unsupported[part]), "not offered"),
                reason=refused or reason,
                address=address,
            )

    def _verdict(self, part: Part) -> tuple[str, str]:
        counts = self.progress.counts[part]
        verdict = worst_of(counts)
        if verdict in (COULD_NOT_RUN, UNDECIDED):
            return verdict, self._commonest_reason(part, verdict) if counts[verdict] else "no generated case was played"
        if verdict != CONFORMS:
            return verdict, ""
        control = self.controls.get(part)
        if control:
            return CONFORMS, ""
        return UNDECIDED, "the planted wrong answer was not noticed" if control is False else "no control was played"

    def _commonest_reason(self, part: Part, verdict: str) -> str:
        found = [
            (times, first, reason)
            for (of, kind, reason), (times, first) in self.progress.reasons.items()
            if of == part and kind == verdict
        ]
        if not found:
            return ""
        times, first, reason = max(found, key=lambda one: (one[0], -one[1]))
        more = f", and {count(len(found) - 1, 'other reason')}" if len(found) > 1 else ""
        return f"{reason} ({times:,} cases, first case {first}){more}"


def _unshrunk(one: Cluster, job: Job) -> event.DivergenceFound:
    """The event of a divergence from the tables alone: its case could not be played again."""
    again = ["run", one.address, "-k", one.suite, "--seed", str(job.spec.seed), "--cases", str(one.case + 1)]
    if job.spec.steps:
        again += ["--steps", str(job.spec.steps)]
    suite = SUITES[one.suite]
    spec = suite.operations[suite.index[one.operation]].spec
    return event.DivergenceFound(
        suite=one.suite,
        case=one.case,
        fingerprint=one.fingerprint,
        rules=[rule_json(name) for name in one.rules],
        expected=said(spec, parse_result(one.expected)),
        observed=said(spec, parse_result(one.observed)),
        steps=[],
        found_steps=one.step,
        shrink_executions=0,
        plan="",
        replay=shlex.join(["rocketmq-conformance", *again, *job.spec.judged_as]),
    )
