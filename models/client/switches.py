"""The changes in Java clients' behaviour, by release (``list switches`` shows them)."""

from __future__ import annotations

from rocketmq_conformance.models.release import Switch

NOT_FOUND_ONLY = Switch(
    "S14",
    'An offset query answered by anything but "not found" is an error now, no longer "no offset"; a queue that is '
    "missing reads -3",
    v5="5.0.0-ALPHA",
    rules=("OFF-R-READ-ERROR",),
    source="RemoteBrokerOffsetStore#readOffset, MQClientAPIImpl#queryConsumerOffset",
)
ASKS_NO_ZERO = Switch(
    "S17",
    "The client asks the broker not to answer 0 for a group without an offset",
    v5="5.0.0",
    until_v5="5.1.0",
    rules=("OFF-R-FETCH",),
    source="RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker",
)
FILE_MERGES = Switch(
    "S19",
    "The local store merges with its file, and can commit one queue and remove it",
    v4="4.9.8",
    v5="5.2.0",
    rules=("OFF-L-P", "OFF-L-PALL", "OFF-L-REM"),
    source="LocalFileOffsetStore#persist, #persistAll, #removeOffset",
)
FILE_INTS = Switch(
    "L01",
    "The local store reads no offset above 32 bits from its file (the JSON library changed)",
    v5="5.4.0",
    until_v5="5.5.0",
    rules=("OFF-L-INT",),
    source="OffsetSerializeWrapper#fromJson",
)
FREEZES = Switch(
    "S22",
    "An offset can be frozen, so that late results do not move it",
    v5="5.2.0",
    rules=("OFF-FRZ-1",),
    source="ControllableOffset#update, #updateAndFreeze",
)
CHECKED_START = Switch(
    "S06",
    "A failure to find the start position of a push consumer is an exception, not -1",
    v4="4.9.0",
    v5="5.0.0-PREVIEW",
    rules=("START-CHECKED",),
    source="RebalancePushImpl#computePullFromWhereWithException",
)
COMPRESSION_TYPES = Switch(
    "L03",
    "Messages say how their bodies are compressed; until then every one counts as zlib's",
    v4="4.9.4",
    v5="5.0.0",
    rules=("WHOLE-MSG-TYPE",),
    source="MessageDecoder#decode",
)
INNER_BATCHES = Switch(
    "L04",
    "A message that is a batch is taken apart",
    v5="5.0.0",
    rules=("WHOLE-MSG-BATCH",),
    source="PullAPIWrapper#processPullResult",
)
LONG_HOSTS = Switch(
    "L05",
    "Messages may have hosts with addresses of 16 bytes",
    v4="4.6.0",
    v5="5.0.0-PREVIEW",
    rules=("WHOLE-MSG-HOSTS",),
    source="MessageDecoder#decode",
)
LONG_NAMES = Switch(
    "L06",
    "Messages may be stored with a topic name of more than 127 bytes",
    v5="5.1.0",
    rules=("WHOLE-MSG-NAME",),
    source="MessageDecoder#decode, MessageVersion#getTopicLength",
)
LOCKS_TWICE = Switch(
    "L02",
    "An orderly consumer asks twice to lock its queues again: its service for popped messages has a timer, too, "
    "although it pops nothing",
    v5="5.0.0-PREVIEW",
    rules=("TIMER-LOCK",),
    source="DefaultMQPushConsumerImpl#start, ConsumeMessagePopOrderlyService#start",
)
LITE_PULL = Switch(
    "S29",
    "Lite pull consumers exist",
    v4="4.6.0",
    v5="5.0.0-PREVIEW",
    rules=("START-LITE-0",),
    source="DefaultLitePullConsumerImpl",
)
LITE_STARTS = Switch(
    "S29",
    "A lite pull consumer looks for its start position; before it started at 0",
    v4="4.6.1",
    v5="5.0.0-PREVIEW",
    rules=("START-LITE-1",),
    source="RebalanceLitePullImpl#computePullFromWhere",
)
LITE_MAX_THROWS = Switch(
    "S06",
    "A lite pull consumer reports that the question for max failed",
    v4="4.9.1",
    v5="5.0.0-ALPHA",
    rules=("START-LITE-MAX",),
    source="RebalanceLitePullImpl#computePullFromWhereWithException",
)
UNKNOWN_THROWS = Switch(
    "S15",
    "A start position throws when the stored offset cannot be read",
    v5="5.0.0-ALPHA",
    rules=("START-PUSH-ERROR",),
    source="RebalancePushImpl#computePullFromWhereWithException",
)
ROOM_FILTERED = Switch(
    "S01",
    "MACHINE_ROOM takes its block from the queues of the allowed rooms",
    v4="4.8.0",
    v5="5.0.0-PREVIEW",
    rules=("ALLOC-ROOM-1",),
    source="AllocateMessageQueueByMachineRoom#allocate",
)
ROOM_CHECKED = Switch(
    "S02",
    "MACHINE_ROOM checks its arguments; a blank own id is refused",
    v4="4.9.3",
    v5="5.0.0-ALPHA",
    rules=("ALLOC-ROOM-1-CHECK",),
    source="AllocateMessageQueueByMachineRoom#allocate",
)
ROOM_CHECK_SHARED = Switch(
    "S02",
    "MACHINE_ROOM checks its arguments like every other strategy; a blank own id is an id",
    v4="4.9.4",
    v5="5.0.0",
    rules=("ALLOC-ROOM-1-CHECK",),
    source="AbstractAllocateMessageQueueStrategy#check",
)
REPORTS_BALANCE = Switch(
    "S08",
    "A rebalance says whether it is balanced, that is, whether the member has all that is its share",
    v5="5.0.0-PREVIEW",
    rules=("REB-RET-1",),
    source="RebalanceImpl#doRebalance",
)
BALANCES_ALL = Switch(
    "S10",
    "A rebalance is balanced only if every topic is; before, the last topic decided",
    v5="5.2.0",
    rules=("REB-RET-1",),
    source="RebalanceImpl#doRebalance, #rebalanceByTopic",
)
NOTHING_IS_UNKNOWN = Switch(
    "R01",
    "No queues, or an empty member list, count as unknown, and nothing is changed",
    v5="5.5.0",
    rules=("REB-CLU-3", "REB-CLU-ROUTE"),
    source="RebalanceImpl#rebalanceByTopic",
)
BORN_LOCKED = Switch(
    "S07",
    "A process queue that was just added with a lock counts as locked",
    v4="4.9.5",
    v5="5.0.0-PREVIEW",
    rules=("REB-ADD-BORN",),
    source="RebalanceImpl#updateProcessQueueTableInRebalance",
)
REQUESTS_ROUND = Switch(
    "S07",
    "A round that was refused a lock asks for another round, a second later",
    v5="5.0.0-PREVIEW",
    rules=("REB-ADD-LOCK",),
    source="RebalanceImpl#updateProcessQueueTableInRebalance",
)
BROADCASTS_UNLOCKED = Switch(
    "S11",
    "A member of a broadcasting group locks nothing",
    v5="5.3.2",
    rules=("REB-BC-LOCK",),
    source="RebalanceImpl#rebalanceByTopic",
)
SKIPS_DROPPED = Switch(
    "S12",
    "Queues that were dropped are not locked again, and not unlocked at shutdown",
    v5="5.0.0-PREVIEW",
    rules=("REB-LOCK-3", "REB-LOCK-4"),
    source="RebalanceImpl#lockAll, #unlockAll",
)
UNLOCKS_IDLE = Switch(
    "S13",
    "A lost ordered queue is unlocked when no listener holds it, or by force",
    v5="5.2.0",
    rules=("REB-REM-3",),
    source="RebalancePushImpl#tryRemoveOrderMessageQueue",
)
HASHES = Switch(
    "S03",
    "CONSISTENT_HASH exists",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("ALLOC-CH-1",),
    source="AllocateMessageQueueConsistentHash#allocate",
)
COUNTS_BYTES = Switch(
    "C01",
    "A process queue counts the bytes of its messages",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("PQ-SIZE", "PQ-BODY"),
    source="ProcessQueue#putMessage, #removeMessage",
)
RESETS_BYTES = Switch(
    "S38",
    "The byte count of an empty process queue is set to 0",
    v4="4.9.8",
    v5="5.2.0",
    rules=("PQ-SIZE",),
    source="ProcessQueue#removeMessage, #commit",
)
ALLOWS_NO_BODY = Switch(
    "C02", "A message without a body counts 0 bytes", v5="5.3.2", rules=("PQ-BODY",), source="ProcessQueue#putMessage"
)
SKIPS_UNCACHED = Switch(
    "S23",
    "A message that is no longer cached is not sent back",
    v5="5.1.0",
    rules=("CONS-1-GONE",),
    source="ConsumeMessageConcurrentlyService#processConsumeResult",
)
CLEANS_COUNTED = Switch(
    "S25",
    "A message that timed out is taken off the count",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("PQ-4-COUNT",),
    source="ProcessQueue#cleanExpiredMsg",
)
CLEANS_GUARDED = Switch(
    "S25",
    "A message without a start time does not stop the cleaning",
    v4="4.9.3",
    v5="5.0.0-ALPHA",
    rules=("PQ-4-BEGUN",),
    source="ProcessQueue#cleanExpiredMsg",
)
COPIES_ORIGIN = Switch(
    "C03",
    "A copy that is sent back names the message it is a copy of",
    v5="5.4.0",
    rules=("CONS-BACK-ORIGIN",),
    source="DefaultMQPushConsumerImpl#sendMessageBackAsNormalMessage",
)
ORDERLY_ORIGIN = Switch(
    "C04",
    "The copy that an orderly listener makes names the message it is a copy of",
    v4="4.9.4",
    v5="5.0.0",
    rules=("CONS-2-COPY",),
    source="ConsumeMessageOrderlyService#sendMessageBack",
)
ORDERLY_TIMES = Switch(
    "C05",
    "The copy that an orderly listener makes counts one try more",
    v5="5.1.1",
    rules=("CONS-2-COPY",),
    source="ConsumeMessageOrderlyService#sendMessageBack",
)
ORDERLY_TOPIC = Switch(
    "C06",
    "An orderly listener sees the topic a message was first sent to",
    v4="4.5.1",
    v5="5.0.0-PREVIEW",
    rules=("CONS-2",),
    source="ConsumeMessageOrderlyService.ConsumeRequest#run",
)
ASSIGNED = Switch(
    "S09",
    "A push consumer can leave its assignment to the broker",
    v5="5.0.0-PREVIEW",
    rules=("REB-BRK-1",),
    source="RebalanceImpl#getRebalanceResultFromBroker",
)
PROBES = Switch(
    "S09",
    "The client asks first whether the broker assigns at all",
    v5="5.0.0-PREVIEW",
    until_v5="5.3.2",
    rules=("REB-BRK-PROBE",),
    source="RebalanceImpl#tryQueryAssignment",
)
POPS_BORN = Switch(
    "S09",
    "A pop queue that was just added is not expired",
    v5="5.2.0",
    rules=("REB-BRK-POP",),
    source="PopProcessQueue#isPullExpired",
)
PROBES_ONCE = Switch(
    "S09",
    "An error of that question leaves the topic to the client until it ends",
    v5="5.0.0",
    until_v5="5.3.2",
    rules=("REB-BRK-PROBE",),
    source="RebalanceImpl#tryQueryAssignment",
)
NEARBY = Switch(
    "S04",
    "MACHINE_ROOM_NEARBY exists",
    v4="4.3.0",
    v5="5.0.0-PREVIEW",
    rules=("ALLOC-NEAR-1",),
    source="AllocateMachineRoomNearby#allocate",
)

