"""Methods that requests pass on their way to an answer, and that decide none which a suite asks for: with the reason.

A pattern stands for methods as ``Class#method``; what they call is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

from rocketmq_conformance.conformance.provenance.named import Named

#: Patterns of methods, by the reason why no rule names them.
EXCUSED: Mapping[str, Sequence[str]] = {
    "logs, statistics, metrics and hooks": (
        *("*Metrics*#*", "*Stats*#*", "*Counter#*", "RemotingHelper#*", "*#*Hook*", "*#toString"),
        *("*Exception#<init>", "AbstractSendMessageProcessor#buildMsgContext", "FAQUrl#*"),
    ),
    "the bytes of requests, responses and messages, which the rules WIRE-* and RUN-* name themselves": (
        *("RemotingCommand*#*", "*Header*#*", "RemotingSerializable#*", "*Body#*", "MessageExtEncoder#*"),
        *("MessageDecoder#*", "MessageClientIDSetter#*", "MessageClientExt#*", "MessageExt#*"),
        *("MessageUtils#*",),
    ),
    "connections: the broker's own calls, and how responses are written": (
        *("NettyRemoting*#*", "NetworkUtil#*", "BrokerOuterAPI#*", "ManyMessageTransfer#*", "*Transfer#*"),
    ),
    "registration with name servers, which answers no request": (
        *("BrokerController#*egister*", "BrokerController#get*", "*#registerBrokerData"),
        *("BrokerController#peekMasterBroker",),
    ),
    "queues or tables in RocksDB, which nothing but storeType and configManagerVersion turn on": (
        *("*RocksDB*#*", "*V2#*", "Rocks*#*", "CombineConsumeQueueStore#*", "AbstractPluginMessageStore#*"),
    ),
    "kinds of queues that no suite has: batches, compacted topics, static topics": (
        *("BatchConsumeQueue*#*", "Compaction*#*", "CleanupPolicyUtils#*", "Rpc*#*"),
        *("*#rewrite*ForStaticTopic", "*ForStaticTopic", "*QueueMapping*#*"),
    ),
    "pops: what the rules POP-* do not name, such as orders, waiting and other stores": ("Pop*#*",),
    "kinds of messages and topics that no suite has: lite, transactions, priorities, attributes": (
        *("QueueLevel*#*", "Transactional*#*", "Attribute*#*", "*Lite*Manager*#*"),
        *("ReplyMessageProcessor#*", "SendMessageProcessor#sendBatchMessage"),
        *("SendMessageProcessor#attachRecallHandle",),
    ),
    "replication and slaves": ("*HA*#*", "DLedger*#*"),
    "off unless it is configured: cold data, offsets of broadcasts, files beside consume queues": (
        *("ColdData*#*", "CommitLog.ColdData*#*", "Broadcast*#*", "ConsumeQueueExt*#*"),
    ),
    "how files are made, mapped, locked and written": (
        *("AllocateMappedFileService*#*", "DefaultMappedFile#*", "PutMessage*Lock#*", "AdaptiveBackOff*#*"),
        *("BackOff*#*", "TopicQueueLock#*", "MultiPathMappedFileQueue#*", "CommitLog.DefaultFlushManager#*"),
        *("CommitLog.GroupCommit*#*", "WaitNotifyObject#*", "*#configFilePath", "*PathConfigHelper#*"),
        *("UtilAll#*Dir*", "UtilAll#offset2FileName", "UtilAll#getDiskPartitionSpaceUsedPercent"),
        *("MixAll#fsyncDirectory", "CommitLog#setFileReadMode", "CommitLog#isCloseReadAhead"),
    ),
    "the parser of expressions, as a generator made it; the rules BQ-SQL-* name what it makes of them": (
        *("SelectorParser*#*", "BitsArray#*", "BloomFilter*#*"),
    ),
    "the choice by the code of a request, which WIRE-ERR-2 is about": (
        *("ClientManageProcessor#processRequest", "QueryAssignmentProcessor#processRequest"),
    ),
    "producers, which no rule is about": ("ProducerManager#*",),
    "what tables are asked for as a whole, to look at a broker": ("AdminBrokerProcessor#getAll*",),
    "numbers and texts": (
        *("UtilAll#crc32", "UtilAll#timeMillisToHumanString*", "Pair#*", "UtilAll#isBlank", "SystemClock#*"),
        *("ConcurrentHashMapUtils#*",),
    ),
}


@cache
def why_excused(named: Named) -> str:
    """Why no rule names a method; "" when nothing excuses that."""
    text = str(named)
    for why, patterns in EXCUSED.items():
        if any(fnmatchcase(text, pattern) for pattern in patterns):
            return why
    return ""
