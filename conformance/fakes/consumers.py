"""Consumers: heartbeats, the members of a group, and queue locks (BQ-HB-*, BQ-LIST-*, BQ-LOCK-*)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.responses import (
    CODES,
    ConnectionHandler,
    PlainHandler,
    document,
    refused,
    succeed,
)
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting import heartbeat, java_json
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker import broadcast, consumption, lock, members
from rocketmq_conformance.models.broker.client_check import check_client
from rocketmq_conformance.models.broker.compiled_filters import (
    NO_FILTERS,
    Filters,
    compile_subscriptions,
    restarted,
)
from rocketmq_conformance.models.broker.members import Connections, Consumer
from rocketmq_conformance.models.broker.subscription import TagCodes
from rocketmq_conformance.models.message_queue import MessageQueue, Queue
from rocketmq_conformance.models.outcome import Err

#: Queues that are locked, or were asked for.
Queues = tuple[Queue, ...]
#: A client that did not say what it is.
_NO_CLIENT = ("", 0)
#: Timeouts of what members are asked (s): Broker2Client#callClient, #getConsumeStatus.
_CALL_LIMIT, _STATUS_LIMIT = 10.0, 5.0
#: Heartbeats may leave out subscriptions that the broker knows, and it knows no others.
_HEARTBEAT_FIELDS = {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "false"}


class Consumers:
    """The members of every group, and the owners of locked queues.

    ``clock`` gives ms since the epoch; locks live ``lease`` ms. A member is a connection that sent a heartbeat. A group
    whose members are ``listed`` has these phantoms instead, no matter which clients send heartbeats, and no member is
    notified of changes.
    """

    def __init__(self, storage: Storage, clock: Callable[[], int], lease: int) -> None:
        self._storage = storage
        self.lease = lease
        self._clock = clock
        self._peers: dict[int, Peer] = {}
        #: Language and version of the client at each connection. To one in C++ a reset has a body of its own.
        self._clients: dict[int, tuple[str, int]] = {}
        self.groups = members.NO_GROUPS
        #: Who subscribes to what, as releases keep it that look it up in an index.
        self.index: consumption.Subscribers = frozenset()
        self.locks = lock.NO_LOCKS
        #: What was compiled of subscriptions in other languages than tags.
        self.filters = NO_FILTERS
        #: What members of groups that broadcast pulled from.
        self.broadcast = broadcast.NOTHING_PULLED
        self._pulled: set[tuple[str, str]] = set()
        #: Does the release understand heartbeats that leave out the subscriptions of the one before
        #: (ClientManageProcessor#heartBeatV2 @ 5.5.0)?
        self.brief_heartbeats = False
        #: The fingerprint of the subscriptions in the latest heartbeat of each group.
        self._fingerprints: dict[str, int] = {}
        #: Client ids of phantom members, by group.
        self.listed: Mapping[str, tuple[str, ...]] = {}
        #: Which of the queues that it would lock by itself it does lock; the other one of a pair may be asked.
        self.granted: Callable[[Queues, Callable[[Consumers], Queues]], Queues] = lambda own, asked: own

    def begin(self, listed: Mapping[str, tuple[str, ...]]) -> None:
        """Begin a case: no client is registered, nothing is locked, and these phantoms are listed."""
        self.groups, self.index = members.NO_GROUPS, frozenset()
        self.locks = lock.NO_LOCKS
        if self._pulled:
            self._pulled = set()
        self.listed = listed

    def restarted(self) -> None:
        """The broker starts again: its members left when it ended."""
        self.locks = lock.NO_LOCKS
        self.index = frozenset()
        self.broadcast = broadcast.NOTHING_PULLED
        self.filters = self.reload(self.filters)

    def reload(self, filters: Filters) -> Filters:
        """BQ-FILTER-STOP: what a broker has that ended with these filters."""
        return restarted(self._storage.rules, filters)

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code. Without a connection no client becomes a member or leaves."""
        return {
            int(Request.HEART_BEAT): _heartbeat_without_member,
            int(Request.UNREGISTER_CLIENT): succeed,
            int(Request.GET_CONSUMER_LIST_BY_GROUP): self._list,
            int(Request.GET_CONSUMER_CONNECTION_LIST): self._connections,
            int(Request.CHECK_CLIENT_CONFIG): self._check_client,
            int(Request.LOCK_BATCH_MQ): self._lock,
        }

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The handlers that replace them over a connection, by request code."""
        return {
            int(Request.HEART_BEAT): self._heartbeat,
            int(Request.UNREGISTER_CLIENT): self._unregister,
            int(Request.GET_CONSUMER_RUNNING_INFO): self._pass_on,
            int(Request.INVOKE_BROKER_TO_GET_CONSUMER_STATUS): self._status,
        }

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        """BQ-PULL-SUB: the subscription of a pull that carries none, or why there is none."""
        storage = self._storage
        registered, kept = self.groups.get(group), self.filters.get((group, topic))
        return members.pulled_codes(storage.rules, registered, storage.settings_of(group), topic, version, kept)

    def pulled(self, group: str, topic: str) -> None:
        """BQ-PULL-12: a group pulled from a topic, with a subscription in the request."""
        self._pulled.add((group, topic))

    def pulled_from(self, number: int, group: str, topic: str, queue: int, offset: int) -> None:
        """BQ-BROADCAST-1: a pull over a connection asked for an offset, or was sent to it."""
        storage = self._storage
        storage.state, self.broadcast = broadcast.pulled(
            storage.rules, storage.state, self.broadcast, self.groups.get(group), number, (group, topic, queue), offset
        )

    def elsewhere(self, group: str, topic: str) -> bool:
        """BQ-CLONE-ONLINE: do the members of a group subscribe to other topics only?"""
        registered = self.groups.get(group)
        return registered is not None and members.subscribes_elsewhere(
            self._storage.rules, registered, topic, (group, topic) in self._pulled
        )

    def send_to_members(self, group: str, request: Command, cpp_body: bytes | None = None) -> None:
        """Send every member of a group a request of the broker's own; those in C++ with another body, if one is
        given."""
        for number in self.groups[group].members:
            in_cpp = self._clients.get(number, _NO_CLIENT)[0] == "CPP"
            body = cpp_body if cpp_body is not None and in_cpp else request.body
            self._send(number, replace(request, body=body))

    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        """BQ-LOCK-1: the queues that the client holds from now on."""
        granted: tuple[Queue, ...] | Err
        self.locks, granted, _ = lock.lock_batch(  # type: ignore[assignment]
            self.locks, group, client, queues, self._clock(), self.lease
        )
        return granted

    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        """BQ-LOCK-3."""
        failed: Err | None
        self.locks, failed, _ = lock.unlock_batch(self.locks, group, client, queues)  # type: ignore[assignment]
        return failed

    def closed(self, peer: Peer) -> None:
        """BQ-HB-5: a connection was closed."""
        self._peers.pop(peer.number, None)
        self._clients.pop(peer.number, None)
        for group, number in self.leave(peer.number):
            self._notify(group, (number,))

    def register(self, number: int, client: str, consumer: Consumer, known: bool) -> tuple[int, ...]:
        """BQ-HB-*: a connection sent a heartbeat; the connections that are notified."""
        storage = self._storage
        notifies = storage.settings_of(consumer.group).notifies
        self.groups, notified, _ = members.heartbeat(
            storage.rules, self.groups, number, client, consumer, known, notifies
        )
        if consumer.group in self.groups:
            self.index = consumption.subscribed(storage.rules, self.index, consumer.group, consumer.subscriptions)
            self.filters = self.compile(consumer)
        return cast("tuple[int, ...]", notified)

    def compile(self, consumer: Consumer) -> Filters:
        """BQ-HB-FILTER: what is compiled once this consumer was registered."""
        storage, subscribed = self._storage, consumer.subscriptions
        return compile_subscriptions(storage.rules, self.filters, consumer.group, subscribed, storage.state.topics)[0]

    def unregister(self, number: int, group: str) -> tuple[int, ...]:
        """BQ-HB-6: the same of a connection that unregisters."""
        storage = self._storage
        notifies = storage.settings_of(group).notifies
        before = self.groups
        self.groups, notified, _ = members.unregister(storage.rules, before, number, group, notifies)
        self.index = consumption.left(self.index, before, self.groups)
        return cast("tuple[int, ...]", notified)

    def leave(self, number: int) -> tuple[tuple[str, int], ...]:
        """BQ-HB-5: a connection was closed; the groups and connections that are notified."""
        before = self.groups
        self.groups, notified, _ = members.close_connection(self._storage.rules, before, number)
        self.index = consumption.left(self.index, before, self.groups)
        return cast("tuple[tuple[str, int], ...]", notified)

    def held_locks(self) -> dict[tuple[str, str, int], str]:
        """The owners of locks that have not expired, by group, topic and queue id."""
        now = self._clock()
        return {
            (group, topic, number): held.client or ""
            for (group, (topic, _, number)), held in self.locks.items()
            if now - held.confirmed <= self.lease
        }

    def listed_ids(self, group: str) -> tuple[str, ...] | Err:
        """BQ-LIST-1: the client ids of a group, or the error."""
        return cast("tuple[str, ...] | Err", members.consumer_list(self.groups, group)[1])

    def connections(self, group: str) -> Connections | Err:
        """BQ-CONNECTIONS: what a group consumes, or the error."""
        return cast("Connections | Err", members.connections(self._storage.rules, self.groups, group)[1])

    def _heartbeat(self, peer: Peer, request: Command) -> Command:
        client, consumers = heartbeat.read(request.body)
        brief, fingerprint = heartbeat.brevity(request.body)
        number = peer.number
        self._peers[number] = peer
        self._clients[number] = request.language, request.version
        for consumer in consumers:
            known = self._storage.know_group(consumer.group)
            if brief and consumer.group in self.groups:
                consumer = consumer._replace(subscriptions=self.groups[consumer.group].subscriptions)
            if known:
                self._storage.know_retry_topic(consumer.group)
            self._notify(consumer.group, self.register(number, client, consumer, known))
        changed = [self._fingerprints.get(consumer.group, fingerprint) != fingerprint for consumer in consumers]
        self._fingerprints.update({consumer.group: fingerprint for consumer in consumers})
        if any(consumer.group in self.listed for consumer in consumers):
            return Command(0, dict(_HEARTBEAT_FIELDS))
        if not self.brief_heartbeats:
            return Command(0)
        return Command(0, _HEARTBEAT_FIELDS | {"IS_SUB_CHANGE": "true" if any(changed) or not fingerprint else "false"})

    def _unregister(self, peer: Peer, request: Command) -> Command:
        group = request.ext.get("consumerGroup")
        if group is not None:
            self._storage.know_group(group)
            self._notify(group, self.unregister(peer.number, group))
        return Command(0)

    def _notify(self, group: str, numbers: Iterable[int]) -> None:
        if group in self.listed:
            return
        for number in numbers:
            self._send(number, Command(int(Request.NOTIFY_CONSUMER_IDS_CHANGED), {"consumerGroup": group}))

    def _send(self, number: int, request: Command) -> None:
        # a member may be listed whose connection was closed just now
        peer = self._peers.get(number)
        if peer:
            peer.send_request(request)

    def _list(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        group = ext["consumerGroup"]
        listed = self.listed.get(group)
        if listed:
            return 0, "", {}, _list_text(listed)
        ids = members.NO_MEMBERS if listed is not None else self.listed_ids(group)
        if isinstance(ids, Err):
            return refused(ids, f"no consumer for this group, {group}")
        return 0, "", {}, _list_text(ids)

    def _connections(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        group = ext["consumerGroup"]
        found = self.connections(group)
        if isinstance(found, Err):
            return refused(found, f"the consumer group[{group}] not online")
        ids, consume_type, model, start, subscriptions = found
        return (
            0,
            "",
            {},
            document(
                {
                    "connectionSet": [self._connection(group, client) for client in ids],
                    "consumeFromWhere": start,
                    "consumeType": consume_type,
                    "messageModel": model,
                    "subscriptionTable": {
                        topic: {
                            "topic": topic,
                            "subString": text,
                            "subVersion": version,
                            "expressionType": kind or "TAG",
                            "tagsSet": tags,
                        }
                        for topic, text, version, kind, tags in subscriptions
                    },
                }
            ),
        )

    def _connection(self, group: str, client: str) -> dict[str, object]:
        """A connection of a member, with what is known of its client."""
        number = self.number_of(group, client)
        peer = self._peers.get(number)
        language, version = self._clients.get(number, _NO_CLIENT)
        address = peer.address if peer else ""
        return {"clientId": client, "clientAddr": address, "language": language, "version": version}

    def number_of(self, group: str, client: str) -> int:
        """The connection of a group's member, -1 when none has this client id."""
        registered = self.groups.get(group)
        members_of = registered.members if registered else {}
        return next((number for number, one in members_of.items() if one == client), -1)

    def _pass_on(self, peer: Peer, request: Command) -> Command | None:
        """The member's answer, whatever it is, to a request that goes on to it (AdminBrokerProcessor#callConsumer)."""
        group, client = request.ext["consumerGroup"], request.ext["clientId"]
        member = self._peers.get(self.number_of(group, client))
        if member is None:
            return _failure(f"The Consumer <{group}> <{client}> not online")

        def take(answer: Command | None) -> None:
            if answer is None:
                answer = Command(CODES["CONSUME_MSG_TIMEOUT"], remark=f"consumer <{group}> <{client}> Timeout")
            peer.answer(request, replace(answer))

        member.ask(Command(request.code, dict(request.ext), request.body), _CALL_LIMIT, take)
        return None

    def _status(self, peer: Peer, request: Command) -> Command | None:
        """The offsets of the members, one asked after the other (Broker2Client#getConsumeStatus)."""
        topic, group, client = request.ext["topic"], request.ext["group"], request.ext.get("clientAddr", "").strip()
        registered = self.groups.get(group)
        if registered is None:
            return _failure(f"No Any Consumer online in the consumer group: [{group}]")
        left = [number for number, one in registered.members.items() if client in ("", one)]
        found: dict[str, str] = {}

        def ask_next() -> None:
            member = self._peers.get(left[0]) if left else None
            if member is None:
                table = ",".join(f"{json.dumps(name)}:{offsets}" for name, offsets in found.items())
                peer.answer(
                    request, Command(0, body=f'{{"consumerTable":{{{table}}},"messageQueueTable":{{}}}}'.encode())
                )
                return
            asked = Command(int(Request.GET_CONSUMER_STATUS_FROM_CLIENT), {"topic": topic, "group": group})
            member.ask(asked, _STATUS_LIMIT, take)

        def take(answer: Command | None) -> None:
            name = registered.members[left.pop(0)]
            if answer is not None and not answer.code and answer.body:
                table = java_json.loads(answer.body.decode())["messageQueueTable"]
                pairs = ",".join(f"{json.dumps(dict(queue))}:{offset}" for queue, offset in table.items())
                found[name] = f"{{{pairs}}}"
            ask_next()

        ask_next()
        return None

    def _check_client(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        subscribed = (java_json.loads(body.decode()) if body else {}).get("subscriptionData") or {}
        error = self.check(subscribed.get("subString"), subscribed.get("expressionType"))
        return (0, "", {}, b"") if error is None else refused(error)

    def check(self, expression: str | None, kind: str | None) -> Err | None:
        """BQ-CHECK-CLIENT: why a client may not subscribe by an expression, if it may not."""
        return check_client(self._storage.rules, expression, kind)[0]

    def _lock(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        group, client, queues = locked(body)
        granted = self.lock(group, client, queues)
        if isinstance(granted, Err):
            return refused(granted)
        own = granted
        return 0, "", {}, _granted_text(self.granted(own, lambda other: _held(other.lock(group, client, own))))


def _failure(remark: str) -> Command:
    return Command(CODES["SYSTEM_ERROR"], remark=remark)


def _heartbeat_without_member(code: int, ext: dict[str, str], body: bytes) -> Answered:
    """Answer a heartbeat without making its client a member."""
    return 0, "", _HEARTBEAT_FIELDS, b""


@lru_cache(maxsize=256)
def _list_text(listed: tuple[str, ...]) -> bytes:
    """The body of a member list."""
    return document({"consumerIdList": listed})


def _held(granted: Queues | Err) -> Queues:
    return () if isinstance(granted, Err) else granted


@lru_cache(maxsize=1024)
def _granted_text(granted: tuple[Queue, ...]) -> bytes:
    """The body that answers a request to lock."""
    named = [{"brokerName": broker, "queueId": number, "topic": topic} for topic, broker, number in granted]
    return document({"lockOKMQSet": named})


@lru_cache(maxsize=1024)
def locked(body: bytes) -> tuple[str, str | None, tuple[Queue, ...]]:
    """Group, client and queues that a lock request names; a missing group is a failure (KeyError)."""
    data = java_json.loads(body.decode())
    named = {name: value for name, value in data.items() if value is not None}
    queues = [MessageQueue(str(item["topic"]), str(item["brokerName"]), int(item["queueId"])) for item in data["mqSet"]]
    client = named.get("clientId")
    return str(named["consumerGroup"]), None if client is None else str(client), tuple(queues)
