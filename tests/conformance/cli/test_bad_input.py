"""What is missing, breaks or goes away, as a user meets it: one sentence, the right exit code, and what ran is kept."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import click
import pytest
from click.types import FloatParamType
from command_line import Ended, kit
from places import HELPERS
from prepared_signals import in_the_background, interruptible
from waiting import wait_for_end, wait_until

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, SuiteEnded

KIT = [sys.executable, "-m", "rocketmq_conformance"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "400", **more}


def child_kit(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the kit as a child, whose imports, Java or standard streams are not those of this process."""
    return subprocess.run(
        [*KIT, *args], cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=120, check=False
    )


def one_sentence(done: subprocess.CompletedProcess[str] | Ended, code: int, sentence: str) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("Error: ") == 1


# --- Java -------------------------------------------------------------------------------------------------------


def pretend_maven(folder: Path, body: str) -> str:
    """A folder for PATH with a mvn that does ``body``."""
    (folder / "bin").mkdir()
    (folder / "bin" / "mvn").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "bin" / "mvn").chmod(0o755)
    return str(folder / "bin")


def resolved(folder: Path) -> str:
    """A cache where the jars of two releases are known already."""
    (folder / "a.jar").write_text("")
    known = folder / "cache" / "rocketmq-conformance" / "class-path"
    known.mkdir(parents=True)
    for version in ("4.0.0-incubating", "5.5.0"):
        (known / f"rocketmq-client-{version}.txt").write_text(str(folder / "a.jar"))
    return str(folder / "cache")


def pretend_jpype(folder: Path, source: str) -> str:
    """A folder for PYTHONPATH with a jpype of our own."""
    (folder / "own" / "jpype").mkdir(parents=True)
    (folder / "own" / "jpype" / "__init__.py").write_text(source)
    (folder / "own" / "jpype" / "config.py").write_text("destroy_jvm = True\n")
    return str(folder / "own")


