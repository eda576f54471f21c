"""Administration: topics, groups, routes, and runtime information (BQ-TOPIC-*, BQ-GROUP-*, WIRE-ROUTE-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes import routes
from rocketmq_conformance.conformance.fakes.responses import (
    CODES,
    ConnectionHandler,
    PlainHandler,
    command,
    document,
    refused,
    succeed,
)
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import VERSION, Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.members import GroupSettings
from rocketmq_conformance.models.broker.send_back import RetrySettings
from rocketmq_conformance.models.broker.slave import FENCED, refuses_changes
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.broker.wire import WireRules, description
from rocketmq_conformance.models.client.rebalance_round import NO_ROUTE
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

_NO_TOPIC = CODES["TOPIC_NOT_EXIST"]
#: Since when brokers are asked for the settings of one topic (RequestCode @ 5.0.0-PREVIEW).
_ASKED = Release.parse("5.0.0-PREVIEW")


class Administration:
    """Topics and groups of one broker, and the name server's view of it.

    The name server is never behind: a topic's route appears and disappears with the topic.
    """

    def __init__(self, profile: Profile, storage: Storage, name: str, cluster: str, address: str, started: int) -> None:
        self._release = profile.broker
        self._form = routes.RouteForm.of(profile.broker)
        self._wire = WireRules.of(profile)
        #: Are routes written in standard JSON for a client in this process that does not say what it reads?
        self._standard_here = self._wire.standard(VERSION, False)
        self._storage = storage
        self._name, self._cluster = name, cluster
        #: Where routes say that the broker is.
        self.address = address
        self._started = started
        #: Readable queues by topic, where routes are set instead of being those of the broker's own topics.
        self.routes: Mapping[str, int] | None = None
        #: The name, address and settings of a topic at each broker, by its readable queues; None where there is one.
        self.spread: Callable[[str, int], Sequence[tuple[str, str, Topic]]] | None = None

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The handlers that replace them over a connection, by request code: routes depend on the client's version."""
        return {Request.GET_ROUTEINFO_BY_TOPIC: self._route_from}

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        known: dict[int, PlainHandler] = {} if self._release < _ASKED else {Request.GET_TOPIC_CONFIG: self._topic}
        return known | {
            Request.UPDATE_AND_CREATE_TOPIC: partial(self._changed, self._create_topic),
            Request.GET_ALL_TOPIC_CONFIG: self._topics,
            Request.DELETE_TOPIC_IN_BROKER: partial(self._changed, self._delete_topic),
            Request.DELETE_TOPIC_IN_NAMESRV: succeed,
            Request.DELETE_KV_CONFIG: succeed,
            Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: partial(self._changed, self._create_group),
            Request.DELETE_SUBSCRIPTIONGROUP: partial(self._changed, self._delete_group),
            Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self._groups,
            Request.GET_ROUTEINFO_BY_TOPIC: self._route,
            Request.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: self._names,
            Request.GET_BROKER_CLUSTER_INFO: self._clusters,
            Request.GET_BROKER_RUNTIME_INFO: self._runtime,
        }

    def _route(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """A client in this process is as new as those that the kit itself connects with."""
        standard = self._standard_here if "acceptStandardJsonOnly" not in ext else self._standard(ext, VERSION)
        return self._routed(ext["topic"], standard)

    def _route_from(self, peer: Peer, request: Command) -> Command:
        return command(self._routed(request.ext["topic"], self._standard(request.ext, request.version)))

    def _standard(self, ext: dict[str, str], version: int) -> bool:
        """WIRE-JSON-1: is a route written in standard JSON for a client of this version?"""
        return self._wire.standard(version, ext.get("acceptStandardJsonOnly") == "true")

    def _routed(self, topic: str, standard: bool) -> Answered:
        settings: Topic | None
        if self.routes is None:
            settings = self._storage.state.topics.get(topic)
        else:
            queues = self.routes.get(topic, NO_ROUTE)
            if queues != NO_ROUTE and self.spread is not None:
                brokers = self.spread(topic, queues)
                return 0, "", {}, routes.route_of_many(brokers, self._cluster, standard, self._form)
            if queues != NO_ROUTE:
                return 0, "", {}, _ordinary_route(self._name, self._cluster, self.address, queues, standard, self._form)
            settings = None
        if settings is None:
            return _NO_TOPIC, f"No topic route info in name server for the topic: {topic}", {}, b""
        return 0, "", {}, routes.route(self._name, self._cluster, self.address, settings, standard, self._form)

    def _changed(self, handler: PlainHandler, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """SLV-ADMIN: some slaves refuse to change topics and groups."""
        return refused(FENCED[0]) if refuses_changes(self._storage.rules) else handler(code, ext, body)

    def _create_topic(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic = ext["topic"]
        settings = Topic(int(ext["readQueueNums"]), int(ext["writeQueueNums"]), int(ext["perm"]))
        return _done(self._storage.create_topic(topic, settings))

    def _topic(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic = ext["topic"]
        settings = self._storage.state.topics.get(topic)
        if settings is None:
            return _NO_TOPIC, f"No topic in this broker. topic: {topic}", {}, b""
        return 0, "", {}, document({**_config(topic, settings), "attributes": {}, "topicFilterType": "SINGLE_TAG"})

    def _topics(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        table = {name: _config(name, settings) for name, settings in sorted(self._storage.state.topics.items())}
        return 0, "", {}, document({"topicConfigTable": table})

    def _delete_topic(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return _done(self._storage.delete_topic(ext["topic"]))

    def _create_group(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        config = java_json.loads(body.decode())
        group, enabled = str(config["groupName"]), config.get("consumeEnable", True) is not False
        error = self._storage.create_group(group, enabled)
        if error is None:
            queues, most = int(config.get("retryQueueNums", 1)), int(config.get("retryMaxTimes", 16))
            self._storage.set_retries(group, RetrySettings(queues, most))
            broadcasts, notifies = (
                config.get(name, True) is not False
                for name in ("consumeBroadcastEnable", "notifyConsumerIdsChangedEnable")
            )
            self._storage.set_group(group, GroupSettings(broadcasts, notifies))
        return _done(error)

    def _delete_group(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        flag = CLEAN_OFFSET if self._storage.rules.clean_offset else REMOVE_OFFSET
        self._storage.delete_group(ext["groupName"], flag if ext.get(flag) == "true" else KEEP)
        return 0, "", {}, b""

    def _groups(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        state = self._storage.state
        table = {
            group: {"consumeEnable": group not in state.disabled, "groupName": group} for group in sorted(state.groups)
        }
        return 0, "", {}, document({"subscriptionGroupTable": table})

    def _names(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return 0, "", {}, document({"topicList": sorted(self._storage.state.topics)})

    def _clusters(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return 0, "", {}, routes.clusters(self._name, self._cluster, self.address, self._form)

    def _runtime(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        table = {"bootTimestamp": str(self._started), "brokerVersionDesc": description(self._release)}
        # of what else brokers say, that which is about offsets
        low, high = self._storage.bounds
        times = [log.times[0] for log in self._storage.state.logs.values() if log.times]
        table |= {"commitLogMinOffset": str(low), "commitLogMaxOffset": str(high)}
        table["earliestMessageTimeStamp"] = str(min(times, default=-1))
        if not self._wire.omits_version:
            table["brokerVersion"] = str(self._wire.ordinal)
        return 0, "", {}, document({"table": table})


def _config(topic: str, settings: Topic) -> dict[str, object]:
    """TopicConfig, as far as offsets and pulls go."""
    return {
        "perm": settings.perm,
        "readQueueNums": settings.read_queues,
        "topicName": topic,
        "writeQueueNums": settings.write_queues,
    }


def _done(error: Err | None) -> Answered:
    return (0, "", {}, b"") if error is None else refused(error)


@lru_cache(maxsize=256)
def _ordinary_route(
    name: str, cluster: str, address: str, queues: int, standard: bool, form: routes.RouteForm
) -> bytes:
    """The route of an ordinary topic with so many queues: routes that are set have a few different ones."""
    return routes.route(name, cluster, address, Topic.of(queues), standard, form)