CORRECTS_AT_ONCE = Switch(
    "S21",
    "An illegal offset is corrected at once; before, after 10 s",
    v5="5.2.0",
    rules=("PULL-ILL-1",),
    source="DefaultMQPushConsumerImpl.PullCallback#onSuccess",
)
FLOW_CONTROLLED = Switch(
    "S24",
    "After a broker's flow control the next pull waits 20 ms",
    v4="4.9.5",
    v5="5.1.0",
    rules=("PULL-RES-1",),
    source="DefaultMQPushConsumerImpl.PullCallback#onException",
)
RETRIES_SOONER = Switch(
    "P01",
    "A failed pull waits 1 s; before, 3 s",
    v4="4.6.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-PRE-1",),
    source="ClientConfig#pullTimeDelayMillsWhenException, DefaultMQPushConsumerImpl#pullMessage",
)
NEXT_SLAVE = Switch(
    "P02",
    "A slave that is not known is replaced by the next one",
    v4="4.8.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-NODE-1",),
    source="MQClientInstance#findBrokerAddressInSubscribe",
)
SELECTS = Switch(
    "P03",
    "Subscriptions can be SQL92 expressions",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-SUB-2",),
    source="FilterAPI#build",
)
NAMES_TAGS = Switch(
    "P05",
    "A pull says that its expression is one of tags",
    v4="4.3.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-SUB-3",),
    source="FilterAPI#buildSubscriptionData",
)
WEIGHS = Switch(
    "P04",
    "The size of cached messages holds pulls up",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-PRE-1",),
    source="DefaultMQPushConsumerImpl#pullMessage",
)
NOTIFIES_OF_UNKNOWN = Switch(
    "V01",
    "The listener of a rebalance is called for a topic whose queues are unknown",
    v5="5.0.0-PREVIEW",
    rules=("REB-MQC-UNKNOWN",),
    source="RebalanceImpl#rebalanceByTopic",
)
LITE_COMMITS_LATER = Switch(
    "V02",
    "A lite pull consumer's commit waits for the timer",
    v4="4.6.1",
    v5="5.0.0-PREVIEW",
    rules=("LITE-COMMIT",),
    source="DefaultLitePullConsumerImpl#commitAll",
)
LITE_KEEPS_OTHERS = Switch(
    "V03",
    "A commit of a broadcasting lite pull consumer leaves its file alone",
    v4="4.9.4",
    v5="5.0.0",
    rules=("LITE-COMMIT-BC",),
    source="DefaultLitePullConsumerImpl#commitAll",
)
ANNOUNCES_CHANGES = Switch(
    "M01",
    "Changed queues give a subscription a new version",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("REB-MQC-VERSION",),
    source="RebalancePushImpl#messageQueueChanged",
)
DIVIDES_THRESHOLDS = Switch(
    "M02",
    "Thresholds of a topic are divided among its queues",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("REB-MQC-SHARE",),
    source="RebalancePushImpl#messageQueueChanged",
)
BRIEF_HEARTBEATS = Switch(
    "M03",
    "Heartbeats may leave out subscriptions the broker knows",
    v5="5.1.3",
    rules=("REB-MQC-BRIEF",),
    source="MQClientInstance#sendHeartbeatToBrokerV2",
)
NOTIFIES_LISTENER = Switch(
    "M04",
    "The listener of a push consumer is called when queues changed",
    v5="5.2.0",
    rules=("REB-MQC-HEARD",),
    source="RebalancePushImpl#messageQueueChanged",
)
RETRIES_ROUND = Switch(
    "M05",
    "Rounds are at least a second apart, and follow a second later after an unbalanced one",
    v5="5.2.0",
    rules=("REB-SVC-MIN", "REB-SVC-SOON"),
    source="RebalanceService#run",
)
SKIPS_DISABLED = Switch(
    "M06",
    "A pull consumer can be kept from rebalancing",
    v5="5.3.2",
    rules=("REB-SVC-PULL",),
    source="DefaultMQPullConsumerImpl#tryRebalance",
)
NUMBERS_STARTS = Switch(
    "S26",
    "The instance of a consumer without a name is called by its process and a time, not by its process alone",
    v4="4.9.0",
    v5="5.0.0-PREVIEW",
    rules=("CID-PID",),
    source="ClientConfig#changeInstanceNameToPID",
)
STREAMS = Switch(
    "S26",
    "The client ids of pull and lite pull consumers end with the request type STREAM",
    v4="4.9.4",
    v5="5.0.0",
    rules=("CID-STREAM",),
    source="ClientConfig#buildMQClientId",
)
KEEPS_STORE = Switch(
    "N01",
    "A consumer that was refused because its group is taken keeps the offset store that it made",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("OFF-L-KEPT",),
    source="DefaultMQPushConsumerImpl#start, DefaultMQPullConsumerImpl#start",
)
SERIAL_RESETS = Switch(
    "R01",
    "A client handles the resets that brokers push one after the other",
    v4="4.9.0",
    v5="5.0.0-PREVIEW",
    rules=("RST-QUEUE",),
    source="MQClientInstance#resetOffset",
)
RESETS_AT_ONCE = Switch(
    "W01",
    "An orderly consumer that is reset waits for its listener; before, and with a concurrent one, it sleeps for 10 s",
    v5="5.5.0",
    rules=("RST-WAIT", "RST-LISTENER"),
    source="MQClientInstance#resetOffset",
)
NAMES_PULLED_TAGS = Switch(
    "Q01",
    "The application's pull says of what type its expression is",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-ASK-1",),
    source="PullAPIWrapper#pullKernelImpl",
)
PULLS_BY_SELECTOR = Switch(
    "Q02",
    "The application can pull by SQL92 expressions",
    v4="4.4.0",
    v5="5.0.0-PREVIEW",
    rules=("PULL-ASK-VERSION",),
    source="DefaultMQPullConsumer#pull",
)
WAITS_BY_SELECTOR = Switch(
    "Q03",
    "The application can wait for messages by SQL92 expressions",
    v5="5.3.0",
    rules=("PULL-ASK-VERSION",),
    source="DefaultMQPullConsumer#pullBlockIfNotFoundWithMessageSelector",
)
FLAGS_LITE = Switch(
    "Q04",
    "Pulls of lite pull consumers have a flag of their own",
    v4="4.6.1",
    v5="5.0.0-PREVIEW",
    rules=("PULL-ASK-LITE",),
    source="PullSysFlag#buildSysFlag, DefaultLitePullConsumerImpl#pullSyncImpl",
)
LITE_REQUESTS = Switch(
    "Q05",
    "Pulls of lite pull consumers are requests of a code of their own",
    v5="5.0.0",
    rules=("PULL-ASK-LITE",),
    source="MQClientAPIImpl#pullMessage",
)
NAMES_BROKER = Switch(
    "Q06",
    "Pulls name the broker of their queue",
    v4="4.9.5",
    v5="5.0.0",
    rules=("PULL-ASK-1",),
    source="PullAPIWrapper#pullKernelImpl",
)
LIMITS_BYTES = Switch(
    "Q07",
    "Pulls say how many bytes they take",
    v5="5.0.0-ALPHA",
    rules=("PULL-ASK-1", "PULL-ASK-PUSH"),
    source="PullAPIWrapper#pullKernelImpl, DefaultMQPushConsumer#pullBatchSizeInBytes",
)
ORDERS_NUMBERS = Switch(
    "Q08",
    "Queue ids are compared as numbers, not by a difference that wraps",
    v5="5.5.1",
    rules=("MQ-ORD-1",),
    source="MessageQueue#compareTo",
)
LITE_REMEMBERS = Switch(
    "T01",
    "A lite pull consumer answers what is committed from memory; before it asked the broker, over memory",
    v4="4.7.1",
    v5="5.0.0-PREVIEW",
    rules=("LP-COMMITTED", "LP-COMMITTED-0"),
    source="DefaultLitePullConsumerImpl#committed",
)
LITE_ENDS_DROPPED = Switch(
    "T02",
    "A lite pull consumer pulls no queue that was dropped",
    v4="4.7.1",
    v5="5.0.0-PREVIEW",
    rules=("LP-LISTEN",),
    source="DefaultLitePullConsumerImpl.PullTaskImpl#run",
)
LITE_LATE_ENDS = Switch(
    "T03",
    "The answer to a pull of an earlier assignment does not move the new one",
    v4="4.9.0",
    v5="5.0.0-PREVIEW",
    rules=("LP-ASSIGN-LATE",),
    source="AssignedMessageQueue#updatePullOffset",
)
LITE_COMMITS_QUEUES = Switch(
    "T04",
    "A lite pull consumer can commit some of its queues",
    v4="4.9.4",
    v5="5.0.0",
    rules=("LP-COMMIT-QUEUES", "LP-COMMIT-PERSIST"),
    source="DefaultLitePullConsumer#commit",
)
LITE_COMMITS_OFFSETS = Switch(
    "T05",
    "A lite pull consumer can commit given offsets, and subscribe with a listener of queues",
    v4="4.9.5",
    v5="5.0.0",
    rules=("LP-COMMIT-OFFSETS", "LP-LISTEN"),
    source="DefaultLitePullConsumer#commitSync, #subscribe",
)
LITE_START_ENDS = Switch(
    "T06",
    "A lite pull consumer whose start fails at its last part is shut down",
    v5="5.3.2",
    rules=("LP-START-LISTENED",),
    source="DefaultLitePullConsumerImpl#start",
)
LITE_SEEKS_AT_ONCE = Switch(
    "T07",
    "A seek of a lite pull consumer waits for no turn of the task before it",
    v4="4.9.2",
    v5="5.0.0-ALPHA",
    rules=("LP-SEEK-AT-ONCE",),
    source="DefaultLitePullConsumerImpl#seek",
)
LITE_FLOW_CONTROLLED = Switch(
    "T08",
    "A lite pull consumer pulls again after 20 ms when the broker has refused a pull as too many, where it was 1 s",
    v4="4.9.5",
    v5="5.1.0",
    rules=("LP-WAIT-BUSY",),
    source="DefaultLitePullConsumerImpl.PullTaskImpl#run",
)
LITE_SHOWS_QUEUES = Switch(
    "T09",
    "A lite pull consumer shows its queues in its running information",
    v5="5.1.1",
    rules=("INFO-LITE",),
    source="DefaultLitePullConsumerImpl#consumerRunningInfo",
)
OFFSETS_AT_MASTER = Switch(
    "B01",
    "Offsets are read and committed at the master wherever it is known, and reads look for it in the route",
    v4="4.9.3",
    v5="5.0.0-ALPHA",
    rules=("NODE-OFFSETS", "NODE-ROUTE"),
    source="RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker, #updateConsumeOffsetToBroker",
)
COMMITS_AT_MASTER = Switch(
    "B02",
    "A commit asks for the route while the master is not known",
    v4="4.9.3",
    rules=("NODE-ROUTE",),
    source="RemoteBrokerOffsetStore#updateConsumeOffsetToBroker",
)
HAS_20_THREADS = Switch(
    "U01",
    "A push consumer that sets no number of threads has 20 at most; before up to 64",
    v4="4.5.1",
    v5="5.0.0-PREVIEW",
    rules=("DEFAULT-THREADS",),
    source="DefaultMQPushConsumer#consumeThreadMax",
)
LEAVES_VIP_OFF = Switch(
    "U02",
    "The VIP channel is off unless it is set; before it was on",
    v4="4.5.1",
    v5="5.0.0-PREVIEW",
    rules=("VIP-DEFAULT",),
    source="ClientConfig#vipChannelEnabled",
)
AWAITS_LISTENERS = Switch(
    "U03",
    "A push consumer that is shut down can be made to wait for its listeners",
    v4="4.7.1",
    v5="5.0.0-PREVIEW",
    rules=("DEFAULT-LISTENER",),
    source="DefaultMQPushConsumer#awaitTerminationMillisWhenShutdown",
)
SETS_API_TIMEOUT = Switch(
    "U04",
    "How long a client waits for most answers can be set",
    v4="4.9.2",
    v5="5.0.0-ALPHA",
    rules=("DEFAULT-CLIENT",),
    source="ClientConfig#mqClientApiTimeout",
)
