"""How soon a run shows what differs: distinct kinds of divergences against wall time.

    python benchmarks/first_findings.py [--before FOLDER] [--draw 0] [--speed 60] [--max-time 20]
    python benchmarks/first_findings.py --before FOLDER --max-time 600 ADDRESS [-k whole-push ...]

Without ADDRESS it judges the port's whole consumers with ten planted faults, a mutant of each of ten suites, which
--draw chooses. Their cases wait as those of a program with standard timers do, but --speed times faster. --before is
the source tree of another version of the kit: both judge the same at the same time, and the ratio of their times until
nine of ten kinds are shown is printed. A kind is a suite with the rule that a case of it differs in; of the port, which
has a fault in each suite, the suite alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, cast

from rocketmq_conformance.conformance.adapter import REAL, Case, Hello, Play, T
from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.conformance.targets.port.part import Part
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Suite

#: Suites that have a planted fault, and cases that are played side by side.
FAULTS, LANES = 10, 12
#: Seconds for which a step that differs is watched, in case it is only late: a look with its margin.
LATE = 60.0
#: Moments at which curves are read, each twice as late as the one before; the last one is the end.
POINTS = 8
#: A console script, without the file.
SCRIPT = "from rocketmq_conformance.conformance.cli.main import main; main()"
HERE = Path(__file__).resolve().parent


class PlantedPort:
    """The port's whole consumers, with a fault in each of ten suites, in lanes; each step waits."""

    def __init__(self, draw: int, speed: float) -> None:
        chosen = random.Random(draw)
        by_suite: dict[str, list[str]] = {}
        for name, mutant in PORT_MUTANTS.items():
            for suite in mutant.parts if not mutant.equivalent else ():
                if SUITES[suite].side is Side.WHOLE:
                    by_suite.setdefault(suite, []).append(name)
        self.faults = {
            suite: chosen.choice(by_suite[suite]) for suite in sorted(chosen.sample(sorted(by_suite), FAULTS))
        }
        self._parts = {suite: PORT_MUTANTS[name].parts[suite] for suite, name in self.faults.items()}
        self._folders = tempfile.TemporaryDirectory(prefix="rocketmq-conformance-")
        self._speed = speed
        self._one: _Lane | None = None
        self._pool = ThreadPoolExecutor(2 * LANES)
        self._free = threading.Semaphore(LANES)
        self._under_way: set[Future[Any]] = set()

    exclusive = False

    def hello(self) -> Hello:
        return Hello("planted port", "", sides=(Side.WHOLE.value,), clock=REAL, pace=self._speed)

    def lanes(self, suite: Suite) -> int:
        return LANES

    def case_seconds(self, suite: Suite) -> float:
        return suite.case_seconds / self._speed

    def reset(self, case: Case) -> None:
        self._one = self._lane(case)

    def apply(self, operation: Operation) -> Outcome:
        assert self._one is not None
        return self._one.apply(operation)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folders.cleanup()

    def _lane(self, case: Case) -> _Lane:
        return _Lane(self._parts, case, self._speed, Path(tempfile.mkdtemp(dir=self._folders.name)))

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        for ended in self._stream(suite, cases, waits=True):
            if isinstance(ended, Future):
                yield ended

    def take_turns(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Any, None, None]:
        return self._stream(suite, cases, waits=False)

    def _stream(self, suite: Suite, cases: Iterable[Play[T]], *, waits: bool) -> Generator[Any, None, None]:
        waiting, under_way, begins = iter(cases), deque[Future[T]](), True
        while under_way or begins:
            started = False
            while begins and not started and self._free.acquire(blocking=waits and not under_way):
                play = next(waiting, None)
                if play is None:
                    begins = False
                    self._free.release()
                    break
                under_way.append(self._pool.submit(self._played, suite, play))
                self._under_way.add(under_way[-1])
                started = not waits
            if under_way and under_way[0].done():
                yield under_way.popleft()
            elif waits:
                wait(under_way, return_when=FIRST_COMPLETED) if under_way else None
            else:
                from rocketmq_conformance.conformance.adapter import UnderWay  # versions before have none

                self._under_way = {one for one in self._under_way if not one.done()}
                yield UnderWay(frozenset(self._under_way), started)

    def _played(self, suite: Suite, play: Play[T]) -> T:
        try:
            case = Case(suite, 0, Profile(), lambda: "", lambda *_: None, Path)  # type: ignore[arg-type, return-value]
            lane, given = self._lane(case), cast(Any, play)
            if signature(given).parameters:  # versions before gave a play what does operations
                return cast(T, given(lane.apply))
            from rocketmq_conformance.suites.declare.judged_step import drive  # versions before have it elsewhere

            return cast(T, drive(given(), lane.apply))
        finally:
            self._free.release()