def test_a_client_release_that_there_is_none_of(tmp_path: Path) -> None:
    path = pretend_maven(tmp_path, "echo '[ERROR] Could not find artifact rocketmq-client:jar:9.9.9'; exit 1")
    done = child_kit("run", "java-client:9.9.9", cwd=tmp_path, PATH=path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    one_sentence(done, 4, "Maven cannot get rocketmq-client 9.9.9: Could not find artifact rocketmq-client:jar:9.9.9")


def test_jars_are_fetched_before_they_are_needed(tmp_path: Path) -> None:
    cache = resolved(tmp_path)
    path = pretend_maven(tmp_path, "echo '[ERROR] Could not find artifact rocketmq-client:jar:9.9.9'; exit 1")
    done = child_kit("fetch", "java-client:5.5.0?via=tcp", cwd=tmp_path, PATH=path, XDG_CACHE_HOME=cache)
    assert (done.returncode, done.stdout) == (0, "The jars are here: java-client:5.5.0?via=tcp.\n")
    done = child_kit("fetch", "java-client:5.5.0", "java-client:9.9.9", cwd=tmp_path, PATH=path, XDG_CACHE_HOME=cache)
    assert (done.returncode, done.stdout) == (4, "")
    assert "java-client:9.9.9: Maven cannot get rocketmq-client 9.9.9: Could not find artifact" in done.stderr
    # Maven calls it 4.0.0-incubating
    done = child_kit("fetch", "java-client:4.0.0", cwd=tmp_path, PATH=path, XDG_CACHE_HOME=cache)
    assert done.stdout == "The jars are here: java-client:4.0.0.\n"
    one_sentence(child_kit("fetch", "broker:5.5.0", cwd=tmp_path, PATH="", XDG_CACHE_HOME=cache), 4, "there is no mvn")
    for address in ("port", "broker:127.0.0.1:10911", "broker", "java-client:newest"):
        one_sentence(kit("fetch", address, cwd=tmp_path), 2, "name java-client:VERSION or broker:VERSION")


def test_no_maven(tmp_path: Path) -> None:
    done = child_kit("run", "java-client:5.5.0", cwd=tmp_path, PATH="", XDG_CACHE_HOME=str(tmp_path / "cache"))
    one_sentence(done, 4, "there is no mvn: install Maven")


@pytest.mark.parametrize(
    "address", ["java-client:", "java-client:newest", "java-client:5.5", "java-client:5.5.0?via=x"]
)
def test_no_client_release_at_all(address: str, tmp_path: Path) -> None:
    done = kit("run", address, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_no_jpype(tmp_path: Path) -> None:
    path = pretend_jpype(tmp_path, "raise ImportError('not here')")
    done = child_kit("run", "java-client:5.5.0", cwd=tmp_path, PYTHONPATH=path, XDG_CACHE_HOME=resolved(tmp_path))
    one_sentence(done, 4, "needs JPype: install it with `pip install rocketmq-conformance[java]`")


def test_no_java_machine(tmp_path: Path) -> None:
    path = pretend_jpype(
        tmp_path,
        "class JVMNotFoundException(ValueError): ...\n"
        "class JVMNotSupportedException(ValueError): ...\n"
        "def isJVMStarted(): return False\n"
        "def startJVM(*flags, **options): raise JVMNotFoundException('No libjvm.so found.')\n",
    )
    done = child_kit("run", "java-client:5.5.0", cwd=tmp_path, PYTHONPATH=path, XDG_CACHE_HOME=resolved(tmp_path))
    one_sentence(done, 4, "install a JDK of 11 or later, or set JAVA_HOME")


def test_a_broker_without_java(tmp_path: Path) -> None:
    done = child_kit("run", "broker:5.5.0", cwd=tmp_path, PATH="", JAVA_HOME="", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 4
    assert "install" in done.stderr
    assert "Traceback" not in done.stderr


# --- brokers ----------------------------------------------------------------------------------------------------


@contextmanager
def serving(folder: Path, *args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A fake broker in a process of its own, and its address."""
    child = subprocess.Popen([*KIT, "serve", *args], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield child, child.stdout.readline().partition(" at ")[2].split()[0]
    finally:
        child.kill()
        child.wait()


def test_a_port_that_is_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = kit("serve", "--port", str(taken.getsockname()[1]), cwd=tmp_path)
    one_sentence(done, 4, "choose another port, or 0")


def test_a_served_broker_conforms_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [*KIT, "serve"], env=environment(), stdout=subprocess.PIPE, text=True, preexec_fn=interruptible
    )
    assert child.stdout is not None
    address = child.stdout.readline().partition(" at ")[2].split()[0]
    done = kit("run", f"broker:{address}", "--cases", "5", "--tier", "seeded", "--out", "o", cwd=tmp_path)
    child.send_signal(signal.SIGINT)
    assert done.returncode == 0, done.stdout
    assert child.stdout.read() == "stopped\n"
    assert child.wait(60) == 0


def test_the_locks_of_a_served_broker_can_live_as_long_as_its_address_says(tmp_path: Path) -> None:
    with serving(tmp_path, "--lease", "300") as (_, address):
        args = ["-k", "broker-locks", "--cases", "8", "--seed", "11", "--tier", "seeded", "--out", "o"]
        done = kit("run", f"broker:{address}?lease=300", *args, cwd=tmp_path)
        late = kit("run", f"broker:{address}?lease=30", *args[:-1], "late", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert late.returncode == 1, "what is said of the lease is what is judged by"


def test_a_broker_that_dies_in_the_middle(tmp_path: Path) -> None:
    with serving(tmp_path) as (broker, address):
        child = subprocess.Popen(
            [*KIT, "run", f"broker:{address}", "--cases", "20000", "--steps", "5", "-k", "broker-[os]*", "--out", "o"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        events = tmp_path / "o" / "events.jsonl"
        while child.poll() is None and not (events.exists() and b"case-ended" in events.read_bytes()):
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.1)
        broker.kill()
        output, errors_shown = child.communicate(timeout=60)
    assert child.returncode == 4, output + errors_shown
    assert "Traceback" not in errors_shown
    assert "Verdict: could not run (exit code 4)" in output
    recording = jsonl.read(events)
    assert recording.complete
    offsets, search, *_ = [event for event in recording.events if isinstance(event, SuiteEnded)]
    assert offsets.cases[CONFORMS] > 0
    assert offsets.verdict == search.verdict == COULD_NOT_RUN
    assert "closed the connection" in offsets.reason or "broke the connection" in offsets.reason
    assert f"No broker answers at {address}" in search.reason
    assert "start it" in search.reason


@contextmanager
def listening(output: bytes | None) -> Iterator[str]:
    """Something that answers every connection with these bytes and hangs up; with silence when there are none."""
    server = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                kept.append(line)
                if output is not None:
                    line.recv(4096)
                    line.sendall(output)
                    line.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=serve, daemon=True).start()
    yield "{}:{}".format(*server.getsockname())
    server.close()
    for line in kept:
        line.close()


@pytest.mark.parametrize("output", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["hangs up", "a web server"])
def test_what_listens_is_no_broker(output: bytes, tmp_path: Path) -> None:
    with listening(output) as address:
        done = kit("run", f"broker:{address}", cwd=tmp_path)
    one_sentence(done, 4, f"What listens at {address} is no broker")


def test_what_listens_says_nothing(tmp_path: Path) -> None:
    with listening(None) as address:
        done = kit("run", f"broker:{address}", "--start-timeout", "0.5", cwd=tmp_path)
    one_sentence(done, 4, f"s it was asking the broker at {address} (GET_BROKER_RUNTIME_INFO). See what keeps")


# --- the start --------------------------------------------------------------------------------------------------


def test_an_adapter_that_takes_too_long_to_get_ready(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "from rocketmq_conformance import report_progress\n"
        "class Slow:\n"
        "    def hello(self):\n"
        "        report_progress('building the client')\n"
        "        time.sleep(3600)\n"
        "    def close(self):\n"
        "        pass\n"
        "    reset = apply = close\n"
    )
    done = kit("run", "python:slow:Slow", "--start-timeout", "0.5", cwd=tmp_path)
    one_sentence(done, 4, "was not ready after 0.5 s: for the last ")
    assert " s it was building the client. See what keeps it, or allow more time with --start-timeout" in done.stderr


def test_an_interrupted_start_leaves_nothing_running(tmp_path: Path) -> None:
    child, files = tmp_path / "child", tmp_path / "files"
    files.mkdir()
    path = pretend_maven(tmp_path, f"sleep 3600 & echo $! > {child}.new; mv {child}.new {child}; wait")
    env = environment(PATH=f"{path}:/bin:/usr/bin", XDG_CACHE_HOME=str(tmp_path / "cache"), TMPDIR=str(files))
    words = [*KIT, "run", "broker:5.5.0", "-k", "broker-offsets"]
    with subprocess.Popen(
        words, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
    ) as kit_process:
        wait_until(child.exists)
        kit_process.send_signal(signal.SIGINT)
        _, errors = kit_process.communicate(timeout=60)
    assert kit_process.returncode == 3
    assert "interrupted" in errors
    assert "Traceback" not in errors
    wait_for_end(int(child.read_text()))
    assert list(files.iterdir()) == []


# --- plans and options ------------------------------------------------------------------------------------------


def test_a_plan_with_a_value_that_there_is_none_of(tmp_path: Path) -> None:
    profile = {"client": "5.5.0", "broker": "5.5.0", "java": "17"}
    header = {"plan": 1, "suite": "remote-store", "seed": 1, "profile": profile}
    case = {"case": 0, "steps": [{"read": {"queue": "first", "kind": "memory", "fault": "answer"}}]}
    (tmp_path / "p.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(case)}\n")
    done = kit("replay", "p.jsonl", cwd=tmp_path)
    one_sentence(done, 2, 'p.jsonl, line 2: read cannot have queue = "first" (`list operations')


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["run", "--with", "java=new"], "write the number of a Java release, such as java=17"),
        (["run", "--with", "java=-1"], "write the number of a Java release"),
        (["run", "--with", "java=" + "1" * 5000], "write the number of a Java release"),
        (["run", "--with", "broker=0.0.1"], "0.0.1 is older than 4.0.0, with which the rules begin"),
        (["run", "--like", "3.2.6"], "older than 4.0.0"),
        (["predict", "reset", "--to", "1" * 5000], "write end, beginning or a time in ms"),
        (["run", "--workers", "1" * 5000], "write a number from 1 on, or auto"),
        (["serve", "--topic", "a/b"], "'a/b' is no name of a topic: write letters a to z, digits, and any of % | _ -"),
        (["run", "--patience", "0"], "--patience"),
        (["run", "--patience", "nan"], "'nan' is not a valid number"),
        (["run", "--max-time", "-1"], "--max-time"),
        (["run", "--max-wait", "-1"], "--max-wait"),
        (["run", "port?clock=real&pace=0"], "'0' is no pace; write a number above 0, up to 1,000, such as pace=100."),
        (
            ["run", "broker:5.5.0?set=lockInStrictMod=true"],
            "A broker 5.5.0 has no property 'lockInStrictMod', but",
        ),
        (
            ["run", "broker?set=brokerPermission=8"],
            "brokerPermission cannot be '8'; write one of 0, 1, 2, 3, 4,",
        ),
        (["run", "--seed", "x"], "--seed"),
        (["list", "mutants", "--format", "schema"], "Only operations have a format"),
        (["replay"], "Missing argument"),
        (["explain", "OFF-R-REED"], "OFF-R-READ"),
    ],
)
def test_an_option_that_cannot_be(args: list[str], sentence: str, tmp_path: Path) -> None:
    one_sentence(kit(*args, cwd=tmp_path), 2, sentence)


def test_no_option_takes_nan_or_an_infinity_for_a_number() -> None:
    found, taken = 0, []
    context = click.Context(cli)
    for path, command in commands(cli, context):
        for option in command.params:
            if isinstance(option.type, FloatParamType):
                found += 1
                for text in ("nan", "inf", "-inf", "1e999"):
                    with suppress(click.BadParameter):
                        option.type.convert(text, option, context)
                        taken.append(f"{path} {option.opts[0]} {text}")
    assert found
    assert taken == []


def commands(one: click.Command, context: click.Context, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(one, click.Group):
        yield path, one
        return
    for name in one.list_commands(context):
        inner = one.get_command(context, name)
        assert inner is not None
        yield from commands(inner, context, f"{path} {name}".strip())


DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    ("name", "text", "args"),
    [
        ("a.plan.jsonl", DEEP, ("replay", "a.plan.jsonl")),
        ("a.plan.jsonl", DEEP, ("shrink", "a.plan.jsonl")),
        ("facts.json", DEEP, ("predict", "start", "--state", "facts.json")),
        ("events.jsonl", f"{DEEP}\n", ("report", "events.jsonl")),
        ("known.toml", f"expected = {DEEP}", ("run", "--expected", "known.toml")),
        ("known.toml", f"expected = {DEEP}", ("expect", "verify", "known.toml")),
        ("story.toml", f"title = {DEEP}", ("scenario", "story.toml", "port")),
        ("campaign.json", DEEP, ("prove", "page", ".")),
    ],
)
def test_a_file_that_is_nested_a_thousand_deep(name: str, text: str, args: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    one_sentence(kit(*args, cwd=tmp_path), 2, "")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "Push"),
        ("time", [1]),
        ("brokers", [{"name": "a", "release": "0.0.1"}]),
        ("brokers", [{"name": "a", "release": "5.5.0", "configuration": {"a": 1}}]),
        ("brokers", [{"name": "a", "release": "5.5.0", "doubts": [1]}]),
        ("queues", [{"topic": 1, "broker": "a", "queue": 0, "min": 0, "max": 0, "answer": None, "stored": None}]),
        ("queues", [{"topic": "t", "broker": "a", "queue": 10**22, "min": 0, "max": 0, "answer": None, "stored": 1}]),
        ("queues", [[]]),
        ("members", [{"client": "c", "release": "x"}]),
    ],
)
def test_facts_of_another_type(field: str, value: object, tmp_path: Path) -> None:
    facts = {"format": 1, "group": "g", "brokers": [{"name": "a", "release": "5.5.0"}], "queues": [], field: value}
    (tmp_path / "f.json").write_text(json.dumps(facts), "utf-8")
    done = kit("predict", "start", "--state", "f.json", cwd=tmp_path)
    one_sentence(done, 2, "f.json is no file of `predict state` (")


def test_any_whole_number_is_a_seed(tmp_path: Path) -> None:
    for seed in ("-7", "0", str(10**40)):
        done = kit("run", "-k", "allocation", "--cases", "2", "--seed", seed, "--out", "o", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"Seed {seed}." in done.stdout


def test_the_replay_that_is_reported_shows_the_difference_again(tmp_path: Path) -> None:
    words = ["run", "mutant:asks-no-zero", "-k", "remote-store", "--like", "5.4.0", "--steps", "25", "--seed", "3"]
    done = kit(*words, "--cases", "60", "--out", "with space", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    commands = {line.partition("rocketmq-conformance ")[2] for line in done.stdout.splitlines() if "replay  " in line}
    assert commands
    for command in sorted(commands):
        again = kit(*shlex.split(command), cwd=tmp_path)
        assert again.returncode == 1, command + again.stdout
        assert "client 5.4.0" in again.stdout


# --- what is written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("colours", [{}, {"FORCE_COLOR": "1"}], ids=["plain", "coloured"])
def test_nobody_reads_standard_output_any_more(colours: dict[str, str], tmp_path: Path) -> None:
    child = subprocess.Popen(
        [*KIT, "run", "-k", "local-store", "--tier", "seeded", "--cases", "50", "--out", "o"],
        cwd=tmp_path,
        env=environment(**colours),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    errors_shown = child.stderr.read()
    assert child.wait(60) == 0, errors_shown
    assert "Traceback" not in errors_shown
    assert jsonl.read(tmp_path / "o" / "events.jsonl").conclusion().passed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("name", ["events.jsonl", "allocation.plan.jsonl"])
def test_a_full_disk(name: str, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / name).symlink_to("/dev/full")
    done = kit("run", "-k", "allocation", "--cases", "20", "--out", "o", cwd=tmp_path)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


# --- Ctrl-C -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "prepare"),
    [(signal.SIGINT, interruptible), (signal.SIGTERM, interruptible), (signal.SIGTERM, in_the_background)],
)
def test_ctrl_c_and_sigterm_say_so_and_keep_what_ran(
    sent: signal.Signals, prepare: Callable[[], None], tmp_path: Path
) -> None:
    much = ["python:poisonous:Waits", "--cases", "2000", "-k", "remote-store", "--seed", "1", "--tier", "seeded"]
    child = subprocess.Popen(
        [*KIT, "run", *much, "--out", "o"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(HELPERS)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
    )
    events = tmp_path / "o" / "events.jsonl"
    while child.poll() is None and not (events.exists() and b"case-ended" in events.read_bytes()[:100_000]):
        with suppress(subprocess.TimeoutExpired):
            child.wait(0.05)
    child.send_signal(sent)
    output, errors_shown = child.communicate(timeout=60)
    assert child.returncode == 3, output + errors_shown
    assert errors_shown == ""
    assert "Verdict: undecided (exit code 3)" in output
    assert "interrupted" in output
    recording = jsonl.read(events)
    assert recording.complete
    (ended,) = [event for event in recording.events if isinstance(event, SuiteEnded)]
    assert 0 < ended.cases[CONFORMS] < 2000
    assert ended.reason == f"interrupted after {ended.cases[CONFORMS]} of 2000 cases"
    assert recording.conclusion().exit_code == 3


def test_ctrl_c_twice_while_workers_start(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [*KIT, "run", "--workers", "2", "--out", "o"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
        start_new_session=True,  # Ctrl-C reaches all processes of a terminal
    )
    children = Path(f"/proc/{child.pid}/task/{child.pid}/children")
    wait_until(lambda: len(children.read_text().split()) > 1, child)
    os.killpg(child.pid, signal.SIGINT)
    os.killpg(child.pid, signal.SIGINT)
    output, errors_shown = child.communicate(timeout=60)
    assert child.returncode == 3, output + errors_shown
    assert errors_shown in {"", "\ninterrupted\n"}


def test_ctrl_c_while_a_module_is_made_by_exec(tmp_path: Path) -> None:
    script = (
        "from rocketmq_conformance.conformance.cli import main\n"
        "def interrupted(**_):\n"
        "    exec('import signal; signal.raise_signal(signal.SIGINT)')\n"
        "main.cli.main = interrupted\n"
        "if __name__ == '__main__':\n"
        "    main.main()\n"
    )
    (tmp_path / "made.py").write_text(script)
    words = [sys.executable, "-m", "made"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, preexec_fn=interruptible, check=False)
    assert (done.returncode, done.stderr) == (3, "interrupted\n")


def test_ctrl_c_that_python_makes_a_runtime_error(tmp_path: Path) -> None:
    def interrupted(**_: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    with patch.object(cli, "main", interrupted):
        done = kit("list", "rules", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "interrupted\n")
