"""The world of a client case: the scripted broker's state, the faults that are armed, and what reached it.

The model's broker half answers; nothing here knows a rule. One world serves the in-process exchange and the
socket server alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache

from rocketmq_conformance.conformance.fakes.scripted_send_back import RETURNS, taken_back
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.lock import NO_LOCKS, Locks
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.search import LOWER, max_offset, min_offset, search
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.switches import BrokerRules
from rocketmq_conformance.models.client.fixtures import (
    BROKER,
    CLIENTS,
    GROUP,
    LOST,
    NEGATIVE,
    QUEUES,
    assignment_played,
)
from rocketmq_conformance.models.client.initial_broker import reshaped, world
from rocketmq_conformance.models.client.rebalance import ROUTES, listed_ids, readable
from rocketmq_conformance.models.client.rebalance_broker import MORE_ROUTES
from rocketmq_conformance.models.client.rebalance_broker_round import (
    ASSIGNMENTS,
    NOTHING,
    Assigned,
    assigned,
    assignment_body,
)
from rocketmq_conformance.models.client.rebalance_orderly import STRANGER
from rocketmq_conformance.models.client.rebalance_round import NO_ROUTE, answered
from rocketmq_conformance.models.client.sent_back import Gone
from rocketmq_conformance.models.message_queue import MessageQueue, Queue
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.models.profile import Profile

Answered = tuple[int, str, dict[str, str], bytes]

#: The faults that an operation can arm, by the names of its fields and of the world's attributes.
FAULTS = ("fault", "bound_fault", "list_fault", "back_fault", "lock_fault", "assign_fault", "beat_fault")

_INDEX = {(queue.topic, queue.id): at for at, queue in enumerate(QUEUES) if at != LOST}
_QUERY = int(Request.QUERY_CONSUMER_OFFSET)
_UPDATE = int(Request.UPDATE_CONSUMER_OFFSET)
_MAX = int(Request.GET_MAX_OFFSET)
_MIN = int(Request.GET_MIN_OFFSET)
_SEARCH = int(Request.SEARCH_OFFSET_BY_TIMESTAMP)
_ROUTE = int(Request.GET_ROUTEINFO_BY_TOPIC)
_LIST = int(Request.GET_CONSUMER_LIST_BY_GROUP)
_LOCK = int(Request.LOCK_BATCH_MQ)
_UNLOCK = int(Request.UNLOCK_BATCH_MQ)
_ASSIGNMENT = int(Request.QUERY_ASSIGNMENT)
#: Requests of members that are accepted and change nothing: the list is the world's to change.
_HEARTBEAT, _GOODBYE = int(Request.HEART_BEAT), int(Request.UNREGISTER_CLIENT)
#: Heartbeats may be brief from now on, and nothing else is known of the group's subscriptions.
_HEARD = {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "false"}
_CODES = {response.name: int(response) for response in Response}
_BEGINNING = world()


class World:
    """The scripted broker and name server of client cases."""

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)
        self.state: BrokerState = _BEGINNING
        #: How queries and commits are played until further notice (see ``layout.FAULTS``).
        self.fault = "answer"
        #: The same for max, min and search (see ``layout.BOUND_FAULTS``).
        self.bound_fault = "answer"
        #: The same for the member list (see ``layout.LIST_FAULTS``).
        self.list_fault = "answer"
        #: The same for messages that come back (see ``models.client.sent_back.BACK_FAULTS``).
        self.back_fault = "answer"
        #: The same for locks and unlocks (see ``layout.LOCK_FAULTS``).
        self.lock_fault = "answer"
        #: The same for assignments (see ``layout.ASSIGN_FAULTS``).
        self.assign_fault = "answer"
        #: The same for heartbeats (see ``layout.BEAT_FAULTS``).
        self.beat_fault = "answer"
        #: What the broker assigns of each topic, to whoever asks, as the body of an answer.
        self._assigned: Mapping[str, bytes] = _FIRST_ASSIGNED
        #: The locks of the broker, and its clock: ms since the case began.
        self.locks: Locks = NO_LOCKS
        self.now = 0
        #: Readable queues of each topic's route; no entry or -1: there is no route.
        self.routes: Mapping[str, int] = ROUTES
        #: The client ids that the broker lists.
        self.listed: tuple[str, ...] = CLIENTS
        self._commits: list[tuple[int, int]] = []
        #: Requests for assignments since the last call, by topic.
        self._asked: dict[str, int] = {}
        #: Who answers requests, by code.
        self._serves: dict[int, Callable[[int, dict[str, str], bytes], Answered]] = {
            _QUERY: self._query,
            _UPDATE: self._update,
            _MAX: self._bound,
            _MIN: self._bound,
            _SEARCH: self._bound,
            _LIST: self._members,
            _LOCK: self._lock,
            _UNLOCK: self._lock,
            _ASSIGNMENT: self._assignment,
            _ROUTE: self._route,
            **dict.fromkeys(RETURNS, self._take_back),
            _HEARTBEAT: self._heartbeat,
            _GOODBYE: _greeted,
        }
        #: Messages that were taken back since the last call.
        self._taken_back: list[Gone] = []
        #: Where the name server says the broker is.
        self.address = "127.0.0.1:10911"

    def begin(self) -> None:
        """Begin a case."""
        self.state = _BEGINNING
        for fault in FAULTS:
            setattr(self, fault, "answer")
        self.locks = NO_LOCKS
        self.now = 0
        self.routes = ROUTES
        self.listed = CLIENTS
        self._commits = []
        self._asked = {}
        self._assigned = _FIRST_ASSIGNED
        self._taken_back = []

    def take_commits(self) -> tuple[Value, ...]:
        """The commits that were stored since the last call, as sorted (queue, offset) pairs, and behind them how
        often assignments were asked for, as sorted (topic, times) pairs; or the messages that were taken back, as
        ``models.client.sent_back`` tells them. No operation leads to both."""
        if self._taken_back:
            back, self._taken_back = self._taken_back, []
            return tuple(sorted(back))
        if self._asked:
            asked, self._asked = self._asked, {}
            taken, self._commits = self._commits, []
            return (*sorted(taken), *sorted(asked.items()))
        if not self._commits:
            return ()
        taken, self._commits = self._commits, []
        return tuple(sorted(taken))

    # --- requests -----------------------------------------------------------------------------------------

    def exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Answer one request as the model's broker, or as the armed fault says."""
        return self._serves.get(code, _not_served)(code, ext, body)

    def _query(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        if self.fault != "answer":
            return _faulty(self.fault)
        wanted = ext.get("setZeroIfNotFound")
        set_zero = None if wanted is None else wanted == "true"
        topic, queue, group = ext["topic"], int(ext["queueId"]), ext["consumerGroup"]
        return _answered(query_offset(self.rules, self.state, group, topic, queue, set_zero)[1])

    def _update(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        if self.fault != "answer":
            return _faulty(self.fault)
        topic, queue, offset = ext["topic"], int(ext["queueId"]), int(ext["commitOffset"])
        self.state, result, _ = commit_offset(self.rules, self.state, ext["consumerGroup"], topic, queue, offset)
        if isinstance(result, Err):
            return _answered(result)
        self._commits.append((_INDEX[topic, queue], offset))
        return 0, "", {}, b""

    def _bound(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """Max, min, or what a search finds."""
        if self.bound_fault != "answer":
            return _faulty(self.bound_fault)
        topic, queue = ext["topic"], int(ext["queueId"])
        if code == _MAX:
            return _answered(max_offset(self.state, topic, queue)[1])
        if code == _MIN:
            return _answered(min_offset(self.state, topic, queue)[1])
        boundary = ext.get("boundaryType", LOWER).lower()
        return _answered(search(self.rules, self.state, topic, queue, int(ext["timestamp"]), boundary)[1])

    def _take_back(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        gone, response = taken_back(code, ext, self.back_fault)
        if gone is not None:
            self._taken_back.append(gone)
        return response

    def _route(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic = ext["topic"]
        queues = self.routes.get(topic)
        if queues is None:
            queues = MORE_ROUTES.get(topic, NO_ROUTE)
        if queues == NO_ROUTE:
            return _CODES["TOPIC_NOT_EXIST"], f"No topic route info in name server for the topic: {topic}", {}, b""
        return 0, "", {}, _route_text(self.address, queues)

    def _heartbeat(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return (0, "", _HEARD, b"") if self.beat_fault == "answer" else _faulty(self.beat_fault)

    def _members(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """The member list, or what its fault says; brokers refuse to list nobody."""
        if self.list_fault == "answer" and self.listed:
            return 0, "", {}, _list_text(self.listed)
        if self.list_fault == "no-body":
            return 0, "", {}, b""
        listed = answered(self.listed, self.list_fault)
        if listed is None:
            return _faulty("SYSTEM_ERROR" if self.list_fault == "answer" else self.list_fault)
        return 0, "", {}, _list_text(listed)

    def _lock(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """The queues that a client holds from now on, or nothing when it gives them back."""
        if self.lock_fault != "answer":
            return _faulty(self.lock_fault)
        group, client, queues = _asked(body)
        if code == _LOCK:
            self.locks, granted, _ = lock.lock_batch(self.locks, group, client, queues, self.now)
            return _answered(granted) if isinstance(granted, Err) else (0, "", {}, _granted_text(granted))
        self.locks, failed, _ = lock.unlock_batch(self.locks, group, client, queues)
        return _answered(failed) if isinstance(failed, Err) else (0, "", {}, b"")

    def _assignment(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """What the broker assigns of a topic."""
        topic = _topic_of(body)
        nth = self._asked[topic] = self._asked.get(topic, 0) + 1
        fault = self.assign_fault
        if fault != "answer":
            fault = assignment_played(fault, nth)
        if fault == "answer":
            text = self._assigned.get(topic)
            return 0, "", {}, _assignment_text(topic, NOTHING) if text is None else text
        if fault in ("no-body", "null"):
            return 0, "", {}, b"" if fault == "no-body" else b"{}"
        return _faulty(fault)

    def pass_time(self, millis: int) -> None:
        """Time passes for the broker."""
        self.now += millis

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

    def list_members(self, members: tuple[int, ...]) -> Result:
        """List the client ids of these members from now on."""
        self.listed = listed_ids(members)
        return None

    def assign(self, topic: str, pull: tuple[int, ...], pop: tuple[int, ...], oddity: str) -> Result:
        """Assign these queues of a topic from now on."""
        self._assigned = {**self._assigned, topic: _assignment_text(topic, assigned(topic, pull, pop, oddity))}
        return None

    def route(self, topic: str, queues: int) -> Result:
        """Give a topic's route so many readable queues, or as many as there are; -1 takes the route away."""
        self.routes = {**self.routes, topic: readable(topic, queues)}
        return None

    def forget_locks(self) -> Result:
        """Forget all locks, as a broker does that restarts."""
        self.locks = NO_LOCKS
        return None

    def lock_elsewhere(self, queue: int, restarted: bool) -> Result:
        """A client of the group that is no member asks for a lock, of a broker that may have just restarted."""
        if restarted:
            self.forget_locks()
        self.locks = lock.lock(self.locks, GROUP, STRANGER, QUEUES[queue], self.now)[0]
        return None


@lru_cache(maxsize=1024)
def _asked(body: bytes) -> tuple[str, str | None, tuple[Queue, ...]]:
    """Group, client and queues of a request to lock or unlock."""
    asked = json.loads(body)
    queues = [MessageQueue(queue["topic"], queue["brokerName"], queue["queueId"]) for queue in asked["mqSet"]]
    return asked["consumerGroup"], asked.get("clientId"), tuple(queues)


@lru_cache(maxsize=1024)
def _granted_text(granted: tuple[Queue, ...]) -> bytes:
    """The body that answers a request to lock."""
    queues = [{"brokerName": broker, "queueId": number, "topic": topic} for topic, broker, number in granted]
    return json.dumps({"lockOKMQSet": queues}).encode()


@lru_cache(maxsize=1024)
def _topic_of(body: bytes) -> str:
    """The topic of a request for an assignment."""
    return str(json.loads(body)["topic"])


@lru_cache(maxsize=1024)
def _assignment_text(topic: str, given: Assigned) -> bytes:
    """The body of an assignment."""
    return json.dumps(assignment_body(given, topic)).encode()


_FIRST_ASSIGNED: Mapping[str, bytes] = {topic: _assignment_text(topic, given) for topic, given in ASSIGNMENTS.items()}


@lru_cache(maxsize=256)
def _route_text(address: str, queues: int) -> bytes:
    """The body of a route."""
    route = {
        "brokerDatas": [{"brokerAddrs": {"0": address}, "brokerName": BROKER, "cluster": "conformance"}],
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
    return json.dumps(route).encode()


@lru_cache(maxsize=256)
def _list_text(listed: tuple[str, ...]) -> bytes:
    """The body of a member list."""
    return json.dumps({"consumerIdList": listed}).encode()


def _greeted(code: int, ext: dict[str, str], body: bytes) -> Answered:
    """The response to a request that changes nothing here."""
    return 0, "", {}, b""


def _not_served(code: int, ext: dict[str, str], body: bytes) -> Answered:
    """The response to a request that this broker does not know."""
    return _CODES["REQUEST_CODE_NOT_SUPPORTED"], f"request type {code} not supported", {}, b""


def _answered(result: object) -> Answered:
    """The response that carries an offset or a refusal."""
    if type(result) is Err:
        return _CODES[result.code], "", {}, b""
    return 0, "", {"offset": str(result)}, b""


def _faulty(fault: str) -> Answered:
    """The response of a fault; TimeoutError or ConnectionError when it is none."""
    if fault == "silent":
        raise TimeoutError("the scripted broker stays silent")
    if fault == "cut":
        raise ConnectionError("the scripted broker cut the connection")
    if fault == "no-field":
        return 0, "", {}, b""
    if fault == "negative":
        return 0, "", {"offset": str(NEGATIVE)}, b""
    return _CODES[fault], "scripted", {}, b""
