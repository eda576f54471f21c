"""Properties of brokers that cannot matter to what the kit judges, with the reason; they are never printed.

A pattern stands for the names of its kind. Each was looked up in the sources of releases: what reads it is on the way
to no answer that a suite asks for. Numbers of ``AT_LEAST`` cannot matter from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

#: Patterns of names, by the reason why such a property changes no answer that a suite asks for.
HARMLESS: Mapping[str, Sequence[str]] = {
    "who may ask: the kit's account may do everything, and a request that is refused for its account ends the run": (
        *("aclEnable", "authConfigPath", "authentication*", "authorization*", "initAuthenticationUser"),
        *("innerClientAuthenticationCredentials", "migrateAuthFromV1Enabled"),
        *("userCache*", "aclCache*", "statefulAuth*"),
    ),
    "names, addresses, ports and folders": (
        *("brokerName", "brokerClusterName", "brokerIP1", "brokerIP2", "bindAddress", "regionId"),
        *("listenPort", "haListenPort", "namesrvAddr", "haMasterAddress", "rocketmqHome"),
        *("storePath*", "msgTraceTopicName", "configBlackList", "brokerElectionPriority"),
    ),
    "threads and queues of requests: to be refused for being busy proves nothing": (
        *("*ThreadPoolNums", "*PoolQueueCapacity", "*WorkerThreads", "*SelectorThreads"),
        *("*ExecutorThreads", "*SemaphoreValue", "disableNettyWorkerGroup", "serverNettyWorkerGroupEnable"),
        *("disableCallbackExecutor", "maxAsyncPutMessageRequests"),
        *("*CorePoolSize", "*MaxPoolSize", "*ServiceQueueCapacity", "compactionThreadNum"),
        *("timerGetMessageThreadNum", "timerPutMessageThreadNum", "transactionCheckRocksdb*Threads"),
        *("transactionCheckRocksdbQueueCapacity", "topicQueueLockNum", "asyncSendEnable"),
    ),
    "sockets and buffers": (
        "useTLS",
        *("*Socket*BufSize", "*SocketBacklog", "*PooledByteBufAllocatorEnable", "writeBuffer*WaterMark"),
        *("useEpollNativeSelector", "clientCloseSocketIfTimeout", "socksProxyConfig", "connectTimeoutMillis"),
        *("clientChannelMaxIdleTimeSeconds", "channelNotActiveInterval", "maxReconnectIntervalTimeSeconds"),
        *("enableReconnectForGoAway", "transferMsgByHeap", "sharedByteBufferNum", "transientStorePoolSize"),
        "maxCheckMessageReuseBufferSize",
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
        *("estimateAccumulation", "sampleCountThreshold", "sampleSteps", "maxConsumeQueueScan"),
        *("enableLogConsumeQueueRepeatedlyBuildWhenRecover", "statRocksDBCQIntervalSec", "enableRocksDBLog"),
        *("liteLagCountMetricsEnable", "liteLagLatency*", "enableLmqStats", "consumerFallbehindThreshold"),
        *("debugLockEnable", "useStaticSubscription"),
    ),
    "when and how much is written to disk: an answer after syncFlushTimeout says that the message is stored": (
        *("flushCommitLog*", "flushConsumeQueue*", "flushInterval*", "flushDiskType", "flushLeastPages*"),
        *("flushDelayOffsetInterval", "commitIntervalCommitLog", "commitCommitLog*", "syncFlushTimeout"),
        *("wakeCommitWhenPutMessage", "wakeFlushWhenPutMessage", "useReentrantLockWhenPutMessage", "useABSLock"),
        *("spinLockCollisionRetreatOptimalDegree", "warmMapedFileEnable", "flushConsumerOffsetInterval"),
        *("consumerOffsetUpdateVersionStep", "delayOffsetUpdateVersionStep", "transactionMetricFlushInterval"),
        *("timerFlushIntervalMs", "timerWheelSnapshot*", "writeWithoutMmap", "putConsumeQueueDataByFileChannel"),
        *("osPageCacheBusyTimeOutMills", "rocksdbFlushWalFrequency", "rocksdbWalFileRollingThreshold"),
    ),
    "sizes of files, and what is done with old ones": (
        *("mappedFileSizeConsumeQueueExt", "mappedFileSizeTimerLog", "mapperFileSize*"),
        *("compaction*Size", "maxOffsetMapSize", "bitMapLengthConsumeQueueExt"),
        *("deleteWhen", "delete*FilesInterval", "deleteFileBatchMax"),
        *("destroyMapedFileIntervalForcibly", "redeleteHangedFileInterval", "cleanResourceInterval"),
        *("cleanFileForciblyEnable", "diskMaxUsedSpaceRatio", "diskSpaceWarningLevelRatio", "logicalDiskSpace*"),
        *("replicasPerDiskPartition", "cleanRocksDBDirtyCQIntervalMin", "dataReadAheadEnable"),
    ),
    "checks and speed of a start": (
        *("checkCRCOnRecover", "maxChecksumRange", "recoverConcurrently", "enableAcceleratedRecovery"),
        *("commitLogRecoverMaxNum", "shutdownWaitTimeSeconds", "enableShutdownGracefully"),
        *("correctLogicMinOffset*", "correctMinOffsetMadviseEnable", "checkCommitLogOffsetOnRecover"),
    ),
    "the index of messages by key": ("messageIndex*", "indexFile*Enable", "maxMsgsNumBatch", "defaultQueryMaxNum"),
    "replication to slaves": (
        *("haHousekeepingInterval", "haSendHeartbeatInterval", "haTransferBatchSize", "haMaxTimeSlaveNotCatchup"),
        *("haSlaveFallbehindMax", "haMaxGapNotInSync", "maxHaTransferByteInSecond", "haFlowControlEnable"),
        *("slaveTimeout", "syncBrokerMetadataPeriod", "syncBrokerMemberGroupPeriod"),
        *("syncControllerMetadataPeriod", "controllerHeartBeatTimeoutMills", "checkSyncStateSetPeriod"),
        "brokerNotActiveTimeoutMillis",
    ),
    "transactions, which no suite begins": (
        *("transaction*", "rejectTransactionMessage", "endTransaction*", "transRocksDBEnable"),
        *("transWriteOriginTransHalfEnable", "enableRegisterProducer"),
    ),
    "recalled messages, static topics and batches, which no suite has": (
        *("recallMessageEnable", "allowRecallWhenBrokerNotWriteable", "appendTopicForTimerDeleteKey"),
        *("forwardTimeout", "searchBcqByCacheEnable"),
    ),
    "reply and trace messages, which no suite sends": ("storeReplyMessageEnable", "traceTopicEnable"),
    "topics that are made for a message: those of suites name none to copy": (
        "defaultTopicQueueNums",
        "autoCreateTopicEnable",
    ),
    "pops in another store, in which no suite has them": (
        *("enablePopBufferMerge", "popConsumer*", "popRocksdb*", "popCk*"),
    ),
    "pops, of which no suite sees when, how many and in which topic they come back": (
        *("popPolling*", "popFromRetry*", "popInflight*", "popLongPolling*", "popOrderLock*", "popRevive*"),
        *("revive*", "enablePop*", "appendCkAsync", "appendAckAsync", "enableSkipLongAwaitingAck"),
        *("maxPopPollingSize", "enableRetryTopicV2", "useSeparateRetryQueue", "priorityOrderAsc"),
        *("enableNotify*Pop*", "retrieveMessageFromPopRetryTopicV1"),
        *("skipWhenCKRePutReachMaxTimes", "useMessageFilterForNotification", "maxMessageFilterNumForNotification"),
    ),
    "lite topics, which no suite has": (
        *("liteEvent*", "enableLiteEventMode", "liteSubscription*", "liteTtlCheckInterval", "minLiteTTl"),
        *("maxLiteSubscriptionCount", "maxClientEventCount"),
    ),
    "compacted topics, which no suite has": ("enableCompaction", "compactionScheduleInternal"),
    "requests about many topics or groups, which no suite sends": ("batchDelete*MaxRate",),
    "how RocksDB keeps what it is given": (
        *("*ompressionType*", "memTableFlushInterval*", "batchWriteKvCqSize", "maxRocksDBIndexQueryDays"),
        "rocksdbMaxSizeAmplificationPercent",
    ),
    "delay levels: the suite that needs some is played on brokers that the kit starts, by the kit's own": (
        "messageDelayLevel",
    ),
    "when a request that waited is refused for being busy, which proves nothing": (
        *("waitTimeMillsIn*Queue", "brokerFastFailureEnable"),
    ),
    "read by nothing": (
        *("dispatchCq*", "putMessageTimeout", "mappedFileSwapEnable", "*SwapMap*", "cleanSwapedMapInterval"),
        *("maxBatchDeleteFilesNum", "maxRecoveryCommitlogFiles", "maxSlaveResendLength", "cleanOfflineBrokerInterval"),
        *("dispatchFromSenderThread", "enableAsyncReput", "enableCleanExpiredOffset", "highSpeedMode"),
        *("putMsgIndexHightWater", "pullBatchMaxMessageCount", "maxDelayTime", "flushConsumerOffsetHistoryInterval"),
    ),
}


class Bound(NamedTuple):
    """A number that cannot matter from ``least`` on."""

    least: int
    why: str
    #: Does 0, or less, stand for never?
    off: bool = False


_MEMBERS = "for how long a broker remembers a member that is silent"
_FILES = "sizes of files: no case fills one"
#: Numbers that cannot matter where they are not too small; ``least`` is enough for every case.
AT_LEAST: Mapping[str, Bound] = {
    "serverChannelMaxIdleTimeSeconds": Bound(120, _MEMBERS, off=True),
    "channelExpiredTimeout": Bound(120_000, _MEMBERS),
    "subscriptionExpiredTimeout": Bound(120_000, _MEMBERS),
    "mapedFileSizeCommitLog": Bound(1 << 20, _FILES),
    "mappedFileSizeCommitLog": Bound(1 << 20, _FILES),
    "mapedFileSizeConsumeQueue": Bound(6000, _FILES),
    "mappedFileSizeConsumeQueue": Bound(6000, _FILES),
    "fileReservedTime": Bound(1, "hours after which a message may expire: no case takes one"),
    "diskSpaceCleanForciblyRatio": Bound(85, "how full a disk is when messages go before their time"),
    "maxMessageSize": Bound(1 << 16, "messages of suites are short"),
    "maxIndexNum": Bound(1000, "an index of so few entries is full at once, and holds up what comes after it"),
    "maxHashSlotNum": Bound(1000, "an index of so few slots is divided by them"),
}
#: Names of counts, steps and sizes, of which 0 and less make no sense: a broker divides by them, or has none of what it
#: needs. So it is with times: whatever waits for none is refused as too late, and a timer without a period does not
#: start.
COUNTS = (
    *("*Num", "*Nums", "*Step", "*Size", "*Capacity", "*Threads", "*WaterMark"),
    *("*Time[Oo]ut*", "waitTimeMills*", "*Interval*", "*Period"),
)


@cache
def why_harmless(name: str, value: str | None = None) -> str:
    """Why a property, or a value of it, cannot matter here; "" when that is not known."""
    bound = AT_LEAST.get(name)
    if bound:
        return bound.why if value is None or _is_enough(value, bound) else ""
    if value is not None and _is_nothing(value) and any(fnmatchcase(name, pattern) for pattern in COUNTS):
        return ""
    return reason_in(HARMLESS, name)


def reason_in(table: Mapping[str, Sequence[str]], name: str) -> str:
    """The reason in a table with a pattern that a name matches; "" when none does."""
    return next(
        (reason for reason, patterns in table.items() if any(fnmatchcase(name, pattern) for pattern in patterns)), ""
    )


def _is_nothing(value: str) -> bool:
    """Is it a whole number below 1?"""
    digits = value.strip().removeprefix("-")
    return digits.isdecimal() and int(value) < 1


def _is_enough(value: str, bound: Bound) -> bool:
    try:
        number = int(value)
    except ValueError:
        return False
    return number >= bound.least or (bound.off and number <= 0)
