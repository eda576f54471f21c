"""The life of a broker that is judged: it is ended, frozen and started again."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.broker.broker_process import UNREACHABLE
from rocketmq_conformance.models.outcome import Err, Ok, Unsupported, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import broker_process
from rocketmq_conformance.suites.broker_process import Commit, Kill, Pause, Query, Resume, Start, Stop

SUITE = broker_process.SUITE


class Process:
    """A process that freezes: nobody accepts or answers on what listens in its place."""

    name = "Broker 5.5.0"
    alive = True

    def __init__(self) -> None:
        self.log: list[str] = []

    def pause(self) -> None:
        self.log.append("pause")

    def resume(self) -> None:
        self.log.append("resume")


class Fake:
    """A fake broker in the place of a process."""

    java = 17

    def __init__(self) -> None:
        self.embedded = FakeBroker(Profile())
        self.process = Process()
        #: A real broker's port stays the same.
        self.fixed = 0

    @property
    def port(self) -> int:
        return self.fixed or int(self.embedded.address.rpartition(":")[2])

    def start(self) -> None:
        self.process.log.append("start")
        self.embedded.start()

    def stop(self) -> None:
        self.process.log.append("stop")
        self.embedded.stop()

    def kill(self) -> None:
        self.process.log.append("kill")
        self.embedded.stop()

    def close(self) -> None:
        self.embedded.stop()


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def own(fake: Fake) -> Any:
    made = BrokerAdapter(StartedBroker(Release(5, 5, 0), lambda: fake))  # type: ignore[arg-type,return-value]
    made.reset_many([(0, SUITE)])
    yield made
    made.close()


@pytest.mark.parametrize("end", [Stop(), Kill()])
def test_a_broker_that_was_ended_cannot_be_reached_until_it_is_started(
    own: BrokerAdapter, fake: Fake, end: Any
) -> None:
    assert own.apply(Commit(0, 0, 0, 5)) == Ok()
    assert own.apply(end) == Ok()
    assert own.apply(Query(0, 0, 0, None)) == Err("UNREACHABLE")
    assert own.apply(Start()) == Ok()
    assert own.apply(Query(0, 0, 0, None)) == Ok(5)
    assert fake.process.log == ["start", end.spec.name, "start"]


def test_a_broker_that_is_stopped_by_force_is_not_judged(
    own: BrokerAdapter, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        fake.kill()
        raise CannotRunError("Broker 5.5.0 did not stop within 60 s and was killed")

    monkeypatch.setattr(fake, "stop", stop)
    with pytest.raises(AdapterError, match="did not stop within 60 s"):
        own.apply(Stop())
    own.reset_many([(0, SUITE)])
    assert own.apply(Commit(0, 0, 0, 5)) == Ok()


def test_somebody_else_on_the_port_is_a_difference(own: BrokerAdapter, fake: Fake) -> None:
    own.apply(Stop())
    with socket.create_server(("127.0.0.1", 0)) as other:
        fake.fixed = other.getsockname()[1]
        answer = own.apply(Query(0, 0, 0, None))
    assert isinstance(answer, Err)
    assert not agrees(UNREACHABLE, answer)


def test_a_frozen_broker_is_silent_and_goes_on(own: BrokerAdapter, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own.apply(Commit(0, 0, 0, 5)) == Ok()
    assert own.apply(Pause()) == Ok()
    with socket.create_server(("127.0.0.1", 0)) as silent, monkeypatch.context() as patch:
        line = Connection("127.0.0.1", silent.getsockname()[1])
        patch.setattr(BrokerAdapter, "_connected", lambda self: line)
        patch.setattr(StartedBroker, "silence", 0.05)
        assert own.apply(Query(0, 0, 0, None)) == Err("TIMEOUT", definite=True)
        line.close()
    assert own.apply(Resume()) == Ok()
    assert own.apply(Query(0, 0, 0, None)) == Ok(5)
    assert fake.process.log == ["start", "pause", "resume"]


@pytest.mark.parametrize(("last", "then"), [(Stop(), "start"), (Pause(), "resume")])
def test_a_case_begins_with_a_broker_that_runs(own: BrokerAdapter, fake: Fake, last: Any, then: str) -> None:
    own.apply(last)
    own.reset_many([(0, SUITE)])
    assert fake.process.log[-1] == then
    assert isinstance(own.apply(Query(0, 0, 0, None)), Ok | Err)
    assert own.apply(Commit(0, 0, 0, 5)) == Ok()


@pytest.mark.parametrize("operation", [Stop(), Kill(), Start(), Pause(), Resume()])
def test_a_broker_of_somebody_else_is_left_alone(operation: Any) -> None:
    assert isinstance(BrokerAdapter(RunningBroker("127.0.0.1", 1)).apply(operation), Unsupported)
