"""Makes small campaigns in this process: plays the port or its mutants, and writes the blocks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.campaign.analysis.discovery import COLUMNS, BehaviourCounter
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.packing import signed
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, RUNS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.divergence import format_result
from rocketmq_conformance.conformance.engine.judge import Judge, digest, fingerprint_of
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Suite

SEED = 11
Rows = dict[str, list[dict[str, Any]]]


def make(
    folder: Path,
    *addresses: str,
    suites: Sequence[str] = ("remote-store",),
    cases: int = 200,
    seed: int = SEED,
    steps: int | None = None,
    block: int = 50,
    sample: int = 0,
    profiles: dict[str, Profile] | None = None,
    adapters: dict[str, Callable[[], Adapter]] | None = None,
    steered_from: int | None = None,
    run: Mapping[str, object] = MappingProxyType({}),
) -> Campaign:
    """Play ``cases`` cases of each suite on every address and keep them in ``folder``.

    ``sample``: the steps of every such case are kept (0: of none); those from number ``steered_from`` on are of the
    steered arm; ``adapters`` open addresses that are none; ``run`` has columns of the row of the session.
    """
    judged_by = {address: (profiles or {}).get(address, Profile()) for address in addresses}
    seen: set[int] = set()
    _configure(folder, addresses, suites, cases, seed, steps, block)
    opened = {address: (adapters or {}).get(address) for address in addresses}
    stages = {
        address: _StepByStep(maker() if maker else open_address(address), judged_by[address])
        for address, maker in opened.items()
    }
    try:
        for name in suites:
            suite = SUITES[name]
            for number in range(-(-cases // block)):
                wanted = range(number * block, min(cases, (number + 1) * block))
                draw = sampler(suite, judged_by[addresses[0]])
                plans = [(case, draw.case(seed, case, steps or suite.steps)) for case in wanted]
                played = {
                    address: list(Player(stage, Judge(suite, judged_by[address].judged())).play(plans))
                    for address, stage in stages.items()
                }
                write(folder, suite, number, _rows(suite, played, judged_by, seen, sample, steered_from))
    finally:
        for stage in stages.values():
            stage.close()
    write_run(folder, addresses, judged_by, seed, run)
    return open_campaign(folder)


def write(folder: Path, suite: Suite, number: int, rows: Rows) -> None:
    """Write the tables of a block, the cases last."""
    for table in ("behaviours", "steps", "divergences", "cases"):
        if rows[table] or table == "cases":
            blocks.write(blocks.path(folder, table, suite.name, number), tabled(table, rows[table]))


def tabled(table: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table of its schema."""
    return pa.Table.from_pylist(rows, schema=BLOCKS[table])


def write_run(
    folder: Path,
    addresses: Sequence[str],
    profiles: dict[str, Profile],
    seed: int,
    more: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """The row of the only session."""
    row = {
        **{column.name: 0 for column in RUNS if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)},
        "version": VERSION,
        "kit": __version__,
        "rulebook": rulebook.digest(),
        "seed": seed,
        "configuration": "{}",
        "addresses": list(addresses),
        "implementations": [address.replace(":", " ") for address in addresses],
        "versions": [__version__ for _ in addresses],
        "profiles": [json.dumps(plan.profile_json(profiles[address])) for address in addresses],
        "master": "none",
        "started": datetime(2026, 1, 1, tzinfo=UTC),
        "stopped": "",
        "verdict": CONFORMS,
        **more,
    }
    blocks.write(folder / "runs" / "run-0000.parquet", pa.Table.from_pylist([row], schema=RUNS))


