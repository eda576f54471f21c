"""Every command that the documents name: those that need nothing but Python run here, small; others are read."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from shutil import copy
from subprocess import run as run_process
from unittest.mock import patch

import click
import pytest
from command_line import kit
from documented_commands import documented
from places import ROOT
from predicted_broker import cluster, join

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.cli.options import chosen_suites
from rocketmq_conformance.conformance.fakes.broker import FakeBroker

KIT = list({str(one): one for one in documented("rocketmq-conformance")}.values())
BENCHMARKS = ROOT / "benchmarks"

# --- the kit ------------------------------------------------------------------------------------------------------

#: What is needed beside Python by commands that are not run here, by a pattern.
NEEDS = {
    r"java-client:|broker:(\d|dir=)": "Java and Maven",
    r"^(prove|provenance|fetch|matrix|bisect|diff) ?": "Java and Maven",
    r"^campaign |--master|^list tables": "Spark and Java",
    r"client[:?]|exec:|python:(my|push_consumer)": "a program, or the reader's own",
    r"broker:(HOST|localhost|broker-a\.example)": "a broker that runs",
    r"^serve ": "somebody who ends it",
    r"^regenerate|--promote": "the checkout, and a minute at least",
    r"(PLAN ADDRESS|smoke ADDRESS|before/plans|broken_consumer)": "what a tutorial makes",
    r"(NAME-OF-THE-MUTANT|retry-delay|myport|nightly|back$|mine\.(plan|toml)|9b1c2d3e)": "what a story has",
    r"^(expect add|replay)$": "arguments: it is a name",
    r"^power( --tier cover)?$": "minutes",
}
PORT = ("run", "port", "--seed", "5", "--cases", "1", "--tier", "seeded", "--out", "conformance-out/port-1729")
ONE_SUITE = "-k", "allocation"
FOUND = "run", "mutant:first-takes-all", *ONE_SUITE, "--cases", "9", "--tier", "seeded", "--out", "found"
#: What is run of each of the others: the command itself (), or words in its place, and the exit code if it is not 0.
SMALL: dict[str, tuple[str, ...]] = {
    "--version": (),
    "enumerate remote-store --steps 3 --values 3": ("enumerate", "remote-store", "--steps", "1", "--values", "2"),
    "enumerate start-push --steps 7 --plan every.plan.jsonl": (
        *("enumerate", "start-push", "--steps", "1", "--values", "1", "--plan", "every.plan.jsonl"),
    ),
    "explain BQ-EARLIEST-1": (),
    "explain OFF-R-READ": (),
    "explain POP-START-5": (),
    "explain REB-CLU-1": (),
    "explain RULE": ("explain", "REB-CLU-2"),
    "explain allocation": (),
    "list beliefs": (),
    "list clauses": (),
    "list mutants": (),
    "list suites": (),
    "list commands": (),
    "list operations --format page": (),
    "list operations -k grpc-push --format page": (),
    "list operations -k whole-broadcast --format page": (),
    "list properties": (),
    "list switches": (),
    "list versions": (),
    "list operations --format client": (),
    "list operations --format schema": (),
    "list operations -k allocation --format exec": (),
    "new-adapter --kind consumer --language go my-consumer": (),
    "new-adapter --language go DIR": (),
    "new-adapter --language go my-adapter": (),
    "power 'zero-*'": ("power", "first-takes-all"),
    "power NAME": ("power", "first-takes-all"),
    "power lock-given-twice commits-lose-others": ("power", "lock-given-twice"),
    "power NAMES-OF-YOUR-MUTANTS": ("power", "first-takes-all"),
    "predict allocation --members 10.0.0.1@1,10.0.0.1@1 --queues broker-a:4": (),
    "predict allocation --members 10.0.0.1@1,10.0.0.2@1 --queues broker-a:4,broker-b:4 --join 10.0.0.3@1": (),
    "predict failover --broker 4.9.7 --queue 7/5/10 --queue -/3/10": (),
    "run 'broker?like=5.5.0&upgraded-from=4.9.7' -k broker-upgrade": (
        *("run", "broker?like=5.5.0&upgraded-from=4.9.7", "-k", "broker-upgrade", "--cases", "1", "--tier", "seeded"),
    ),
    "run broker -k 'broker-pop-*'": ("run", "broker", "-k", "broker-pop-start", "--cases", "1", "--tier", "seeded"),
    "run broker -k broker-slave": ("run", "broker", "-k", "broker-slave", "--cases", "1", "--tier", "seeded"),
    "run ADDRESS": (*PORT, *ONE_SUITE),
    "run port": (*PORT, *ONE_SUITE),
    "run port --seed 5 --workers 2": (*PORT, *ONE_SUITE, "-k", "remote-store", "--workers", "2"),
    "run port --workers auto": (*PORT, *ONE_SUITE, "-k", "remote-store", "--workers", "2"),
    "run port -k NAME": (*PORT, *ONE_SUITE),
    "report DIR --verbose": ("report", "conformance-out/port-1729", "--verbose"),
    "report conformance-out/port-1729": (),
    "run python:minimal_port:make": (*PORT[:1], "python:minimal_port:make", *PORT[2:8]),
    "scenario": (),
    "switches 5.3.3..5.5.0": (),
    "scenario new-group port": (),
    "smoke python:minimal_port:make": (),
    "run mutant:NAME --out found": FOUND,
    "expect add known.toml found --reason 1 --owner 'clients team' --expires 2027-06-30": (),
}
#: Commands about a cluster, which the fake broker is here.
OF_A_CLUSTER = re.compile(r"127\.0\.0\.1:9876|NAMESRV:9876|facts\.json")
#: What documents call a suite of the reader's own.
MADE_UP = {"NAME", "retry-delay"}
#: The exit codes of a prediction: 1 where it warns.
PREDICTED = (0, 1)


def test_they_are_read_as_they_are_written() -> None:
    seen: list[click.Context] = []
    with patch.object(click.Command, "invoke", lambda self, context: seen.append(context)):
        for one in KIT:
            if str(one) not in ("--version", "expect add", "replay"):
                cli.main(list(one.words), standalone_mode=False)
                asked = seen[-1].params
                patterns = [one for one in asked.get("patterns") or () if one not in MADE_UP]
                assert chosen_suites(patterns, asked.get("rule_id") if one.words[0] == "run" else None), one
    assert len(seen) > 100


def test_each_runs_here_or_needs_more() -> None:
    without = [str(one) for one in KIT if not any(re.search(pattern, str(one)) for pattern in NEEDS)]
    assert sorted(one for one in without if not OF_A_CLUSTER.search(one)) == sorted(SMALL)


def test_those_that_need_nothing_but_python_run(tmp_path: Path) -> None:
    copy(ROOT / "examples" / "minimal_port.py", tmp_path)
    # as they build upon one another: a run comes before its report, and what was found before it is signed for
    for words in dict.fromkeys(small or tuple(shlex.split(one)) for one, small in sorted(SMALL.items(), key=_first)):
        done = kit(*words, cwd=tmp_path)
        allowed = PREDICTED if words[0] == "predict" else (1,) if words == FOUND else (0,)
        assert done.returncode in allowed, (words, done.stdout, done.stderr)


def _first(one: tuple[str, tuple[str, ...]]) -> bool:
    return not one[0].startswith("run ")


def test_those_of_a_cluster_run(tmp_path: Path) -> None:
    with cluster("4.9.7", {0: 3, 1: 60}) as broker, join(broker):
        asked = sorted((str(one) for one in KIT if OF_A_CLUSTER.search(str(one))), key=lambda one: " state " not in one)
        for words in map(shlex.split, asked):
            here = [broker.address if word.endswith(":9876") else word for word in words]
            done = kit(*here, cwd=tmp_path)
            # it has no slave
            allowed = (4,) if "failover" in words else PREDICTED
            assert done.returncode in allowed, (here, done.stdout, done.stderr)


# --- the benchmarks -----------------------------------------------------------------------------------------------

#: How each is run small; the broker is the fake one.
SIZES = {
    "broker_throughput.py": "BROKER --seconds 0.1",
    "campaign.py": "--steps 2000 --few 5 --some 50 --rounds 1",
    "campaign_cost.py": "--cases 40 -k remote-store",
    "campaign_diff.py": "--cases 2000",
    "campaign_engines.py": "--cases 2000 --shown 1 --engines process --analyses diff",
    "covering.py": "allocation --cases 2 --processes 1",
    "exec_lines.py": "--cases 2 --judged 2 --rounds 1",
    "first_findings.py": "--speed 1000 --max-time 2",
    "histories.py": "--seconds 0.01 --lengths 10 --widths 2 --runs 1 --cases 1",
    "java_client.py": "allocation --cases 2 --rounds 1",
    "peers_driver.py": "--seeds 1 --tool kit",
    "startup.py": "list\\ suites --rounds 1",
    "tier1.py": "allocation --seconds 0.01 --rounds 1",
    "tiers.py": "allocation --seconds 0.01 --mutants 1",
}
MARKS = {
    "campaign.py": pytest.mark.spark,
    "campaign_cost.py": pytest.mark.spark,
    "campaign_diff.py": pytest.mark.tables,
    "campaign_engines.py": pytest.mark.tables,
    "java_client.py": pytest.mark.java,
}


def test_each_benchmark_that_is_named_is_there_and_has_the_options_that_it_is_named_with() -> None:
    assert {path.name for path in BENCHMARKS.glob("*.py")} == SIZES.keys()
    named = [one for one in documented("python") if one.words[0].startswith("benchmarks/")]
    assert len(named) > 10
    for one in named:
        source = (ROOT / one.words[0]).read_text("utf-8")
        assert [word for word in one.words if word.startswith("--") and f'"{word}"' not in source] == [], one


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in SIZES])
def test_a_benchmark_runs(name: str, tmp_path: Path) -> None:
    with FakeBroker() if "BROKER" in SIZES[name] else nullcontext() as broker:
        words = [broker.address if word == "BROKER" and broker else word for word in shlex.split(SIZES[name])]
        command = [sys.executable, str(BENCHMARKS / name), *words]
        done = run_process(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stdout + done.stderr
