"""Where a broadcasting consumer starts, worked out by hand; and it never matters what the broker has stored."""

from __future__ import annotations

from typing import Any

from by_hand import Steps
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.start import FIRST, LAST, NO_START
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.start_broadcast import SUITE

CLIENTS = ("4.0.0", "4.6.0", "4.6.1", "4.9.0", "4.9.8", "5.0.0-PREVIEW", "5.1.4", "5.5.0")


class Play(Steps):
    """A consumer that is stepped through: a push consumer, until a lite pull one begins."""

    def __init__(self, client: str = "5.5.0") -> None:
        bound = SUITE.bind(Profile.of(client=client))
        super().__init__(bound, bound.initial)

    def do(self, name: str, *args: Any) -> Any:
        return self._step(self.model.by_position[SUITE.index[name]], *args)

    def start(self, queue: int = 0, where: str = LAST, bound: str = "answer") -> Any:
        return self.do("start", queue, where, "silent", bound)


def test_what_the_broker_stored_does_not_matter() -> None:
    play = Play()
    play.do("commit_elsewhere", 0, 6)
    assert [play.start(where=where) for where in (LAST, FIRST)] == [12, 0]
    play.do("begin_lite_pull")
    assert [play.start(where=where) for where in (LAST, FIRST)] == [12, 0]
    assert play.do("read", 0, "store", "answer") == -1


def test_a_new_consumer_starts_behind_the_last_message_of_the_log_as_it_is_now() -> None:
    play = Play()
    play.do("shape", 0, "empty")
    assert [play.start(where=where) for where in (LAST, FIRST)] == [0, 0]


def test_the_next_consumer_of_either_kind_starts_at_the_file() -> None:
    play = Play()
    play.do("update", 0, 6, False)
    play.do("persist_all", (0, 1))
    for begin, kind in (("begin_lite_pull", "lite pull"), ("begin_push", "push")):
        play.do(begin)
        assert play.kind == f"{kind}, main"
        assert play.start() == 6
    play.do("persist_all", (0,))
    play.do("damage", "main", "empty")
    play.do("begin_push")
    assert (play.kind, play.start()) == ("push, backup", 6)
    play.do("damage", "backup", "delete")
    play.do("begin_push")
    assert (play.kind, play.start()) == ("push, no file", 12)


def test_push_reads_the_file_anew_and_lite_pull_memory_first() -> None:
    play = Play()
    play.do("update", 0, 6, False)
    play.do("persist_all", (0,))
    play.do("update", 0, 7, False)
    assert play.start() == 6
    assert play.do("read", 0, "memory", "answer") == 6
    play.do("begin_lite_pull")
    play.do("update", 0, 7, False)
    assert play.start() == 7
    play.do("remove", 0)
    assert play.start() == 6


@every("client", CLIENTS)
def test_without_an_offset_in_the_file_a_failing_bound_leaves_no_start(client: str) -> None:
    play = Play(client)
    assert play.start(bound="SYSTEM_BUSY") == -1
    assert play.do("start_checked", 0, LAST, "answer", "SYSTEM_BUSY") == NO_START
    assert play.do("start_at_time", 0, "20240101001500", "UTC", "answer", "answer") == 1
    assert play.start(3) == 0


def test_the_first_lite_pull_consumers_start_at_0() -> None:
    play = Play("4.6.0")
    play.do("update", 0, 6, False)
    play.do("persist_all", (0,))
    play.do("begin_lite_pull")
    assert (play.start(), play.kind) == (0, "always 0")


@settings(deadline=None)
@given(st.sampled_from(CLIENTS), st.integers(0, 1 << 30))
def test_stored_offsets_and_faults_of_queries_change_nothing(client: str, plan: int) -> None:
    profile = Profile.of(client=client)
    bound = SUITE.bind(profile)
    state = other = bound.initial
    for position, args in sampler(SUITE, profile).case(plan, 0, SUITE.steps):
        spec = SUITE.operations[position].spec
        state, result, _ = bound.by_position[position](state, *args)
        if spec.name == "commit_elsewhere":
            continue
        names = [name for name, _ in spec.domains]
        args = tuple("answer" if name == "fault" else value for name, value in zip(names, args, strict=True))
        other, same, _ = bound.by_position[position](other, *args)
        assert result == same
