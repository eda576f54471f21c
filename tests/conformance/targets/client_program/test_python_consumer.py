"""Consumers in Python behind ``python:module:factory``: hosted by a program of the kit, and judged as programs are."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hosted_consumers
import pytest
from places import HELPERS, ROOT
from waiting import wait_until

from rocketmq_conformance import Err, Ok, Operation, Outcome, run
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.address import AddressError, going_through, parse_address
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.host import Listener
from rocketmq_conformance.conformance.targets.client_program.program import Program
from rocketmq_conformance.conformance.targets.client_program.python_consumer import command
from rocketmq_conformance.conformance.targets.client_program.smoke import look_at
from rocketmq_conformance.conformance.targets.opener import is_program, open_address
from rocketmq_conformance.reports.event import CONFORMS, SuiteEnded
from rocketmq_conformance.suites import whole_push
from rocketmq_conformance.suites.declare.judged_step import each_of

VARIABLES = {
    f"ROCKETMQ_{name}": value
    for name, value in {
        "NAME_SERVER": "127.0.0.1:1",
        "GROUP": "G",
        "TOPIC": "T",
        "INSTANCE": "member-0",
        "KIND": "push",
        "MODEL": "CLUSTERING",
        "OFFSETS": "/tmp/files",
        "STRATEGY": "AVG",
        "COMMIT": "AUTOMATIC",
        "QUEUES": "SHARED",
        "CONSUME_FROM": "CONSUME_FROM_LAST_OFFSET",
        "CONSUME_TIMESTAMP": "20260101000000",
    }.items()
}
#: Seconds until something has happened on a busy machine.
LIMIT = 60.0


#: The programs that a test has started.
STARTED: list[Program] = []


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    yield
    while STARTED:
        STARTED.pop().kill()


def hosted(factory: str, **options: str) -> Program:
    """A program that hosts what a factory of the helpers makes."""
    words = command(f"hosted_consumers:{factory}", getattr(hosted_consumers, factory), options)
    STARTED.append(Program(words, VARIABLES))
    return STARTED[-1]


def noted(program: Program) -> list[str]:
    """The lines of its standard error so far; all of them, once it has ended."""
    assert program.last_words is not None
    return program._errors.tail.decode().splitlines()


def test_a_consumer_is_given_its_settings_and_shut_down_by_sigterm() -> None:
    program = hosted("plain")
    wait_until(lambda: "started member-0 push files" in noted(program))
    assert program.takes == {"seek"}
    assert program.stop(LIMIT)
    assert (program.code, noted(program)[-1]) == (0, "shut down")


def test_a_factory_says_that_it_has_no_consumer_of_this_kind() -> None:
    program = hosted("none_of_this_kind")
    wait_until(lambda: program.unsupported)
    assert program.unsupported == "it is no push consumer"


def test_a_listener_says_what_it_is_given_and_does_what_commands_say() -> None:
    for factory, takes in {
        "listening": {"hold", "listen", "seek"},
        "on_a_loop": {"hold", "listen", "strategy"},
    }.items():
        program = hosted(factory, **({"word": "x"} if factory == "on_a_loop" else {}))
        # three messages succeed at once: what comes next is decided by the command before it
        wait_until(lambda program=program: len(program.got) == 3)
        wait_until(lambda program=program: "2 True" in noted(program))
        assert (list(program.got), program.takes) == ([("T", 1, offset) for offset in range(3)], takes)
        assert ("made x" in noted(program)) == (factory == "on_a_loop")
        assert program.stop(LIMIT)
        assert noted(program)[-1] == "shut down"


def test_a_message_hangs_the_first_time_until_the_next_command_to_listen() -> None:
    listener = Listener(lambda line: None)
    listener.hold("T", 0, 7)
    with ThreadPoolExecutor() as pool:
        hung = pool.submit(listener.consume, "T", 0, 7)
        wait_until(lambda: listener._hung is None)
        assert [listener.consume("T", 0, 8), listener.consume("T", 0, 7), hung.done()] == [True, True, False]
        listener.do("fails")
        assert hung.result(LIMIT) is False


def test_a_message_hangs_on_the_event_loop_as_in_a_thread() -> None:
    async def play() -> list[bool]:
        listener = Listener(lambda line: None)
        listener.hold("T", 0, 7)
        hung = asyncio.ensure_future(listener.consume_async("T", 0, 7))
        await asyncio.sleep(0)
        given = [await listener.consume_async("T", 0, offset) for offset in (8, 7)]
        before = hung.done()
        listener.do("fails")
        return [*given, before, await hung]

    assert asyncio.run(play()) == [True, True, False, False]


def test_commands_are_calls_and_one_that_is_refused_changes_nothing() -> None:
    program = hosted("plain")
    program.send({"seek": ["T", 0, -1]})
    program.send({"pause": True, "unknown": 1})
    program.send({"seek": ["T", 0, 7]})
    wait_until(lambda: "seek T 0 7" in noted(program))
    assert "ValueError: -1" in noted(program)


def test_a_consumer_is_told_to_subscribe_to_another_topic_and_to_unsubscribe() -> None:
    program = hosted("subscriber")
    program.send({"subscribe": "U"})
    program.send({"unsubscribe": "U"})
    wait_until(lambda: noted(program)[-2:] == ["subscribe U", "unsubscribe U"])
    assert program.takes == {"seek", "subscribe", "unsubscribe"}


def test_a_consumer_is_asked_to_commit() -> None:
    program = hosted("committer")
    program.send({"commit": "T"})
    wait_until(lambda: noted(program)[-1:] == ["commit T AUTOMATIC"])
    assert program.takes == {"commit", "seek"}


def test_a_method_that_a_consumer_inherits_from_its_client_is_a_command_only_if_it_says_so() -> None:
    for factory, takes in {"committer_of_another_module": set(), "committer_that_says_so": {"commit"}}.items():
        program = hosted(factory)
        program.send({"commit": "T"})
        wait_until(lambda program=program: "started member-0 push files" in noted(program))
        assert program.takes == takes
        assert program.stop(LIMIT)
        assert ("commit T AUTOMATIC" in noted(program)) == bool(takes)


def test_queues_that_are_assigned_are_given_as_one_list() -> None:
    program = hosted("assigner")
    program.send({"assign": [["T", 0], ["T", 1]]})
    program.send({"seek_to_begin": ["T", 1]})
    wait_until(lambda: {"assign ['T', 0] ['T', 1] SHARED", "seek to begin T 1"} <= {*noted(program)})
    assert program.takes == {"assign", "seek", "seek_to_begin"}


def test_the_queues_of_a_consumer_are_said_when_they_change() -> None:
    program = hosted("owner")
    wait_until(lambda: program.owned == {("T", 0), ("T", 1)})
    program.send({"seek": ["T", 0, 0]})
    wait_until(lambda: program.owned == {("T", 0), ("T", 1), ("T", 2)})


def test_a_consumer_that_cannot_say_which_queues_it_has_is_asked_again_and_its_error_is_printed() -> None:
    program = hosted("unready")
    wait_until(lambda: "ValueError: it has not sought" in noted(program))
    assert program.owned is None
    program.send({"seek": ["T", 0, 0]})
    wait_until(lambda: program.owned == {("T", 0), ("T", 1)})
    assert noted(program).count("ValueError: it has not sought") == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_listener_that_holds_returns_with_the_next_command(asynchronous: bool) -> None:
    script = HELD_ASYNC if asynchronous else HELD
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert shown.stdout.split() == ["False", "False", "True"]


HELD = """
import threading
from rocketmq_conformance.conformance.targets.client_program.host import Listener
given = threading.Semaphore(0)
listener = Listener(lambda line: given.release())
listener.do("fails")
print(listener.consume("T", 0, 0))
given.acquire()
for how in ("fails", "succeeds"):
    listener.do("holds")
    held = threading.Thread(target=lambda: print(listener.consume("T", 0, 1)))
    held.start()
    given.acquire()
    held.join(0.05)
    assert held.is_alive()
    listener.do(how)
    held.join()
