"""Administration: topics, groups, routes, and what the broker says of itself (BQ-TOPIC-*, BQ-GROUP-*, WIRE-ROUTE-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.fakes import routes
from rocketmq_conformance.conformance.fakes.responses import Answering, document, done
from rocketmq_conformance.conformance.fakes.storage import DEFAULT_TOPIC, Storage
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.wire import WireRules, description
from rocketmq_conformance.models.profile import Profile


class Administration:
    """Topics and groups of one broker, and the name server's view of it.

    The name server is never behind: a topic's route is there as soon as the topic is, and gone with it.
    """

    def __init__(
        self, profile: Profile, storage: Storage, name: str, cluster: str, address: Callable[[], str], started: int
    ) -> None:
        self._release = profile.broker
        self._wire = WireRules.of(profile)
        self._storage = storage
        self._name, self._cluster = name, cluster
        self._address = address
        self._started = started

    def handlers(self) -> Mapping[int, Answering]:
        """What it answers, by request code."""
        return {
            Request.UPDATE_AND_CREATE_TOPIC: self._create_topic,
            Request.DELETE_TOPIC_IN_BROKER: self._delete_topic,
            Request.DELETE_TOPIC_IN_NAMESRV: done,
            Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: self._create_group,
            Request.DELETE_SUBSCRIPTIONGROUP: self._delete_group,
            Request.GET_ROUTEINFO_BY_TOPIC: self._route,
            Request.GET_BROKER_CLUSTER_INFO: self._clusters,
            Request.GET_BROKER_RUNTIME_INFO: self._runtime,
        }

    def _create_topic(self, peer: Peer, request: Command) -> Command:
        topic, queues = request.ext["topic"], int(request.ext["readQueueNums"])
        if not topic.strip():
            code = Response.INVALID_PARAMETER if self._storage.rules.invalid_parameter else Response.SYSTEM_ERROR
            return Command(int(code), remark="The specified topic is blank.")
        self._storage.create_topic(topic, queues)
        return Command(0)

    def _delete_topic(self, peer: Peer, request: Command) -> Command:
        self._storage.delete_topic(request.ext["topic"])
        return Command(0)

    def _create_group(self, peer: Peer, request: Command) -> Command:
        self._storage.create_group(str(java_json.loads(request.body.decode())["groupName"]))
        return Command(0)

    def _delete_group(self, peer: Peer, request: Command) -> Command:
        flag = CLEAN_OFFSET if self._storage.rules.clean_offset else REMOVE_OFFSET
        self._storage.delete_group(request.ext["groupName"], flag if request.ext.get(flag) == "true" else KEEP)
        return Command(0)

    def _route(self, peer: Peer, request: Command) -> Command:
        topic = request.ext["topic"]
        queues = self._storage.state.topics.get(topic)
        if queues is None:
            remark = f"No topic route info in name server for the topic: {topic}"
            return Command(int(Response.TOPIC_NOT_EXIST), remark=remark)
        standard = self._wire.standard(request.version, request.ext.get("acceptStandardJsonOnly") == "true")
        perm = routes.READ_WRITE | (routes.INHERIT if topic == DEFAULT_TOPIC else 0)
        return Command(0, body=routes.route(self._name, self._cluster, self._address(), queues, perm, standard))

    def _clusters(self, peer: Peer, request: Command) -> Command:
        return Command(0, body=routes.clusters(self._name, self._cluster, self._address()))

    def _runtime(self, peer: Peer, request: Command) -> Command:
        table = {"bootTimestamp": str(self._started), "brokerVersionDesc": description(self._release)}
        if not self._wire.version_number_gone:
            table["brokerVersion"] = str(self._wire.ordinal)
        return Command(0, body=document({"table": table}))
