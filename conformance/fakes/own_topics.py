"""The topics that a broker makes of its own when it starts, by release (TopicConfigManager; what 30 real ones list)."""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import READ, WRITE, Topic
from rocketmq_conformance.models.release import Release

#: Bit of the permission of a topic whose settings are taken over.
INHERIT = 1
#: The topic whose settings automatically created topics take over, and how many queues they have at most.
DEFAULT_TOPIC, DEFAULT_QUEUES = "TBW102", 8
SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
#: Queues of the topics of a cluster, and of its revived messages; and one for each delay level.
_CLUSTER_QUEUES, _REVIVE_QUEUES, _LEVELS = 16, 8, 18
_REPLIES, _SCHEDULED, _POPPED, _TIMED, _ROCKSDB = map(Release.parse, ("4.6.0", "4.7.1", "5.0.0", "5.3.1", "5.4.0"))


def own_topics(release: Release, broker: str, cluster: str, *, creates: bool) -> dict[str, Topic]:
    """The topics of a broker of this name in a cluster, with the default settings, but that it ``creates`` topics which
    messages are sent to, or not."""
    one, all_of_it = Topic.of(1), READ | WRITE | INHERIT
    found = {"SELF_TEST_TOPIC": one, "OFFSET_MOVED_EVENT": one, "BenchmarkTest": Topic.of(1024)}
    found[broker] = Topic(1, 1, all_of_it)
    found[cluster] = Topic(_CLUSTER_QUEUES, _CLUSTER_QUEUES, all_of_it)
    if creates:
        found[DEFAULT_TOPIC] = Topic(DEFAULT_QUEUES, DEFAULT_QUEUES, all_of_it)
    if release >= _REPLIES:
        found[f"{cluster}_REPLY_TOPIC"] = one
    if release >= _SCHEDULED:
        found[SCHEDULE_TOPIC] = Topic.of(_LEVELS)
    if release >= _POPPED:
        found[f"rmq_sys_REVIVE_LOG_{cluster}"] = Topic.of(_REVIVE_QUEUES)
        found[f"rmq_sys_SYNC_BROKER_MEMBER_{broker}"] = Topic(1, 1, INHERIT)
        found |= dict.fromkeys(("RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"), one)
    if release >= _TIMED:
        found["rmq_sys_wheel_timer"] = one
    if release >= _ROCKSDB:
        found |= dict.fromkeys(("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"), one)
    return found
