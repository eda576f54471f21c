"""The corpus: the kit's own notices every fault of the mutants, and every run plays what it and the user have."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import kit
from every import every
from places import HELPERS, ROOT

from rocketmq_conformance.conformance.adapter import Adapter, Case, Hello
from rocketmq_conformance.conformance.engine import corpus, plan
from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.handshake import hello_of
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.plan import PlanError
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.runner import Runner
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Ok, Outcome, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import (
    CONFORMS,
    UNDECIDED,
    UNSUPPORTED,
    CaseEnded,
    DivergenceFound,
    Event,
    RunEnded,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation, Side

PROFILE = Profile()
STORE = SUITES["remote-store"]
OWN = corpus.cases([corpus.kit_folder()], SUITES.values())
#: A read that ``OffByOne`` answers wrongly, and plans that it can play; no 4.x client can play the last one.
STEPS = {
    "off-by-one": [
        {"update": {"queue": 0, "offset": 12, "increase_only": False}},
        {"read": {"queue": 0, "kind": "memory", "fault": "answer"}},
    ],
    "fine": [{"remove": {"queue": 0}}],
    "fine-and-off-by-one": [
        {"remove": {"queue": 0}},
        {"update": {"queue": 0, "offset": 12, "increase_only": False}},
        {"read": {"queue": 0, "kind": "memory", "fault": "answer"}},
    ],
    "freezes": [{"freeze": {"queue": 0, "offset": 12}}],
}


class OffByOne:
    """The port, but it reads 13 where it should read 12."""

    def __init__(self) -> None:
        self.port = Port()

    def hello(self) -> Hello:
        return self.port.hello()

    def reset(self, case: Case) -> None:
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        outcome = self.port.apply(operation)
        return Ok(13) if operation.spec.name == "read" and outcome == Ok(12) else outcome

    def close(self) -> None:
        self.port.close()


def verdicts(stage: Stage, suites: Iterable[str]) -> Iterator[tuple[StoredCase, str]]:
    """The kit's corpus of some suites, played."""
    for name in suites:
        player = Player(stage, Judge(SUITES[name], PROFILE))
        for case in OWN[name]:
            yield case, player.one(1, case.rows).verdict


