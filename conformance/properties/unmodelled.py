"""Properties of brokers that may change an answer, and whose values no model has: what each is about.

Beside one of them that is off its default, a difference decides nothing. A name that no release had when the lists were
made is unclassified as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Names, and patterns of names, by what they are about.
UNMODELLED: Mapping[str, Sequence[str]] = {
    "a master or a slave, alone or one of several": (
        *("brokerId", "brokerRole", "enableDLegerCommitLog", "dLeger*", "preferredLeaderId", "*nableBatchPush"),
        *("enableControllerMode", "controllerAddr", "fetchControllerAddrByDnsLookup"),
        *("enableRemoteEscape", "duplicationEnable", "allAckInSyncStateSet", "enableAutoInSyncReplicas"),
        *("inSyncReplicas", "minInSyncReplicas", "totalReplicas", "asyncLearner", "syncFromLastFile"),
        *("syncMasterFlushOffsetWhenStartup", "skipPreOnline"),
        *("isBrokerContainer", "isInBrokerContainer", "readUnCommitted"),
    ),
    "which messages are taken, and when": (
        *("startAcceptSendRequestTimeStamp", "disappearTimeAfterStart", "maxTopicLength", "messageStorePlugIn"),
        *("transientStorePoolEnable", "fastFailIfNoBufferInStorePool", "enabledAppendPropCRC", "forceVerifyPropCRC"),
        *("autoMessageVersionOnTopicLen", "enableRunningFlagsInFlush", "readOnlyCommitLogStorePaths"),
    ),
    "how queues, topics, groups and offsets are kept": (
        *("enableConsumeQueueExt", "enableBuildConsumeQueueConcurrently", "recheckReputOffsetFromCq"),
        *("combineAssignOffsetCQType", "combineCQ*", "rocksdbCQ*DoubleWriteEnable", "indexRocksDBEnable"),
        *("iteratorWhenUseRocksdbConsumeQueue", "useSeparateStorePathForRocksdbCQ", "useSingleRocksDBForAllConfigs"),
        *("realTimePersistRocksDBConfig", "persistConsumerOffsetIncrementally", "transfer*JsonToRocksdb"),
        *("enableMultiDispatch", "maxLmqConsumeQueueNum", "enableLmqQuota"),
    ),
    "how many messages a pull finds": (
        *("maxTransfer*OnMessageIn*", "travelCqFileNumWhenGetMessage", "accessMessageInMemoryHotRatio"),
        *("coldData*", "coldCtrStrategyEnable", "usePIDColdCtrStrategy", "*ColdReadThreshold"),
        *("timerColdDataCheckIntervalMs", "disableConsumeIfConsumerReadSlowly", "enableNetWorkFlowControl"),
        "litePullMessageEnable",
    ),
    "which messages pass a filter": (
        *("expectConsumerNumUseFilter", "maxErrorRateOfBloomFilter"),
        *("filterDataCleanTimeSpan", "filterServerNums", "maxFilterMessageSize"),
    ),
    "members of groups, and what they are notified of": (
        *("notifyConsumerIdsChangedEnable", "realTimeNotifyConsumerChange", "rejectPullConsumerEnable"),
        "broadcastOffsetExpire*",
    ),
    "topics and groups that are there, or may be changed": (
        *("brokerTopicEnable", "clusterTopicEnable", "enableCreateSysGroup"),
        *("enableMixedMessageType", "enableTransparentRetry"),
    ),
    "messages that come later": (
        *("enableScheduleAsyncDeliver", "scheduleAsyncDeliver*", "timerCongestNumEachSlot", "timerEnableDisruptor"),
        *("timerEnableRetryUntilSuccess", "timerInterceptDelayLevel", "timerMaxDelaySec", "timerPrecisionMs"),
        *("timerRecall*", "timerRocksDB*", "timerRollWindowSlot", "timerSkipUnknownError", "timerStop*"),
        "timerWarmEnable",
    ),
}
