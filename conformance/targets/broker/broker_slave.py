"""Plays the suite ``broker-slave`` on a broker that the kit started and its slave, one case at a time."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Concatenate, cast

from rocketmq_conformance.conformance.targets.broker import broker_admin, jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import LOOK, Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.conformance.waiting import looks
from rocketmq_conformance.models.broker.broker_process import DOWN
from rocketmq_conformance.models.broker.broker_slave import MASTER_NODE, OTHER_QUEUES, OTHER_TOPIC
from rocketmq_conformance.models.broker.lifecycle import KILL
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.suites.broker_slave import (
    SUITE,
    Bounds,
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    End,
    Lock,
    Pull,
    Query,
    Reset,
    Search,
    Send,
    Start,
    Synchronise,
)

#: The name of both brokers.
_NAME = "broker-a"
#: Times before and after all messages (ms since the epoch).
_EARLY, _LATE = 1, 1 << 42
#: How a slave refuses messages and pulls. Of another broker these codes would say that it is busy.
_REFUSALS = frozenset({"SYSTEM_BUSY", "SERVICE_NOT_AVAILABLE"})


def _at(
    job: Callable[..., Requests], refused: Collection[str] = ()
) -> Callable[Concatenate[ProcessControl, str, ...], Outcome]:
    """A job at the master or at the slave, by its first argument; a slave may refuse it by some codes."""

    def control(process: ProcessControl, at: str, *args: object) -> Outcome:
        def make(names: CaseNames) -> Requests:
            return job(names, *args)

        if at != MASTER_NODE:
            outcome = process.connection.slave_job(make)
            return replace(outcome, definite=True) if isinstance(outcome, Err) and outcome.code in refused else outcome
        return process.reached() if process.state == DOWN else process.connection.first_job(make)

    return control


def end(process: ProcessControl, how: str) -> Outcome:
    """Stop the master, or kill it once its offsets are on the disk."""
    if how == KILL:
        process.save()
    ended = process.end(how)
    process.slave.left()
    return ended


def start(process: ProcessControl) -> Outcome:
    """Start the master again; one that stays offline is ended."""
    process.start()
    if process.slave.online():
        return Ok()
    process.end(KILL)
    return Err("OFFLINE")


def send(process: ProcessControl, at: str, queue: int, count: int) -> Outcome:
    """Send messages to topic 0: what is sent to the master has arrived at the slave, or should have."""
    sent = _at(jobs.send, _REFUSALS)(process, at, 0, queue, count)
    if at == MASTER_NODE and isinstance(sent, Ok) and isinstance(sent.value, tuple):
        last = max(cast("tuple[int, ...]", sent.value))
        limit = process.slave.arrives
        process.connection.slave_job(lambda names: _arrived(names, queue, last, limit))
    return sent


def _arrived(names: CaseNames, queue: int, offset: int, limit: float) -> Requests:
    for _ in looks(limit, names.clock):
        (answer,) = yield [requests.max_offset(names.topic(0), queue)]
        shown = responses.number(answer)
        if isinstance(shown, Err) or shown > offset:
            break
        yield LOOK
    return None


def lock(process: ProcessControl, queue: int) -> Outcome:
    """A member of a group that was never used asks the master for a lock, then another one the slave."""
    group = f"conf-{secrets.token_hex(8)}"
    first: Outcome = Ok(None)
    if process.state != DOWN:
        first = process.connection.first_job(lambda names: _locked(names, group, "A", queue))
    if not isinstance(first, Ok):
        return first
    second = process.connection.slave_job(lambda names: _locked(names, group, "B", queue))
    return Ok((first.value, second.value)) if isinstance(second, Ok) else second


def _locked(names: CaseNames, group: str, client: str, queue: int) -> Requests:
    asked: Queue = (names.topic(0), _NAME, queue)
    (answer,) = yield [requests.lock(group, client, [asked])]
    granted = responses.locked(answer)
    return granted if isinstance(granted, Err) else asked in granted


def search(names: CaseNames, queue: int, late: bool) -> Requests:
    """Search for a time after all messages, or before them."""
    (answer,) = yield [requests.search(names.topic(0), queue, _LATE if late else _EARLY, "")]
    return responses.number(answer)


def bounds(names: CaseNames, topic: int, queue: int) -> Requests:
    """Ask for min and max."""
    low = yield from jobs.min_offset(names, topic, queue)
    high = yield from jobs.max_offset(names, topic, queue)
    return low if isinstance(low, Err) else high if isinstance(high, Err) else (low, high)


def create_topic(names: CaseNames) -> Requests:
    """Create topic 1."""
    return (yield from jobs.create_topic(names, OTHER_TOPIC, OTHER_QUEUES))


def delete_topic(names: CaseNames) -> Requests:
    """Delete topic 1."""
    return (yield from jobs.delete_topic(names, OTHER_TOPIC))


PART = Part(
    jobs={},
    controls={
        Synchronise: ProcessControl.synchronise,
        End: end,
        Start: start,
        Send: send,
        CreateTopic: _at(create_topic),
        DeleteTopic: _at(delete_topic),
        CreateGroup: _at(jobs.create_group),
        DeleteGroup: _at(jobs.delete_group),
        Commit: _at(jobs.commit),
        Query: _at(jobs.query),
        Bounds: _at(bounds),
        Pull: _at(broker_admin.pull, _REFUSALS),
        Reset: _at(broker_admin.reset_queue),
        Search: _at(search),
        Lock: lock,
    },
    of_a_pair=frozenset(SUITE.operations) - {End, Start},
    lanes=1,
    needs=frozenset({Need.SLAVE}),
)
