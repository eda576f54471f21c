"""Programs that are no good consumers: one sentence each, and nothing is left running."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from command_log import CommandLog
from places import ROOT
from waiting import alive, wait_until

from rocketmq_conformance.conformance.adapter import CannotRunError, Case, Play
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.child_process import telling_lines
from rocketmq_conformance.conformance.targets.client_program import connections
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.played_clusters import PlayedClusters
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.played_groups import PlayedGroups
from rocketmq_conformance.conformance.targets.client_program.played_slaves import PlayedSlaves
from rocketmq_conformance.conformance.targets.client_program.played_topologies import PlayedTopologies
from rocketmq_conformance.conformance.targets.client_program.program import Program
from rocketmq_conformance.conformance.targets.client_program.smoke import look_at
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.whole_end import NOT_ENDED, end_of
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import (
    whole_broadcast,
    whole_brokers,
    whole_clusters,
    whole_groups,
    whole_listener,
    whole_lite,
    whole_orderly,
    whole_orderly_listener,
    whole_slaves,
    whole_topologies,
)
from rocketmq_conformance.suites import whole_push as operations
from rocketmq_conformance.suites.declare.judged_step import each_of
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

PROGRAM = ROOT / "tests" / "helpers" / "program.py"
BRIEF = Timing(
    pace=1000.0,
    margin=0.2,
    answer=0.1,
    connect=15.0,
    end=0.3,
    look=0.2,
    quiet=0.05,
    round=0.1,
    write=0.1,
    routes=0.1,
)


def client(behaviour: str, connect: float = 15.0) -> ClientProgram:
    timing = replace(BRIEF, connect=connect)
    return ClientProgram(f"{sys.executable} {PROGRAM} {behaviour}", timing=timing)


@contextmanager
def group_of(suite: Suite, behaviour: str) -> Iterator[PlayedGroup]:
    """A case of a suite with a program."""
    group = client(behaviour).case(suite)
    try:
        yield group
    finally:
        group.close()


@pytest.fixture
def opened(request: pytest.FixtureRequest) -> Iterator[PlayedGroup]:
    """A case of a program that behaves as the parameter says."""
    with group_of(operations.SUITE, request.param) as group:
        yield group


def plays(*moves: Operation) -> Play[list[Outcome]]:
    """A case of these operations."""
    return lambda: each_of(moves)


def sentence(behaviour: str, connect: float = 15.0) -> str:
    """Why a member does not count as started."""
    program = client(behaviour, connect)
    # a second client may connect when the member counts as started already
    (ended,) = program.stream(operations.SUITE, [plays(operations.Join(0), *[operations.Look()] * 100)])
    with pytest.raises(CannotRunError) as raised:
        ended.result()
    program.close()
    return str(raised.value)


def test_a_command_that_is_not_there_is_named() -> None:
    for command in ("no-such-program x", ""):
        with pytest.raises(CannotRunError, match="cannot be found"):
            ClientProgram(command).hello()


def test_why_a_program_is_no_consumer() -> None:
    assert "sent no heartbeat within 1 s" in sentence("never", 1.0)
    assert "sent no heartbeat within 2 s" in sentence("garbage", 2.0)
    assert "It connected, but sent no heartbeat" in sentence("connects", 2.0)
    assert "member-0 is member-0-x and member-0-y: make one client" in sentence("twice")
    assert "It sent heartbeats, and none of the group G" in sentence("elsewhere", 2.0)


def test_a_case_begins_as_soon_as_another_one_has_ended_and_what_came_of_them_is_in_their_order() -> None:
    ends = [threading.Event() for _ in range(5)]

    def numbered(number: int) -> Play[int]:
        def asking() -> Generator[Operation, Outcome, int]:
            return number if ends[number].wait(30) else -1
            yield operations.Look()

        return asking

    program = ClientProgram("sh", lanes=2)
    playing = program.stream(operations.SUITE, map(numbered, range(5)))
    for number in (1, 2, 0):
        ends[number].set()
    assert [next(playing).result() for _ in range(3)] == [0, 1, 2]
    for end in ends:
        end.set()
    assert [ended.result() for ended in playing] == [3, 4]
    program.close()


def test_a_stream_that_is_closed_ends_what_is_under_way() -> None:
    program = client("sits")
    playing = program.stream(operations.SUITE, [plays(), *[plays(*[operations.Look()] * 100)] * 2])
    assert next(playing).result() == []
    playing.close()
    assert not program._interrupted.is_set()
    program.close()


def test_nothing_more_of_a_case_is_played_once_a_member_does_not_connect_where_others_did() -> None:
    program = client("first", 5.0)
    (ended,) = program.stream(operations.SUITE, [plays(operations.Join(0), operations.Join(1), operations.Look())])
    program.close()
    assert program.took_part(operations.SUITE)
    assert not program.took_part(whole_lite.SUITE)
    joined, *others = ended.result()
    assert isinstance(joined, Ok)
    assert others == [Err("NOT_CONNECTED", definite=False)] * 2


def test_nothing_of_a_case_runs_after_its_end() -> None:
    program = client("sits")
    program.reset(Case(operations.SUITE, 0, Profile(), lambda: "", lambda *_: (0, "", {}, b""), Path))
    program.apply(operations.Join(0))
    assert program._case is not None
    process = program._case.members.programs[0]._process
    program.end_case()
    program.end_case()
    assert process.poll() is not None


def test_a_case_is_played_once_more_when_a_member_was_too_late(tmp_path: Path) -> None:
    program = client(f"late {tmp_path / 'started'}", 5.0)
    (ended,) = program.stream(operations.SUITE, [plays(operations.Join(0), operations.Join(1))])
    program.close()
    assert [type(outcome) for outcome in ended.result()] == [Ok, Ok]


def test_the_last_line_of_one_that_ends_at_once_is_shown() -> None:
    program = ClientProgram("sh -c '(sleep 0.3; echo oops >&2) & exit 7'", timing=BRIEF)
    group = program.case(operations.SUITE)
    said = "ended with exit code 7 before its first heartbeat. It wrote on standard error: oops"
    with pytest.raises(CannotRunError, match=said):
        group.do(operations.Join(0))
    group.close()


def test_a_case_goes_on_without_one_that_did_not_connect() -> None:
    program = client("never", 0.3)
    group = program.case(operations.SUITE)
    try:
        with pytest.raises(CannotRunError):
            group.do(operations.Join(0))
        for operation in (operations.Look(), operations.Leave(0)):
            assert isinstance(group.do(operation), Ok)
    finally:
        group.close()


@pytest.mark.parametrize("opened", ["second"], indirect=True)
def test_one_that_ends_before_its_first_heartbeat_is_started_once_more(opened: PlayedGroup) -> None:
    assert isinstance(opened.do(operations.Join(0)), Ok)


@pytest.mark.parametrize("opened", ["ends"], indirect=True)
def test_one_that_ends_by_itself_has_ended(opened: PlayedGroup) -> None:
    seen = [opened.do(operations.Join(0))]

    def has_ended() -> bool:
        if isinstance(seen[-1], Ok):
            seen.append(opened.do(operations.Look()))
        return not isinstance(seen[-1], Ok)

    wait_until(has_ended)
    assert seen[-1] == Err("ENDED")


@pytest.mark.parametrize("opened", ["ignores-term"], indirect=True)
def test_one_that_ignores_sigterm_is_killed(opened: PlayedGroup) -> None:
    opened.do(operations.Join(0))
    assert opened.do(operations.Leave(0)) == Err("STILL_RUNNING")


@pytest.mark.parametrize("opened", ["sits"], indirect=True)
def test_a_consumer_that_does_nothing_shows_nothing(opened: PlayedGroup) -> None:
    nobody = ((-1, -1),) * 4
    assert opened.do(operations.Prepare(4, "young", 7, "CONSUME_FROM_LAST_OFFSET")) == Ok()
    # but a line on what no pull brought
    assert opened.do(operations.Join(0)) == Ok((nobody, ((0, 0, 7, 1),), (7, 7, 7, 7)))
    assert opened.do(operations.Join(0)) == Ok((nobody, (), (7, 7, 7, 7)))
    for move in (operations.Send(-1), operations.Freeze(0), operations.Freeze(1), operations.Reset(3)):
        assert opened.do(move) == Ok((nobody, (), (7, 7, 7, 7)))
    assert opened.do(operations.Crash(0)) == Ok((nobody, (), (7, 7, 7, 7)))
    assert opened.do(operations.Leave(0)) == Ok((nobody, (), (7, 7, 7, 7), None, None, None, None))


@pytest.mark.parametrize("opened", ["sits"], indirect=True)
def test_one_that_hangs_up_has_not_unregistered(opened: PlayedGroup) -> None:
    opened.do(operations.Join(0))
    left = opened.do(operations.Leave(0))
    assert isinstance(left, Ok)
    assert end_of(left.value) == (1, False, None, None)


@pytest.mark.parametrize("opened", ["asks"], indirect=True)
def test_a_member_without_a_route_is_known_by_its_first_heartbeat(opened: PlayedGroup) -> None:
    nobody = Ok((((-1, -1),) * 4, (), (-1,) * 4))
    assert opened.do(operations.Fail("GET_ROUTEINFO_BY_TOPIC", "SYSTEM_ERROR")) == nobody
    assert opened.do(operations.Join(0)) == nobody
    # what it said in the meantime counts once it is known
    assert opened.do(operations.Mend()) == Ok((((-1, -1),) * 4, ((0, 0, 7, 1),), (-1,) * 4))
    left = opened.do(operations.Leave(0))
    assert isinstance(left, Ok)
    assert end_of(left.value) == (1, False, None, None)


def played(behaviour: str, *moves: Operation) -> list[Outcome]:
    """What the moves of one case show."""
    program = client(behaviour, 5.0)
    (ended,) = program.stream(operations.SUITE, [plays(*moves)])
    program.close()
    return ended.result()


@pytest.mark.parametrize("behaviour", ["nameless", "nameless-elsewhere"])
def test_members_are_known_by_their_programs_whatever_their_client_ids_and_their_connections_are(
    behaviour: str,
) -> None:
    first, both = played(behaviour, operations.Join(0), operations.Join(1))
    assert (first, both) == (
        Ok((((0, 12), *[(-1, -1)] * 3), ((0, 0, 7, 1),), (-1,) * 4)),
        Ok((((0, 12), (1, 12), *[(-1, -1)] * 2), ((1, 0, 7, 1),), (-1,) * 4)),
    )
    assert isinstance(both, Ok)
    assert both.clients == ("9-x", "8-x", "")


@pytest.mark.parametrize("opened", ["sits"], indirect=True)
def test_a_pool_has_the_name_of_its_first_heartbeat_at_once(opened: PlayedGroup) -> None:
    opened.do(operations.Join(0))
    # as before it was seen who the member is
    opened.members.ids.clear()
    assert opened.case.owner(Peer(cast(Any, None))) == "member-0"


NO_ROUTE = operations.Fail("GET_ROUTEINFO_BY_TOPIC", "SYSTEM_ERROR"), operations.Join(0), operations.Join(1)


@pytest.mark.parametrize("behaviour", ["asks", "asks-nameless"])
def test_members_whose_first_heartbeats_come_together(behaviour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if behaviour == "asks":
        # by their names, where nobody sees who opened a connection
        monkeypatch.setattr(connections, "_PROC", Path("/nowhere"))
    *_, mended = played(behaviour, *NO_ROUTE, operations.Mend())
    assert isinstance(mended, Ok)
    assert mended.clients == (("member-0", "member-1", "") if behaviour == "asks" else ("9-x", "8-x", ""))


def test_who_is_who_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_PROC", Path("/nowhere"))
    with pytest.raises(CannotRunError, match="It cannot be seen whether 8-x and 9-x is member-0 or member-1"):
        played("asks-nameless", *NO_ROUTE, operations.Mend())


@pytest.mark.parametrize("seen", [True, False])
def test_two_members_with_one_client_id_decide_nothing(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not seen:
        monkeypatch.setattr(connections, "_PROC", Path("/nowhere"))
    _, second = played("same", operations.Join(0), operations.Join(1))
    assert isinstance(second, Err)
    assert second.detail.startswith("member-1 has the client id of member-0, x: give each client an id of its own")


def test_a_client_of_another_group_is_no_member() -> None:
    assert all(isinstance(shown, Ok) for shown in played("produces", operations.Join(0), operations.Join(1)))


@pytest.mark.parametrize("opened", ["asks"], indirect=True)
def test_nothing_is_said_of_the_end_of_one_that_never_had_a_route(opened: PlayedGroup) -> None:
    opened.do(operations.Fail("GET_ROUTEINFO_BY_TOPIC", "SYSTEM_ERROR"))
    opened.do(operations.Join(0))
    left = opened.do(operations.Leave(0))
    assert isinstance(left, Ok)
    assert end_of(left.value) == (None, None, None, None)


@pytest.mark.parametrize("opened", ["sits"], indirect=True)
def test_nothing_is_said_of_the_end_of_one_whose_heartbeats_are_not_answered(opened: PlayedGroup) -> None:
    opened.do(operations.Interrupt("HEART_BEAT", "garbage"))
    opened.do(operations.Join(0))
    left = opened.do(operations.Leave(0))
    assert isinstance(left, Ok)
    assert end_of(left.value) == (None, None, None, None)


def test_locks_and_what_listeners_say_belong_to_what_consumers_of_other_kinds_show() -> None:
    nobody, stored = ((-1, -1),) * 4, (-1,) * 4
    said = ((0, 0, 7, 1),)
    with group_of(whole_lite.SUITE, "sits") as group:
        assert group.do(whole_lite.Join(0)) == Ok((nobody, (), stored, (-1,) * 4, said))
        for member in (0, 1):
            assert group.do(whole_lite.Seek(member, 0, 3)) == Ok((nobody, (), stored, (-1,) * 4, ()))
    with group_of(whole_broadcast.SUITE, "sits") as group:
        assert group.do(operations.Join(0)) == Ok((((),) * 4, (), stored, (-1,) * 4, said))
        for crashes in (True, False):
            assert group.do(whole_broadcast.ComeBack(0, crashes)) == Ok((((),) * 4, (), stored, (-1,) * 4, said))
        assert group.do(whole_broadcast.ComeBack(1, False)) == Ok((((),) * 4, (), stored, (-1,) * 4, ()))
        assert group.do(operations.Crash(0)) == Ok((((),) * 4, (), stored, (-1,) * 4, ()))
    with group_of(whole_orderly.SUITE, "sits") as group:
        assert group.do(operations.Join(0)) == Ok((nobody, (), stored, (-1,) * 4, said))
        assert group.do(whole_orderly.TakeLocks()) == Ok((nobody, (), stored, (-2,) * 4, ()))
        assert group.do(whole_orderly.ExpireLocks()) == Ok((nobody, (), stored, (-1,) * 4, ()))
    with group_of(whole_orderly.SUITE, "sits") as group:
        for operation in (whole_orderly.RefuseLocks("SYSTEM_ERROR"), operations.Mend()):
            assert group.do(operation) == Ok((nobody, (), stored, (-1,) * 4, ()))


def test_a_listener_is_told_what_to_do_where_the_program_says_so() -> None:
    nobody, rest = ((-1, -1),) * 4, ((-1,) * 4, (-1, -1, 0, 0))
    seen, said = Ok((nobody, (), *rest)), Ok((nobody, ((0, 0, 7, 1),), *rest))
    ends = []
    with group_of(whole_listener.SUITE, "listens") as group:
        for operation in (
            *(whole_listener.Listen(0, FAILS), whole_listener.Join(0), whole_listener.Listen(0, HOLDS)),
            *(whole_listener.Leave(0), whole_listener.Leave(1), whole_listener.Refuse(True)),
            *(whole_listener.Refuse(False), whole_listener.Deliver(), whole_listener.Listen(0, SUCCEEDS)),
            *(whole_listener.Leave(0), whole_listener.Crash(0), whole_listener.Look()),
        ):
            shown = group.do(operation)
            if isinstance(operation, whole_listener.Leave):
                assert isinstance(shown, Ok)
                # one whose listener holds is not shut down
                ends.append(end_of(shown.value))
            else:
                assert shown == (said if isinstance(operation, whole_listener.Join) else seen)
    assert ends == [NOT_ENDED, NOT_ENDED, (1, False, None, None)]
    with group_of(whole_listener.SUITE, "sits") as group:
        for operation in (whole_listener.Join(0), whole_listener.Deliver()):
            refused = group.do(operation)
            assert isinstance(refused, Unsupported)
            assert '{"takes": ["listen"]}' in refused.reason


def test_an_orderly_listener_shows_what_it_is_given_in_order_and_once_more() -> None:
    nobody, stored = ((-1, -1),) * 4, (-1,) * 4
    with group_of(whole_orderly_listener.SUITE, "listens") as group:
        first = group.do(whole_orderly_listener.Join(0))
        assert first == Ok((nobody, (), stored, (-1,) * 4, ((0, 0, 7, 1),), ()))
        for operation in (
            *(whole_orderly_listener.Listen(0, FAILS), whole_orderly_listener.Listen(0, HOLDS)),
            whole_orderly_listener.ExpireLocks(),
        ):
            assert group.do(operation) == Ok((nobody, (), stored, (-1,) * 4, (), ()))
        left = group.do(whole_orderly_listener.Leave(0))
        assert left == Ok((nobody, (), stored, *whole_end.NOT_ENDED, (-1,) * 4, (), ()))
    with group_of(whole_orderly_listener.SUITE, "sits") as group:
        assert isinstance(group.do(whole_orderly_listener.Join(0)), Unsupported)


def test_a_case_of_two_brokers_shows_the_queues_of_both() -> None:
    nobody = ((-1, -1),) * 5
    seen, said = Ok((nobody, (), (7,) * 5)), Ok((nobody, ((0, 0, 7, 1),), (7,) * 5))
    with group_of(whole_brokers.SUITE, "sits") as group:
        assert group.do(whole_brokers.GoAway()) == Ok((((-1, -1),) * 5, (), (-1,) * 5))
        assert group.do(whole_brokers.Prepare(2, 1, "young", 7, "CONSUME_FROM_LAST_OFFSET")) == Ok()
        for operation in (
            *(whole_brokers.Join(0), whole_brokers.Send(-1), whole_brokers.Route(1, 2), whole_brokers.GoAway()),
            *(whole_brokers.Route(3, 2), whole_brokers.ComeBack(), whole_brokers.ComeBack(), whole_brokers.Look()),
            *(whole_brokers.Crash(0), whole_brokers.Leave(0)),
        ):
            assert group.do(operation) == (said if isinstance(operation, whole_brokers.Join) else seen)


def test_a_second_consumer_is_asked_for_by_a_command() -> None:
    with group_of(whole_clusters.SUITE, "sits") as group:
        assert isinstance(group, PlayedClusters)
        group._needs = ""
        assert group.do(whole_clusters.Prepare(2, 1, 7, "CONSUME_FROM_LAST_OFFSET")) == Ok()
        assert isinstance(group.do(whole_clusters.Join(0)), Ok)
        log = CommandLog()
        group.members.programs[0].send = log.send  # type: ignore[method-assign]
        named = []
        for operation in (whole_clusters.Twin(), whole_clusters.Also(), whole_clusters.Also(), whole_clusters.Send(-1)):
            assert group.do(operation) == Ok((((-1, -1),) * 5, (), (7,) * 5))
            named.append(group.brokers.named)
        assert named == [(0, 1), *[(0, 1, 3)] * 3]
        asked = [(group.address, "member-0"), (group.brokers.other_address, "member-0-other")]
        assert log.commands == [{"also": [address, "G", "T", instance]} for address, instance in asked]
        assert isinstance(group.do(whole_clusters.Leave(0)), Ok)
        assert group.brokers.away


def test_consumers_of_another_group_start_and_end_by_commands() -> None:
    with group_of(whole_groups.SUITE, "sits") as group:
        assert isinstance(group, PlayedGroups)
        group._needs = ""
        assert group.do(whole_groups.Prepare(7, 2, "CONSUME_FROM_LAST_OFFSET")) == Ok()
        assert isinstance(group.do(whole_groups.Join(0)), Ok)
        log = CommandLog()
        group.members.programs[0].send = log.send  # type: ignore[method-assign]
        seen = Ok((((-1, -1),) * 4, (), (7, 7, 2, 2)))
        for operation in (
            *(whole_groups.End(0, 0), whole_groups.Also(1), whole_groups.Also(0), whole_groups.Also(0)),
            *(whole_groups.End(1, 0), whole_groups.End(0, 0), whole_groups.End(0, 1), whole_groups.Also(0)),
        ):
            assert group.do(operation) == seen
        also = [{"also": [group.address, name, "T", "member-0"]} for name in ("G-pull", "G")]
        assert log.commands == [also[0], {"end": "G"}, also[1]]
        assert group.do(whole_groups.Prepare(-1, -1, "CONSUME_FROM_LAST_OFFSET")) == Ok()
        assert isinstance(group.do(whole_groups.Leave(0)), Ok)


def test_a_master_goes_away_and_comes_back_while_its_slave_stays() -> None:
    with group_of(whole_slaves.SUITE, "sits") as group:
        assert isinstance(group, PlayedSlaves)
        assert group.do(whole_slaves.Prepare(1, 7)) == Ok()
        assert isinstance(group.do(whole_slaves.Join(0)), Ok)
        nodes = []
        for operation in (
            *(whole_slaves.Prepare(2, 7), whole_slaves.Suggest(1), whole_slaves.GoAway(), whole_slaves.GoAway()),
            *(whole_slaves.Synchronise(), whole_slaves.Send(-1), whole_slaves.ComeBack(), whole_slaves.ComeBack()),
        ):
            prepares = isinstance(operation, whole_slaves.Prepare)
            assert group.do(operation) == (Ok() if prepares else Ok((((-1, -1),) * 4, (), (7, -1, 7, -1))))
            nodes.append((tuple(group.brokers.nodes()), group.brokers.second.broker.running))
        assert nodes == [*[((0, 1), True)] * 2, *[((1,), False)] * 4, *[((0, 1), True)] * 2]
        assert [case.max_offset(0) for case in group.brokers.cases] == [13, 13]


def test_a_broker_that_is_to_come_listens_once_it_is_there() -> None:
    seen = Ok((((-1, -1),) * 5, (), (7,) * 5))
    with group_of(whole_topologies.SUITE, "sits") as group:
        assert isinstance(group, PlayedTopologies)
        second = group.brokers.second.broker
        assert not second.running
        assert group.do(whole_topologies.Prepare(2, 1, 7, "CONSUME_FROM_LAST_OFFSET")) == Ok()
        assert isinstance(group.do(whole_topologies.Join(0)), Ok)
        named = []
        for operation in (
            *(whole_topologies.Prepare(1, 1, 7, "CONSUME_FROM_LAST_OFFSET"), whole_topologies.Route(1, 1, 1)),
            *(whole_topologies.Appear(), whole_topologies.Appear(), whole_topologies.Send(-1)),
            *(whole_topologies.Route(1, 1, 1), whole_topologies.GoAway(), whole_topologies.GoAway()),
        ):
            assert group.do(operation) == (Ok() if isinstance(operation, whole_topologies.Prepare) else seen)
            named.append((group.brokers.named, second.running))
        assert named == [((0, 1), False)] * 2 + [((0, 1, 3), True)] * 3 + [((0, 3), True)] + [((0,), False)] * 2


def test_one_that_says_what_it_is_given_in_one_case_leaves_that_open_in_none() -> None:
    program = client("sits")
    with closing(program.case(operations.SUITE)) as first:
        program._step(first, operations.Join(0))
        assert first.says
    for suite, says in ((whole_brokers.SUITE, True), (whole_orderly.SUITE, False)):
        with closing(program.case(suite)) as group:
            assert group.says is says


def test_commands_are_lines_of_standard_input() -> None:
    program = Program(["sh", "-c", "head -n 1 >&2; sleep 600"], {})
    program.send({"seek": ["T", 0, 3]})
    wait_until(lambda: program.last_words)
    program.kill()
    assert program.last_words == '{"seek": ["T", 0, 3]}'
    program.send({"seek": ["T", 0, 3]})


def state_of(process: int) -> str:
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_a_frozen_program_goes_on() -> None:
    # without children: one that is stopped before it has begun would make its parent wait, not stop
    program = Program(["sh", "-c", "echo $$ >&2; while :; do :; done"], {})
    wait_until(lambda: program.last_words)
    process = int(program.last_words)
    for act, frozen in ((program.pause, True), (program.resume, False)):
        act()
        wait_until(lambda frozen=frozen: (state_of(process) == "T") is frozen)
    program.kill()


def test_children_end_with_their_program() -> None:
    program = Program([sys.executable, "-c", FORKS], {})
    wait_until(lambda: program.last_words)
    child = int(program.last_words)
    assert alive(child)
    assert program.stop(5.0)
    assert not alive(child)


FORKS = """
import subprocess, sys, time
print(subprocess.Popen(["sleep", "600"]).pid, file=sys.stderr, flush=True)
time.sleep(600)
"""


def test_lines_that_are_no_messages_are_skipped() -> None:
    program = Program(
        ["sh", "-c", """echo '{'; echo x; echo '[1]'; echo '{"x": 1}'; echo '{"got": ["T", 1, 7]}'"""], {}
    )
    wait_until(lambda: program.got)
    program.kill()
    assert (list(program.got), program.wrong_line) == ([("T", 1, 7)], "")


def test_a_line_that_has_not_its_shape_leaves_the_case_undecided_with_a_sentence() -> None:
    program = client("garbled")
    (ended,) = program.stream(operations.SUITE, [plays(operations.Join(0), *[operations.Look()] * 20)])
    program.close()
    shown = ended.result()[-1]
    assert isinstance(shown, Err)
    assert (shown.code, shown.definite) == ("BAD_LINE", False)
    assert shown.detail.startswith('member-0: The line {"got": ["T", 7]} is no `got` line: ')
    assert look_at(client("garbled"), limit=1.0).seen[-1].hint == shown.detail


@pytest.mark.parametrize("word", ["got", "owned"])
def test_a_line_that_names_another_topic_than_was_asked_for_leaves_the_case_undecided(word: str) -> None:
    value = {"got": ["X", 0, 7], "owned": [["T", 0], ["X", 1]]}[word]
    lines = [{"got": ["T", 0, 7]}, {"got": ["%RETRY%G", 0, 1]}, {"owned": [["T", 0]]}, {word: value}]
    script = "".join(f"echo '{json.dumps(line)}';" for line in lines)
    program = Program(["sh", "-c", script], {"ROCKETMQ_TOPIC": "T", "ROCKETMQ_GROUP": "G"})
    wait_until(lambda: program.wrong_line)
    program.kill()
    assert program.wrong_line == (
        f"The line {json.dumps(lines[-1])} names the topic X, and the program was asked for %RETRY%G and T alone."
    )


def test_a_topic_that_it_is_told_to_subscribe_to_is_asked_for() -> None:
    said = """read line; echo '{"got": ["U", 0, 7]}'"""
    program = Program(["sh", "-c", said], {"ROCKETMQ_TOPIC": "T", "ROCKETMQ_GROUP": "G"})
    program.send({"subscribe": "U"})
    wait_until(lambda: program.got)
    program.kill()
    assert not program.wrong_line


def test_of_a_program_that_panics_the_line_with_which_that_begins_is_shown() -> None:
    panic = ["panic: nil map", "", "goroutine 1 [running]:", "main.main()", "\t/src/main.go:7 +0x1d", "exit status 2"]
    for before, first in (([], panic[0]), (["INFO start", "INFO go"], panic[0]), (["oops", "INFO"], "oops")):
        lines = [*before, *(panic if first == panic[0] else panic[2:])]
        shown = telling_lines("\n".join(lines).encode(), 3)
        assert shown == f"{first} / … / main.main() / /src/main.go:7 +0x1d / exit status 2"
    assert telling_lines(b"oops\n\n", 3) == "oops"


def test_smoke_says_what_was_missed() -> None:
    missed = [one.what for one in look_at(client("sits"), limit=0.2).seen if not one.seen]
    assert missed == [
        "subscribed to the topic",
        "asked for the members of its group",
        "pulled 0 of 4 queues",
        "was given messages",
        "committed 0 of 4 queues",
        "unregistered from its group",
    ]


def test_settings_stand_before_the_colon() -> None:
    hello = open_address("client?pace=20&lanes=2:sh -c 'exit 1?x=y:z'").hello()
    assert (hello.name, hello.pace, hello.sides) == ("sh -c 'exit 1?x=y:z'", 20, ("whole",))
    wrong = {
        "client?speed=2:sh": "no option 'speed'",
        "client?lanes=0:sh": "no number of lanes",
        "client?pace=0:sh": "no pace",
        "client:sh -c 'x": "cannot be read",
    }
    for address, sentence_part in wrong.items():
        with pytest.raises(AddressError, match=sentence_part):
            open_address(address)
