"""A proxy between clients and a broker: what it forwards, what it leaves as it is, and how connections end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from waiting import wait_until

from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import ONE_WAY, RESPONSE, VERSION, Command, encode
from rocketmq_conformance.conformance.remoting.proxy import Proxy
from rocketmq_conformance.conformance.remoting.server import Listener, Peer

HOST = "127.0.0.1"
#: Seconds after which a test that hangs ends.
LIMIT = 30.0
QUERY, COMMIT, PULL = (
    int(Request.QUERY_CONSUMER_OFFSET),
    int(Request.UPDATE_CONSUMER_OFFSET),
    int(Request.PULL_MESSAGE),
)
ROUTE = int(Request.GET_ROUTEINFO_BY_TOPIC)


class Server:
    """A broker, or a name server, that names itself, keeps what it is sent, and never answers a pull."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.seen: list[Command] = []
        self.frames: list[Command] = []
        self.peers: list[Peer] = []
        self.left = 0
        self.listener = Listener(self, HOST, 0, echo=True, version=400)
        self.listener.observer = self
        self.listener.start()

    @property
    def place(self) -> tuple[str, int]:
        host, _, port = self.listener.address.rpartition(":")
        return host, int(port)

    def handle(self, peer: Peer, request: Command) -> Command | None:
        self.seen.append(request)
        if peer not in self.peers:
            self.peers.append(peer)
        return None if request.code == PULL else Command(0, {"from": self._name}, b"body")

    def received(self, peer: Peer, command: Command) -> None:
        self.frames.append(command)

    def sent(self, peer: Peer, raw: bytes) -> None:
        pass

    def closed(self, peer: Peer) -> None:
        self.left += 1


class Watch:
    """Answers commits itself, changes what it is shown otherwise, and keeps the codes of it."""

    def __init__(self) -> None:
        self.requests: list[int] = []
        self.responses: list[tuple[int, int]] = []
        self.gone = 0

    def request(self, peer: Peer, request: Command) -> Command | None:
        self.requests.append(request.code)
        if request.code == COMMIT:
            return Command(1, {}, remark="scripted")
        request.ext["seen"] = "yes"
        return None

    def response(self, peer: Peer, request: Command, response: Command) -> None:
        self.responses.append((request.code, response.code))
        response.ext["watched"] = "yes"

    def closed(self, peer: Peer) -> None:
        self.gone += 1


class Line:
    """A broker, a name server, a proxy before them, and what the watcher of the proxy saw."""

    def __init__(self) -> None:
        self.broker, self.names, self.watch = Server("broker"), Server("names"), Watch()
        self.behind = self.broker.place, self.names.place
        self.proxy = Proxy(self.watch, lambda: self.behind)
        host, _, port = self.proxy.start().rpartition(":")
        self.place = host, int(port)

    def connect(self) -> Connection:
        return Connection(*self.place, LIMIT)


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.proxy.stop()
    made.broker.listener.stop()
    made.names.listener.stop()


def test_requests_go_to_the_broker_or_the_name_server_and_come_back_as_the_watcher_leaves_them(line: Line) -> None:
    with line.connect() as client:
        answer = client.call(QUERY, {"topic": "T"})
        assert (answer.ext, answer.body, answer.version) == ({"from": "broker", "watched": "yes"}, b"body", 400)
        assert client.call(ROUTE, {"topic": "T"}).ext["from"] == "names"
    assert [(one.code, one.ext) for one in line.broker.seen] == [(QUERY, {"topic": "T", "seen": "yes"})]
    assert [one.code for one in line.names.seen] == [ROUTE]
    assert (line.broker.seen[0].language, line.broker.seen[0].version) == ("PYTHON", VERSION)
    assert line.watch.responses == [(QUERY, 0), (ROUTE, 0)]


def test_what_the_watcher_answers_does_not_reach_the_broker(line: Line) -> None:
    with line.connect() as client:
        assert client.call(COMMIT).remark == "scripted"
        client.send(COMMIT)
        client.call(QUERY)
    assert [one.code for one in line.broker.seen] == [QUERY]
    assert line.watch.requests == [COMMIT, COMMIT, QUERY]


