"""Plays the suite ``broker-restart`` on a broker that the kit started, one case at a time."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.models.broker.broker_restart import FIRST, FIRST_VERSION, MESSAGES
from rocketmq_conformance.models.broker.lifecycle import STOP
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.broker.subscription import SQL92
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.suites.broker_restart import (
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    Earliest,
    Max,
    Memory,
    Min,
    Query,
    QueryKept,
    Restart,
    Save,
    Search,
    SendTimed,
    SubscribeAgain,
)

#: The connection of the member that subscribes before and after a stop.
_MEMBER = 0


def subscribe_again(control: ProcessControl, version: int, expression: str) -> Outcome:
    """Subscribe, stop the broker and start it, subscribe again, and pull."""
    begun = control.connection.first_job(_begin)
    if not isinstance(begun, Ok):
        return begun
    control.restart(STOP)
    return control.connection.first_job(
        partial(_pull_again, group=str(begun.value), version=version, expression=expression)
    )


def _begin(names: CaseNames) -> Requests:
    """Subscribe as a member of a new group to a new topic of the same name, which has messages: the name."""
    group = topic = f"{names.prefix}-again{len(names.used_groups)}"
    names.used_groups.add(group)
    names.created.add(RETRY + group)
    error = yield from jobs.create_named_topic(names, topic, 1)
    if isinstance(error, Err):
        return error
    (answer,) = yield [requests.create_group(group, True)]
    error = responses.refused(answer) or _subscribe(names, group, FIRST_VERSION, FIRST)
    if error is not None:
        return error
    sent = yield from jobs.send_with_to(names, topic, 0, [{"TAGS": tag} for tag in MESSAGES])
    return sent if isinstance(sent, Err) else group


def _subscribe(names: CaseNames, group: str, version: int, expression: str) -> Err | None:
    subscribed = requests.subscription(group, expression, version, kind=SQL92)
    beat = requests.heartbeat_of(names.client(), [requests.consumer(group, [subscribed])])
    return responses.refused(names.ask_own(_MEMBER, beat))


def _pull_again(names: CaseNames, group: str, version: int, expression: str) -> Requests:
    """Subscribe again, and pull by that."""
    error = _subscribe(names, group, version, expression)
    if error is not None:
        return error
    (answer,) = yield [requests.pull_registered(group, group, 0, 0, version)]
    names.close_own(_MEMBER)
    return responses.pulled(answer)


PART = Part(
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        CreateGroup: jobs.create_group,
        DeleteGroup: jobs.delete_group,
        SendTimed: jobs.send_timed,
        Commit: jobs.commit,
        Query: jobs.query,
        QueryKept: jobs.query_kept,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        Earliest: jobs.earliest,
        Search: jobs.search,
    },
    controls={
        Restart: ProcessControl.restart,
        Save: ProcessControl.save,
        Memory: ProcessControl.set_memory,
        SubscribeAgain: subscribe_again,
    },
    lanes=1,
    needs=frozenset({Need.PROCESS}),
)
