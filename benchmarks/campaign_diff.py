"""Seconds that it takes to compare two stored campaigns of a million cases each, per side.

    python benchmarks/campaign_diff.py [--cases 1000000] [--differing 0.01] [--folder DIR]

The campaigns are written here, without Spark: cases that are the same on both sides get a digest out of thin air,
those that differ are really played (and the first few), so that their steps come back from the seed. Two pairs are
compared: two releases of the client, whose differing cases must be rebuilt step by step on both sides, and two commits
of a port, where the divergences that are stored say where they part. Beside them the same campaign against itself
(digests only), reading the digests alone, and what playing all cases again would take.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.campaign.analysis.diff import diff
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.packing import signed
from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import CASES, DIVERGENCES, RUNS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.divergence import format_result
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, digest, fingerprint_of
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.campaign_diff import CampaignDifference
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

SUITE = SUITES["remote-store"]
SEED, BLOCK, SHOWN = 7, 4096, 30
#: The first cases are really played, whether they differ or not.
PLAYED = 300
#: Seconds per side that a comparison of a million cases may take.
LIMIT = 3.0
OLD, NEW = Profile.of(client="4.9.8"), Profile.of(client="5.1.0")
NAME = "freeze-ignored"


class CampaignWriter:
    """One campaign on its way to disk."""

    def __init__(self, folder: Path, address: str, profile: Profile, cases: int) -> None:
        self.folder = folder
        self.address = address
        self.cases = cases
        folder.mkdir(parents=True)
        asked = {"addresses": [address], "suites": [SUITE.name], "cases": cases, "seed": SEED, "steps": None}
        kit = {"version": VERSION, "kit": __version__, "rulebook": rulebook.digest()}
        (folder / "campaign.json").write_text(json.dumps({**kit, "configuration": {**asked, "block": BLOCK}}))
        numbers = {
            field.name: 0 for field in RUNS if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        }
        row = {
            **numbers,
            "version": VERSION,
            "kit": __version__,
            "rulebook": rulebook.digest(),
            "seed": SEED,
            "configuration": "{}",
            "addresses": [address],
            "implementations": [address],
            "versions": [""],
            "profiles": [json.dumps(plan.profile_json(profile))],
            "master": "",
            "started": datetime.now(UTC),
            "stopped": "",
            "verdict": CONFORMS,
        }
        blocks.write(folder / "runs" / "run-0000.parquet", pa.Table.from_pylist([row], RUNS))

    def write(self, differing: dict[int, Judged]) -> None:
        """Write all blocks; ``differing`` are the cases that were really played."""
        for block in range(-(-self.cases // BLOCK)):
            numbers = np.arange(block * BLOCK, min(self.cases, (block + 1) * BLOCK))
            mine = {case: differing[case] for case in numbers.tolist() if case in differing}
            diverging = {case: judged for case, judged in mine.items() if judged.verdict == DIVERGES}
            if diverging:
                rows = pa.Table.from_pylist([self._divergence(*item) for item in diverging.items()], DIVERGENCES)
                blocks.write(blocks.path(self.folder, "divergences", SUITE.name, block), rows)
            blocks.write(blocks.path(self.folder, "cases", SUITE.name, block), self._cases(block, numbers, mine))

    def _cases(self, block: int, numbers: Any, played: dict[int, Judged]) -> pa.Table:
        random = np.random.default_rng(block)
        size = len(numbers)
        digests = random.integers(1, 2**63, size)
        steps = np.full(size, SUITE.steps, np.int32)
        verdicts = np.zeros(size, np.int32)
        for case, judged in played.items():
            at = case - int(numbers[0])
            digests[at], steps[at] = signed(digest(judged)), len(judged.steps)
            verdicts[at] = judged.verdict == DIVERGES
        behaviours = random.integers(-(2**63), 2**63, 500)
        nothing = pa.array(np.zeros(size, np.int32))
        rules = pa.array([f"RULE-{at}" for at in range(10)] * size)
        empty = pa.ListArray.from_arrays(np.zeros(size + 1, np.int32), pa.array([], pa.string()))
        columns = {
            "case": pa.array(numbers),
            "address": pa.DictionaryArray.from_arrays(nothing, [self.address]),
            "arm": pa.DictionaryArray.from_arrays(nothing, ["random"]),
            "verdict": pa.DictionaryArray.from_arrays(pa.array(verdicts), [CONFORMS, DIVERGES]),
            "digest": pa.array(digests),
            "voice": nothing,
            "rules_voice": nothing,
            "steps": pa.array(steps),
            "seconds": pa.array(random.random(size, np.float32)),
            "rules": _lists(rules, 10),
            "answers": _lists(pa.array(random.choice(behaviours, size * SHOWN)), SHOWN),
            "transitions": _lists(pa.array(random.choice(behaviours, size * SHOWN)), SHOWN),
            "reason": pa.DictionaryArray.from_arrays(nothing, [""]),
            "unsupported": empty,
        }
        return pa.table([columns[field.name].cast(field.type) for field in CASES], schema=CASES)

    def _divergence(self, case: int, judged: Judged) -> dict[str, Any]:
        last = judged.steps[-1]
        return {
            "case": case,
            "address": self.address,
            "against": "model",
            "step": len(judged.steps),
            "fingerprint": fingerprint_of(SUITE, last),
            "operation": SUITE.operations[last.row[0]].spec.name,
            "rules": list(last.why.rules),
            "state_kind": last.why.kind,
            "expected": format_result(last.expected),
            "observed": format_result(last.observed),
            "expected_class": outcome_class(last.expected),
            "observed_class": outcome_class(last.observed),
        }


def _lists(values: pa.Array, size: int) -> pa.ListArray:
    return pa.ListArray.from_arrays(np.arange(0, len(values) + 1, size, dtype=np.int32), values)


def releases(numbers: Iterator[int]) -> Iterator[tuple[int, Judged, Judged]]:
    """Cases of two releases that differ: what either model expects is what happened."""
    old, new, draw = Judge(SUITE, OLD), Judge(SUITE, NEW), sampler(SUITE, OLD)
    for number in numbers:
        rows = draw.case(SEED, number, SUITE.steps)
        a, b = (
            Judged(CONFORMS, [step._replace(observed=step.expected) for step in judge.expected(rows)])
            for judge in (old, new)
        )
        if digest(a) != digest(b) or number < PLAYED:
            yield number, a, b


def commits(numbers: Iterator[int]) -> Iterator[tuple[int, Judged, Judged]]:
    """Cases in which a mutant of the port diverges, and the port does not."""
    profile = Profile()
    judge, draw = Judge(SUITE, profile), sampler(SUITE, profile)
    stage = Stage(Port(MUTANTS[NAME].parts), profile)
    player = Player(stage, judge)
    for number in numbers:
        rows = draw.case(SEED, number, SUITE.steps)
        judged = player.execute(rows, number)
        if judged.verdict == DIVERGES or number < PLAYED:
            steps = [step._replace(observed=step.expected) for step in judge.expected(rows)]
            yield number, Judged(CONFORMS, steps), judged
    stage.close()


Pair = Callable[[Iterator[int]], Iterator[tuple[int, Judged, Judged]]]


def written(folder: Path, pair: Pair, profiles: tuple[Profile, Profile], cases: int, wanted: int) -> tuple[Path, Path]:
    """Two campaigns that differ in so many cases, spread evenly."""
    differing: tuple[dict[int, Judged], dict[int, Judged]] = ({}, {})
    stride = 7919  # a prime: numbers all over the campaign
    spread = (stride * at % cases for at in range(cases))
    for number, a, b in pair(chain(range(PLAYED), (number for number in spread if number >= PLAYED))):
        differing[0][number], differing[1][number] = a, b
        if len(differing[0]) == wanted:
            break
    paths = folder / "a", folder / "b"
    for path, profile, played in zip(paths, profiles, differing, strict=True):
        CampaignWriter(path, "python:" + path.name, profile, cases).write(played)
    return paths


def seconds(do: Callable[[], object], rounds: int = 3) -> float:
    """Seconds of the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        do()
        best = min(best, time.perf_counter() - begun)
    return best


