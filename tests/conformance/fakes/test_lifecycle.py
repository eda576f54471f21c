"""The fake broker stopped, killed, frozen and started, its memory and its strict locks, from outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from waiting import wait_until

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import fields
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

PATIENCE = 30.0


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as running:
        running.create_topic("T", 2)
        running.create_group("G")
        yield running


def connected(broker: FakeBroker, timeout: float = PATIENCE) -> Connection:
    host, port = broker.address.split(":")
    return Connection(host, int(port), timeout)


def commit(line: Connection, offset: int, queue: int = 0) -> None:
    code, ext, body = requests.commit("G", "T", queue, offset)
    assert line.call(code, ext, body).code == Response.SUCCESS


def ask(broker: FakeBroker, request: requests.Ask) -> int | str:
    """The offset that is answered, or the error's name."""
    with connected(broker) as line:
        found = responses.number(line.call(request.code, request.ext, request.body))
    return found.code if isinstance(found, Err) else found


def query(broker: FakeBroker, queue: int = 0) -> int | str:
    return ask(broker, requests.query("G", "T", queue, None))


# --- stopped and killed -----------------------------------------------------------------------------------------


def test_a_stop_writes_offsets_and_a_kill_loses_those_that_were_not_written(broker: FakeBroker) -> None:
    with connected(broker) as line:
        commit(line, 1)
    broker.stop()
    broker.start()
    assert query(broker) == 1
    with connected(broker) as line:
        commit(line, 2)
        broker.save()
        commit(line, 3)
        broker.send("T", b"x")
        broker.create_topic("U")
        broker.create_group("H")
    broker.kill()
    with pytest.raises(OSError, match=r"."):
        connected(broker)
    broker.kill()
    broker.stop()
    broker.start()
    assert query(broker) == 2
    assert ask(broker, requests.max_offset("T", 0)) == 1
    assert "U" in broker.state.topics
    assert "H" in broker.state.groups


def test_it_starts_on_a_store_that_it_is_given() -> None:
    broker = FakeBroker()
    broker.load("T", [QueueLog(first=3, times=(7, 9)), QueueLog(first=2), QueueLog()], {("G", 0): 4, ("G", 2): -1})
    with broker:
        assert broker.state.logs["T", 0].min == 3
        assert broker.state.logs["T", 1].min == 2
        assert query(broker) == 4
        assert [(message.offset, message.store_time) for message in broker.messages("T")] == [(3, 7), (4, 9)]
        assert broker.send("T", b"x") == 5
        broker.kill()
        broker.start()
        assert query(broker) == 4
        assert ask(broker, requests.max_offset("T", 0)) == 6


# --- frozen -----------------------------------------------------------------------------------------------------


def unanswered(broker: FakeBroker, offset: int) -> None:
    """Commit an offset, and hear nothing."""
    with connected(broker, 0.05) as line, pytest.raises(TimeoutError):
        commit(line, offset)


def test_a_frozen_broker_is_connected_to_and_answers_when_it_goes_on(broker: FakeBroker) -> None:
    broker.pause()
    with pytest.raises(RuntimeError, match="frozen"):
        broker.create_topic("U")
    unanswered(broker, 5)
    broker.resume()
    broker.resume()
    assert query(broker) == 5


@pytest.mark.parametrize(("end", "then"), [(FakeBroker.stop, 5), (FakeBroker.kill, "QUERY_NOT_FOUND")])
def test_a_frozen_broker_that_is_stopped_goes_on_first_and_one_that_is_killed_does_not(
    broker: FakeBroker, end: Callable[[FakeBroker], None], then: int | str
) -> None:
    broker.pause()
    unanswered(broker, 5)
    end(broker)
    broker.start()
    assert query(broker) == then


def test_only_a_broker_that_runs_is_frozen() -> None:
    broker = FakeBroker()
    with pytest.raises(RuntimeError, match="not running"):
        broker.pause()
    with pytest.raises(RuntimeError, match="not running"):
        broker._listener.pause()


