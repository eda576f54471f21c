"""Plays the suite ``broker-tables`` on a broker that the kit started: its files are damaged while it is down."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.targets.broker import jobs, requests
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_process import RUNNING
from rocketmq_conformance.models.broker.broker_tables import REFUSED
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS
from rocketmq_conformance.models.broker.lifecycle import STOP
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.suites.broker_tables import (
    Commit,
    CreateGroup,
    CreateTopic,
    Damage,
    End,
    Groups,
    Max,
    Query,
    QueryKept,
    Send,
    Start,
    Topics,
    Watch,
)


def end(control: ProcessControl, how: str) -> Outcome:
    """Stop or kill the broker: had its timer written the offsets before that?"""
    return Ok(control.managed.tables.end(lambda: control.end(how), how == STOP, lambda: _stored(control)))


def damage(control: ProcessControl, table: str, copy: str, how: str) -> Outcome:
    """Damage a copy of a file."""
    control.managed.tables.damage(table, copy, how)
    return Ok()


def start(control: ProcessControl) -> Outcome:
    """Start the broker; NOT_STARTED when it does not."""
    if not control.managed.tables.start():
        return REFUSED
    control.state = RUNNING
    return Ok()


def watch(control: ProcessControl) -> Outcome:
    """Wait for a write of the timer."""
    return Ok(control.managed.tables.watch(lambda: _stored(control)))


def _stored(control: ProcessControl) -> bytes:
    return control.connection.ask(requests.stored_offsets())


def topics(names: CaseNames) -> Requests:
    """Ask for all topics."""
    (answer,) = yield [requests.topics()]
    found = _table(answer.body, "topicConfigTable")
    return _known([names.topic(topic) for topic in range(len(TOPICS))], found), aged_store.TOPIC in found


def groups(names: CaseNames) -> Requests:
    """Ask for all groups."""
    (answer,) = yield [requests.groups()]
    return _known([names.group(group) for group in range(len(GROUPS))], _table(answer.body, "subscriptionGroupTable"))


def query_kept(names: CaseNames, queue: int) -> Requests:
    """Query an offset that the aged store holds."""
    return (yield from jobs.query_kept(names, queue, None))


def _table(body: bytes, name: str) -> dict[str, object]:
    found = java_json.loads(body.decode()).get(name)
    if not isinstance(found, dict):
        raise AdapterError(f"The broker lists what it has without {name}: replay.")
    return found


def _known(names: Sequence[str], table: dict[str, object]) -> tuple[int, ...]:
    return tuple(index for index, name in enumerate(names) if name in table)


PART = Part(
    jobs={
        CreateTopic: jobs.create_topic,
        CreateGroup: jobs.create_group,
        Topics: topics,
        Groups: groups,
        Send: jobs.send,
        Commit: jobs.commit,
        Query: jobs.query,
        QueryKept: query_kept,
        Max: jobs.max_offset,
    },
    controls={End: end, Damage: damage, Start: start, Watch: watch},
    lanes=1,
    needs=frozenset({Need.AGED_STORE, Need.OFFSETS_FILE}),
)
