"""Brokers whose messages are put out of memory: the model, the pages, and the suite."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_at import broker_at
from every import every

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof.broker_suites import prove_cold, prove_seen_cold
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker import page_cache
from rocketmq_conformance.conformance.targets.broker.launch_config import (
    COMMIT_LOG_FILE,
    java,
    java_feature,
    java_showing_pages,
)
from rocketmq_conformance.models.broker.broker_cold import READ_LIMIT, BrokerColdModel, BrokerColdState
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.outcome import Err, Expected, Result, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_cold import SUITE, Evict, QueryPages
from rocketmq_conformance.suites.declare.sampler import sampler

NOT_FOUND = "QUERY_NOT_FOUND"


def model(release: str, java: int = 11) -> BrokerColdModel:
    return BrokerColdModel(Profile.of(broker=release, java=java))


def written(cold: BrokerColdModel) -> BrokerColdState:
    return cold.send(cold.initial(), 0, 0, 2)[0]


def ask(
    cold: BrokerColdModel, state: BrokerColdState, seen: Result, topic: int = 0, queue: int = 0
) -> tuple[Expected, tuple[str, ...], str]:
    after, expected, why = cold.query_pages(state, seen, 0, topic, queue, None)
    assert after is state
    return expected, why.rules, why.kind


@every(
    ("release", "java", "seen", "expected", "rule", "kind"),
    [
        ("5.1.0", 11, (0, True), (0, True), "BQ-MEM-1", "in memory"),
        ("5.5.0", 8, (NOT_FOUND, False), (NOT_FOUND, False), "BQ-MEM-1", "not in memory"),
        ("5.5.0", 13, (0, False), (NOT_FOUND, False), "BQ-MEM-1", "not in memory"),
        ("5.5.0", 11, (NOT_FOUND, True), (0, True), "BQ-MEM-1", "in memory"),
        ("5.5.0", 14, (0, True), (0, True), "BQ-MEM-2", "hot"),
        ("5.5.0", 17, (NOT_FOUND, False), (0, False), "BQ-MEM-2", "not in memory, and not seen"),
        ("5.0.0", 11, (NOT_FOUND, False), (0, False), "BQ-DISK-1", "not in memory, and near the end"),
        ("4.9.7", 8, (0, True), (0, True), "BQ-DISK-1", "hot"),
    ],
)
def test_the_answer_agrees_with_the_observed_residency(
    release: str, java: int, seen: Result, expected: Result, rule: str, kind: str
) -> None:
    cold = model(release, java)
    answer, rules, found = ask(cold, written(cold), seen)
    assert (answer, found) == (expected, kind)
    assert rules[-1] == rule


def test_evicted_messages_stay_out_of_memory_until_a_read_or_write() -> None:
    cold = model("5.5.0")
    out, result, why = cold.evict(written(cold))
    assert (result, why.rules) == (None, ("BQ-MEM-2",))
    assert ask(cold, out, (0, True))[0] == (NOT_FOUND, False)
    committed, _, _ = cold.commit(out, 0, 0, 1, 3)
    assert ask(cold, committed, (0, True))[0] == (NOT_FOUND, False)
    refused, error, _ = cold.send(out, 0, 2, 1)
    assert isinstance(error, Err)
    assert ask(cold, refused, (0, True))[0] == (NOT_FOUND, False)
    nothing, offsets, why = cold.read(out, 0, 1)
    assert (offsets, why.kind) == ((), "nothing to read")
    assert ask(cold, nothing, (0, True))[0] == (NOT_FOUND, False)
    for after in (cold.read(out, 0, 0)[0], cold.send(out, 0, 1, 1)[0]):
        assert ask(cold, after, (0, True))[0] == (0, True)
        assert ask(cold, after, (0, False))[0] == (NOT_FOUND, False)


def test_a_stored_offset_is_answered_out_of_memory_too() -> None:
    cold = model("5.5.0")
    state = cold.evict(cold.commit(written(cold), 0, 0, 0, 7)[0])[0]
    assert ask(cold, state, None) == ((7, False), ("BQ-QUERY-1",), "stored")


def test_a_negative_offset_is_none_out_of_memory_too() -> None:
    cold = model("5.5.0")
    state = cold.evict(cold.commit(written(cold), 0, 0, 0, -1)[0])[0]
    assert ask(cold, state, None)[0] == (NOT_FOUND, False)


@pytest.mark.parametrize(("topic", "queue"), [(0, 1), (AGED_TOPIC, 0), (AGED_TOPIC, 1), (AGED_TOPIC, 3), (0, 5)])
def test_where_there_is_no_message_0_none_is_in_memory(topic: int, queue: int) -> None:
    cold = model("5.5.0")
    assert ask(cold, cold.evict(written(cold))[0], ("?", True), topic, queue)[0] == (NOT_FOUND, None)


@every("seen", [None, 0, Err("SYSTEM_ERROR"), (0,), (0, 1), (0, None)])
def test_an_observation_without_residency_counts_as_in_memory(seen: Result) -> None:
    cold = model("5.5.0")
    assert ask(cold, written(cold), seen)[0] == (0, True)


def test_a_read_answers_so_many_at_most() -> None:
    cold = model("5.5.0")
    state = cold.initial()
    for _ in range(READ_LIMIT):
        state = cold.send(state, 0, 0, 3)[0]
    assert cold.read(state, 0, 0)[1] == tuple(range(READ_LIMIT))


def test_older_brokers_do_not_look_at_pages() -> None:
    cold = model("4.9.7")
    assert cold.evict(cold.initial())[2].rules == ("BQ-DISK-1",)


@pytest.mark.parametrize("java", [11, 17])
def test_cases_reach_hot_and_cold_messages(java: int) -> None:
    profile = Profile.of(broker="5.5.0", java=java)
    drawn, bound = sampler(SUITE, profile), SUITE.bind(profile)
    kinds = set()
    for case in range(SUITE.cases):
        state = bound.initial
        for at, args in drawn.case(1, case, SUITE.steps):
            given = (None, *args) if SUITE.operations[at].spec.observes else args
            state, _, why = bound.by_position[at](state, *given)
            kinds.add(why.kind)
            assert SUITE.show(state).startswith("out of memory: ") == state.out
    assert kinds >= {"put out of memory", "read", "stored", "expired", "empty"}
    assert kinds >= ({"in memory", "not in memory"} if java == 11 else {"hot", "not in memory, and not seen"})


# --- pages --------------------------------------------------------------------------------------------------------

needs_eviction = pytest.mark.skipif(bool(page_cache.missing()), reason=page_cache.missing())
HOLDS = """
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
sum(mapped[at] for at in range(0, len(mapped), 4096))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one commit log file, and a queue whose message 0 lies across two of its pages."""
    log = tmp_path / "commitlog" / f"{COMMIT_LOG_FILE:020}"
    log.parent.mkdir()
    log.write_bytes(bytes(64 * 4096))
    queue = tmp_path / "consumequeue" / "T" / "0" / f"{0:020}"
    queue.parent.mkdir(parents=True)
    queue.write_bytes(struct.pack(">qiq", COMMIT_LOG_FILE + 5 * 4096 - 10, 20, 0))
    return tmp_path


@pytest.fixture
def holder(store: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that has the commit log mapped, and read."""
    (log,) = (store / "commitlog").iterdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "held\n"
        yield program
        program.send_signal(signal.SIGKILL)


