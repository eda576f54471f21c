"""The world of a client case: the scripted broker's state, the faults that are armed, and what reached it.

The model's broker half answers; nothing here knows a rule. One world serves the in-process exchange and the
socket server alike.
"""

from __future__ import annotations

import json

from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.search import LOWER, max_offset, min_offset, search
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.switches import BrokerRules
from rocketmq_conformance.models.client.layout import BROKER, GROUP, LOST, NEGATIVE, QUEUES
from rocketmq_conformance.models.client.world import reshaped, world
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile

Answered = tuple[int, str, dict[str, str], bytes]

_INDEX = {(queue.topic, queue.id): at for at, queue in enumerate(QUEUES) if at != LOST}
_QUERY = int(Request.QUERY_CONSUMER_OFFSET)
_UPDATE = int(Request.UPDATE_CONSUMER_OFFSET)
_MAX = int(Request.GET_MAX_OFFSET)
_MIN = int(Request.GET_MIN_OFFSET)
_SEARCH = int(Request.SEARCH_OFFSET_BY_TIMESTAMP)
_ROUTE = int(Request.GET_ROUTEINFO_BY_TOPIC)
_BOUNDS = frozenset({_MAX, _MIN, _SEARCH})


class World:
    """The scripted broker and name server of client cases."""

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)
        self.state: BrokerState = world()
        #: How queries and commits are played until further notice (see ``layout.FAULTS``).
        self.fault = "answer"
        #: The same for max, min and search (see ``layout.BOUND_FAULTS``).
        self.bound_fault = "answer"
        self._commits: list[tuple[int, int]] = []
        #: Where the name server says the broker is.
        self.address = "127.0.0.1:10911"

    def begin(self) -> None:
        """Begin a case."""
        self.state = world()
        self.fault = self.bound_fault = "answer"
        self._commits = []

    def take_commits(self) -> tuple[tuple[int, int], ...]:
        """The commits that were stored since the last call, as sorted (queue, offset) pairs."""
        taken, self._commits = self._commits, []
        return tuple(sorted(taken))

    # --- requests -----------------------------------------------------------------------------------------

    def exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Answer one request as the model's broker, or as the armed fault says."""
        if code == _ROUTE:
            return self._route(ext["topic"])
        if code != _QUERY and code != _UPDATE and code not in _BOUNDS:
            return int(Response.REQUEST_CODE_NOT_SUPPORTED), f"request type {code} not supported", {}, b""
        fault = self.bound_fault if code in _BOUNDS else self.fault
        if fault == "answer":
            return self._answer(code, ext)
        if fault == "silent":
            raise TimeoutError("the scripted broker stays silent")
        if fault == "cut":
            raise ConnectionError("the scripted broker cut the connection")
        if fault == "no-field":
            return 0, "", {}, b""
        if fault == "negative":
            return 0, "", {"offset": str(NEGATIVE)}, b""
        return int(Response[fault]), "scripted", {}, b""

    def _answer(self, code: int, ext: dict[str, str]) -> Answered:
        topic, queue = ext["topic"], int(ext["queueId"])
        result: object
        if code == _QUERY:
            wanted = ext.get("setZeroIfNotFound")
            set_zero = None if wanted is None else wanted == "true"
            group = ext["consumerGroup"]
            _, result, _ = query_offset(self.rules, self.state, group, topic, queue, set_zero)
        elif code == _UPDATE:
            offset = int(ext["commitOffset"])
            self.state, result, _ = commit_offset(self.rules, self.state, ext["consumerGroup"], topic, queue, offset)
            if result is None:
                self._commits.append((_INDEX[topic, queue], offset))
                return 0, "", {}, b""
        elif code == _MAX:
            _, result, _ = max_offset(self.state, topic, queue)
        elif code == _MIN:
            _, result, _ = min_offset(self.state, topic, queue)
        else:
            boundary = ext.get("boundaryType", LOWER).lower()
            _, result, _ = search(self.rules, self.state, topic, queue, int(ext["timestamp"]), boundary)
        if isinstance(result, Err):
            return int(Response[result.code]), "", {}, b""
        return 0, "", {"offset": str(result)}, b""

    def _route(self, topic: str) -> Answered:
        if topic not in self.state.topics:
            return int(Response.TOPIC_NOT_EXIST), f"No topic route info in name server for the topic: {topic}", {}, b""
        queues = self.state.topics[topic]
        route = {
            "brokerDatas": [{"brokerAddrs": {"0": self.address}, "brokerName": BROKER, "cluster": "conformance"}],
            "filterServerTable": {},
            "queueDatas": [
                {
                    "brokerName": BROKER,
                    "perm": 6,
                    "readQueueNums": queues,
                    "topicSysFlag": 0,
                    "topicSynFlag": 0,
                    "writeQueueNums": queues,
                }
            ],
        }
        return 0, "", {}, json.dumps(route).encode()

    # --- operations of the world -------------------------------------------------------------------------

    def commit_elsewhere(self, queue: int, offset: int) -> Result:
        """Another member of the group commits."""
        topic, _, number = QUEUES[queue]
        self.state = commit_offset(self.rules, self.state, GROUP, topic, number, offset)[0]
        return None

    def shape(self, queue: int, shape: str) -> Result:
        """Put a queue into one of ``models.client.world.SHAPES``."""
        self.state = reshaped(self.state, queue, shape)
        return None
