"""The changes in brokers' behaviour, by release (``list switches`` shows them)."""

from __future__ import annotations

from rocketmq_conformance.models.release import Switch

EMPTY_IS_UNKNOWN = Switch(
    "BQ-G3",
    "An empty queue answers QUERY_NOT_FOUND to a group without an offset; before, 0",
    v5="5.1.0",
    rules=("BQ-QUERY-G3",),
    source="ConsumerManageProcessor#queryConsumerOffset",
)
SET_ZERO = Switch(
    "BQ-SETZERO",
    "setZeroIfNotFound=false is honoured",
    v5="5.0.0-ALPHA",
    rules=("BQ-QUERY-SETZERO",),
    source="ConsumerManageProcessor#queryConsumerOffset",
)
TOPIC_CHECKED = Switch(
    "BQ-TOPICCHK",
    "A commit to an unknown topic is refused",
    v5="5.0.0",
    rules=("BQ-UPDATE-1",),
    source="ConsumerManageProcessor#updateConsumerOffset",
)
GROUP_CHECKED = Switch(
    "BQ-GROUPCHK",
    "A commit of an unknown group is refused",
    v5="5.3.0",
    rules=("BQ-UPDATE-1",),
    source="ConsumerManageProcessor#updateConsumerOffset",
)
INVALID_PARAMETER = Switch(
    "BQ-29",
    "Parameters that are missing or wrong answer INVALID_PARAMETER (29)",
    v5="5.3.2",
    rules=("BQ-UPDATE-FIELD", "POP-CHECK", "POP-ACK-BAD"),
    source="ConsumerManageProcessor#updateConsumerOffset",
)
EMPTY_MOVES_MIN = Switch(
    "BQ-MIN-3",
    "When every message has expired, min follows max",
    v5="5.0.0",
    rules=("BQ-MIN-3",),
    source="ConsumeQueue#correctMinOffset",
)
BOUNDARY_SEARCH = Switch(
    "BQ-TIME-2",
    "A search by time finds a boundary instead of a near message",
    v5="5.1.1",
    rules=("BQ-TIME-2",),
    source="ConsumeQueue#binarySearchInQueueByTime",
)
HONOURS_BOUNDARY = Switch(
    "BQ-TIME-3",
    "A search by time heeds the boundary it is asked for",
    v5="5.1.4",
    rules=("BQ-TIME-3",),
    source="AdminBrokerProcessor#searchOffsetByTimestamp",
)
CLAMPED_SEARCH = Switch(
    "BQ-TIME-CLAMP",
    "The result of a search by time lies between min and max",
    v5="5.0.0-ALPHA",
    rules=("BQ-TIME-CLAMP",),
    source="DefaultMessageStore#getOffsetInQueueByTime",
)
DELETE_FORGETS = Switch(
    "BQ-TOPIC-3",
    "Deleting a topic removes its stored offsets",
    v5="5.0.0",
    rules=("BQ-TOPIC-3",),
    source="AdminBrokerProcessor#deleteTopic",
)
DELETE_GROUP_CLEARS = Switch(
    "BQ-GROUP-2",
    "Deleting a group can remove its offsets",
    v4="4.9.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-GROUP-2",),
    source="AdminBrokerProcessor#deleteSubscriptionGroup",
)
DELETE_GROUP_CREATES = Switch(
    "BQ-GROUP-3",
    "Deleting a group without cleanOffset creates the group",
    v5="5.5.0",
    until_v5="5.5.1",
    rules=("BQ-GROUP-3",),
    source="AdminBrokerProcessor#deleteSubscriptionGroup",
)
CLEAN_OFFSET = Switch(
    "BQ-GROUP-2-NAME",
    "The flag of that request is called cleanOffset; before, removeOffset",
    v5="5.0.0",
    rules=("BQ-GROUP-2",),
    source="AdminBrokerProcessor#deleteSubscriptionGroup",
)
FULL_BATCH = Switch(
    "BQ-PULL-7",
    "A pull answers as many messages as it asks for; before, one less",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-PULL-7",),
    source="DefaultMessageStore#isTheBatchFull",
)
OVERFLOW_IS_MAX = Switch(
    "BQ-PULL-3",
    "A pull far beyond max is sent to max; before, to 0 when min is 0",
    v4="4.9.4",
    v5="5.0.0",
    rules=("BQ-PULL-3",),
    source="DefaultMessageStore#getMessage",
)
DRAWS_QUEUES = Switch(
    "BQ-SEND-ANY",
    "The queue of a message that names none can be negative",
    v4="4.7.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-SEND-ANY",),
    source="SendMessageProcessor#randomQueueId",
)
DRAWS_WRITTEN = Switch(
    "BQ-SEND-ANY-SIGN",
    "The queue of a message that names none is a written one again",
    v4="4.9.2",
    v5="5.0.0-ALPHA",
    rules=("BQ-SEND-ANY",),
    source="SendMessageProcessor#randomQueueId",
)
MAKES_ROOM = Switch(
    "BQ-PULL-MOST",
    "A pull makes room for as many messages as it asks for, and fails for fewer than 0 and for 2^31 - 1; otherwise "
    "fewer than 0 find one",
    v4="4.9.2",
    rules=("BQ-PULL-MOST",),
    source="GetMessageResult",
)
EMPTY_RANGE_FAILS = Switch(
    "BQ-PULL-RANGE",
    "With storeType=defaultRocksDB a pull for 0 messages fails where there is something to read; before, it finds "
    "none, and the next offset is 0",
    v5="5.5.0",
    rules=("BQ-PULL-MOST",),
    source="DefaultMessageStore#getMessage",
)
TYPED_EXPRESSIONS = Switch(
    "BQ-PULL-SUB",
    "A subscription says which language its expression is in",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-PULL-SUB",),
    source="PullMessageProcessor#processRequest",
)
NEGATIVE_FILTERED = Switch(
    "BQ-PULL-NEGATIVE",
    "A message whose tag has a negative hash passes the filters of its tag only; in 4.1.0 it passes every one",
    v4="4.2.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-PULL-NEGATIVE",),
    source="ExpressionMessageFilter#isMatchedByConsumeQueue",
)
BLANK_IS_TAG = Switch(
    "BQ-PULL-BLANK",
    "An empty field expressionType names tags; before, a language that the broker does not know",
    v4="4.3.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-PULL-BLANK",),
    source="ExpressionType#isTagType",
)
SCANS_BY_REQUEST = Switch(
    "BQ-PULL-7-ASKED",
    "A pull for more messages looks at more entries",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-PULL-7",),
    source="DefaultMessageStore#getMessage",
)
SCANS_ENTRIES = Switch(
    "BQ-PULL-7-ENTRIES",
    "The limit of a scan counts entries instead of bytes",
    v5="5.0.0-ALPHA",
    until_v5="5.1.0",
    rules=("BQ-PULL-7",),
    source="DefaultMessageStore#getMessage",
)
SCANS_ONE_MORE = Switch(
    "BQ-PULL-7-BOUND",
    "The limit of a scan is passed by one entry",
    v5="5.0.0-ALPHA",
    until_v5="5.3.3",
    rules=("BQ-PULL-7",),
    source="DefaultMessageStore#getMessage",
)
ECHOES_BINARY = Switch(
    "WIRE-FRAME-1",
    "A binary request is answered in binary",
    v4="4.9.4",
    rules=("WIRE-FRAME-1",),
    source="NettyRemotingAbstract#processRequestCommand",
)
UNKNOWN_ANSWERED = Switch(
    "WIRE-ERR-2",
    "A request with an unknown code gets an answer",
    v4="4.9.1",
    v5="5.0.0-ALPHA",
    rules=("WIRE-ERR-2",),
    source="AdminBrokerProcessor#processRequest",
)
STANDARD_ROUTES = Switch(
    "WIRE-JSON-1",
    "Routes are standard JSON for clients that ask for it",
    v4="4.9.4",
    v5="5.0.0",
    rules=("WIRE-JSON-1",),
    source="ClientRequestProcessor#getRouteInfoByTopic",
)
LITE_PULLS = Switch(
    "BQ-PULL-LITE",
    "LITE_PULL_MESSAGE is a request of its own",
    v5="5.0.0",
    rules=("BQ-PULL-LITE",),
    source="BrokerController#registerProcessor",
)
UNKNOWN_GROUP_SKIPPED = Switch(
    "BQ-HB-1",
    "A heartbeat of an unknown group registers no member",
    v5="5.1.1",
    rules=("BQ-HB-1",),
    source="ClientManageProcessor#heartBeat",
)
KNOWN_TOPICS_COMPILED = Switch(
    "BQ-HB-FILTER",
    "What is subscribed to a topic that the broker does not have is not compiled",
    v5="5.5.1",
    rules=("BQ-HB-FILTER", "BQ-PULL-FILTER"),
    source="ConsumerFilterManager#register",
)
BROADCAST_UNNOTIFIED = Switch(
    "BQ-HB-3",
    "Members of broadcasting groups are not notified of changes",
    v5="5.3.1",
    rules=("BQ-HB-3",),
    source="ConsumerManager#registerConsumer",
)
SERVER_RESET = Switch(
    "BQ-RESET-2",
    "Offsets are reset by the broker, not by the members",
    v5="5.2.0",
    rules=("BQ-RESET-2",),
    source="AdminBrokerProcessor#resetOffsetInner",
)
RESET_NAMES_TOPIC = Switch(
    "BQ-RESET-1-CODE",
    "The reset of an unknown topic answers so",
    v5="5.3.2",
    rules=("BQ-RESET-1",),
    source="Broker2Client#resetOffset",
)
RESET_STORES = Switch(
    "BQ-COM-5",
    "A reset is stored for a group without offsets, too",
    v5="5.3.2",
    rules=("BQ-COM-5",),
    source="ConsumerOffsetManager#assignResetOffset",
)
DELETE_GROUP_FORGETS_RESETS = Switch(
    "BQ-COM-9-GROUP",
    "The resets of a group go with its offsets",
    v5="5.3.2",
    rules=("BQ-COM-9-RESETS",),
    source="ConsumerOffsetManager#removeOffset",
)
DELETE_TOPIC_FORGETS_RESETS = Switch(
    "BQ-COM-9-TOPIC",
    "The resets of a topic go with its offsets",
    v5="5.3.4",
    rules=("BQ-COM-9-RESETS",),
    source="ConsumerOffsetManager#cleanOffsetByTopic",
)
COMPARES_CORRECTIONS = Switch(
    "BQ-CORRECT-COMPARE",
    "Correction offsets are compared with what the group in compareGroup stored",
    v5="5.1.0",
    rules=("BQ-CORRECT-COMPARE",),
    source="AdminBrokerProcessor#queryCorrectionOffset",
)
PULLS_COUNT = Switch(
    "BQ-PULL-12",
    "A group that pulls from a topic counts as subscribed to it",
    v5="5.1.0",
    rules=("BQ-CLONE-ONLINE",),
    source="ConsumerManager#findSubscriptionData",
)
OMITS_VERSION = Switch(
    "BQ-RUNTIME",
    "The table of a running broker has no brokerVersion",
    v5="5.4.0",
    rules=("WIRE-VER-1",),
    source="AdminBrokerProcessor#prepareRuntimeInfo",
)
ASSIGNS = Switch(
    "BQ-ASSIGN-1",
    "A broker assigns queues to members that ask",
    v5="5.0.0-PREVIEW",
    rules=("BQ-ASSIGN-1",),
    source="QueryAssignmentProcessor#queryAssignment",
)
ROUTES_POLLED = Switch(
    "BQ-ASSIGN-2",
    "Only routes of the broker's own topics are known to it",
    v5="5.0.0-PREVIEW",
    until_v5="5.0.0",
    rules=("BQ-ASSIGN-2",),
    source="AssignmentManager#updateTopicRouteInfoFromNameServer",
)
LARGE_SHARE_IS_ALL = Switch(
    "BQ-ASSIGN-5",
    "A pop share as large as the group is everything",
    v5="5.0.0-ALPHA",
    rules=("BQ-ASSIGN-5",),
    source="QueryAssignmentProcessor#allocate4Pop",
)
BLANK_CLIENT_REFUSED = Switch(
    "BQ-ASSIGN-5-BLANK",
    "A blank client id pops nothing",
    v5="5.0.0",
    rules=("BQ-ASSIGN-5",),
    source="QueryAssignmentProcessor#allocate",
)
LMQ_ASSIGNED = Switch(
    "BQ-ASSIGN-2-LMQ",
    "A light message queue needs no route",
    v5="5.3.1",
    rules=("BQ-ASSIGN-2-LMQ",),
    source="QueryAssignmentProcessor#doLoadBalance",
)
MODE_CHECKED = Switch(
    "BQ-ASSIGN-6",
    "A mode is set for known topics and groups only",
    v5="5.3.3",
    rules=("BQ-ASSIGN-6",),
    source="QueryAssignmentProcessor#setMessageRequestMode",
)
COUNTS_TIMERS = Switch(
    "BQ-TOPIC-TIMER",
    "Deleting a topic removes its count of delayed messages, which a broker without a timer wheel does not have",
    v5="5.3.3",
    rules=("BQ-TOPIC-TIMER",),
    source="AdminBrokerProcessor#deleteTopicInBroker",
)
STOP_WRITES_TABLES = Switch(
    "BQ-FILE-STOP",
    "A stop writes topics and groups to their files",
    v5="5.0.0",
    rules=("BQ-FILE-STOP",),
    source="BrokerController#shutdown",
)
START_WRITES_TOPICS = Switch(
    "BQ-FILE-START",
    "A start writes topics to their file",
    v5="5.0.0",
    rules=("BQ-FILE-START",),
    source="TopicConfigManager#initStateVersion",
)
STARTS_QUIETLY = Switch(
    "BQ-FILE-START-END",
    "A start writes no table again",
    v5="5.1.1",
    rules=("BQ-FILE-START",),
    source="TopicConfigManager#initStateVersion",
)
REFUSED_WRITES_NOTHING = Switch(
    "BQ-FILE-REFUSED-KEEPS",
    "A broker that does not start leaves its files alone",
    v5="5.1.4",
    rules=("BQ-FILE-REFUSED-WRITES",),
    source="BrokerController#shutdown",
)
REFUSED_WRITES_TABLES = Switch(
    "BQ-FILE-REFUSED-WRITES",
    "A broker that does not start writes all its tables, those that it did not read as empty ones",
    v5="5.4.0",
    rules=("BQ-FILE-REFUSED-WRITES",),
    source="BrokerController#shutdown",
)
DELETES_UNUSABLE = Switch(
    "BQ-FILE-DELETE",
    "A start deletes a file of a table that is empty or no JSON",
    v5="5.4.0",
    rules=("BQ-FILE-DELETE",),
    source="ConfigManager#load",
)
LOCKS_STRICTLY = Switch(
    "BQ-LOCK-STRICT",
    "In strict mode an unlock is answered before it is done",
    v5="5.0.0",
    rules=("BQ-LOCK-STRICT",),
    source="AdminBrokerProcessor#unlockBatchMQ",
)
BACK_FENCED = Switch(
    "BQ-BACK-FENCE",
    "A message is sent back from the topic in which it lies only",
    v5="5.0.0-ALPHA",
    until_v5="5.1.0",
    rules=("BQ-BACK-FENCE",),
    source="AbstractSendMessageProcessor#consumerSendMsgBack",
)
DEAD_LETTER_ID = Switch(
    "BQ-DEAD-ID",
    "Every dead letter has an ORIGIN_MESSAGE_ID",
    v4="4.9.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-DEAD-ID",),
    source="SendMessageProcessor#asyncConsumerSendMsgBack",
)
BACK_LIMIT_OPTIONAL = Switch(
    "BQ-BACK-MOST",
    "A send-back without a limit of times has the group's",
    v4="4.9.1",
    v5="5.0.0-ALPHA",
    rules=("BQ-BACK-MOST",),
    source="SendMessageProcessor#asyncConsumerSendMsgBack",
)
DEAD_LETTERS_OPEN = Switch(
    "BQ-DEAD-READ",
    "Dead letters can be read, and none waits at a delay level",
    v4="4.9.2",
    v5="5.0.0-ALPHA",
    rules=("BQ-DEAD-READ", "BQ-DEAD-LEVEL"),
    source="SendMessageProcessor#asyncConsumerSendMsgBack",
)
DEAD_LETTER_NAMED = Switch(
    "BQ-DEAD-UNNAMED",
    "A dead letter whose request names no topic is refused",
    v5="5.1.0",
    rules=("BQ-DEAD-UNNAMED",),
    source="AbstractSendMessageProcessor#consumerSendMsgBack",
)
COPY_LIMIT_OPTIONAL = Switch(
    "BQ-COPY-MOST",
    "A copy to a retry topic without a limit of times has the group's",
    v4="4.9.3",
    v5="5.0.0-ALPHA",
    rules=("BQ-COPY-MOST",),
    source="SendMessageProcessor#handleRetryAndDLQ",
)
COPIES_BEYOND = Switch(
    "BQ-COPY-1",
    "A copy that says as many times as the limit is no dead letter yet, and none of these waits",
    v5="5.0.0",
    rules=("BQ-COPY-1", "BQ-COPY-DEAD"),
    source="SendMessageProcessor#handleRetryAndDLQ",
)
TIMERS = Switch(
    "BQ-TIMER-1",
    "A message can say when it is to be delivered",
    v5="5.0.0",
    rules=("BQ-TIMER-1",),
    source="HookUtils#handleScheduleMessage",
)
TIMER_REFUSAL_NAMED = Switch(
    "BQ-TIMER-OFF",
    "Without a timer wheel a message with a time is refused with SYSTEM_ERROR; before, with SERVICE_NOT_AVAILABLE",
    v5="5.1.1",
    rules=("BQ-TIMER-OFF",),
    source="SendMessageProcessor#handlePutMessageResult",
)
POP_RETRIES_DELETED = Switch(
    "BQ-TOPIC-POP",
    "The retry topics of groups that pop from a topic are deleted with it",
    v5="5.1.4",
    rules=("BQ-TOPIC-POP",),
    source="AdminBrokerProcessor#deleteTopic",
)
SYSTEM_NAMES = Switch(
    "BQ-NAME-SYSTEM",
    "RocketMQ's own topics can be neither created nor deleted",
    v4="4.7.1",
    v5="5.0.0-PREVIEW",
    rules=("BQ-NAME-SYSTEM", "BQ-NAME-BLANK"),
    source="AdminBrokerProcessor#deleteTopic",
)
FORBIDS_SENDING = Switch(
    "BQ-NAME-SEND",
    "No message is taken for any of six topics of RocketMQ's own; before, for one of them",
    v4="4.9.4",
    v5="5.0.0",
    rules=("BQ-NAME-SEND",),
    source="TopicValidator#isNotAllowedSendTopic",
)
STATS_COUNT_READ = Switch(
    "BQ-STATS-QUEUES",
    "Statistics of a topic have the queues that are only read, too",
    v5="5.3.0",
    rules=("BQ-STATS-QUEUES",),
    source="AdminBrokerProcessor#getTopicStatsInfo",
)
CHECKPOINT_NAME = Switch(
    "BQ-NAME-SYSTEM",
    "CHECKPOINT_TOPIC is a topic of RocketMQ's own",
    v5="5.2.0",
    rules=("BQ-NAME-SYSTEM",),
    source="TopicValidator#isSystemTopic",
)
ROCKS_NAMES = Switch(
    "BQ-NAME-SYSTEM",
    "The topics of transactions in RocksDB are RocketMQ's own, and take no message",
    v5="5.4.0",
    rules=("BQ-NAME-SYSTEM", "BQ-NAME-SEND"),
    source="TopicValidator#isSystemTopic",
)
LONG_RETRY_TOPICS = Switch(
    "BQ-NAME-TOPIC",
    "Topics of messages that come again may have names of 255 characters",
    v5="5.4.0",
    rules=("BQ-NAME-TOPIC", "BQ-NAME-SEND"),
    source="TopicValidator#validateTopic",
)
LOCKED_COPIES_DIE = Switch(
    "BQ-COPY-LOCKED",
    "A copy to the retry topic of a group that holds a lock is a dead letter",
    v5="5.1.1",
    rules=("BQ-COPY-LOCKED",),
    source="SendMessageProcessor#handleRetryAndDLQ",
)
PULL_FAILS_AT_ONCE = Switch(
    "BQ-FIELD-PULL",
    "A pull with a number that cannot be read fails at once",
    v4="4.9.4",
    v5="5.0.0",
    rules=("BQ-FIELD-PULL",),
    source="PullMessageRequestHeader#decode",
)
TOPIC_NAMES = Switch(
    "BQ-NAME-TOPIC",
    "The name of a topic is checked when the topic is created",
    v4="4.6.1",
    v5="5.0.0-PREVIEW",
    rules=("BQ-NAME-TOPIC",),
    source="AdminBrokerProcessor#updateAndCreateTopic",
)
DELETED_NAMES = Switch(
    "BQ-NAME-DELETE",
    "The name of a topic is checked when the topic is deleted",
    v4="4.7.1",
    v5="5.0.0-PREVIEW",
    until_v5="5.2.0",
    rules=("BQ-NAME-DELETE",),
    source="AdminBrokerProcessor#deleteTopic",
)
GROUP_NAMES = Switch(
    "BQ-NAME-LOOKUP",
    "A look-up does not create a group whose name is not allowed",
    v5="5.1.1",
    rules=("BQ-NAME-LOOKUP",),
    source="SubscriptionGroupManager#findSubscriptionGroupConfig",
)
KEEPS_PULLS = Switch(
    "BQ-STATS-PULLED",
    "The statistics of a group have where its pulls go on, too",
    v5="5.1.0",
    rules=("BQ-STATS-PULLED",),
    source="ConsumerOffsetManager#queryPullOffset",
)
INDEXES_SUBSCRIBERS = Switch(
    "BQ-WHO-INDEX",
    "Who subscribes to a topic is looked up in an index, which keeps what was given up",
    v5="5.3.3",
    rules=("BQ-WHO-INDEX",),
    source="ConsumerManager#queryTopicConsumeByWho",
)
INDEXES_GROUPS = Switch(
    "BQ-WHO-INDEX",
    "The index of subscribers has the names of groups, no longer that of the topic",
    v5="5.3.4",
    rules=("BQ-WHO-INDEX",),
    source="ConsumerManager#registerConsumer",
)
LISTS_TOPICS = Switch(
    "BQ-WHO-GROUP",
    "A broker is asked for the topics of a group",
    v5="5.0.0",
    rules=("BQ-WHO-GROUP",),
    source="AdminBrokerProcessor#queryTopicsByConsumer",
)
SHOWS_INDEX = Switch(
    "BQ-INDEX",
    "A broker is asked for the index of a queue",
    v4="4.1.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-INDEX", "BQ-INDEX-ZERO"),
    source="AdminBrokerProcessor#queryConsumeQueue",
)
FILLS_INDEX = Switch(
    "BQ-INDEX",
    "The answer about the index of a queue has its bounds and entries",
    v4="4.7.0",
    v5="5.0.0-PREVIEW",
    rules=("BQ-INDEX", "BQ-INDEX-ZERO"),
    source="AdminBrokerProcessor#queryConsumeQueue",
)
FILTERS_FORGOTTEN = Switch(
    "BQ-FILTER-STOP",
    "A restart forgets what was compiled of subscriptions in other languages than tags",
    v5="5.5.1",
    rules=("BQ-FILTER-STOP",),
    source="ConsumerFilterManager#register",
)
KEEPS_BROADCAST = Switch(
    "BQ-BROADCAST-1",
    "The broker keeps offsets of groups that broadcast, from what their members pull",
    v5="5.1.0",
    rules=("BQ-BROADCAST-1", "BQ-BROADCAST-2"),
    source="PullMessageProcessor#updateBroadcastPulledOffset",
)
NEW_GROUP_NAMES = Switch(
    "BQ-NAME-GROUP",
    "A group whose name is not allowed, or is longer than 120 characters, cannot be created",
    v5="5.4.0",
    rules=("BQ-NAME-GROUP", "BQ-NAME-LOOKUP"),
    source="AdminBrokerProcessor#updateAndCreateSubscriptionGroup",
)
SLAVE_REJECTS = Switch(
    "SLV-PULL-BUSY",
    "A slave refuses messages with SYSTEM_BUSY before it looks at them, and pulls too, unless slaveReadEnable is on",
    v5="5.0.0",
    rules=("SLV-PULL-BUSY", "SLV-PULL-READ", "SLV-PULL-COMMIT", "SLV-PULL-MOVED", "SLV-SEND"),
    source="PullMessageProcessor#rejectRequest",
)
SLAVE_UNREAD = Switch(
    "SLV-SYNC-PULLED",
    "A slave takes no offsets from a master that has answered a pull",
    v5="5.5.0",
    rules=("SLV-SYNC-PULLED",),
    source="ConsumerOffsetManager#getPullOffsetTable",
)
SLAVE_FENCED = Switch(
    "SLV-ADMIN",
    "A slave refuses to create and delete topics and groups",
    v4="4.9.4",
    v5="5.0.0",
    until_v5="5.1.4",
    rules=("SLV-ADMIN",),
    source="AdminBrokerProcessor#validateSlave",
)
POPS = Switch(
    "POP",
    "A broker hands out messages by POP",
    v5="5.0.0",
    rules=(
        *("POP-CHECK", "POP-START-1", "POP-START-3", "POP-START-4", "POP-START-6", "POP-START-7", "POP-START-8"),
        *("POP-START-14", "POP-MOVE-1", "POP-MOVE-4", "POP-NONE"),
    ),
    source="PopMessageProcessor#processRequest",
)
POP_NAMES_CORRECTED = Switch(
    "POP-START-8",
    "The startOffsetInfo of a pop whose offset is corrected has the offset before that; before, the one after it",
    v5="5.1.0",
    rules=("POP-START-8",),
    source="PopMessageProcessor#popMsgFromQueue",
)
POP_NEEDS_TIMERS = Switch(
    "POP-CHECK",
    "A pop is refused by a broker without a timer wheel",
    v5="5.1.1",
    rules=("POP-CHECK",),
    source="PopMessageProcessor#processRequest",
)
POP_STARTS_AT_ZERO = Switch(
    "POP-START-5",
    "A pop that would begin at the last message begins at message 0, where that is in memory",
    v5="5.1.4",
    rules=("POP-START-5",),
    source="PopMessageProcessor#getInitOffset",
)
POP_STORES_MIN = Switch(
    "POP-START-6",
    "The offset where a group begins by initMode MIN is stored at once",
    v5="5.3.1",
    rules=("POP-START-6",),
    source="PopMessageProcessor#getInitOffset",
)
POP_RETRIES_FROM_MIN = Switch(
    "POP-START-7",
    "A pop begins at the smallest offset of a retry topic, whatever its initMode",
    v5="5.3.1",
    rules=("POP-START-7",),
    source="PopMessageProcessor#getInitOffset",
)
POP_HIDES_RETRIES = Switch(
    "POP-ACK-5",
    "A message that comes back has the name of its own topic",
    v5="5.1.0",
    rules=("POP-ACK-5",),
    source="PopMessageProcessor#popMsgFromQueue",
)
POP_BATCHES = Switch(
    "POP-ACK-12",
    "Acknowledgements come in batches, too",
    v5="5.1.3",
    rules=("POP-ACK-12",),
    source="AckMessageProcessor#appendAck",
)
POP_ACKS_BY_BROKER = Switch(
    "POP-ACK-1",
    "An acknowledgement whose handle names another broker acknowledges nothing",
    v5="5.3.1",
    rules=("POP-ACK-1",),
    source="PopReviveService#consumeReviveMessage",
)