# --- memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("java", "cold"), [(8, "QUERY_NOT_FOUND"), (17, 0)])
def test_a_message_that_was_put_out_of_memory_comes_back_when_it_is_read(java: int, cold: int | str) -> None:
    with FakeBroker(Profile.of(java=java)) as broker:
        broker.create_topic("T", 2)
        broker.create_group("G")
        broker.send("T", b"x")
        assert broker.in_memory("T", 0) is True
        assert broker.in_memory("T", 1) is None
        broker.evict()
        assert broker.in_memory("T", 0) is False
        assert query(broker) == cold
        broker.send("T", b"y")
        assert broker.in_memory("T", 0) is False
        with connected(broker) as line:
            code, ext, body = requests.pull("G", "T", 0, 1)
            line.call(code, ext, body)
            assert broker.in_memory("T", 0) is False
            code, ext, body = requests.pull("G", "T", 0, 0)
            line.call(code, ext, body)
        assert broker.in_memory("T", 0) is True
        assert query(broker) == 0
        broker.evict()
        broker.expire("T", 0, 1)
        assert broker.in_memory("T", 0) is None


def test_what_was_out_of_memory_is_forgotten_with_its_topic(broker: FakeBroker) -> None:
    broker.send("T", b"x")
    broker.evict()
    with connected(broker) as line:
        line.call(Request.DELETE_TOPIC_IN_BROKER, fields(topic="T"))
    broker.create_topic("T", 2)
    broker.send("T", b"x")
    assert broker.in_memory("T", 0) is True


def set_property(broker: FakeBroker, name: str, value: str) -> None:
    code, ext, body = requests.set_property(name, value)
    with connected(broker) as line:
        assert line.call(code, ext, body).code == Response.SUCCESS


@pytest.mark.parametrize(("release", "cold"), [("4.9.7", "QUERY_NOT_FOUND"), ("5.1.0", 0)])
def test_a_ratio_of_nothing_makes_every_message_cold_where_it_is_looked_at(release: str, cold: int | str) -> None:
    with FakeBroker(Profile.of(broker=release)) as broker:
        broker.create_topic("T", 2)
        broker.create_group("G")
        broker.send("T", b"x")
        set_property(broker, "accessMessageInMemoryMaxRatio", "0")
        broker.send("T", b"x", 1)
        assert [query(broker, queue) for queue in (0, 1)] == [cold, cold]
        set_property(broker, "accessMessageInMemoryMaxRatio", "40")
        assert [query(broker, queue) for queue in (0, 1)] == [0, 0]
        set_property(broker, "accessMessageInMemoryMaxRatio", "0")
        broker.stop()
        broker.start()
        broker.send("T", b"x", 1)
        assert [query(broker, queue) for queue in (0, 1)] == [0, 0]


# --- locks ------------------------------------------------------------------------------------------------------


def lock(broker: FakeBroker, client: str, request: Request = Request.LOCK_BATCH_MQ) -> bool | int:
    asked = {"consumerGroup": "G", "clientId": client, "mqSet": [{"topic": "T", "brokerName": "b", "queueId": 0}]}
    with connected(broker) as line:
        answer = line.call(request, None, json.dumps(asked).encode())
    return bool(json.loads(answer.body)["lockOKMQSet"]) if answer.body else answer.code


@pytest.mark.parametrize(("release", "strict"), [("4.9.7", False), ("5.0.0", True)])
def test_in_strict_mode_an_unlock_is_done_a_little_later(release: str, strict: bool) -> None:
    later: list[Callable[[], object]] = []
    with FakeBroker(Profile.of(broker=release)) as broker:
        broker.unlocks._later = lambda seconds, action: later.append(action)
        set_property(broker, "lockInStrictMode", "true")
        set_property(broker, "anythingElse", "true")
        assert lock(broker, "one") is True
        assert lock(broker, "one", Request.UNLOCK_BATCH_MQ) == 0
        assert lock(broker, "two") is not strict
        for action in later:
            action()
        assert lock(broker, "two") is True
        assert len(later) == strict
        set_property(broker, "lockInStrictMode", "false")
        assert lock(broker, "two", Request.UNLOCK_BATCH_MQ) == 0
        assert lock(broker, "one") is True


def test_an_unlock_is_done_soon() -> None:
    with FakeBroker(Profile().configured({"lockInStrictMode": "true"})) as broker:
        assert lock(broker, "one") is True
        lock(broker, "one", Request.UNLOCK_BATCH_MQ)
        wait_until(lambda: lock(broker, "two"))


# --- as what is judged ------------------------------------------------------------------------------------------


def test_everything_may_be_done_with_a_fake_broker_that_is_judged() -> None:
    source = FakeLocation(Profile.of(broker="4.9.7", java=8))
    with source.open() as line:
        assert line.call(Request.GET_BROKER_RUNTIME_INFO).code == Response.SUCCESS
    assert source.own is source
    assert (source.java, source.cold, source.shared_addresses()) == (8, "", ())
    port = source.port
    source.kill()
    source.start()
    assert source.port == port
    source.close()