class _Lane:
    """A case: of the port with faults, and of the one without, which says how long a step waits."""

    def __init__(self, parts: Mapping[str, type[Part]], case: Case, speed: float, folder: Path) -> None:
        self._ports = Port(parts), Port()
        for port, name in zip(self._ports, ("planted", "right"), strict=True):
            own = folder / name
            own.mkdir()
            port.hello()
            port.reset(replace(case, folder=lambda own=own: own))
        plans = covering_plans.cases(case.suite, Profile())
        steps = sum(len(plan.rows) for plan in plans) / len(plans)
        self._speed, self._wait = speed, case.suite.case_seconds / steps

    def apply(self, operation: Operation) -> Outcome:
        outcome, right = (port.apply(operation) for port in self._ports)
        time.sleep((self._wait if outcome == right else LATE) / self._speed)
        return outcome


def planted(draw: str = "0", speed: str = "60") -> PlantedPort:
    """The adapter of ``python:first_findings:planted``."""
    return PlantedPort(int(draw), float(speed))


class Curve:
    """When a run showed each kind, in seconds since its first case could begin."""

    def __init__(self, kit: Path, words: Sequence[str], out: Path, *, by_rule: bool) -> None:
        self.kinds: dict[tuple[str, str], float] = {}
        self._by_rule = by_rule
        self.seconds = 0.0
        environment = {**os.environ, "PYTHONPATH": f"{kit / 'src'}:{HERE}"}
        command = [sys.executable, "-c", SCRIPT, "run", *words]
        self._run = subprocess.Popen(
            [*command, "--format", "jsonl", "--out", str(out)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        begin = 0.0
        assert self._run.stdout
        for line in self._run.stdout:
            one = json.loads(line)
            begin = begin or time.monotonic()
            self.seconds = time.monotonic() - begin
            if one["event"] == "case-ended" and one["verdict"] == "diverges":
                self.kinds.setdefault((one["suite"], one["rule"] if self._by_rule else ""), self.seconds)

    def end(self) -> None:
        self._thread.join()
        self._run.wait()

    def shown(self, seconds: float) -> int:
        return sum(at <= seconds for at in self.kinds.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--speed", type=float, default=60.0)
    parser.add_argument("--max-time")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    address = given.address or f"python:first_findings:planted?draw={given.draw}&speed={given.speed:g}"
    if not given.address:
        for suite, name in PlantedPort(given.draw, given.speed).faults.items():
            print(f"{suite}: {name}")
    words = [address, "--seed", "1", "--tier", "cover", *(["--max-time", given.max_time] if given.max_time else [])]
    words += given.words
    kits = {"before": given.before, "now": HERE.parent} if given.before else {"now": HERE.parent}
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
        by_rule = bool(given.address)
        curves = {name: Curve(kit, words, Path(folder, name), by_rule=by_rule) for name, kit in kits.items()}
        for curve in curves.values():
            curve.end()
    longest = max(curve.seconds for curve in curves.values())
    times = [longest * 2.0 ** (point - POINTS) for point in range(1, POINTS + 1)]
    rows = ((f"{seconds:.1f}", *(str(curve.shown(seconds)) for curve in curves.values())) for seconds in times)
    heads = ("s", *curves)
    print("", *markdown_table(heads, rows, heads), sep="\n")
    kinds = set().union(*(curve.kinds for curve in curves.values()))
    wanted = -(-9 * len(kinds) // 10)
    until = {name: sorted(curve.kinds.values())[wanted - 1 : wanted] for name, curve in curves.items()}
    for name, curve in curves.items():
        nine = f"after {until[name][0]:.1f} s" if until[name] else "never"
        print(
            f"{name}: {len(curve.kinds)} of {len(kinds)} kinds, {wanted} of them {nine}; {curve.seconds:.1f} s in all"
        )
    if given.before and until["now"]:
        first = until["before"][0] if until["before"] else curves["before"].seconds
        print(f"{'' if until['before'] else 'more than '}{first / until['now'][0]:.1f} times as soon")


if __name__ == "__main__":
    main()