def number_of(*parts: object) -> int:
    """The id of a behaviour."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big", signed=True)


def _configure(
    folder: Path, addresses: Sequence[str], suites: Sequence[str], cases: int, seed: int, steps: int | None, block: int
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    configuration = {
        "addresses": list(addresses),
        "suites": list(suites),
        "cases": cases * len(suites),
        "seed": seed,
        "steps": steps,
        "block": block,
    }
    content = {"version": VERSION, "kit": __version__, "rulebook": rulebook.digest(), "configuration": configuration}
    (folder / "campaign.json").write_text(json.dumps(content))


class _StepByStep(Stage):
    """No case is done all at once, so that the steps of every case are known."""

    def plays_whole(self, suite: Suite) -> bool:
        return False

    def step_player(self, suite: Suite) -> None:
        return None


def _rows(
    suite: Suite,
    played: dict[str, list[Played]],
    judged_by: dict[str, Profile],
    seen: set[int],
    sample: int,
    steered_from: int | None,
) -> Rows:
    rows: Rows = {table: [] for table in BLOCKS}
    behaviours: dict[int, dict[str, Any]] = {}
    voices = {cases[0].number: _voices(played.keys(), cases) for cases in zip(*played.values(), strict=True)}
    for address, cases in played.items():
        for one in cases:
            judged = one.judged
            steps = judged.steps if judged else []
            answers = dict(_answers(suite, steps))
            transitions = dict(_transitions(suite, steps))
            behaviours |= answers | transitions
            steered = steered_from is not None and one.number >= steered_from
            rows["cases"].append(
                {
                    "case": one.number,
                    "address": address,
                    "arm": "steered" if steered else "random",
                    "verdict": one.verdict,
                    "digest": 0 if _observes(suite) else signed(one.digest),
                    "steps": one.steps,
                    "seconds": one.seconds,
                    "rules": sorted({rule for step in steps for rule in step.why.rules}),
                    "answers": sorted(answers),
                    "transitions": sorted(transitions),
                    "reason": one.reason,
                    "unsupported": sorted(judged.unsupported) if judged else [],
                    "voice": voices[one.number][address, False],
                    "rules_voice": voices[one.number][address, True],
                }
            )
            if one.verdict == DIVERGES:
                rows["divergences"].append(_divergence(suite, one.number, address, "model", steps))
            if one.verdict == DIVERGES or (sample and one.number % sample == 0):
                rows["steps"] += [_step(suite, one, address, at, step) for at, step in enumerate(steps, start=1)]
    rows["divergences"] += _between(suite, played, judged_by)
    # a process tells a behaviour once
    rows["behaviours"] = [row for number, row in behaviours.items() if number not in seen]
    seen |= behaviours.keys()
    return rows


def _voices(addresses: Iterable[str], cases: Sequence[Played]) -> dict[tuple[str, bool], int]:
    """The voice of every address in a case, and that of its rules."""
    found: dict[tuple[str, bool], int] = {}
    traces: list[list[str]] = []
    for rules in (False, True):
        for address, one in zip(addresses, cases, strict=True):
            steps = one.judged.steps if one.judged else []
            trace = [repr(step.expected if rules else step.observed) for step in steps]
            alike = [at for at, other in enumerate(traces) if all(a == b for a, b in zip(trace, other, strict=False))]
            if not alike:
                traces.append(trace)
            found[address, rules] = (alike[0] if alike else len(traces) - 1) + 1
    return found


def _observes(suite: Suite) -> bool:
    return any(op.spec.observes for op in suite.operations)


def _answers(suite: Suite, steps: Iterable[Step]) -> Iterator[tuple[int, dict[str, Any]]]:
    return (_behaviour(suite, "answer", step.why, outcome_class(step.expected), None) for step in steps)


def _transitions(suite: Suite, steps: Iterable[Step]) -> Iterator[tuple[int, dict[str, Any]]]:
    return (_behaviour(suite, "transition", one.why, "", other.why) for one, other in pairwise(steps))


def _behaviour(suite: Suite, kind: str, why: Reason, outcome: str, after: Reason | None) -> tuple[int, dict[str, Any]]:
    rules, state = (after.rules, after.kind) if after else ((), "")
    number = number_of(suite.name, kind, why.rules, why.kind, outcome, rules, state)
    return number, {
        "id": number,
        "kind": kind,
        "rules": list(why.rules),
        "state_kind": why.kind,
        "outcome": outcome,
        "next_rules": list(rules),
        "next_state_kind": state,
    }


def _step(suite: Suite, played: Played, address: str, number: int, step: Step) -> dict[str, Any]:
    op = suite.operation(step.row)
    last = number == played.steps
    return {
        "case": played.number,
        "address": address,
        "step": number,
        "operation": op.spec.name,
        "arguments": json.dumps(dict(zip([name for name, _ in op.spec.domains], op.args, strict=True))),
        "expected": format_result(step.expected),
        "observed": format_result(step.observed),
        "rules": list(step.why.rules),
        "state_kind": step.why.kind,
        "expected_class": outcome_class(step.expected),
        "observed_class": outcome_class(step.observed),
        "diverges": played.verdict == DIVERGES and last,
    }


def _divergence(suite: Suite, number: int, address: str, against: str, steps: Sequence[Step]) -> dict[str, Any]:
    last = steps[-1]
    return {
        "case": number,
        "address": address,
        "against": against,
        "step": len(steps),
        "fingerprint": fingerprint_of(suite, last),
        "operation": suite.operations[last.row[0]].spec.name,
        "rules": list(last.why.rules),
        "state_kind": last.why.kind,
        "expected": format_result(last.expected),
        "observed": format_result(last.observed),
        "expected_class": outcome_class(last.expected),
        "observed_class": outcome_class(last.observed),
    }


def _between(
    suite: Suite,
    played: dict[str, list[Played]],
    judged_by: dict[str, Profile],
) -> Iterator[dict[str, Any]]:
    """The first steps in which the later addresses differ from the first one, unless the model tells them."""
    first, *others = played
    for other in others:
        for one, its in zip(played[other], played[first], strict=True):
            judged, reference = one.judged, its.judged
            if judged is None or reference is None or digest(judged) == digest(reference):
                continue
            if judged_by[other] == judged_by[first] and CONFORMS in (judged.verdict, reference.verdict):
                continue
            for at, (mine, theirs) in enumerate(zip(judged.steps, reference.steps, strict=False), start=1):
                if repr(mine.observed) != repr(theirs.observed):
                    seen = mine._replace(expected=theirs.observed)
                    yield _divergence(suite, one.number, other, first, [*judged.steps[: at - 1], seen])
                    break


def changed(campaign: Campaign, folder: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Campaign:
    """A campaign with other rows of ``cases``; those that are changed to None are left out."""
    shutil.copytree(campaign.folder, folder)
    for suite in campaign.suites:
        for block in campaign.finished(suite):
            rows = [change(row) for row in campaign.read("cases", suite=suite, block=block).to_pylist()]
            kept = [row for row in rows if row is not None]
            blocks.write(blocks.path(folder, "cases", suite, block), tabled("cases", kept))
    return open_campaign(folder)


def shaken(seed: int) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """A change of some cases: another verdict or digest, none, something left out, or the case is not there."""
    random = Random(seed)

    def change(row: dict[str, Any]) -> dict[str, Any] | None:
        if random.random() < 0.05:
            return None
        chance = random.random()
        if chance < 0.1:
            return {**row, "verdict": random.choice([UNDECIDED, COULD_NOT_RUN, UNSUPPORTED])}
        if chance < 0.3:
            return {**row, "digest": 0 if chance < 0.2 else row["digest"] + 1}
        return {**row, "unsupported": ["clone"]} if chance < 0.35 else row

    return change


def discovery_of(campaign: Campaign) -> BehaviourCounter:
    """The discovery of all finished blocks of a campaign."""
    found = BehaviourCounter(campaign.suites, campaign.block)
    for suite in campaign.suites:
        for block in campaign.finished(suite):
            found.add(suite, block, campaign.read("cases", COLUMNS, suite, block))
    return found