@needs_eviction
def test_pages_of_a_running_program_are_put_out_of_memory(store: Path, holder: subprocess.Popen[str]) -> None:
    assert page_cache.in_memory(store, "T", 0) is True
    reason = page_cache.evict(holder.pid, store)
    if reason:
        assert "set TMPDIR to a folder on a disk" in reason
        pytest.skip(reason)
    assert page_cache.in_memory(store, "T", 0) is False
    (log,) = (store / "commitlog").iterdir()
    assert not any(page_cache.resident(log))
    assert page_cache.in_memory(store, "T", 0) is False, "looking brings nothing back"
    assert holder.poll() is None
    log.read_bytes()
    assert page_cache.in_memory(store, "T", 0) is True


def test_all_pages_of_a_message_must_be_there(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = [True] * 64
    monkeypatch.setattr(page_cache, "resident", lambda file: there)
    for page, expected in ((3, True), (4, False), (5, False), (6, True)):
        there[:] = [at != page for at in range(64)]
        assert page_cache.in_memory(store, "T", 0) is expected


def test_a_message_that_is_not_there_is_not_in_memory(store: Path) -> None:
    entries = store / "consumequeue" / "T" / "0" / f"{0:020}"
    assert page_cache.in_memory(store, "T", 1) is None
    entries.write_bytes(struct.pack(">qiq", 100, 20, 0))
    assert page_cache.in_memory(store, "T", 0) is None, "its file has expired"
    entries.write_bytes(struct.pack(">qiq", COMMIT_LOG_FILE, 0, 0))
    assert page_cache.in_memory(store, "T", 0) is None, "nothing was written yet"
    entries.write_bytes(b"")
    assert page_cache.in_memory(store, "T", 0) is None


def test_pages_that_stay_are_no_eviction(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "missing", lambda: "")
    monkeypatch.setattr(page_cache, "resident", lambda file: [False, True])
    monkeypatch.setattr(page_cache, "_TRIES", 2)
    monkeypatch.setattr(page_cache, "_PAUSE", 0.0)
    assert page_cache.evict(os.getpid(), store).startswith("needs a store whose pages can be put out of memory")


def test_nothing_is_done_where_it_cannot_be(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "missing", lambda: "needs something else")
    assert page_cache.evict(0, store) == "needs something else"


def test_pages_that_cannot_be_looked_at(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refuses:
        @staticmethod
        def mincore(*args: Any) -> int:
            return -1

    monkeypatch.setattr(page_cache, "_libc", Refuses)
    (log,) = (store / "commitlog").iterdir()
    with pytest.raises(OSError, match=log.name):
        page_cache.resident(log)


@pytest.mark.parametrize(
    ("system", "kernel", "rights", "sentence"),
    [
        ("darwin", "23.0.0", "0", "needs Linux 5.10 or later"),
        ("linux", "5.4.0-generic", "ffffffffff", "needs Linux 5.10 or later"),
        ("linux", "6.1.0-18-amd64", "0", "run as root, or with CAP_SYS_NICE"),
        ("linux", "5.10.0", "0000000000800000", ""),
    ],
)
def test_what_this_machine_lacks(
    system: str, kernel: str, rights: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "pidfd_open", None, raising=False)
    monkeypatch.setattr(os, "uname", lambda: type("Named", (), {"release": kernel}))
    monkeypatch.setattr(Path, "read_text", lambda self: f"Name:\tx\nCapEff:\t{rights}\nCapBnd:\tffff\n")
    assert sentence in page_cache.missing()
    assert bool(page_cache.missing()) == bool(sentence)


def test_cold_is_for_brokers_of_our_own() -> None:
    adapter = broker_at("127.0.0.1:1")
    assert adapter.lanes(SUITE) == 1
    assert isinstance(adapter.apply(Evict()), Unsupported)
    assert isinstance(adapter.apply(QueryPages(0, 0, 0, None)), Unsupported)


# --- real brokers -------------------------------------------------------------------------------------------------


def cold_of(release: str, java: int) -> Tally:
    adapter, tally = broker_at(release, {"java": str(java)}), Tally("broker", release)
    try:
        answer = adapter.hello()
        assert answer.java == java
        if SUITE.name in answer.unsupported:
            pytest.skip(answer.unsupported[SUITE.name])
        assert prove_cold(adapter, tally)
    finally:
        adapter.close()
    return tally


@pytest.mark.broker
def test_a_broker_that_sees_no_pages_takes_all_to_be_in_memory() -> None:
    tally = cold_of("5.1.4", java_feature(java()))
    assert tally.examples == []
    assert "BQ-MEM-2" in {row.rule for row in tally.rows()}


@pytest.mark.broker
def test_a_broker_that_sees_pages_forgets_where_a_group_starts() -> None:
    feature = java_showing_pages()
    if not feature:
        pytest.skip("There is no Java 8 to 13 here: set JAVA_HOME_11 to the folder of one.")
    tally = cold_of("5.1.4", feature)
    assert tally.examples == []
    assert {row.rule: row.cases for row in tally.rows()}["BQ-MEM-1"] > 20


def test_a_java_that_is_not_here_is_named() -> None:
    with pytest.raises(CannotRunError, match="There is no Java 3 here: install one, and set JAVA_HOME_3"):
        broker_at("5.1.4", {"java": "3"}).hello()


def test_nothing_is_proven_where_nothing_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally("broker", "5.5.0")
    monkeypatch.setattr("rocketmq_conformance.conformance.proof.broker.java_showing_pages", lambda: 0)
    assert not prove_seen_cold(tally)
    adapter = broker_at("127.0.0.1:1")
    answer = type("Said", (), {"unsupported": {SUITE.name: "no"}})
    monkeypatch.setattr(adapter, "hello", lambda: answer)
    assert not prove_cold(adapter, tally)
    assert tally.cases == 0
