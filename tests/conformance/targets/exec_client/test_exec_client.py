"""The address exec:COMMAND with real programs: the bundled port behind one, and programs with a fault each."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from places import ROOT
from waiting import wait_for_end

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Case
from rocketmq_conformance.conformance.api import judge, run
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import ENDED_ONCE
from rocketmq_conformance.conformance.engine.whole_case import WholeCase
from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.exec_client import lines, schema
from rocketmq_conformance.conformance.targets.exec_client.greeting import greeting
from rocketmq_conformance.conformance.targets.exec_client.lines import ProtocolError
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.conformance.targets.skeletons import SKELETONS
from rocketmq_conformance.models.outcome import Err, Ok, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CaseEnded, DivergenceFound, Event, RunEnded, SuiteEnded
from rocketmq_conformance.suites import allocation, remote_store
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side

HELPERS = ROOT / "tests" / "helpers"
PORT = f"exec:{sys.executable} {HELPERS / 'exec_port.py'}"
PLAYED = [suite for suite in SUITES.values() if suite.side in (Side.PURE, Side.CLIENT)]


def poor(fault: str, folder: Path) -> str:
    """The address of a program with a fault, which notes its processes in a file of the folder."""
    return f"exec:{sys.executable} {HELPERS / 'poor_program.py'} {fault} {folder / 'pids'}"


def wait_for_noted_processes(folder: Path) -> None:
    """Wait until the noted processes have ended: one that is killed takes a moment to be gone."""
    wait_for_end(*map(int, (folder / "pids").read_text().split()))


def digests(events: list[Event]) -> list[tuple[str, int, str, str]]:
    return [(one.suite, one.case, one.verdict, one.digest) for one in events if isinstance(one, CaseEnded)]


@pytest.mark.parametrize("more", ["", " --whole", " --tcp"])
def test_the_port_behind_a_program_answers_as_the_port_does(more: str) -> None:
    """Step by step, by whole cases, and over sockets: exchanges, faults, ticks, files, and sets."""
    suites = ["allocation", "remote-store"] if more == " --tcp" else [suite.name for suite in PLAYED]
    kinds = {"suites": suites, "cases": 1, "steps": 20, "seed": 4, "tiers": ["seeded"]}
    played = list(run(PORT + more, **kinds))
    assert digests(played) == digests(list(run("port", **kinds)))
    assert [one.verdict for one in played if isinstance(one, SuiteEnded)] == ["conforms"] * len(suites)


def test_a_case_in_one_line_without_some_steps_is_what_it_is_step_by_step(tmp_path: Path) -> None:
    (made,) = SKELETONS["stepped", "python"].write(tmp_path)
    both = []
    for whole in ("True", "False"):
        made.write_text(made.read_text().replace('"whole_cases": True', f'"whole_cases": {whole}'))
        events = list(run(f"exec:{sys.executable} {made}", suites=["allocation"], cases=20, seed=1, tiers=["seeded"]))
        (ended,) = [event for event in events if isinstance(event, SuiteEnded)]
        assert ended.unsupported
        counted = ended.verdict, ended.control, ended.unsupported, ended.coverage
        both.append((digests(events), [one.steps for one in events if isinstance(one, CaseEnded)], counted))
    assert both[0] == both[1]


def test_answers_of_the_port_fit_the_schemas() -> None:
    import jsonschema

    known = json.loads(schema.text(SUITES.values()))["$defs"]
    port, wrong = Port(), []

    class Watched(Port):
        def apply(self, operation):  # type: ignore[no-untyped-def]
            outcome = super().apply(operation)
            checked(operation.spec.name, outcome, vars(operation))
            return outcome

        def calls(self, suite):  # type: ignore[no-untyped-def]
            nonlocal now
            now = suite.name

    now = ""

    def checked(name: str, outcome: object, args: dict[str, object]) -> None:
        parts = known[f"{now}.{name}"]["properties"]
        given = json.loads(json.dumps(args))
        if not jsonschema.Draft202012Validator(parts["args"]).is_valid(given):
            wrong.append((now, name, given))
        if isinstance(outcome, Ok):
            value = json.loads(json.dumps(outcome.value))
            if not jsonschema.Draft202012Validator(parts["ok"]).is_valid(value):
                wrong.append((now, name, value))

    port.close()
    for _ in run(Watched(), suites=[suite.name for suite in PLAYED], cases=3, steps=25, seed=11, tiers=["seeded"]):
        pass
    assert wrong == []


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("exits", "gave no hello: it ended with exit code 1; its last lines on standard error: no such configuration."),
        ("garbage", "wrote a line that is not JSON ('Starting up...'): standard output carries the protocol alone"),
        ("flood", "wrote more than 16 MiB without a line break"),
        ("mute", "gave no hello in time: it must answer each line, and flush (the whole start may take 1 s: --start-"),
        ("version", "it speaks version 2 of the protocol, and this kit version 1"),
        ("field", "its hello has an unknown field 'colour'"),
    ],
)
def test_a_program_that_does_not_greet_cannot_be_judged(fault: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises((AdapterError, CannotRunError), match=r"^The program") as caught:
        list(run(poor(fault, tmp_path), suites=["allocation"], start_timeout=1.0 if fault == "mute" else 60.0))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    wait_for_noted_processes(tmp_path)


@pytest.mark.parametrize(
    ("fault", "verdict", "sentence"),
    [
        ("liar", "could not run", "it answered with id 3 what was asked with id 2"),
        ("float", "could not run", "it answered the number 1.5: numbers are whole"),
        ("speechless", "could not run", 'which has no "ok", "err" or "unsupported"'),
        ("hangs", "undecided", "did not answer in time, and was killed"),
        ("stubborn", "unsupported", ""),
        ("forks", "unsupported", ""),
    ],
)
def test_faults_of_a_program_in_a_case(fault: str, verdict: str, sentence: str, tmp_path: Path) -> None:
    patience = 0.5 if fault == "hangs" else 30
    events = list(
        run(poor(fault, tmp_path), suites=["allocation"], cases=1, steps=2, seed=1, tiers=["seeded"], patience=patience)
    )
    ended = [one for one in events if isinstance(one, CaseEnded)]
    assert [(one.verdict, sentence in one.reason) for one in ended] == [(verdict, True)]
    wait_for_noted_processes(tmp_path)


def test_a_crash_is_a_divergence_with_the_last_words_and_the_log_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    events = list(
        run(poor("crashes", tmp_path), suites=["allocation"], cases=1, steps=2, seed=1, tiers=["seeded"], out=out)
    )
    found = [one for one in events if isinstance(one, DivergenceFound)]
    last = " / ".join(["out of luck"] * 3)
    said = f"it ended with exit code 1; its last lines on standard error: {last}"
    assert {one.observed for one in found} == {f"error CRASHED ({said})"}
    assert any("exit code 1; its last lines on standard error: out of luck" in str(one.steps) for one in found)
    assert "out of luck" in (out / "exec.log").read_text()
    assert next(one.exit_code for one in events if isinstance(one, RunEnded)) == 1
    wait_for_noted_processes(tmp_path)


def test_a_crash_that_does_not_happen_again_step_by_step_is_undecided(tmp_path: Path) -> None:
    rows = [SUITES["allocation"].row(allocation.AllocateAveragely("x", (("T", "b0", 0),), ("a",)))] * 2
    options = Options(poor("crashes-whole", tmp_path), 1, plans={"allocation": {0: rows}})
    events = judge(options.address, [SUITES["allocation"]], options, planned=Profile())
    ended = [one for one in events if isinstance(one, CaseEnded)]
    assert [(one.verdict, one.reason) for one in ended] == [("undecided", ENDED_ONCE)]


def test_every_line_is_shown_both_ways(tmp_path: Path) -> None:
    shown: list[tuple[str, str]] = []
    options = Options(poor("none", tmp_path), 1, 1, 1)
    list(judge(options.address, [SUITES["allocation"]], options, on_line=lambda way, line: shown.append((way, line))))
    assert [(way, next(iter(json.loads(line).keys() - {"id"}))) for way, line in shown[:4]] == [
        (">", "hello"),
        ("<", "hello"),
        (">", "reset"),
        ("<", "ok"),
    ]
    assert {json.loads(line)["id"] for way, line in shown} == set(range(len(shown) // 2))


def test_commands_that_cannot_be_started() -> None:
    with pytest.raises(CannotRunError, match=r"The program no-such-program cannot be started \(No such file"):
        list(run("exec:no-such-program --flag"))
    for text, sentence in (("exec:", "stands the command of a program"), ("exec:'", "cannot be read as shell words")):
        with pytest.raises(AddressError, match=sentence):
            open_address(text)


def test_all_after_the_colon_is_the_command() -> None:
    assert open_address("exec:run 'a b' --url=x?y&z=1").words == ["run", "a b", "--url=x?y&z=1"]  # type: ignore[attr-defined]


def test_answers() -> None:
    assert lines.outcome({"ok": [[2, "b"], [1, None]]}) == Ok(((2, "b"), (1, None)))
    assert lines.outcome({"ok": [[2, "b"], [1, None]]}, (-1,)) == Ok(((1, None), (2, "b")))
    assert lines.outcome({"ok": [[3, 1], [2, 1]]}, (1,)) == Ok(((3, 1), (1, 2)))
    assert lines.outcome(json.loads('{"ok": 9223372036854775807}')) == Ok(2**63 - 1)
    assert lines.outcome({"err": "SYSTEM_BUSY", "definite": False}) == Err("SYSTEM_BUSY", definite=False)
    assert lines.outcome({"unsupported": "no"}) == Unsupported("no")


def test_what_is_wrong_with_lines_is_said() -> None:
    wrong = {
        "an exchange": lambda: lines.exchange({"id": 1}),
        "a header": lambda: lines.exchange({"id": 1, "code": 14, "ext": {"queueId": 0}}),
        "an error": lambda: lines.outcome({"err": 5}),
        "an object": lambda: lines.outcome({"ok": {}}),
        "a list": lambda: lines.unpacked(b"[]"),
        "no hello": lambda: greeting(None),
        "a suite": lambda: greeting({"protocol": 1, "suites": ["alocation"]}),
        "an operation": lambda: greeting({"protocol": 1, "unsupported": {"allocation.fly": "no"}}),
        "a side": lambda: greeting({"protocol": 1, "sides": ["broker"]}),
        "a way": lambda: greeting({"protocol": 1, "broker": "udp"}),
        "a release": lambda: greeting({"protocol": 1, "client": "newest"}),
        "a kind": lambda: greeting({"protocol": 1, "whole_cases": 1}),
    }
    unnoticed = []
    for name, read in wrong.items():
        try:
            read()
            unnoticed.append(name)
        except ProtocolError:
            pass
    assert unnoticed == []


def test_operations_that_a_program_lacks() -> None:
    found = greeting({"protocol": 1, "suites": ["allocation"], "unsupported": {"allocation.place_text": "no ring"}})
    assert found.lacks == {"allocation.place_text": "no ring"}
    assert found.hello.refuses(SUITES["pull"])
    assert not found.hello.refuses(SUITES["allocation"])


#: Asks twice before it reads an answer, as two threads do; the answers belong to their ids.
TWICE = """
import json, sys
def say(message): print(json.dumps(message), flush=True)
for asked in map(json.loads, sys.stdin):
    if "hello" in asked:
        say({"id": asked["id"], "hello": {"protocol": 1}})
    elif "reset" in asked:
        say({"id": asked["id"], "ok": None})
    else:
        for topic in ("T", "nowhere"):
            say({"exchange": {"id": topic, "code": 105, "ext": {"topic": topic}}})
        got = [json.loads(sys.stdin.readline())["exchanged"] for _ in range(2)]
        say({"id": asked["id"], "ok": sorted([one["id"], one["code"]] for one in got)})