def compared(before: Path, after: Path) -> CampaignDifference:
    """Compare two stored campaigns."""
    return diff(open_campaign(before), open_campaign(after))


def playing(cases: int) -> float:
    """Seconds to play so many cases of the port and judge them, from a sample."""
    profile = Profile()
    stage = Stage(Port(), profile)
    player, draw = Player(stage, Judge(SUITE, profile)), sampler(SUITE, profile)
    sample = 2000
    begun = time.perf_counter()
    for number in range(sample):
        player.one(number, draw.case(SEED, number, SUITE.steps))
    stage.close()
    return (time.perf_counter() - begun) * cases / sample


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--differing", type=float, default=0.01, help="share of the cases that differ")
    parser.add_argument("--folder", type=Path, help="where the campaigns are written; a temporary folder when absent")
    asked = parser.parse_args()
    wanted = int(asked.cases * asked.differing)
    with tempfile.TemporaryDirectory(dir=asked.folder) as place:
        folder = Path(place)
        print(f"writing 2 pairs of campaigns of {asked.cases:,} cases, {wanted:,} of them different ...", flush=True)
        pairs = {
            "two releases, steps rebuilt": written(folder / "r", releases, (OLD, NEW), asked.cases, wanted),
            "two commits of a port": written(folder / "c", commits, (Profile(), Profile()), asked.cases, wanted),
        }
        some = pairs["two commits of a port"][0]
        read = seconds(lambda: open_campaign(some).read("cases", ["case", "address", "verdict", "digest"]))
        rows = [("digests read", read)]
        rows.append(("against itself", seconds(partial(compared, some, some)) / 2))
        for name, (a, b) in pairs.items():
            found = compared(a, b)
            (suite,) = found.suites
            counts = f"{suite.same:,} same, {suite.different:,} different in {len(found.differences)} ways"
            print(f"{name}: {counts}, {sum(suite.undecided.values()):,} undecided")
            rows.append((name, seconds(partial(compared, a, b)) / 2))
        again = playing(asked.cases)
    print(f"\n{'per side':<30}{'seconds':>9}{'cases/s':>14}{'to reading':>12}{'to playing':>12}")
    for name, took in rows:
        print(f"{name:<30}{took:>9.2f}{asked.cases / took:>14,.0f}{took / read:>11.1f}x{again / took:>11.0f}x")
    # fewer take a time of their own
    limit = LIMIT * max(1.0, asked.cases / 1_000_000)
    slowest = max(took for _, took in rows)
    verdict = "kept" if slowest <= limit else "NOT kept"
    print(f"\nat most {limit:g} s per side: {verdict} ({slowest:.2f} s)")
    if slowest > limit:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