"""
HELD_ASYNC = """
import asyncio
from rocketmq_conformance.conformance.targets.client_program.host import Listener
async def main():
    listener = Listener(lambda line: None)
    listener.do("fails")
    print(await listener.consume_async("T", 0, 0))
    for how in ("fails", "succeeds"):
        listener.do("holds")
        held = asyncio.ensure_future(listener.consume_async("T", 0, 1))
        await asyncio.sleep(0.05)
        assert not held.done()
        listener.do(how)
        print(await held)
asyncio.run(main())
"""


def test_what_is_no_consumer_is_said_in_a_sentence() -> None:
    sentences = {
        "nothing": "has no start() and no shutdown()",
        "fails_to_start": "ZeroDivisionError: division by zero",
    }
    for factory, sentence in sentences.items():
        program = open_address(f"python:hosted_consumers:{factory}")
        assert isinstance(program, ClientProgram)
        with pytest.raises(CannotRunError) as raised:
            look_at(program)
        assert str(raised.value).startswith(f"python:hosted_consumers:{factory} ended with exit code")
        assert sentence in str(raised.value)
    with pytest.raises(CannotRunError, match="takes the settings as its first argument"):
        open_address("python:hosted_consumers:without_settings")


def test_settings_are_those_of_programs_and_others_are_the_factorys() -> None:
    address = "python:hosted_consumers:on_a_loop"
    hello = open_address(f"{address}?word=x&pace=20&lanes=2").hello()
    assert (hello.name, hello.pace, hello.sides) == (address, 20, ("whole",))
    with pytest.raises(AddressError, match="no number of lanes"):
        open_address(f"{address}?lanes=0")
    assert (
        str(going_through(parse_address(f"{address}?pace=2"), "broker:5.5.0"))
        == f"{address}?pace=2&through=broker:5.5.0"
    )
    assert str(going_through(parse_address(address), "broker:5.5.0")) == f"{address}?through=broker:5.5.0"


def test_a_factory_that_needs_no_argument_makes_a_stepped_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    programs = ("python:hosted_consumers:plain", "client:./consumer")
    others = ("python:minimal_port:MinimalPort", "port")
    assert [one for one in (*programs, *others) if is_program(parse_address(one))] == list(programs)


@pytest.mark.paced
@pytest.mark.parametrize("address", ["push_consumer:make", "threaded_consumer:make"])
def test_a_right_consumer_conforms(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "python"))
    monkeypatch.syspath_prepend(str(HELPERS))
    events = run(
        f"python:{address}?pace=20&lanes=4", suites=["whole-push"], cases=4, seed=2, tiers=["seeded"], out=tmp_path
    )
    ended = [event for event in events if isinstance(event, SuiteEnded)]
    assert [event.verdict for event in ended] == [CONFORMS]


@pytest.mark.paced
def test_a_consumer_that_says_it_has_what_it_does_not_pull_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "python"))
    monkeypatch.syspath_prepend(str(HELPERS))
    joins = whole_push.Join(0), whole_push.Join(1)
    right = _play("push_consumer:make?pace=20", *joins)
    wrong = _play("hosted_consumers:forgetful?pace=20", *joins)
    assert [type(outcome) for outcome in right] == [Ok, Ok]
    assert right[0] == wrong[0]
    detail = "member-0 says that it has the queues [0, 1, 2, 3], and should have [0, 1]"
    assert isinstance(wrong[1], Err)
    assert (wrong[1].code, wrong[1].detail) == ("OWNS_OTHERWISE", detail)


@pytest.mark.paced
def test_a_consumer_that_begins_elsewhere_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HELPERS))
    prepare = whole_push.Prepare(1, "young", 7, "CONSUME_FROM_LAST_OFFSET")
    _, shown = _play("threaded_consumer:make?pace=20&begins=8", prepare, whole_push.Join(0))
    assert isinstance(shown, Ok)
    assert isinstance(shown.value, tuple)
    assert shown.value[1] == ((0, 0, 8, 4),)  # from 8 on, where 7 is expected


def _play(address: str, *operations: Operation) -> list[Outcome]:
    program = open_address(f"python:{address}")
    assert isinstance(program, ClientProgram)
    try:
        (ended,) = program.stream(whole_push.SUITE, [lambda: each_of(operations)])
        return ended.result()
    finally:
        program.close()