"""


def test_several_threads_may_ask_at_once() -> None:
    client = open_address(f"exec:{shlex.join([sys.executable, '-c', TWICE])}")
    suite, world = SUITES["remote-store"], ClientCase(Profile())
    try:
        client.hello()
        client.reset(Case(suite, 0, Profile(), lambda: "", world.exchange, lambda: Path()))
        assert client.apply(remote_store.Read.for_implementation((0, "store", "answer"))) == Ok(
            (("T", 0), ("nowhere", 17))
        )
    finally:
        client.close()


def test_steps_of_a_whole_case_are_done_in_order() -> None:
    suite = SUITES["remote-store"]
    row = suite.row(remote_store.Read(0, "store", "answer"))
    whole = WholeCase(ClientCase(Profile()), suite, [row, row])
    whole.reach(1)
    with pytest.raises(AdapterError, match="of step 0 after one of step 1: steps are done in order"):
        whole.reach(0)


def test_smoke_prints_every_line(tmp_path: Path) -> None:
    address = f"exec:{sys.executable} {ROOT / 'examples' / 'python' / 'adapter.py'}"
    done = CliRunner().invoke(cli, ["smoke", address])
    assert done.exit_code == 0
    printed = done.stderr.splitlines()
    assert printed[0].startswith('> {"id":0,"hello":{"protocol":1,')
    assert printed[1].startswith('< {"id": 0, "hello": {"protocol": 1, "name": "small-consumer"')
    assert any(line.startswith('< {"exchange": ') for line in printed)
