"""Plays the suite ``broker-members`` on a broker: every member has a connection of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import LOOK, Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import Wish
from rocketmq_conformance.conformance.waiting import looks
from rocketmq_conformance.models.broker.broker_members import CLIENTS, KINDS, SUBSCRIPTIONS
from rocketmq_conformance.models.broker.fixtures import GROUPS
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_members import (
    Beat,
    CloseConnection,
    LeaveGroup,
    ListConnections,
    ListMembers,
    PullRegistered,
    SendTagged,
    SetRights,
    TakeNotices,
)
from rocketmq_conformance.suites.broker_offsets import CreateTopic, DeleteGroup, DeleteTopic

#: Timeout until a broker has noticed that a connection was closed, and until it has notified the others (s); of groups
#: that broadcast most releases do not notify them.
_CLOSED, _NOTIFIED, _BROADCAST_NOTIFIED = 5.0, 1.0, 0.1
#: Each lane has connections of its own.
_LANES = 32


def set_rights(names: CaseNames, group: int, enabled: bool, broadcasts: bool, notifies: bool) -> Requests:
    """Create or change a group."""
    (answer,) = yield [
        requests.create_group(names.used_group(group), enabled, broadcasts=broadcasts, notifies=notifies)
    ]
    return responses.refused(answer)


def send_tagged(names: CaseNames, topic: int, tag: str) -> Requests:
    """Send a message with a tag: its offset, once the queue shows it."""
    return (yield from jobs.send_with(names, topic, 0, [{"TAGS": tag} if tag else {}]))


def beat(
    names: CaseNames,
    connection: int,
    client: int,
    groups: tuple[int, ...],
    subscriptions: tuple[tuple[int, str], ...],
    version: int,
    broadcasting: bool,
    kind: int,
) -> Requests:
    """Send a heartbeat over a connection."""
    subscribed = [
        requests.subscription(
            names.topic(topic),
            each.text,
            version,
            tags=each.tags,
            codes=each.codes,
            class_filter=each.class_filter,
            kind=each.kind,
        )
        for topic, each in ((topic, SUBSCRIPTIONS[name]) for topic, name in subscriptions)
    ]
    used = [names.used_group(group) for group in groups]
    names.created |= {RETRY + group for group in used}
    consumers = [requests.consumer(group, subscribed, broadcasting, *KINDS[kind]) for group in used]
    names.own_registered |= {(connection, group) for group in used}
    names.broadcasting = names.broadcasting | {*used} if broadcasting else names.broadcasting - {*used}
    yield from ()
    return responses.refused(names.ask_own(connection, requests.heartbeat_of(CLIENTS[client], consumers)))


def leave_group(names: CaseNames, connection: int, group: int) -> Requests:
    """Unregister the client of a connection."""
    name = names.used_group(group)
    names.own_registered.discard((connection, name))
    yield from ()
    return responses.refused(names.ask_own(connection, requests.unregister(CLIENTS[0], name)))


def close_connection(names: CaseNames, connection: int) -> Requests:
    """Close a connection, and wait until its groups have a member less and the others are notified."""
    groups = sorted(group for one, group in names.own_registered if one == connection)
    before = yield from _sizes(groups)
    names.own_registered = {pair for pair in names.own_registered if pair[0] != connection}
    names.notices = Counter({key: count for key, count in names.notices.items() if key[0] != connection})
    others = [(one, group) for one, group in sorted(names.own_registered) if group in groups]
    for one in {one for one, _ in others}:
        _collect(names, one)
    noticed = {key: names.notices[key] for key in others}
    names.close_own(connection)
    if not groups:
        return None
    for _ in looks(_CLOSED, names.clock):
        if (yield from _sizes(groups)) != before:
            break
        yield LOOK
    notified = any(group not in names.broadcasting for _, group in others)
    for _ in looks(_NOTIFIED if notified else _BROADCAST_NOTIFIED, names.clock):
        for one in {one for one, _ in others}:
            _collect(names, one)
        others = [key for key in others if names.notices[key] == noticed[key]]
        if not others:
            break
        yield LOOK
    return None


def _sizes(groups: Sequence[str]) -> Generator[Wish, list[Command], list[int]]:
    """The number of members of each group."""
    if not groups:
        return []
    answers = yield [requests.member_list(group) for group in groups]
    found = [responses.listed_members(answer) for answer in answers]
    return [0 if isinstance(ids, Err) else len(ids) for ids in found]


def take_notices(names: CaseNames, connection: int) -> Requests:
    """How often the connection was notified of each group."""
    # a notification that was sent before this request arrived comes before the response to it
    names.ask_own(connection, requests.member_list(names.group(0)))
    _collect(names, connection)
    yield from ()
    groups = {names.group(index): index for index in range(len(GROUPS))}
    found = {key: count for key, count in names.notices.items() if key[0] == connection and count}
    names.notices -= Counter(found)
    return tuple(sorted((groups[group], count) for (_, group), count in found.items() if group in groups))


def _collect(names: CaseNames, connection: int) -> None:
    """Count the notifications that arrived over a connection."""
    for request in names.own_requests(connection):
        if request.code == Request.NOTIFY_CONSUMER_IDS_CHANGED:
            names.notices[connection, request.ext.get("consumerGroup", "")] += 1


def list_members(names: CaseNames, group: int) -> Requests:
    """The sorted client ids of a group."""
    (answer,) = yield [requests.member_list(names.group(group))]
    return responses.listed_members(answer)


def list_connections(names: CaseNames, group: int) -> Requests:
    """What a group consumes."""
    (answer,) = yield [requests.connection_list(names.group(group))]
    found = responses.listed_connections(answer)
    if isinstance(found, Err):
        return found
    ids, consume_type, model, start, subscriptions = found
    return ids, consume_type, model, start, tuple((names.plain(each[0]), *each[1:]) for each in subscriptions)


def pull_registered(names: CaseNames, group: int, topic: int, offset: int, version: int) -> Requests:
    """Pull by the registered subscription."""
    (answer,) = yield [requests.pull_registered(names.used_group(group), names.topic(topic), 0, offset, version)]
    return responses.pulled(answer)


PART = Part(
    lanes=_LANES,
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        DeleteGroup: jobs.delete_group,
        SetRights: set_rights,
        SendTagged: send_tagged,
        Beat: beat,
        LeaveGroup: leave_group,
        CloseConnection: close_connection,
        TakeNotices: take_notices,
        ListMembers: list_members,
        ListConnections: list_connections,
        PullRegistered: pull_registered,
    },
    needs=frozenset({Need.SILENCE}),
)
