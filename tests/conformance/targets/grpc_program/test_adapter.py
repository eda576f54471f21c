"""Programs that are gRPC consumers: judged by their calls, and what is said of those that are none."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import grpc_calls
import pytest
from command_line import kit

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.address import AddressError, parse_address
from rocketmq_conformance.conformance.targets.grpc_program import played_proxy
from rocketmq_conformance.conformance.targets.grpc_program.adapter import GrpcProgram
from rocketmq_conformance.conformance.targets.grpc_program.smoke import look_at
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.outcome import Err, Ok, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import grpc_answers, grpc_fifo, grpc_push, grpc_simple
from rocketmq_conformance.suites.declare.operation import Operation

PROGRAM = f"{sys.executable} {grpc_calls.__file__}"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong is late soon."""
    monkeypatch.setattr(played_proxy, "LIMIT", 4.0)
    monkeypatch.setattr(played_proxy, "_NEXT", 0.5)
    monkeypatch.setattr(played_proxy, "CONNECT", 10.0)


def played(command: str, *plan: Operation) -> tuple[list[str], played_proxy.PlayedProxy]:
    """The parts of each answer that are not as expected."""
    suites = (grpc_push.SUITE, grpc_answers.SUITE, grpc_fifo.SUITE, grpc_simple.SUITE)
    suite = next(one for one in suites if {*map(type, plan)} <= {*one.operations})
    bound = suite.bind(Profile())
    state, differ = bound.initial, []
    program = GrpcProgram(command, lanes=1)
    with closing(program.case(suite)) as case:
        for operation in plan:
            outcome = case.do(operation)
            state, expected, _ = bound.handlers[type(operation)](state, *operation.args)
            if isinstance(outcome, Err):
                differ.append(outcome.detail)
            elif isinstance(outcome, Ok) and isinstance(expected, tuple):
                assert isinstance(outcome.value, tuple)
                pairs = zip(operation.spec.answer, expected, outcome.value, strict=True)
                differ += [name for name, wanted, given in pairs if given is not None and not agrees(wanted, given)]
    program.close()
    return differ, case


@pytest.mark.usefixtures("quick")
def test_a_consumer_that_does_everything_conforms() -> None:
    differ, _ = played(
        PROGRAM,
        grpc_push.Prepare("both", 3, "customized"),
        grpc_push.Send(-1),
        grpc_push.Join(0),
        grpc_push.Listen("fails"),
        grpc_push.Send(0),
        grpc_push.ComeAgain(),
        grpc_push.Assign("second"),
        grpc_push.Look(),
        grpc_push.Join(1),
        grpc_push.Crash(1),
        grpc_push.Leave(0),
    )
    assert differ == []


@pytest.mark.usefixtures("quick")
def test_a_consumer_of_a_group_in_order_conforms() -> None:
    differ, _ = played(
        PROGRAM,
        grpc_fifo.Prepare(3, "short", 2),
        grpc_fifo.Join(0),
        grpc_fifo.Refuse("AckMessage", "TOO_MANY_REQUESTS"),
        grpc_fifo.Send(0, "ordinary", 3),
        grpc_fifo.Listen("fails"),
        grpc_fifo.Mend(),
        grpc_fifo.Send(1, "corrupted", 1),
        grpc_fifo.Refuse("ForwardMessageToDeadLetterQueue", "INTERNAL_SERVER_ERROR"),
        grpc_fifo.Send(1, "corrupted", 3),
        grpc_fifo.Mend(),
        grpc_fifo.Leave(0),
    )
    assert differ == []


@pytest.mark.usefixtures("quick")
def test_a_simple_consumer_conforms() -> None:
    differ, _ = played(
        PROGRAM,
        grpc_simple.Join(),
        grpc_simple.Send(-1),
        grpc_simple.Receive(2, 20),
        grpc_simple.Refuse("ChangeInvisibleDuration", "TOO_MANY_REQUESTS"),
        grpc_simple.Change(0, 0, 30),
        grpc_simple.Mend(),
        grpc_simple.Change(0, 0, 30),
        grpc_simple.Acknowledge(0, 0),
        grpc_simple.TimeIsUp(),
        grpc_simple.Acknowledge(1, 0),
        grpc_simple.Receive(32, 60),
        grpc_simple.Receive(1, 60),
        grpc_simple.Look(),
        grpc_simple.Leave(),
    )
    assert differ == []


