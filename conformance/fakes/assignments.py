"""Assignments: which queues a member of a group gets, and in which mode (BQ-ASSIGN-*)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import PlainHandler, document, refused
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.broker import assignment
from rocketmq_conformance.models.broker.assignment import NO_MODES, AssignmentRequest, mode_of
from rocketmq_conformance.models.broker.state import READ
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Result

#: The readable queues of a topic by the name server's route, of all brokers; None for no route.
Routes = Callable[[str], tuple[Queue, ...] | None]
_NOTHING = document({"messageQueueAssignments": []})


class Assignments:
    """Answers members of the groups in ``consumers``. Without ``routes`` the topics of the broker itself are all."""

    def __init__(self, storage: Storage, consumers: Consumers, name: str, routes: Routes | None) -> None:
        self._storage = storage
        self._consumers = consumers
        self._name = name
        self._routes = routes or self._own
        self.modes = NO_MODES
        #: Bodies by topic, where assignments are set instead of being computed.
        self.given: Mapping[str, bytes] | None = None
        #: Counts the requests for assignments that are set.
        self.record: Record | None = None

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        if not self._storage.rules.assigns:
            return {}
        return {Request.QUERY_ASSIGNMENT: self.query, Request.SET_MESSAGE_REQUEST_MODE: self._set}

    def assign(self, asked: AssignmentRequest, members: tuple[str, ...] | None) -> Result:
        """Sorted (broker, queue id, mode) triples, None for no list, or the error."""
        rules = self._storage.rules
        queues = assignment.known_queues(rules, self._routes(asked.topic), asked.topic in self._storage.state.topics)
        mode = mode_of(self.modes, asked.topic, asked.group, assignment.default_mode(rules))
        result, _ = assignment.assign(rules, asked, mode, queues, members, self._name)
        return cast(Result, result)

    def set_mode(self, topic: str, group: str, mode: str | None, share: int | None) -> Err | None:
        """BQ-ASSIGN-6."""
        lacking = ""
        if not assignment.has_topic(self._storage.rules, self._storage.state.topics, topic):
            lacking = "topic"
        elif self._storage.rules.mode_checked and not (group and self._storage.know_group(group)):
            lacking = "group"
        self.modes, failed, _ = assignment.set_mode(self._storage.rules, self.modes, topic, group, mode, share, lacking)
        return cast(Err | None, failed)

    def _own(self, topic: str) -> tuple[Queue, ...] | None:
        settings = self._storage.state.topics.get(topic)
        if settings is None:
            return None
        readable = settings.read_queues if settings.perm & READ else 0
        return tuple((topic, self._name, number) for number in range(readable))

    def query(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """QUERY_ASSIGNMENT."""
        if self.given is not None:
            topic = topic_of(body)
            if self.record is not None:
                self.record.ask_assignment(topic)
            return 0, "", {}, self.given.get(topic, _NOTHING)
        data = _fields(body)
        asked = AssignmentRequest(
            str(data["topic"]),
            str(data["consumerGroup"]),
            data.get("clientId"),
            data.get("messageModel"),
            data.get("strategyName"),
        )
        registered = self._consumers.groups.get(asked.group)
        members = None if registered is None else tuple(registered.members.values())
        found = self.assign(asked, members)
        if isinstance(found, Err):
            return refused(found)
        if found is None:
            return 0, "", {}, b"{}"
        listed = [
            {"messageQueue": {"brokerName": broker, "queueId": number, "topic": asked.topic}, "mode": mode}
            for broker, number, mode in cast(tuple[tuple[str, int, str], ...], found)
        ]
        return 0, "", {}, document({"messageQueueAssignments": listed})

    def _set(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        data = _fields(body)
        share = data.get("popShareQueueNum")
        failed = self.set_mode(str(data["topic"]), str(data["consumerGroup"]), data.get("mode"), share)
        return (0, "", {}, b"") if failed is None else refused(failed)


def _fields(body: bytes) -> dict[str, Any]:
    return {name: value for name, value in java_json.loads(body.decode()).items() if value is not None}


@lru_cache(maxsize=1024)
def topic_of(body: bytes) -> str:
    """The topic of a request for an assignment."""
    return str(java_json.loads(body.decode())["topic"])