def test_requests_that_wait_at_the_broker_are_answered_once(line: Line) -> None:
    with line.connect() as client, line.connect() as other:
        other.call(QUERY)
        client.post(PULL)
        wait_until(lambda: line.broker.seen and line.broker.seen[-1].code == PULL)
        line.proxy.answer_open(PULL, lambda _: Command(1, {}, remark="scripted"))
        assert client.collect().code == 1
        pull = line.broker.seen[-1]
        line.broker.listener.run(lambda: line.broker.peers[-1].answer(pull, Command(0)))
        client.call(QUERY)
        # the broker's own answer to the pull would have come before
        assert client.outstanding == 0
    assert line.watch.responses.count((PULL, 1)) == 1
    assert (PULL, 0) not in line.watch.responses


def test_those_that_have_no_answer_wait_on(line: Line) -> None:
    with line.connect() as client:
        for topic in ("T", "U"):
            client.post(PULL, {"topic": topic})
        wait_until(lambda: [one.code for one in line.broker.seen] == [PULL, PULL])
        line.proxy.answer_open(PULL, lambda pull: Command(1) if pull.ext["topic"] == "U" else None)
        assert client.collect().code == 1
        assert client.outstanding == 1
        first = line.broker.seen[0]
        line.broker.listener.run(lambda: line.broker.peers[-1].answer(first, Command(0)))
        assert client.collect().code == 0


def test_requests_that_wait_at_the_broker_can_be_forgotten(line: Line) -> None:
    with line.connect() as client:
        client.post(PULL)
        wait_until(lambda: line.broker.seen and line.broker.seen[-1].code == PULL)
        line.proxy.forget_open(PULL)
        pull = line.broker.seen[-1]
        line.broker.listener.run(lambda: line.broker.peers[-1].answer(pull, Command(0)))
        client.call(QUERY)
        # the broker's answer to the pull would have come before
        assert client.outstanding == 1
    assert [code for code, _ in line.watch.responses] == [QUERY]


def test_requests_of_the_broker_reach_the_client_of_their_connection_and_its_responses_come_back(line: Line) -> None:
    with line.connect() as client, line.connect() as other:
        client.call(QUERY)
        other.call(QUERY)
        asked = Command(307, {"consumerGroup": "G"}, opaque=77)
        line.broker.listener.run(lambda: line.broker.peers[0].write(encode(asked)))
        (request,) = client.requests(LIMIT)
        assert (request.code, request.opaque, request.flag & (RESPONSE | ONE_WAY)) == (307, 77, 0)
        client._socket.sendall(encode(Command(0, {"state": "well"}, opaque=77, flag=RESPONSE)))
        wait_until(lambda: [one for one in line.broker.frames if one.flag & RESPONSE])
        assert [one.ext for one in line.broker.frames if one.flag & RESPONSE] == [{"state": "well"}]
        assert other.requests() == []


def test_a_client_that_goes_is_gone_for_the_broker_too(line: Line) -> None:
    with line.connect() as client:
        client.call(QUERY)
        client.call(ROUTE)
    wait_until(lambda: line.broker.left and line.names.left)
    assert line.watch.gone == 1


def test_a_broker_that_closes_a_connection_closes_that_of_the_client(line: Line) -> None:
    with line.connect() as client:
        client.call(QUERY)
        line.broker.listener.run(line.broker.peers[0].cut)
        with pytest.raises(ConnectionError):
            client.call(QUERY)


def test_a_broker_that_sends_no_frames_closes_that_of_the_client(line: Line) -> None:
    with line.connect() as client:
        client.call(QUERY)
        line.broker.listener.run(lambda: line.broker.peers[0].write(b"\xff\xff\xff\xffno frame"))
        with pytest.raises(ConnectionError):
            client.call(PULL)


def test_a_broker_that_is_not_there_closes_that_of_the_client(line: Line) -> None:
    line.broker.listener.stop()
    with line.connect() as client, pytest.raises(ConnectionError):
        client.call(QUERY)


def test_it_settles_once_one_way_requests_are_forwarded(line: Line) -> None:
    with line.connect() as client:
        client.call(QUERY)
        client.send(QUERY)
        line.proxy.settle()
        assert line.watch.requests == [QUERY, QUERY]
