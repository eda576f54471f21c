"""The broker that fails by a script, whole consumers on it, and brokers with a deliberate fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof.whole_cases import cases
from rocketmq_conformance.conformance.proof.whole_mutants import MUTANTS
from rocketmq_conformance.conformance.proof.whole_played import runs
from rocketmq_conformance.conformance.proof.whole_script import Script
from rocketmq_conformance.conformance.proof.whole_scripted import expected, play_cases
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

#: How long the small table may wait (s): what takes ten seconds is not in it.
LIMIT = 8.0


def test_messages_are_shown_by_runs() -> None:
    assert runs([]) == ()
    assert runs([(1, 4), (0, 7), (0, 8), (1, 5), (0, 9)]) == ((0, 7, 3), (1, 4, 2))
    # what is given twice, or out of order, is no single run
    assert runs([(0, 7), (0, 8), (0, 8)]) == ((0, 7, 2), (0, 8, 1))
    assert runs([(0, 8), (0, 7)]) == ((0, 8, 1), (0, 7, 1))


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def broker(script: Script) -> Iterator[FakeBroker]:
    with FakeBroker(parts=script.parts) as running:
        running.create_topic(TOPIC, 1)
        running.create_topic("other", 1)
        running.create_group(GROUP)
        yield running


@pytest.fixture
def connection(broker: FakeBroker) -> Iterator[Connection]:
    host, _, port = broker.address.rpartition(":")
    with Connection(host, int(port)) as connected:
        yield connected


def test_one_more_question_is_answered_before_a_later_fault(
    script: Script, broker: FakeBroker, connection: Connection
) -> None:
    def asked(topic: str) -> int | str:
        request = requests.query(GROUP, topic, 0, None)
        found = responses.number(connection.call(request.code, request.ext, request.body))
        return found.code if isinstance(found, Err) else found

    for topic in (TOPIC, "other"):
        request = requests.commit(GROUP, topic, 0, 5)
        connection.call(request.code, request.ext, request.body)

    script.fail_later(lambda: broker.faults.arm(Request.QUERY_CONSUMER_OFFSET, "SYSTEM_BUSY"))
    # questions about other topics are not counted
    assert [asked("other"), asked(TOPIC), asked(TOPIC)] == [5, 5, "SYSTEM_BUSY"]
    broker.faults.disarm()
    script.fail_later(lambda: broker.faults.arm(Request.QUERY_CONSUMER_OFFSET, "SYSTEM_BUSY"))
    script.mend()
    assert [asked(TOPIC), asked(TOPIC)] == [5, 5]


def test_pulls_of_the_topic_are_counted(script: Script, broker: FakeBroker, connection: Connection) -> None:
    for topic in (TOPIC, "other"):
        broker.send(topic, b"x")
        request = requests.pull(GROUP, topic, 0, 0)
        connection.call(request.code, request.ext, request.body)
    assert script.pulls == {0: 1}


def test_a_broker_tells_the_members_of_a_group(broker: FakeBroker, connection: Connection) -> None:
    request = requests.heartbeat("client", GROUP, [TOPIC])
    connection.call(request.code, request.ext, request.body)
    broker.send_to_members(GROUP, Command(int(Request.RESET_CONSUMER_CLIENT_OFFSET), {"topic": TOPIC}))
    # the first one is that the group has a member now
    notices = connection.requests(5.0)
    if len(notices) < 2:
        notices += connection.requests(5.0)
    assert [command.code for command in notices] == [
        Request.NOTIFY_CONSUMER_IDS_CHANGED,
        Request.RESET_CONSUMER_CLIENT_OFFSET,
    ]
    assert notices[1].ext["topic"] == TOPIC


def test_every_mutant_has_a_name_and_a_case() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.shown_by().name for mutant in MUTANTS} <= {case.name for case in cases()}


@pytest.mark.java
def test_whole_consumers_notice_a_broker_with_a_fault() -> None:
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    classes = quick_release("5.5.0")
    shown = [mutant.shown_by() for mutant in MUTANTS]
    honest = list(dict.fromkeys(shown))
    played = [*((case, {}) for case in honest), *zip(shown, (mutant.parts for mutant in MUTANTS), strict=True)]
    found = play_cases(classes, played, LIMIT)
    life = WholeGroupModel(StartModel(Profile(classes.release, classes.release), ORDINARY))
    wanted = [expected(life, case)[0] for case, _ in played]
    differs = [seen != looks for seen, looks in zip(found, wanted, strict=True)]
    assert differs[: len(honest)] == [False] * len(honest)
    unnoticed = [mutant.name for mutant, noticed in zip(MUTANTS, differs[len(honest) :], strict=True) if not noticed]
    assert unnoticed == []