def kept(folder: Path, name: str, *cases: str, number: int = 7, suite: str = "remote-store") -> Path:
    """A plan file in a corpus, with the steps of some of ``STEPS``; its seed is 3."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    plan.write(path, SUITES[suite], PROFILE, 3, [])
    lines = [json.dumps({"case": number + at, "steps": STEPS[case]}) for at, case in enumerate(cases)]
    path.write_text(path.read_text() + "\n".join(lines) + "\n")
    return path


# --- the kit's own ------------------------------------------------------------------------------------------------


#: Suites of brokers with mutants that a plan can show.
BROKER_SUITES = {name for mutant in BROKER_MUTANTS.values() for name in mutant.suites if not mutant.set_up}
PORT_SUITES = {name for name, suite in SUITES.items() if suite.side is not Side.BROKER}


def test_the_kit_has_a_corpus_for_every_suite_that_has_mutants() -> None:
    files = corpus.files(corpus.kit_folder())
    assert len(files) < 800, "every run plays all of them: a plan must notice what no other one does"
    assert {name for name, cases in OWN.items() if cases} == PORT_SUITES | BROKER_SUITES
    assert len(files) == sum(map(len, OWN.values()))


def test_every_plan_of_the_corpus_conforms_on_the_port() -> None:
    stage = Stage(Port(), PROFILE)
    try:
        played = dict.fromkeys(PORT_SUITES, 0)
        for case, verdict in verdicts(stage, PORT_SUITES):
            assert verdict == CONFORMS, case.path.name
            played[case.path.name.split(".")[0]] += 1
    finally:
        stage.close()
    assert all(played.values())


def test_every_plan_of_the_corpus_conforms_on_the_fake_broker() -> None:
    stage = Stage(BrokerAdapter(FakeLocation(PROFILE)), PROFILE)
    try:
        played = {case.path.name: verdict for case, verdict in verdicts(stage, BROKER_SUITES)}
    finally:
        stage.close()
    assert {name for name, verdict in played.items() if verdict != CONFORMS} == set()
    assert len(played) > len(BROKER_SUITES)


def test_the_source_tree_is_known_and_plans_are_promoted_into_it() -> None:
    ours = corpus.kit_folder() == ROOT / "suites" / "corpus"
    assert corpus.in_source_tree() == ours


# --- folders and names --------------------------------------------------------------------------------------------


def test_a_run_reads_the_kits_folder_that_of_the_project_and_those_named_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert corpus.folders() == [corpus.kit_folder()]
    (tmp_path / "corpus").mkdir()
    (tmp_path / "more").mkdir()
    more = [Path("more"), tmp_path / "corpus", Path("./more")]
    assert corpus.folders(more) == [Path("more"), tmp_path / "corpus", corpus.kit_folder()]


@every(
    ("name", "parts"),
    [
        ("remote-store.9b1c2d3e.plan.jsonl", ("remote-store", "9b1c2d3e")),
        ("remote-store.9b1c2d3e-2.plan.jsonl", ("remote-store", "9b1c2d3e-2")),
        ("remote-store.a.b.plan.jsonl", ("remote-store", "a.b")),
        ("remote-store.plan.jsonl", None),
        ("remote-store..plan.jsonl", None),
        ("remote-store.9b1c2d3e.jsonl", None),
        (".remote-store.9b1c2d3e.plan.jsonl.part", None),
    ],
)
def test_the_name_of_a_minimal_plan_says_its_suite(name: str, parts: tuple[str, str] | None) -> None:
    assert corpus.minimal(name) == parts


def test_cases_come_by_suite_in_the_order_of_names_with_what_the_file_says_of_them(tmp_path: Path) -> None:
    second = kept(tmp_path, "remote-store.b.plan.jsonl", "fine", "off-by-one")
    first = kept(tmp_path, "remote-store.a.plan.jsonl", "off-by-one", number=40)
    (tmp_path / "README.md").write_text("other files may lie beside plans")
    found = corpus.cases([tmp_path], [STORE, SUITES["allocation"]])
    assert found["allocation"] == []
    assert [(case.path, case.number, case.seed) for case in found["remote-store"]] == [
        (first, 40, 3),
        (second, 7, 3),
        (second, 8, 3),
    ]
    assert found["remote-store"][0].rows == [
        (STORE.index["update"], (0, 12, False)),
        (STORE.index["read"], (0, "memory", "answer")),
    ]


def test_a_damaged_plan_of_a_suite_that_nobody_asked_for_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "remote-store.a.plan.jsonl").write_text("damaged")
    assert corpus.cases([tmp_path], [SUITES["allocation"]]) == {"allocation": []}
    with pytest.raises(PlanError, match=r"remote-store\.a\.plan\.jsonl, line 1 is not JSON"):
        corpus.cases([tmp_path], [STORE])


@pytest.mark.parametrize("name", ["remote-store.plan.jsonl", "mine.plan.jsonl", "moon.1a2b3c4d.plan.jsonl"])
def test_a_plan_whose_name_says_no_suite_is_refused(name: str, tmp_path: Path) -> None:
    kept(tmp_path, name, "fine")
    with pytest.raises(PlanError, match=r"says no suite: call it SUITE\.FINGERPRINT\.plan\.jsonl"):
        corpus.files(tmp_path)


def test_a_plan_for_another_suite_than_its_name_says_is_refused(tmp_path: Path) -> None:
    kept(tmp_path, "allocation.a.plan.jsonl", "fine")
    with pytest.raises(PlanError, match=r"allocation\.a\.plan\.jsonl is for the suite remote-store"):
        corpus.cases([tmp_path], [SUITES["allocation"]])


#: Runs of this file play neither covering plans nor Hypothesis.
TIERS = ("--tier", "corpus", "--tier", "seeded")


# --- runs ---------------------------------------------------------------------------------------------------------


def test_an_ordinary_run_plays_the_corpus_of_the_kit_before_anything_else(tmp_path: Path) -> None:
    done = kit("run", "-k", "start-p", "--cases", "5", "--seed", "1", *TIERS, "--out", "o", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {name: len(OWN[name]) for name in ("start-push", "start-pull")}
    assert f"corpus         {sum(expected.values())} plans replayed" in done.stdout
    events = jsonl.read(tmp_path / "o" / "events.jsonl").events
    started = {event.suite: event for event in events if isinstance(event, SuiteStarted)}
    for name, count in expected.items():
        assert started[name].cases == count + 5
        assert [one.plan for one in started[name].corpus] == [str(case.path) for case in OWN[name]]
        numbers = [event.case for event in events if isinstance(event, CaseEnded) and event.suite == name]
        assert numbers == [*range(-1, -count - 1, -1), *range(5)]
        whole = plan.read(tmp_path / "o" / f"{name}.plan.jsonl")
        assert list(whole.cases) == [*range(5)]


def test_the_seeded_tier_is_generated_cases_only(tmp_path: Path) -> None:
    kept(tmp_path / "corpus", "remote-store.a.plan.jsonl", "off-by-one")
    args = ["run", "port", "-k", "remote-store", "--cases", "5", "--tier", "seeded", "--out", "o"]
    done = kit(*args, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "replayed" not in done.stdout
    events = jsonl.read(tmp_path / "o" / "events.jsonl").events
    assert [event.case for event in events if isinstance(event, CaseEnded)] == [*range(5)]


@pytest.mark.parametrize("colour", ["NO_COLOR", "FORCE_COLOR"])
def test_a_plan_of_the_project_diverges_and_its_replay_line_works_as_printed(colour: str, tmp_path: Path) -> None:
    path = kept(tmp_path / "corpus", "remote-store.known one.plan.jsonl", "off-by-one")
    args = ["run", "python:broken_adapters:OffByOne", "-k", "remote-store", "--cases", "1", "--seed", "9", *TIERS]
    done = kit(*args, "--out", "o", cwd=tmp_path, **{colour: "1"})
    assert done.returncode == 1, done.stdout + done.stderr
    assert ("\x1b[" in done.stdout) == (colour == "FORCE_COLOR")
    assert f"remote-store, corpus plan {corpus.stem(path)}" in done.stdout
    events = jsonl.read(tmp_path / "o" / "events.jsonl").events
    found = [event for event in events if isinstance(event, DivergenceFound) and event.case < 0]
    named = [one.plan for event in events if isinstance(event, SuiteStarted) for one in event.corpus]
    ours = next(event for event in found if named[-event.case - 1] == f"corpus/{path.name}")
    program, *words = shlex.split(ours.replay)
    assert program == "rocketmq-conformance"
    again = kit(*words, cwd=tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    assert ours.rules[0]["id"] in again.stdout


def test_a_folder_of_the_user_is_played_before_anything_else(tmp_path: Path) -> None:
    kept(tmp_path / "mine", "remote-store.a.plan.jsonl", "fine", "freezes")
    kept(tmp_path / "other", "remote-store.b.plan.jsonl", "freezes")
    args = ["-k", "remote-store", "--cases", "1", "--out", "o", "--corpus", "other", "--corpus", "mine"]
    done = kit("run", "port", *args, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(OWN['remote-store']) + 3} plans replayed" in done.stdout
    (started,) = [one for one in jsonl.read(tmp_path / "o" / "events.jsonl").events if isinstance(one, SuiteStarted)]
    assert [Path(one.plan).parent.name for one in started.corpus[:4]] == ["other", "mine", "mine", "covering"]


def test_a_plan_with_an_operation_that_the_release_lacks_counts_as_unsupported(tmp_path: Path) -> None:
    kept(tmp_path / "corpus", "remote-store.a.plan.jsonl", "freezes", "fine")
    args = ["-k", "remote-store", "--cases", "5", "--out", "o", "--like", "4.9.8", "--format", "jsonl", "--seed", "1"]
    done = kit("run", "port", *args, cwd=tmp_path)
    events = jsonl.read(tmp_path / "o" / "events.jsonl").events
    first, *_ = [event for event in events if isinstance(event, CaseEnded) and event.verdict == "unsupported"]
    assert first.reason == "client 4.9.8, broker 5.5.0, java 17 has no freeze"
    freezing = [case for case in OWN["remote-store"] if STORE.lacking(Profile.of("4.9.8"), case.rows)]
    (end,) = [event for event in events if isinstance(event, RunEnded)]
    assert end.cases["unsupported"] == len(freezing) + 1
    assert end.cases["conforms"] >= 1
    assert done.returncode == end.exit_code


def run_events(adapter: Adapter, known: list[StoredCase], profile: Profile = PROFILE, **more: Any) -> list[Event]:
    """The events of a run of the remote store with these cases as its corpus; by default five generated ones."""
    stage = Stage(adapter, profile)
    options = Options(**{"address": "python:it:it", "seed": 1, "cases": 5, "corpus": {STORE.name: known}, **more})
    try:
        return list(Runner(stage, hello_of(stage), profile, options).run([STORE]))
    finally:
        stage.close()


def test_the_replay_of_a_case_that_is_not_kept_anew_names_its_file_and_number(tmp_path: Path) -> None:
    path = kept(tmp_path, "remote-store.a.plan.jsonl", "fine", "off-by-one", number=40)
    events = run_events(OffByOne(), corpus.cases([tmp_path], [STORE])[STORE.name])
    (found,) = [event for event in events if isinstance(event, DivergenceFound) and event.case < 0]
    assert found.case == -2
    assert shlex.split(found.replay)[1:] == ["replay", str(path), "python:it:it", "--case", "41"]


def test_a_shorter_plan_of_a_case_keeps_the_number_and_seed_of_its_file(tmp_path: Path) -> None:
    kept(tmp_path / "c", "remote-store.a.plan.jsonl", "fine-and-off-by-one", number=40)
    (tmp_path / "o").mkdir()
    events = run_events(OffByOne(), corpus.cases([tmp_path / "c"], [STORE])[STORE.name], out=tmp_path / "o")
    found = next(event for event in events if isinstance(event, DivergenceFound))
    assert (found.case, found.found_steps, len(found.steps)) == (-1, 3, 2)
    shorter = plan.read(Path(found.plan))
    assert shorter.seed == 3
    assert [*shorter.cases] == [40]
    assert len(shorter.cases[40]) == 2


def test_a_generated_case_carries_the_planted_wrong_answer(tmp_path: Path) -> None:
    # nothing can be planted in a case that the world plays alone
    world = StoredCase(tmp_path / "p", 0, 1, [(STORE.index["commit_elsewhere"], (0, 1))])
    ends = [event for event in run_events(Port(), [world]) if isinstance(event, SuiteEnded)]
    assert [(end.verdict, end.control) for end in ends] == [(CONFORMS, True)]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"max_time": 0.0}, "time limit after 1 of 6 cases: no generated case was played"),
        ({"cases": 0}, "no generated case was played"),
    ],
    ids=str,
)
def test_a_corpus_alone_is_no_pass(more: dict[str, Any], reason: str, tmp_path: Path) -> None:
    kept(tmp_path, "remote-store.a.plan.jsonl", "fine")
    events = run_events(Port(), corpus.cases([tmp_path], [STORE])[STORE.name], **more)
    (end,) = [event for event in events if isinstance(event, SuiteEnded)]
    assert (end.verdict, end.control, end.cases[CONFORMS]) == (UNDECIDED, True, 1)
    assert end.reason == reason
    assert isinstance(events[-1], RunEnded)
    assert (events[-1].verdict, events[-1].exit_code) == (UNDECIDED, 3)


def test_a_corpus_is_no_pass_where_no_generated_case_can_be_played(tmp_path: Path) -> None:
    class OnlyRemoves(OffByOne):
        def apply(self, operation: Operation) -> Outcome:
            return super().apply(operation) if operation.spec.name == "remove" else Unsupported("it only removes")

    kept(tmp_path, "remote-store.a.plan.jsonl", "fine")
    stored = corpus.cases([tmp_path], [STORE])[STORE.name]
    (end,) = [event for event in run_events(OnlyRemoves(), stored, cases=1, steps=1) if isinstance(event, SuiteEnded)]
    assert (end.cases[CONFORMS], end.cases[UNSUPPORTED]) == (1, 1)
    assert (end.verdict, end.reason) == (UNDECIDED, "no generated case conforms, only plans of the corpus do")


def test_a_corpus_for_other_releases_alone_is_undecided_not_unsupported(tmp_path: Path) -> None:
    kept(tmp_path, "remote-store.a.plan.jsonl", "freezes")
    stored = corpus.cases([tmp_path], [STORE])[STORE.name]
    events = run_events(Port(), stored, Profile.of("4.9.8"), max_time=0.0)
    (end,) = [event for event in events if isinstance(event, SuiteEnded)]
    assert end.cases[UNSUPPORTED] == 1
    assert (end.verdict, end.reason) == (UNDECIDED, "time limit after 1 of 6 cases: no generated case was played")


def test_a_plan_that_is_cut_off_is_no_corpus_plan(tmp_path: Path) -> None:
    path = kept(tmp_path, "remote-store.a.plan.jsonl", "fine", "off-by-one")
    path.write_text(path.read_text()[:-9])
    with pytest.raises(PlanError, match="is cut off in its last line"):
        corpus.read(path)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--corpus", "nowhere"], "nowhere is no corpus (No such file or directory): name a folder of plan files."),
        (["--corpus", "file"], "file is no corpus (Not a directory)"),
        (["--corpus", "empty"], "empty has no plans of a corpus (SUITE.FINGERPRINT.plan.jsonl): name another folder."),
        (["--corpus", "damaged"], "damaged/remote-store.a.plan.jsonl has no whole case"),
        (["--corpus", "badly-named"], "badly-named/remote-store.plan.jsonl is in a corpus and its name says no suite"),
        (["--corpus", "fine", "--tier", "seeded"], "--corpus needs the tier corpus: add --tier corpus"),
    ],
)
def test_a_corpus_that_cannot_be_used_gets_one_sentence(args: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    kept(tmp_path / "fine", "remote-store.a.plan.jsonl", "fine")
    kept(tmp_path / "badly-named", "remote-store.plan.jsonl", "fine")
    damaged = kept(tmp_path / "damaged", "remote-store.a.plan.jsonl", "fine")
    damaged.write_text(damaged.read_text()[:-8])
    done = kit("run", "--cases", "1", *args, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("Error:") == 1
    assert "Traceback" not in done.stderr


def test_a_damaged_plan_in_the_folder_of_the_project_ends_a_run_and_names_the_file(tmp_path: Path) -> None:
    kept(tmp_path / "corpus", "remote-store.a.plan.jsonl").write_text("")
    done = kit("run", cwd=tmp_path)
    assert done.returncode == 2
    assert "corpus/remote-store.a.plan.jsonl is empty" in done.stderr
    assert kit("run", "-k", "start-pull", "--cases", "1", cwd=tmp_path).returncode == 0


# --- under Hypothesis -----------------------------------------------------------------------------------------------


def pytest_run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--pyargs",
        "rocketmq_conformance.suites",
        "-p",
        "no:cacheprovider",
        "-q",
    ]
    env = {**os.environ, "PYTHONPATH": str(HELPERS)}
    return subprocess.run([*command, *args], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_every_plan_of_the_corpus_is_an_example_of_its_machine_before_the_search(tmp_path: Path) -> None:
    kept(tmp_path / "corpus", "remote-store.mine.plan.jsonl", "off-by-one")
    done = pytest_run("--collect-only", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    tests = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    examples = [test for test in tests if test.startswith("test_conforms_along[")]
    assert len(examples) == sum(map(len, OWN.values())) + 1
    assert examples[-1] == "test_conforms_along[remote-store.mine.plan.jsonl]"
    assert tests.index("test_conforms[allocation]") == len(examples)


def test_a_plan_file_is_played_by_the_machine_and_shown_step_by_step(tmp_path: Path) -> None:
    path = kept(tmp_path, "any name", "fine", "off-by-one")
    good = pytest_run("--plan", str(path), cwd=tmp_path)
    assert good.returncode == 0, good.stdout
    assert f"2 passed, {sum(suite.ordinary for suite in SUITES.values())} deselected" in good.stdout
    bad = pytest_run("--plan", str(path), "--implementation", "python:broken_adapters:OffByOne", cwd=tmp_path)
    assert bad.returncode == 1
    assert "1 failed, 1 passed" in bad.stdout
    run_events = [line[2:].strip() for line in bad.stdout.splitlines() if line.startswith("E ")]
    assert "expected 12, observed" in run_events[0]
    assert "(OFF-R-READ: memory hit)" in run_events[0]
    # pytest explains the assertion of an installed package besides
    assert run_events[run_events.index("Failing explicit example: conforms(") :] == [
        "Failing explicit example: conforms(",
        "plan='any name, case 8',",
        ")",
        "state = RemoteStoreMachine()",
        "state.update(queue=0, offset=12, increase_only=False)",
        "state.read(queue=0, kind='memory', fault='answer')",
        "state.teardown()",
    ]


def test_a_plan_file_that_is_none_ends_pytest_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("{}")
    done = pytest_run("--plan", "p", cwd=tmp_path)
    assert done.returncode == 2
    assert "\np is no plan: its first line has no plan version.\n" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_plan_that_the_release_lacks_is_skipped_with_the_reason(tmp_path: Path) -> None:
    path = kept(tmp_path, "p", "freezes")
    (tmp_path / "old_port.py").write_text(
        "from broken_adapters import Slow\n"
        "from dataclasses import replace\n"
        "class Old(Slow):\n"
        "    def hello(self):\n        return replace(self.port.hello(), client='4.9.8')\n"
    )
    done = pytest_run("--plan", str(path), "-rs", "--implementation", "python:old_port:Old", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "client 4.9.8, broker 5.5.0, java 17 has no freeze" in done.stdout


def test_the_kits_corpus_can_be_copied_and_read_as_that_of_a_project(tmp_path: Path) -> None:
    shutil.copytree(corpus.kit_folder(), tmp_path / "corpus")
    found = corpus.cases([tmp_path / "corpus"], SUITES.values())
    assert {name: [case.rows for case in cases] for name, cases in found.items()} == {
        name: [case.rows for case in cases] for name, cases in OWN.items()
    }
