"""The TCP door of the fake broker in a client case: answers, faults, and what one connection cannot do to another."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.fault import Fault, Faults, parse, parse_armed
from rocketmq_conformance.conformance.remoting.frame import (
    MAX_FRAME,
    ONE_WAY,
    RESPONSE,
    Command,
    decode,
    encode,
    fields,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Requests

QUERY, UPDATE, MAX = Request.QUERY_CONSUMER_OFFSET, Request.UPDATE_CONSUMER_OFFSET, Request.GET_MAX_OFFSET
STORED = fields(consumerGroup="G", topic="T", queueId=0)
COMMIT = STORED | {"commitOffset": "5"}
PATIENCE = 30.0


@pytest.fixture
def case() -> ClientCase:
    return ClientCase(Profile())


@pytest.fixture
def server(case: ClientCase) -> Iterator[FakeBroker]:
    case.broker.open()
    yield case.broker
    case.broker.stop()


@contextlib.contextmanager
def connected(server: FakeBroker, timeout: float = PATIENCE, binary: bool = False) -> Iterator[Connection]:
    host, port = server.address.split(":")
    with Connection(host, int(port), timeout, binary) as connection:
        yield connection


@contextlib.contextmanager
def raw(server: FakeBroker) -> Iterator[socket.socket]:
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as line:
        yield line


def assert_answers(server: FakeBroker) -> None:
    """A good connection still works."""
    with connected(server) as connection:
        assert connection.call(MAX, fields(topic="T", queueId=0)).ext == {"offset": "12"}


# --- honest answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [False, True])
def test_both_header_forms_are_understood(server: FakeBroker, binary: bool) -> None:
    with connected(server, binary=binary) as connection:
        assert connection.call(UPDATE, COMMIT).code == Response.SUCCESS
        assert connection.call(QUERY, STORED).ext == {"offset": "5"}


@pytest.mark.parametrize(("broker", "echoed"), [("4.9.3", False), ("4.9.7", True), ("5.0.0", False), ("5.5.0", False)])
def test_only_some_releases_answer_in_binary(broker: str, echoed: bool) -> None:
    with FakeBroker(Profile.of(broker=broker)) as server:
        server.create_topic("T")
        with connected(server, binary=True) as connection:
            assert connection.call(QUERY, STORED).binary is echoed
        with connected(server) as connection:
            assert connection.call(QUERY, STORED).binary is False


def test_routes_lead_to_the_server(server: FakeBroker) -> None:
    with connected(server) as connection:
        route = connection.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"}).body.decode()
    assert f'"{server.address}"' in route


def test_a_request_without_its_fields_is_a_system_error(server: FakeBroker) -> None:
    with connected(server) as connection:
        assert connection.call(QUERY, {"topic": "T", "consumerGroup": "G"}).code == Response.SYSTEM_ERROR
        answer = connection.call(QUERY, {"consumerGroup": "G", "queueId": "0"})
        assert answer.code == Response.SYSTEM_ERROR
        assert "topic" in answer.remark
        assert connection.call(QUERY, STORED).code == Response.SUCCESS


def test_a_one_way_request_is_done_and_not_answered(server: FakeBroker, case: ClientCase) -> None:
    with connected(server) as connection:
        connection.send(UPDATE, COMMIT)
        server.settle()
        assert case.take_commits() == ((0, 5),)
        opaque = connection.post(QUERY, STORED)
        assert connection.collect().opaque == opaque
        assert server.arrived(UPDATE) == 1


def test_many_requests_can_be_under_way(server: FakeBroker) -> None:
    with connected(server) as connection:
        asked = [connection.post(MAX, fields(topic="T", queueId=at % 2)) for at in range(500)]
        assert connection.outstanding == 500
        assert connection.call(QUERY, STORED).code == Response.SUCCESS
        assert [connection.collect().opaque for _ in asked] == asked
        with pytest.raises(LookupError):
            connection.collect()


def test_answers_to_forgotten_requests_are_dropped(server: FakeBroker) -> None:
    with connected(server) as connection:
        connection.post(MAX, fields(topic="T", queueId=0))
        connection.forget()
        assert connection.outstanding == 0
        opaque = connection.post(MAX, fields(topic="T", queueId=1))
        assert connection.collect().opaque == opaque


def test_many_connections_at_once(server: FakeBroker) -> None:
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(connected(server)) for _ in range(100)]
        for line in lines:
            line.post(MAX, fields(topic="T", queueId=0))
        assert [line.collect().ext["offset"] for line in lines] == ["12"] * 100


def test_a_request_may_arrive_byte_by_byte(server: FakeBroker) -> None:
    frame = encode(Command(MAX, fields(topic="T", queueId=0), opaque=3))
    with raw(server) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(frame)):
            line.sendall(frame[at : at + 1])
        assert _read(line).opaque == 3


def test_a_client_that_does_not_read_stops_no_other_and_gets_all_answers_later(server: FakeBroker) -> None:
    frame = encode(Command(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"}, opaque=1))
    with raw(server) as greedy:
        greedy.settimeout(0.3)
        sent = 0
        with contextlib.suppress(TimeoutError):
            while True:
                sent += greedy.send((frame * 1000)[sent % len(frame) :])
        assert_answers(server)
        greedy.settimeout(PATIENCE)
        buffer, answered = bytearray(), 0
        while answered < sent // len(frame):
            buffer += greedy.recv(1 << 20)
            while len(buffer) >= 4 and len(buffer) >= 4 + struct.unpack_from(">i", buffer)[0]:
                del buffer[: 4 + struct.unpack_from(">i", buffer)[0]]
                answered += 1
        assert answered > 1000


def test_answers_of_clients_to_the_server_are_ignored(server: FakeBroker) -> None:
    with raw(server) as line:
        line.sendall(
            encode(Command(0, opaque=9, flag=RESPONSE)) + encode(Command(MAX, fields(topic="T", queueId=0), opaque=4))
        )
        assert _read(line).opaque == 4


# --- the fault script --------------------------------------------------------------------------------------


def test_a_silent_broker_lets_the_caller_time_out_and_the_line_lives_on(server: FakeBroker, case: ClientCase) -> None:
    with connected(server) as connection:
        case.broker.script.arm(Requests.OFFSETS, "silent")
        with pytest.raises(TimeoutError, match="request 14"):
            connection.call(QUERY, STORED, timeout=0.2)
        case.broker.script.calm()
        assert connection.call(QUERY, STORED).code == Response.SUCCESS


def test_a_cut_ends_this_connection_only(server: FakeBroker, case: ClientCase) -> None:
    with connected(server) as connection, connected(server) as other:
        case.broker.script.arm(Requests.OFFSETS, "cut")
        with pytest.raises(ConnectionError):
            connection.call(QUERY, STORED)
        assert connection.closed
        with pytest.raises(ConnectionError, match="closed"):
            connection.call(QUERY, STORED)
        case.broker.script.calm()
        assert other.call(QUERY, STORED).code == Response.SUCCESS


@pytest.mark.parametrize("name", ["QUERY_NOT_FOUND", "SYSTEM_BUSY"])
def test_any_code_can_be_armed(server: FakeBroker, case: ClientCase, name: str) -> None:
    case.broker.script.arm(Requests.OFFSETS, name)
    with connected(server) as connection:
        assert connection.call(QUERY, STORED).code == Response[name]


# --- faults by request code -----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [1, 2, 16, 22, 206, 1500])
def test_any_response_code_can_be_scripted(server: FakeBroker, code: int) -> None:
    server.faults.arm(QUERY, Fault("code", code))
    with connected(server) as connection:
        assert connection.call(QUERY, STORED).code == code
        assert connection.call(MAX, fields(topic="T", queueId=0)).code == Response.SUCCESS


def test_a_field_can_be_missing(server: FakeBroker) -> None:
    with connected(server) as connection:
        server.faults.arm(QUERY, "no-field")
        assert connection.call(QUERY, STORED).ext == {}
        server.faults.arm(QUERY, "no-field:other")
        assert connection.call(QUERY, STORED).ext == {"offset": "0"}
        server.faults.arm(QUERY, "no-field:offset")
        assert connection.call(QUERY, STORED).ext == {}


def test_a_slow_answer_comes_late_and_holds_up_nothing(server: FakeBroker) -> None:
    server.faults.arm(QUERY, "slow:1000")
    with connected(server) as connection:
        began = time.monotonic()
        slow = connection.post(QUERY, STORED)
        quick = connection.post(MAX, fields(topic="T", queueId=0))
        assert [connection.collect().opaque for _ in range(2)] == [quick, slow]
        assert time.monotonic() - began >= 1


def test_a_late_answer_is_not_taken_for_the_next_one(server: FakeBroker) -> None:
    server.faults.arm(QUERY, "slow:1000*1")
    server.faults.arm(MAX, "slow:1500*1")
    with connected(server) as connection:
        with pytest.raises(TimeoutError):
            connection.call(QUERY, STORED, timeout=0.1)
        assert connection.call(MAX, fields(topic="T", queueId=0)).ext == {"offset": "12"}


def test_a_slow_answer_to_a_client_that_left_does_no_harm(server: FakeBroker) -> None:
    server.faults.arm(QUERY, "slow:100")
    with connected(server) as connection:
        connection.post(QUERY, STORED)
    time.sleep(0.2)
    server.faults.disarm()
    assert_answers(server)


def test_scripted_silence_and_cut(server: FakeBroker) -> None:
    server.faults.arm(QUERY, "silent")
    server.faults.arm(UPDATE, "cut*1")
    with connected(server) as connection:
        with pytest.raises(TimeoutError):
            connection.call(QUERY, STORED, timeout=0.2)
        with pytest.raises(ConnectionError):
            connection.call(UPDATE, COMMIT)
    with connected(server) as connection:
        assert connection.call(UPDATE, COMMIT).code == Response.SUCCESS


def test_garbage_from_the_server_is_a_broken_connection(server: FakeBroker) -> None:
    server.faults.arm(QUERY, "garbage*1")
    with connected(server) as connection:
        with pytest.raises(ConnectionError, match="malformed frame"):
            connection.call(QUERY, STORED)
        assert connection.closed
    assert_answers(server)


def test_a_fault_is_played_as_often_as_it_says() -> None:
    faults = Faults()
    faults.arm(QUERY, "SYSTEM_BUSY*2")
    assert [str(faults.take(QUERY)) for _ in range(3)] == ["2*2", "2*1", "None"]
    faults.arm(QUERY, "silent")
    assert [str(faults.take(QUERY)) for _ in range(3)] == ["silent"] * 3
    assert faults.take(MAX) is None
    faults.disarm(QUERY)
    assert faults.take(QUERY) is None


@every(
    ("text", "fault"),
    [
        ("silent", Fault("silent")),
        ("cut*3", Fault("cut", times=3)),
        ("garbage", Fault("garbage")),
        ("slow:250", Fault("slow", 250)),
        ("no-field", Fault("no-field")),
        ("no-field:offset*1", Fault("no-field", name="offset", times=1)),
        ("SYSTEM_BUSY", Fault("code", 2)),
        ("215", Fault("code", 215)),
    ],
)
def test_faults_are_read_from_text(text: str, fault: Fault) -> None:
    assert parse(text) == fault
    assert parse(str(fault)) == fault
    assert parse_armed(f"QUERY_CONSUMER_OFFSET={text}") == parse_armed(f"14={text}") == (14, fault)


@every("text", ["", "slow", "slow:x", "silent:1", "NO_SUCH_CODE", "cut*0", "cut*", "1234567", "a b"])
def test_what_is_no_fault_is_refused_with_help(text: str) -> None:
    with pytest.raises(ValueError, match="slow:MS"):
        parse(text)
    with pytest.raises(ValueError, match="slow:MS"):
        parse_armed(f"14={text}")


@pytest.mark.parametrize("text", ["silent", "NO_SUCH_REQUEST=silent", "=silent", "12345678=silent"])
def test_what_names_no_request_is_refused_with_help(text: str) -> None:
    with pytest.raises(ValueError, match="REQUEST=FAULT"):
        parse_armed(text)


# --- malformed input ------------------------------------------------------------------------------------------


def _read(line: socket.socket) -> Command:
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack(">i", data[:4])[0]:
        chunk = line.recv(65536)
        if not chunk:
            raise ConnectionError("closed")
        data += chunk
    return decode(data[4:])


@pytest.mark.parametrize(
    "bytes_",
    [
        b"\xff\xff\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">i", 3),
        struct.pack(">i", MAX_FRAME + 1),
        struct.pack(">ii", 6, 2) + b"{}",
        struct.pack(">ii", 6, 50) + b"{}",
        struct.pack(">ii", 6, 7 << 24 | 2) + b"{}",
        struct.pack(">ii", 9, 5) + b"{cod:",
        struct.pack(">ii", 6, 1 << 24 | 2) + b"\0\1",
    ],
    ids=["minus one", "http", "too short", "too long", "no code", "header too long", "kind 7", "no json", "binary"],
)
def test_a_malformed_frame_closes_that_connection_only(server: FakeBroker, bytes_: bytes) -> None:
    with connected(server) as bystander, raw(server) as line:
        assert bystander.call(QUERY, STORED).code == Response.SUCCESS
        line.sendall(bytes_)
        line.settimeout(PATIENCE)
        assert line.recv(1) == b""
        assert bystander.call(QUERY, STORED).code == Response.SUCCESS
    assert_answers(server)


def test_good_requests_before_a_malformed_one_are_answered(server: FakeBroker) -> None:
    with raw(server) as line:
        line.settimeout(PATIENCE)
        line.sendall(encode(Command(MAX, fields(topic="T", queueId=0), opaque=8)) + b"\xff\xff\xff\xff")
        assert _read(line).opaque == 8
        assert line.recv(1) == b""


def test_a_frame_that_never_ends_keeps_no_other_waiting(server: FakeBroker) -> None:
    with raw(server) as line:
        line.sendall(struct.pack(">i", MAX_FRAME) + b"x" * 1000)
        assert_answers(server)


# --- life -----------------------------------------------------------------------------------------------------


def test_a_taken_port_is_one_clear_sentence(server: FakeBroker) -> None:
    taken = int(server.address.split(":")[1])
    with pytest.raises(CannotRunError, match=rf"cannot listen on 127\.0\.0\.1:{taken} .*another port"):
        FakeBroker(port=taken).start()


def test_the_door_can_be_closed_twice_and_opened_again_in_the_same_case(case: ClientCase) -> None:
    broker = case.broker
    broker.stop()
    first = broker.open()
    with pytest.raises(RuntimeError):
        broker.open()
    with connected(broker) as connection:
        connection.call(UPDATE, COMMIT)
        broker.stop()
        broker.stop()
        with pytest.raises(ConnectionError):
            connection.call(QUERY, STORED)
    with pytest.raises(ConnectionError, match="cannot connect"):
        Connection("127.0.0.1", int(first.split(":")[1]), 1.0)
    case.commit_elsewhere(1, 7)
    assert broker.open() == case.address == first
    with connected(broker) as connection:
        assert connection.call(QUERY, STORED | {"queueId": "1"}).ext == {"offset": "7"}
    assert_answers(broker)
    broker.stop()


def test_closing_the_door_ends_the_thread(case: ClientCase) -> None:
    before = threading.active_count()
    case.broker.open()
    assert threading.active_count() == before + 1
    case.broker.stop()
    assert threading.active_count() == before


def test_what_is_asked_of_a_closed_door_is_refused(case: ClientCase) -> None:
    with pytest.raises(RuntimeError, match="not running"):
        case.broker.settle()


# --- the connection -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def playing(*frames: bytes, close: bool = False) -> Iterator[int]:
    """A server that sends these bytes after the first request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        done = threading.Event()

        def play() -> None:
            line, _ = listening.accept()
            with line:
                line.recv(65536)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for frame in frames:
                    line.sendall(frame)
                if not close:
                    done.wait(PATIENCE)

        thread = threading.Thread(target=play)
        thread.start()
        yield listening.getsockname()[1]
        done.set()
        thread.join()


