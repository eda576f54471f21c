"""The command line as its users meet it: every answer is a sentence and the documented exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import kit
from places import HELPERS, ROOT
from prepared_signals import interruptible

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.cli.run import run as run_command
from rocketmq_conformance.conformance.cli.smoke import smoke as smoke_command
from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import DivergenceFound
from rocketmq_conformance.suites.declare.discovery import SUITES

#: What a child can import: the broken adapters, and what these tests can.
PATHS = (str(HELPERS), os.environ.get("PYTHONPATH"))


def test_everything_of_a_run_is_kept(tmp_path: Path) -> None:
    done = kit(
        "run", "-k", "remote-store", "-k", "broker-[lo]*", "--seed", "5", "--cases", "60", "--out", "kept", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verdict: conforms" in done.stdout
    recording = jsonl.read(tmp_path / "kept" / "events.jsonl")
    assert recording.complete
    assert recording.conclusion().passed
    assert (tmp_path / "kept" / "junit.xml").exists()
    assert (tmp_path / "kept" / "remote-store.plan.jsonl").exists()


def test_the_same_seed_writes_the_same_plans_and_another_seed_others(tmp_path: Path) -> None:
    for seed, out in (("5", "a"), ("5", "b"), ("6", "c")):
        words = ("-k", "remote-store", "--seed", seed, "--cases", "5", "--tier", "seeded")
        done = kit("run", *words, "--out", out, cwd=tmp_path)
        assert done.returncode == 0
    a, b, c = ((tmp_path / out / "remote-store.plan.jsonl").read_text() for out in "abc")
    assert a == b
    assert a.splitlines()[1:] != c.splitlines()[1:]


def test_a_divergence_is_reported_shrunk_and_replayed(tmp_path: Path) -> None:
    words = ("-k", "remote-store", "--seed", "3", "--cases", "100", "--out", "o")
    done = kit("run", "python:broken_adapters:OffByOne", *words, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "OFF-R-READ" in done.stdout
    assert "replay" in done.stdout
    plan = next(iter(sorted((tmp_path / "o").glob("remote-store.????????.plan.jsonl"))))
    again = kit("replay", str(plan), "python:broken_adapters:OffByOne", cwd=tmp_path)
    assert again.returncode == 1
    good = kit("replay", str(plan), "port", cwd=tmp_path)
    assert good.returncode == 0, good.stdout
    steps = json.loads(plan.read_text().splitlines()[1])["steps"]
    assert len(steps) == 2
    whole = str(tmp_path / "o" / "remote-store.plan.jsonl")
    for limit, stopped in {"-x": "first divergence", "--max-time=0": "time limit"}.items():
        shown = kit("replay", whole, "python:broken_adapters:OffByOne", limit, "--format", "jsonl", cwd=tmp_path)
        assert json.loads(shown.stdout.splitlines()[-1])["stopped"] == stopped, shown.stderr


def test_shrink_makes_the_plan_of_a_whole_run_short(tmp_path: Path) -> None:
    kit("run", "port", "-k", "remote-store", "--seed", "3", "--cases", "50", "--out", "o", cwd=tmp_path)
    done = kit("shrink", "o/remote-store.plan.jsonl", "python:broken_adapters:OffByOne", cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert list((tmp_path / "o" / "remote-store-shrunk").glob("remote-store.????????.plan.jsonl"))


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["run", "nonsense:1"], 2, "is no address"),
        (["run", "--workers", "0"], 2, "write a number from 1 on, or auto"),
        (["run", "-x", "--workers", "2"], 2, "leave one of them out"),
        (["run", "port:x"], 2, "takes no name"),
        (["run", "port?via=pigeon"], 2, "cannot be reached via"),
        (["run", "mutant:nobody"], 2, "No mutant is called"),
        (["run", "python:nothing"], 2, "python:package.module:factory"),
        (["run", "python:no_such_module:make"], 4, "cannot be found"),
        (["run", "python:broken_adapters:missing"], 4, "has no 'missing'"),
        (["run", "python:broken_adapters:no_adapter"], 4, "is no adapter"),
        (["run", "python:broken_adapters:FailsToBegin"], 4, "cannot begin"),
        (["run", "python:broken_adapters:BadHello"], 4, "must return a Hello"),
        (["run", "broker:127.0.0.1:1"], 4, "No broker answers"),
        (["run", "broker:7"], 2, "neither a release nor HOST:PORT"),
        (["run", "-k", "nothing-like-this"], 2, "producing, transactions, ACLs and storage are not judged"),
        (["run", "-k", "broker-ofsets"], 2, "No suite matches 'broker-ofsets': is it broker-offsets"),
        (["switches", "5.5.0"], 2, "write two releases, such as 5.3.3..5.5.0"),
        (["run", "--rule", "OFF-R-REED"], 2, "OFF-R-READ"),
        (["run", "port", "--rule", "BQ-GROUP-3"], 2, "port has no broker side"),
        (["run", "port", "--rule", "REB-BRK-1", "--like", "4.9.8"], 2, "of 5.0.0-PREVIEW+, not of client 4.9.8"),
        (["run", "-k", "consume", "--rule", "BQ-GROUP-3"], 2, "No chosen suite can reach the rule BQ-GROUP-3"),
        (["run", "--with", "broker=latest"], 2, "is not a RocketMQ release"),
        (["run", "--with", "moon=1"], 2, "client=RELEASE"),
        (["run", "--like", "x"], 2, "is not a RocketMQ release"),
        (["run", "--cases", "0"], 2, "--cases"),
        (["explain", "NOPE"], 2, "no rule is called"),
        (["replay", "missing.jsonl"], 2, "cannot be read"),
        (["power", "no-such-one"], 2, "No mutant is called"),
        (["serve", "--topic", "a=0"], 2, "is no topic"),
        (["serve", "--lease", "0"], 2, "--lease"),
        (["serve", "--lease", "-5"], 2, "--lease"),
        (["serve", "--lease", "soon"], 2, "--lease"),
        (["run", "broker?like=x"], 2, "is no release"),
        (["frobnicate"], 2, "No such command"),
    ],
)
def test_bad_input_gets_one_sentence(args: list[str], code: int, sentence: str, tmp_path: Path) -> None:
    done = kit(*args, cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("adapter", "code", "sentence"),
    [
        ("Raises", 4, "a bug in the adapter"),
        ("RaisesLate", 4, "a bug in the adapter"),
        ("Junk", 4, "must return Ok, Err or Unsupported"),
        ("Hangs", 4, "did not return"),
        ("Undecided", 3, "decides nothing"),
        ("OffersNothing", 3, "unsupported"),
        ("FailsToClose", 0, "Verdict: conforms"),
        ("Interrupted", 3, "interrupted"),
    ],
)
def test_a_broken_adapter_is_reported_and_what_ran_is_kept(
    adapter: str, code: int, sentence: str, tmp_path: Path
) -> None:
    done = kit(
        "run", f"python:broken_adapters:{adapter}", "-k", "remote-store", "--cases", "20",
        "--patience", "1" if adapter == "Hangs" else "20", "--out", "o", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert sentence in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr
    assert jsonl.read(tmp_path / "o" / "events.jsonl").complete


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "p.jsonl is empty"),
        ("{}\n", "no plan version"),
        ('{"plan": 99, "suite": "remote-store"}\n', "use a newer kit"),
        ('{"plan": 1, "suite": "nothing"}\n', "does not have"),
        ('{"plan": 1, "suite": "remote-store"}\n', "seed or profile"),
        ("HEADER", "has no cases"),
        ('HEADER{"case": 0, "steps": [{"fly": {}}]}\n', "has no operation 'fly'"),
        ('HEADER{"case": 0, "steps": [{"read": {"queue": 1}}]}\n', "takes exactly"),
        ('HEADER{"case": 0}\n', "a case needs"),
        ('HEADER{"case": 0, "ste', "has no whole case"),
        ("HEADER[]\n", "not a JSON object"),
        ('HEADER{"case": 0, "steps": ["read"]}\n', "a step is one operation"),
    ],
)
def test_a_malformed_plan_gets_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    header = {
        "plan": 1,
        "suite": "remote-store",
        "seed": 1,
        "profile": {"client": "5.5.0", "broker": "5.5.0", "java": "17"},
    }
    (tmp_path / "p.jsonl").write_text(text.replace("HEADER", json.dumps(header) + "\n"))
    done = kit("replay", "p.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_an_out_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = kit("run", "--out", "file/below", cwd=tmp_path)
    assert done.returncode == 4
    assert "name another folder" in done.stderr


def test_a_plan_that_cannot_be_written_ends_the_run_in_its_suite(tmp_path: Path) -> None:
    (tmp_path / "out" / "remote-store.plan.jsonl").mkdir(parents=True)
    ended = kit("run", "port", "-k", "remote-store", "--cases", "3", "--out", "out", cwd=tmp_path)
    assert ended.returncode == 4
    assert "Writing the run failed" in ended.stderr
    events = [type(event).__name__ for event in jsonl.read(tmp_path / "out" / jsonl.NAME).events]
    assert events == ["RunStarted", "SuiteStarted"]
    assert "Verdict: undecided: the run was cut off before its end" in ended.stdout


def test_ctrl_c_keeps_what_ran(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "rocketmq_conformance", "run", "python:poisonous:Waits", "--cases", "2000",
         "-k", "remote-store", "--format", "jsonl", "--seed", "1"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(HELPERS)}, stdout=subprocess.PIPE, text=True,
        preexec_fn=interruptible,
    )  # fmt: skip
    assert child.stdout is not None
    for line in child.stdout:
        if "case-ended" in line:
            child.send_signal(signal.SIGINT)
            break
    rest = child.stdout.read()
    assert child.wait(60) == 3
    assert '"stopped": "interrupted"' in rest or '"stopped":"interrupted"' in rest


def test_a_time_limit_ends_a_run_that_conforms(tmp_path: Path) -> None:
    done = kit("run", "--max-time", "0.2", "--cases", "3000", "--steps", "10", "--tier", "seeded", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Verdict: conforms (exit code 0): stopped by the time limit." in done.stdout


def test_a_time_limit_within_the_corpus_leaves_a_run_undecided(tmp_path: Path) -> None:
    done = kit("run", "--max-time", "0", "-k", "remote-store", "--tier", "corpus", "--tier", "seeded", cwd=tmp_path)
    assert done.returncode == 3, done.stdout
    assert "no generated case was played" in done.stdout
    assert "Verdict: undecided (exit code 3): stopped by the time limit." in done.stdout


def test_a_killed_run_leaves_a_plan_that_can_be_replayed(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "rocketmq_conformance", "run", "--cases", "1000000", "--tier", "seeded",
         "-k", "remote-store", "--format", "jsonl", "--seed", "1", "--out", "o"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    for line in child.stdout:
        if '"case": 3' in line:
            child.kill()
            break
    child.communicate(timeout=60)
    done = kit("replay", "o/remote-store.plan.jsonl", "--case", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("what", ["suites", "rules", "operations", "mutants"])
def test_list_names_something(what: str, tmp_path: Path) -> None:
    done = kit("list", what, cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) >= 5


def test_explain_says_sentence_source_and_suites(tmp_path: Path) -> None:
    done = kit("explain", "off-r-read", cwd=tmp_path)
    assert done.returncode == 0
    assert "OFF-R-READ" in done.stdout
    assert "RemoteBrokerOffsetStore#readOffset" in done.stdout
    assert "remote-store" in done.stdout


def listed(*args: str) -> str:
    """What ``list operations`` prints."""
    done = CliRunner().invoke(cli, ["list", "operations", *args])
    assert done.exit_code == 0, done.output
    return done.output


def test_operations_of_some_suites_are_listed_as_lines_and_as_schemas() -> None:
    lines = listed("--suite", "local-store", "-k", "start-pu*").splitlines()
    assert {line.partition("/")[0] for line in lines} == {"local-store", "start-pull", "start-push"}
    for form in ("schema", "exec"):
        some, every = (json.loads(listed("--format", form, *words)) for words in (["-k", "local-store"], []))
        assert {name.partition(".")[0] for name in some["$defs"]} == {"local-store"}
        assert some["$defs"] == {name: every["$defs"][name] for name in some["$defs"]}
    for words, sentence in (
        (["operations", "-k", "no-such-suite"], "No suite with operations here matches 'no-such-suite'"),
        (["rules", "-k", "pull"], "list operations -k NAME"),
        (["operations", "--format", "client", "-k", "pull"], "list operations -k NAME"),
    ):
        done = CliRunner().invoke(cli, ["list", *words])
        assert (done.exit_code, sentence in done.output) == (2, True), done.output


def test_a_first_look_asks_for_every_operation_and_shrinks_nothing() -> None:
    done = CliRunner().invoke(cli, ["smoke", "mutant:first-takes-all", "-k", "allocation", "--format", "jsonl"])
    assert done.exit_code == 1
    events = [json.loads(line) for line in done.stdout.splitlines()]
    found = [event for event in events if event["event"] == DivergenceFound.kind]
    assert found
    assert {event["unshrunk"] for event in found} == {"a first look shrinks nothing"}
    played = {step["operation"].partition("(")[0] for event in found for step in event["steps"]}
    asked = {line.partition("/")[2].partition("(")[0] for line in listed("-k", "allocation").splitlines()}
    cases = covering_plans.first_look(SUITES["allocation"], Profile())
    assert {SUITES["allocation"].operations[at].spec.name for case in cases for at, _ in case.rows} == asked
    assert played <= asked
    (started,) = [event for event in events if event["event"] == "suite-started"]
    assert len(started["corpus"]) == len(cases)


#: What ``run`` takes and ``smoke`` does not: it is short, draws little, keeps nothing and looks for no shorter plans.
NOT_SMOKED = {
    "cases",
    "steps",
    "seed",
    "max_time",
    "out",
    "stop_at_first",
    "workers",
    "more_corpus",
    "tiers",
    "examples",
}


def test_smoke_takes_what_run_takes_but_for_how_much_is_played() -> None:
    run, smoke = ({one.name for one in command.params} for command in (run_command, smoke_command))
    assert run - smoke == NOT_SMOKED
    assert smoke <= run


def test_a_first_look_is_judged_as_a_run_is(tmp_path: Path) -> None:
    port = ["smoke", "port", "-k", "allocation"]
    for words, code in (([], 0), (["--rule", "ALLOC-AVG-1"], 0), (["--rule", "BQ-GROUP-3"], 2), (["--like", "4.9"], 2)):
        assert CliRunner().invoke(cli, [*port, *words]).exit_code == code, words
    assert "Judged as client 4.9.8, because it was asked for" in kit(*port, "--like", "4.9.8", cwd=tmp_path).stdout
    for words in (["--expected", str(tmp_path / "none.toml")], ["--rulebook", "9.9"]):
        assert CliRunner().invoke(cli, [*port, *words]).exit_code == 2, words


def test_a_first_look_at_a_program_says_what_judges_it_and_obeys_the_chosen_suite() -> None:
    address = f"client?pace=1000:{sys.executable} {ROOT / 'tests' / 'helpers' / 'program.py'} only-orderly"
    done = CliRunner().invoke(cli, ["smoke", address, "-k", "whole-lite", "--like", "4.9.8", "--with", "broker=5.1.4"])
    assert "note    judged as client 4.9.8 and broker 5.1.4, because it was asked for\n" in done.output
    assert (done.exit_code, "it is no consumer of whole-lite: it is only-orderly" in done.output) == (4, True)
    for words, sentence in (
        (["-k", "allocation"], "No chosen suite judges such programs"),
        (["--quirks"], "Of a program nothing is judged yet"),
    ):
        done = CliRunner().invoke(cli, ["smoke", address, *words])
        assert (done.exit_code, sentence in done.output) == (2, True), done.output


def test_explain_says_what_the_rules_of_a_suite_demand() -> None:
    text = explained("allocation")
    assert text.startswith("allocation  (pure)\n")
    assert [line for line in text.splitlines() if line.startswith("ALLOC-CHK-1 ")] == ["ALLOC-CHK-1  MUST"]
    assert "ALLOC-ROOM-1-FAULT  MUST  (only client up to 4.7.1)\n" in text
    assert "ALLOC-ROOM-1-FAULT  MUST\n" in explained("allocation", "--like", "4.0.0")


def explained(*args: str) -> str:
    """What ``explain`` prints."""
    done = CliRunner().invoke(cli, ["explain", *args])
    assert done.exit_code == 0, done.output
    return done.output


def test_explain_says_where_an_answer_is_an_accident_of_java() -> None:
    assert "  quirk     where the difference of the ids wraps: an accident of Java, judged " in explained("MQ-ORD-1")
    assert "quirk" not in explained("REB-CLU-3")


def test_explain_says_on_which_releases_suites_reach_a_rule() -> None:
    text = explained("REB-CLU-3")
    assert re.search(r"rebalance +client up to 5\.4\.0\n", text)
    assert re.search(r"rebalance-service +client, all releases\n", text)
    assert "by client 5.5.0, broker 5.5.0, java 17 it can fire in rebalance-service\n" in text
    assert "not in rebalance, rebalance-changed, " in text
    assert "not in" not in explained("REB-CLU-3", "--like", "4.9.8")


def test_explain_says_why_no_suite_reaches_a_rule() -> None:
    assert "needs     Java 8 to 13" in explained("BQ-MEM-1")
    assert "it can fire in no suite\n    not in broker-cold: on Java 14 and later" in explained("BQ-MEM-1")
    assert "java 8 it can fire in broker-cold" in explained("BQ-MEM-1", "--with", "java=8")
    assert "suites    none: `prove` compares it with real releases" in explained("WIRE-VER-1")
    assert "not in broker-locks: lockInStrictMode is off, the default" in explained("BQ-LOCK-STRICT")


def test_a_rule_chooses_the_suites_in_which_it_can_fire(tmp_path: Path) -> None:
    done = kit("run", "broker", "--rule", "BQ-GROUP-3", "--cases", "2", "--tier", "seeded", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    header = json.loads(next(tmp_path.glob("conformance-out/*/events.jsonl")).read_text().splitlines()[0])
    assert header["suites"] == [
        "broker-admin",
        "broker-fields",
        "broker-members",
        "broker-offsets",
        "broker-pop-start",
        "broker-retry",
        "broker-stats",
        "broker-topics",
    ]


def test_smoke_tries_every_suite_of_the_sides_that_there_are(tmp_path: Path) -> None:
    done = kit("smoke", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "allocation" in done.stdout
    assert not list(tmp_path.iterdir())


def test_an_adapter_with_packages_called_models_and_reports_runs(tmp_path: Path) -> None:
    for name in ("models", "reports", "suites", "conformance"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"MINE = {name!r}\n")
    (tmp_path / "my_port.py").write_text(
        "import conformance, models, reports, suites\n"
        "from broken_adapters import Slow\n"
        "assert (models.MINE, reports.MINE, suites.MINE) == ('models', 'reports', 'suites')\n"
        "def make():\n    return Slow()\n"
    )
    done = kit("run", "python:my_port:make", "-k", "remote-store", "--cases", "10", "--tier", "seeded", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_machines_are_collected_for_an_implementation(tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "pytest", "--pyargs", "rocketmq_conformance.suites", "-q", "-p", "no:cacheprovider",
    ]  # fmt: skip
    one_of_the_port = [*command, "-k", "remote-store", "--examples", "5", "--implementation", "port"]
    one_of_another = [
        *command, "-x", "-k", "remote-store", "--examples", "5", "--implementation", "mutant:zero-is-none",
    ]  # fmt: skip
    good = subprocess.run(one_of_the_port, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout
    assert "passed" in good.stdout
    # a plan of the corpus notices it: that is an example of the machine before any is drawn
    bad = subprocess.run(one_of_another, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert bad.returncode == 1, bad.stdout
    assert "OFF-R-READ" in bad.stdout


def test_a_difference_that_a_property_may_explain_fails_no_machine(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "--pyargs", "rocketmq_conformance.suites", "-q", "-rs"),
        *("-p", "no:cacheprovider", "-k", "test_conforms_along and broker-search", "--implementation"),
    ]
    env = {**os.environ, "PYTHONPATH": f"{HELPERS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", "COLUMNS": "500"}
    plain, beside = (
        subprocess.run([*command, name], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        for name in ("python:doubtful_broker:make", "python:doubtful_broker:make?enableMultiDispatch=true")
    )
    assert plain.returncode == 1
    assert (beside.returncode, "failed" in beside.stdout) == (0, False)
    assert re.search(
        r"SKIPPED.*undecided: .* \(.*BQ-TIME-.*\), beside enableMultiDispatch=true, unclassified", beside.stdout
    )
