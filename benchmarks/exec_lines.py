"""Whole cases in a line against one line per step, of the same program in one run.

    python benchmarks/exec_lines.py [--cases 250] [--judged 1000] [--rounds 5]

Both ways are played in turns: the steps per second of each and their ratio, of the lines alone, between the kit and a
program in Python that answers without thinking; and of a judged run of the suite ``allocation``, of the program that
``new-adapter --language python`` writes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.targets.child_process import ErrorLog
from rocketmq_conformance.conformance.targets.exec_client import lines
from rocketmq_conformance.conformance.targets.exec_client.program import Program
from rocketmq_conformance.conformance.targets.skeletons import SKELETONS
from rocketmq_conformance.reports.event import CaseEnded

STEPS = 40
#: Answers every request as fast as a program in Python can.
QUICK = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "case" in asked:
        answer = {"id": asked["id"], "steps": [{"ok": 5} for _ in asked["case"]["steps"]]}
    else:
        answer = {"id": asked["id"], "ok": 5}
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()
"""
STEP = {"do": "read", "args": {"queue": 0, "kind": "memory-then-store"}}
RESET = {"suite": "remote-store", "case": 0, "profile": {"client": "5.5.0", "broker": "5.5.0", "java": 17}}


def by_steps(program: Program) -> None:
    """A case by a line for each step."""
    program.ask({"reset": RESET}, 60)
    for _ in range(STEPS):
        lines.outcome(program.ask(STEP, 60))


def at_once(program: Program) -> None:
    """The same case in one line."""
    answer = program.ask({"case": {"reset": RESET, "steps": [STEP] * STEPS}}, 60)
    for one in answer["steps"]:
        lines.outcome(one)


def judged(folder: Path, cases: int, *, whole: bool) -> int:
    """Judge the skeleton in Python; how many steps that were."""
    (folder / "adapter.py").unlink(missing_ok=True)
    (made,) = SKELETONS["stepped", "python"].write(folder)
    made.write_text(made.read_text().replace('"whole_cases": True', f'"whole_cases": {whole}'))
    events = run(f"exec:{sys.executable} {made}", suites=["allocation"], cases=cases, seed=1, tiers=["seeded"])
    return sum(event.steps for event in events if isinstance(event, CaseEnded))


def rates(rounds: int, ways: Mapping[str, Callable[[], int]]) -> dict[str, float]:
    """The best of some rounds of each way, in steps per second, and how many times the first the last one is."""
    best = dict.fromkeys(ways, 0.0)
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            best[name] = max(best[name], way() / (time.perf_counter() - begin))
    first, *_, last = best.values()
    return {**{name: round(rate) for name, rate in best.items()}, "times": round(last / first, 1)}


def repeated(cases: int, way: Callable[[Program], None], program: Program) -> int:
    """Play some cases; how many steps they have."""
    for _ in range(cases):
        way(program)
    return cases * STEPS


def main() -> None:
    """Measure, and print two JSON objects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=250, help="of each round of the lines alone")
    parser.add_argument("--judged", type=int, default=1000, help="cases of each judged run")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    program = Program([sys.executable, "-c", QUICK], ErrorLog(), None)
    each, case = "one line per step", "one line per case"
    plays = {each: by_steps, case: at_once}
    lone = rates(asked.rounds, {name: partial(repeated, asked.cases, way, program) for name, way in plays.items()})
    program.end()
    print(json.dumps({"lines alone, steps per second": lone}))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        ways = {name: partial(judged, folder, asked.judged, whole=name == case) for name in plays}
        found = rates(asked.rounds, ways)
    print(json.dumps({"judged, steps per second": found}))


if __name__ == "__main__":
    main()