def test_requests_of_the_server_are_kept_and_confuse_nothing() -> None:
    notice = Command(Request.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": "G"}, opaque=1, flag=ONE_WAY)
    answer = encode(Command(0, opaque=1, flag=RESPONSE))
    with playing(encode(notice) + answer + encode(notice)) as port, Connection("127.0.0.1", port) as connection:
        assert connection.call(34).code == 0
        received = connection.requests(PATIENCE)
        received += connection.requests(PATIENCE) if len(received) < 2 else []
        assert received == [notice, notice]
        assert connection.requests() == []


def test_an_answer_without_a_request_is_dropped() -> None:
    frames = encode(Command(7, opaque=99, flag=RESPONSE)) + encode(Command(0, opaque=1, flag=RESPONSE))
    with playing(frames) as port, Connection("127.0.0.1", port) as connection:
        assert connection.call(34).code == 0


def test_an_answer_in_pieces_is_put_together() -> None:
    frame = encode(Command(0, body=b"x" * 300_000, opaque=1, flag=RESPONSE))
    with playing(frame[:2], frame[2:50], frame[50:]) as port, Connection("127.0.0.1", port) as connection:
        assert len(connection.call(34).body) == 300_000


def test_a_server_that_says_nothing_leaves_no_requests() -> None:
    with playing() as port, Connection("127.0.0.1", port) as connection:
        assert connection.requests(0.05) == []


def test_an_answer_may_drip_in() -> None:
    frame = encode(Command(0, body=b"x" * 10, opaque=1, flag=RESPONSE))
    with playing(*(frame[at : at + 1] for at in range(len(frame)))) as port, Connection("127.0.0.1", port) as line:
        assert line.call(34).body == b"x" * 10


def test_drops_of_an_answer_do_not_extend_the_time() -> None:
    frame = encode(Command(0, body=b"x" * 1000, opaque=1, flag=RESPONSE))
    with playing(frame[:-1]) as port, Connection("127.0.0.1", port) as connection:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            connection.call(34, timeout=0.2)
        assert time.monotonic() - began < PATIENCE / 2


def test_a_server_that_leaves_is_a_connection_error() -> None:
    with playing(close=True) as port, Connection("127.0.0.1", port) as connection:
        with pytest.raises(ConnectionError, match="closed the connection"):
            connection.call(34)
        with pytest.raises(ConnectionError):
            connection.send(34)


def test_a_port_without_a_server_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(ConnectionError, match=f"cannot connect to 127.0.0.1:{port}"):
        Connection("127.0.0.1", port)


def test_a_server_that_does_not_read_is_a_timeout_and_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection = Connection("127.0.0.1", listening.getsockname()[1], 0.2)
        with pytest.raises(TimeoutError):
            connection.send(10, body=bytes(MAX_FRAME - 1000))
        assert connection.closed


def test_sending_to_a_server_that_left_is_a_connection_error() -> None:
    with playing(close=True) as port, Connection("127.0.0.1", port) as connection:
        connection.send(34)

        def send_on() -> None:
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                connection.send(34, body=bytes(10_000))
                time.sleep(0.01)

        with pytest.raises(ConnectionError, match="closed the connection"):
            send_on()
        assert connection.closed
        with pytest.raises(ConnectionError, match="is closed"):
            connection.requests()


def test_a_reset_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, Connection(*listening.getsockname()) as connection:
        line, _ = listening.accept()
        connection.post(34)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()
        with pytest.raises(ConnectionError, match=r"broke|closed"):
            connection.collect()


def test_connecting_in_vain_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", never)
    with pytest.raises(TimeoutError):
        Connection("127.0.0.1", 1, 0.1)
