"""Properties of brokers that cannot matter to what the kit judges, with the reason; they are never printed.

A pattern stands for the names of its kind. What is neither here nor modelled is *unclassified*: beside such a property
that is off its default, a divergence decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

#: Patterns of names, by the reason why such a property changes no answer that a suite asks for.
HARMLESS: Mapping[str, Sequence[str]] = {
    "who may ask: the kit's account may do everything, and a request that is refused for its account ends the run": (
        *("aclEnable", "authConfigPath", "authentication*", "authorization*", "initAuthenticationUser"),
        *("innerClientAuthenticationCredentials", "migrateAuthFromV1Enabled"),
        *("userCache*", "aclCache*", "statefulAuth*"),
    ),
    "names, addresses, ports and folders": (
        *("brokerName", "brokerClusterName", "brokerId", "brokerIP1", "brokerIP2", "bindAddress", "regionId"),
        *("listenPort", "haListenPort", "namesrvAddr", "haMasterAddress", "rocketmqHome"),
        *("storePath*", "msgTraceTopicName", "configBlackList", "brokerElectionPriority"),
    ),
    "threads and queues of requests": (
        *("*ThreadPoolNums", "*ThreadPoolQueueCapacity", "*PoolQueueCapacity", "*WorkerThreads", "*SelectorThreads"),
        *("*ExecutorThreads", "*SemaphoreValue", "disableNettyWorkerGroup", "serverNettyWorkerGroupEnable"),
        *("disableCallbackExecutor", "enableFastChannelEventProcess", "maxAsyncPutMessageRequests"),
        *("*CorePoolSize", "*MaxPoolSize", "*ServiceQueueCapacity", "compactionThreadNum", "dispatchCq*"),
        *("timerGetMessageThreadNum", "timerPutMessageThreadNum", "transactionCheckRocksdb*Threads"),
        *("transactionCheckRocksdbQueueCapacity", "topicQueueLockNum", "asyncSendEnable"),
    ),
    "sockets and buffers": (
        "useTLS",
        *("*Socket*BufSize", "*SocketBacklog", "*PooledByteBufAllocatorEnable", "writeBuffer*WaterMark"),
        *("useEpollNativeSelector", "clientCloseSocketIfTimeout", "socksProxyConfig", "connectTimeoutMillis"),
        *("*ChannelMaxIdleTimeSeconds", "channelNotActiveInterval", "maxReconnectIntervalTimeSeconds"),
        *("enableReconnectForGoAway", "transferMsgByHeap", "sharedByteBufferNum", "transientStorePoolSize"),
        "isScanAvailableNameSrv",
    ),
    "talk with name servers": (
        *("registerBrokerTimeoutMills", "registerNameServerPeriod", "forceRegister", "compressedRegister"),
        *("fetchNamesrvAddrByAddressServer", "fetchNameSrvAddrByDnsLookup", "fetchNamesrvAddrInterval"),
        *("updateNameServerAddrPeriod", "compatibleWithOldNameSrv", "enableSingleTopicRegister"),
        *("enableSplitRegistration", "splitRegistrationSize", "enableSplitMetadata", "splitMetadataSize"),
        *("loadBalancePollNameServerInterval", "brokerHeartbeatInterval", "sendHeartbeatTimeoutMillis"),
    ),
    "statistics, metrics and logs": (
        *("metric*", "*Metrics", "metricsInDelta", "accountStats*", "commercial*", "enableDetailStat"),
        *("enableScheduleMessageStats", "autoDeleteUnusedStats", "maxStatsIdleTimeInMinutes", "traceOn"),
        *("printChannelGroups*", "isolateLogEnable", "enablePopLog", "enableLitePopLog", "popConsumerKVServiceLog"),
        *("timerProgressLogIntervalMs", "timerCheckMetricsWhen", "timerMetricSmallThreshold", "diskFallRecorded"),
        *("flushConsumerOffsetHistoryInterval", "estimateAccumulation", "sampleCountThreshold", "sampleSteps"),
        *("enableLogConsumeQueueRepeatedlyBuildWhenRecover", "statRocksDBCQIntervalSec", "enableRocksDBLog"),
        *("liteLagCountMetricsEnable", "liteLagLatency*", "enableLmqStats", "consumerFallbehindThreshold"),
        "debugLockEnable",
    ),
    "when and how much is written to disk": (
        *("flushCommitLog*", "flushConsumeQueue*", "flushInterval*", "flushDiskType", "flushLeastPages*"),
        *("flushDelayOffsetInterval", "commitIntervalCommitLog", "commitCommitLog*", "syncFlushTimeout"),
        *("wakeCommitWhenPutMessage", "wakeFlushWhenPutMessage", "useReentrantLockWhenPutMessage", "useABSLock"),
        *(
            "spinLockCollisionRetreatOptimalDegree",
            "putMessageTimeout",
            "warmMapedFileEnable",
            "flushConsumerOffsetInterval",
        ),
        *("consumerOffsetUpdateVersionStep", "delayOffsetUpdateVersionStep", "transactionMetricFlushInterval"),
        *("timerFlushIntervalMs", "timerWheelSnapshot*", "writeWithoutMmap", "putConsumeQueueDataByFileChannel"),
        *("osPageCacheBusyTimeOutMills", "rocksdbFlushWalFrequency", "rocksdbWalFileRollingThreshold"),
    ),
    "sizes of files, and what is done with old ones": (
        *("mapedFileSize*", "mappedFileSize*", "mapperFileSize*"),
        *("compaction*Size", "maxOffsetMapSize", "maxHashSlotNum", "maxIndexNum", "bitMapLengthConsumeQueueExt"),
        *("fileReservedTime", "deleteWhen", "delete*FilesInterval", "deleteFileBatchMax", "maxBatchDeleteFilesNum"),
        *("destroyMapedFileIntervalForcibly", "redeleteHangedFileInterval", "cleanResourceInterval"),
        *("cleanFileForciblyEnable", "diskMaxUsedSpaceRatio", "diskSpace*Ratio", "logicalDiskSpace*"),
        *("replicasPerDiskPartition", "cleanRocksDBDirtyCQIntervalMin", "mappedFileSwapEnable", "*SwapMap*"),
    ),
    "checks and speed of a start": (
        *("checkCRCOnRecover", "maxChecksumRange", "recoverConcurrently", "enableAcceleratedRecovery"),
        *("commitLogRecoverMaxNum", "maxRecoveryCommitlogFiles", "shutdownWaitTimeSeconds", "enableShutdownGracefully"),
        *("correctLogicMinOffset*", "checkCommitLogOffsetOnRecover"),
    ),
    "the index of messages by key": ("messageIndex*", "indexFile*Enable", "maxMsgsNumBatch", "defaultQueryMaxNum"),
    "replication to slaves": (
        *("haHousekeepingInterval", "haSendHeartbeatInterval", "haTransferBatchSize", "haMaxTimeSlaveNotCatchup"),
        *("haSlaveFallbehindMax", "haMaxGapNotInSync", "maxHaTransferByteInSecond", "haFlowControlEnable"),
        *("maxSlaveResendLength", "slaveTimeout", "syncBrokerMetadataPeriod", "syncBrokerMemberGroupPeriod"),
        *("syncControllerMetadataPeriod", "controllerHeartBeatTimeoutMills", "checkSyncStateSetPeriod"),
        *("brokerNotActiveTimeoutMillis", "cleanOfflineBrokerInterval"),
    ),
    "transactions, which no suite begins": ("transaction*", "rejectTransactionMessage", "endTransaction*"),
    "reply and trace messages, which no suite sends": ("storeReplyMessageEnable", "traceTopicEnable"),
    "topics that are made for a message: those of suites name none to copy": (
        "defaultTopicQueueNums",
        "autoCreateTopicEnable",
    ),
    "pop consumers, which no suite has": (
        *("pop*", "revive*", "enablePop*", "append?kAsync", "enableSkipLongAwaitingAck", "maxPopPollingSize"),
        *("enableNotify*Pop*", "initPopOffsetByCheckMsgInMem", "retrieveMessageFromPopRetryTopicV1"),
        "skipWhenCKRePutReachMaxTimes",
    ),
    "lite topics, which no suite has": (
        *("liteEvent*", "enableLiteEventMode", "liteSubscription*", "liteTtlCheckInterval", "minLiteTTl"),
        *("maxLiteSubscriptionCount", "maxClientEventCount"),
    ),
    "compacted topics, which no suite has": ("enableCompaction", "compactionScheduleInternal"),
    "how RocksDB keeps what it is given": (
        *("*ompressionType*", "memTableFlushInterval*", "batchWriteKvCqSize", "realTimePersistRocksDBConfig"),
        "maxRocksDBIndexQueryDays",
    ),
    "delay levels: the suite that needs some is played on brokers that the kit starts": ("messageDelayLevel",),
    "waits of no rule": (
        *("waitTimeMillsIn*Queue", "brokerFastFailureEnable", "channelExpiredTimeout", "subscriptionExpiredTimeout"),
    ),
}


@cache
def why_harmless(name: str) -> str:
    """Why a property cannot matter here; "" when that is not known."""
    for reason, patterns in HARMLESS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return ""
