"""Names of topics and groups of RocketMQ's own, and what a broker and its cluster are called."""

from __future__ import annotations

from typing import NamedTuple

#: What names of RocketMQ's own topics begin with, and the topic that new topics are copied from.
SYSTEM_TOPIC, DEFAULT_TOPIC = "rmq_sys_", "TBW102"
#: The topics of messages that wait at a delay level, and for their time.
SCHEDULE_TOPIC, TIMER_TOPIC = "SCHEDULE_TOPIC_XXXX", f"{SYSTEM_TOPIC}wheel_timer"
SELF_TEST, MOVED, BENCHMARK = "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "BenchmarkTest"
#: Topics of transactions: in every broker, in brokers with RocksDB.
HALF, HALF_OP = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"
ROCKS = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
#: Of messages that were checked too often; of brokers that keep offsets in RocksDB.
MAX_TIME, CHECKPOINT = "TRANS_CHECK_MAX_TIME_TOPIC", "CHECKPOINT_TOPIC"
#: Groups that every broker has (MixAll, SubscriptionGroupManager#init @ 4.0.0, 4.9.7, 5.5.0), and one from 5.0.0.
GROUPS = (
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_PULL",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "TOOLS_CONSUMER",
)
TRANSACTION_GROUP = "CID_RMQ_SYS_TRANS"


class OwnNames(NamedTuple):
    """What a broker and its cluster are called; topics have these names, too."""

    broker: str = ""
    cluster: str = ""

    @property
    def replies(self) -> str:
        """The topic of replies to clients of the cluster."""
        return f"{self.cluster}_REPLY_TOPIC"

    @property
    def all(self) -> tuple[str, str, str]:
        """The topics that are called after them."""
        return self.broker, self.cluster, self.replies