@pytest.mark.usefixtures("quick")
def test_what_is_refused_and_not_sent_again_is_seen() -> None:
    refuse = grpc_answers.Refuse("AckMessage", "INTERNAL_SERVER_ERROR")
    differ, _ = played(PROGRAM, grpc_answers.Join(0), refuse, grpc_answers.Send(0, "ordinary"), grpc_answers.Mend())
    assert differ == ["refused", "ended"]


@pytest.mark.usefixtures("quick")
def test_a_program_that_ends_by_itself_is_shown_with_its_last_words(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text(
        f"import os, sys, threading\nsys.path.append({str(Path(grpc_calls.__file__).parent)!r})\nimport grpc_calls\n"
        "def end():\n    os.write(2, b'it had enough\\n')\n    os._exit(3)\n"
        "threading.Timer(2, end).start()\ngrpc_calls.main()\n"
    )
    (said, *_), _ = played(f"{sys.executable} {script}", grpc_push.Join(0), *[grpc_push.Look()] * 6)
    assert "member-0 ended by itself with exit code 3. it had enough" in said


@pytest.mark.usefixtures("quick")
def test_what_does_not_connect_gets_one_sentence(tmp_path: Path) -> None:
    program = GrpcProgram("sh -c 'echo no >&2; exit 3'")
    with closing(program), pytest.raises(CannotRunError) as raised:
        program.refuses_suite(grpc_push.SUITE)
    assert str(raised.value) == "sh ended with exit code 3 before it sent its settings. It wrote on standard error: no"
    with pytest.raises(CannotRunError, match="'no-such-program' cannot be found"):
        GrpcProgram("no-such-program").hello()


def test_a_first_look_says_how_far_a_program_gets() -> None:
    with closing(GrpcProgram(PROGRAM)) as program:
        look = look_at(program)
    assert [one.what for one in look.seen if not one.seen] == []
    assert [one.what for one in look.seen][3:5] == ["was given 2 of 2 messages", "acknowledged 2 of 2"]
    assert look.suite == "grpc-push"


def test_smoke_ends_with_the_command_that_comes_next(tmp_path: Path) -> None:
    done = kit("smoke", f"client?protocol=grpc:{PROGRAM}", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seen    said that it ends" in done.stdout
    assert "-k grpc-push --max-time 120" in done.stdout
    none = kit("smoke", "client?protocol=grpc:false", cwd=tmp_path)
    assert none.returncode == 4
    assert "false ended with exit code 1 before it sent its settings." in none.stdout


def test_what_a_program_needs_is_asked_for_once() -> None:
    with closing(GrpcProgram(PROGRAM)) as program:
        assert program.refuses_suite(grpc_push.SUITE) == program.refuses_suite(grpc_answers.SUITE) == ""
    with closing(GrpcProgram(f"sh -c '{PROGRAM} | grep -v takes'")) as program:
        assert "listen" in program.refuses_suite(grpc_push.SUITE)


def test_an_address_says_the_protocol_and_refuses_what_is_for_the_other() -> None:
    address = parse_address("client?protocol=grpc&lanes=3:./consumer -v")
    assert str(address) == "client?lanes=3&protocol=grpc:./consumer -v"
    with closing(open_address(address)) as program:
        assert isinstance(program, GrpcProgram)
        assert program.lanes(grpc_push.SUITE) == 3
    for wrong in ("client?protocol=http:x", "client?protocol=grpc&pace=20:x", "client?protocol=grpc&tls=on:x"):
        with pytest.raises(AddressError, match=r"leave it away"):
            parse_address(wrong)
