"""The transcript: the messages between an implementation and its brokers, for the report of a divergence.

Nothing is recorded in ordinary play. Once a minimal plan is known, it is played a last time while the stage
is ``listening``, and every step of the event gets the requests and responses that belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.adapter import Answered, RecordMessage
from rocketmq_conformance.conformance.engine.documents import json_of
from rocketmq_conformance.conformance.fakes.client_case import Door
from rocketmq_conformance.conformance.remoting.codes import Request, request_name, response_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.values import environment

#: The participants that send and receive messages.
MEMBER, OTHER, BROKER, NAME_SERVER = "member", "another member", "broker", "name server"
#: [from, to, text], as events have it.
Message = list[str]
#: Most messages of a step that are kept; the others are counted.
MOST = 60

SILENCE, CUT, LATER = "(silence)", "(cut)", "(answered later)"
ONE_WAY = " (one way)"
#: Header fields that come first, in this order, with their shorter names; the others follow by name.
_FIELDS = {"topic": "topic", "queueId": "queue", "consumerGroup": "group", "groupName": "group"}
#: Header fields that are left out: no rule reads them, or they differ from run to run.
_OMITTED = frozenset(
    {
        *("committed", "defaultTopic", "expressionType", "order", "perm", "subVersion", "subscription"),
        *("suspendTimeoutMillis", "sysFlag", "topicFilterType", "topicSysFlag", "writeQueueNums"),
        *("MSG_REGION", "TRACE_ON", "batchUniqId", "msgId", "transactionId"),
    }
)
#: SEND_MESSAGE_V2 has letters for fields.
_LETTERS = {"b": "topic", "e": "queueId"}


class MessageRecorder:
    """Records messages, step by step."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._more = 0

    def record(self, sender: str, receiver: str, text: str) -> None:
        """Record a message."""
        if len(self._messages) < MOST:
            self._messages.append([sender, receiver, text])
        else:
            self._more += 1

    def take(self) -> list[Message]:
        """The messages since the last call; when there were too many, the last one says how many are left out."""
        taken, self._messages = self._messages, []
        if self._more:
            taken.append([taken[-1][0], taken[-1][1], f"(and {self._more:,} more messages)"])
            self._more = 0
        return taken


class RecordingBroker:
    """A layer over the fake broker that records its requests and responses, at both doors."""

    def __init__(self, door: Door, record: RecordMessage) -> None:
        self._broker = door
        self._record = record

    def exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Answer one request in process."""
        self._record(MEMBER, _receiver(code), request_text(code, ext) + (ONE_WAY if one_way else ""))
        try:
            response = self._broker.exchange(address, code, ext, body, one_way)
        except (TimeoutError, ConnectionError) as error:
            if not one_way:
                self._record(_receiver(code), MEMBER, SILENCE if isinstance(error, TimeoutError) else CUT)
            raise
        if not one_way:
            self._record(_receiver(code), MEMBER, response_text(response[0], response[2], response[3]))
        return response

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer one request over TCP."""
        code, one_way = request.code, request.is_one_way
        self._record(MEMBER, _receiver(code), request_text(code, request.ext) + (ONE_WAY if one_way else ""))
        try:
            response = self._broker.handle(peer, request)
        except (TimeoutError, ConnectionError) as error:
            if not one_way:
                self._record(_receiver(code), MEMBER, SILENCE if isinstance(error, TimeoutError) else CUT)
            raise
        if not one_way:
            text = LATER if response is None else response_text(response.code, response.ext, response.body)
            self._record(_receiver(code), MEMBER, text)
        return response

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self._broker.closed(peer)


def _receiver(code: int) -> str:
    """The participant that answers a request."""
    return NAME_SERVER if code == Request.GET_ROUTEINFO_BY_TOPIC else BROKER


def record_environment(topology: Topology, operation: Operation, record: RecordMessage) -> None:
    """Record what an operation of the world does."""
    if isinstance(operation, environment.CommitElsewhere):
        queue, offset = operation.args
        topic, _, number = topology.queues[queue]
        ext = {"consumerGroup": topology.group, "topic": topic, "queueId": str(number), "commitOffset": str(offset)}
        record(OTHER, BROKER, request_text(Request.UPDATE_CONSUMER_OFFSET, ext))
    else:
        record(BROKER, BROKER, str(operation))


def request_text(code: int, ext: Mapping[str, str]) -> str:
    """A request in a line: ``QUERY_CONSUMER_OFFSET topic=T queue=0 group=G``."""
    if code == Request.SEND_MESSAGE_V2:
        ext = {_LETTERS[name]: value for name, value in ext.items() if name in _LETTERS}
    return " ".join([request_name(code), *_pairs(ext)])


def response_text(code: int, ext: Mapping[str, str], body: bytes = b"") -> str:
    """A response in a line: ``offset=5``, ``route to broker-a``, or the code's name when that is all."""
    parts = _pairs(ext) if code == 0 else [response_name(code)]
    if code == 0 and body:
        parts.append(_body_text(body))
    return " ".join(parts) or response_name(code)


def _body_text(body: bytes) -> str:
    try:
        return "route to " + ", ".join(broker["brokerName"] for broker in json_of(body.decode())["brokerDatas"])
    except (ValueError, KeyError, TypeError):
        return f"({len(body):,} bytes)"


def _pairs(ext: Mapping[str, str]) -> list[str]:
    known = [name for name in _FIELDS if name in ext]
    return [f"{_FIELDS.get(name, name)}={ext[name]}" for name in [*known, *sorted(set(ext) - set(known) - _OMITTED)]]
