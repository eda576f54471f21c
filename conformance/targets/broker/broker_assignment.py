"""Plays the suite ``broker-assignment`` on a broker: members with connections of their own, modes, assignments."""

from __future__ import annotations

from collections.abc import Generator

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests, create_named_topic
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Wish
from rocketmq_conformance.models.broker.assignment import BROADCASTING, LMQ_PREFIX, RETRY_PREFIX
from rocketmq_conformance.models.broker.broker_assignment import CLIENTS, GROUPS, ROUTES, TOPICS
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.suites.broker_assignment import Ask, MakeTopic, Register, SetMode, Unregister

#: How often an assignment is requested when the broker should have the topic's route.
_TRIES = 4
#: A broker asks for one route after the other, and gives up after 3 s.
_LANES = 16


def route_of(topic: str) -> tuple[tuple[str, int, bool], ...] | None:
    """The name server's route of a topic of any case: (broker, queues, are they readable?); None for no route."""
    prefix = RETRY_PREFIX if topic.startswith(RETRY_PREFIX) else ""
    return ROUTES.get(prefix + topic.rpartition("-")[2])


def readable(topic: str) -> tuple[Queue, ...] | None:
    """The readable queues of a topic of any case; None without a route."""
    found = route_of(topic)
    if found is None:
        return None
    return tuple((topic, broker, number) for broker, count, may in found if may for number in range(count))


def _topic(names: CaseNames, index: int) -> str:
    text = TOPICS[index]
    prefix = next((prefix for prefix in (RETRY_PREFIX, LMQ_PREFIX) if text.startswith(prefix)), "")
    return f"{prefix}{names.prefix}-{text.removeprefix(prefix)}"


def _group(names: CaseNames, index: int) -> str:
    name = f"{names.prefix}-{GROUPS[index]}"
    names.used_groups.add(name)
    return name


def make_topic(names: CaseNames, topic: int) -> Requests:
    """Create a topic."""
    return (yield from create_named_topic(names, _topic(names, topic), 1))


def register(names: CaseNames, connection: int, client: int, group: int) -> Requests:
    """Register a member over a connection of its own."""
    name = _group(names, group)
    names.created.add(RETRY_PREFIX + name)
    names.registered.add((connection, name))
    yield from ()
    return responses.refused(names.ask_as(connection, requests.heartbeat(CLIENTS[client], name, [_topic(names, 0)])))


def unregister(names: CaseNames, connection: int, group: int) -> Requests:
    """Unregister the member of a connection."""
    name = _group(names, group)
    names.registered.discard((connection, name))
    yield from ()
    return responses.refused(names.ask_as(connection, requests.unregister(names.client(), name)))


def set_mode(names: CaseNames, topic: int, group: int, mode: str | None, share: int | None) -> Requests:
    """Set the mode in which a group gets the queues of a topic."""
    (answer,) = yield [requests.set_mode(_topic(names, topic), _group(names, group), mode, share)]
    return responses.refused(answer)


def ask(
    names: CaseNames, topic: int, group: int, client: str | None, model: str | None, strategy: str | None
) -> Requests:
    """Query the assignment of a member."""
    name = _topic(names, topic)
    request = requests.assignment(name, _group(names, group), client, model, strategy)
    (answer,) = yield [request]
    found = responses.assigned(answer, name)
    if found is None and route_of(name) is not None and name not in names.routed:
        yield from _until_routed(names, name)
        (answer,) = yield [request]
        found = responses.assigned(answer, name)
    return found


def _until_routed(names: CaseNames, topic: str) -> Generator[Wish, list[Command], None]:
    """A broker that is too busy to fetch a route in time responds as if there were none, and fetches it when it is
    asked again."""
    for _ in range(_TRIES):
        (answer,) = yield [requests.assignment(topic, names.group(0), None, BROADCASTING, None)]
        if responses.assigned(answer, topic) is not None:
            names.routed.add(topic)
            return


PART = Part(
    jobs={
        MakeTopic: make_topic,
        Register: register,
        Unregister: unregister,
        SetMode: set_mode,
        Ask: ask,
    },
    lanes=_LANES,
    needs=frozenset({Need.ROUTES, Need.SILENCE}),
)
