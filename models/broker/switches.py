"""The changes in brokers' behaviour, by release."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Switch

EMPTY_IS_UNKNOWN = Switch("BQ-G3", "an empty queue answers QUERY_NOT_FOUND", None, "5.1.0")
SET_ZERO = Switch("BQ-SETZERO", "setZeroIfNotFound=false is honoured", None, "5.0.0-ALPHA")
TOPIC_CHECKED = Switch("BQ-TOPICCHK", "commits to an unknown topic are refused", None, "5.0.0")
GROUP_CHECKED = Switch("BQ-GROUPCHK", "commits of an unknown group are refused", None, "5.3.0")
INVALID_PARAMETER = Switch("BQ-29", "bad parameters answer INVALID_PARAMETER", None, "5.3.2")
EMPTY_MOVES_MIN = Switch("BQ-MIN-3", "min follows max when everything expired", None, "5.0.0")
BOUNDARY_SEARCH = Switch("BQ-TIME-2", "search by time finds a boundary", None, "5.1.1")
UPPER_ASKED = Switch("BQ-TIME-3", "the request's boundary type is heard", None, "5.1.4")
CLAMPED_SEARCH = Switch("BQ-TIME-CLAMP", "a search result is clamped to [min, max]", None, "5.0.0-ALPHA")
DELETE_FORGETS = Switch("BQ-TOPIC-3", "deleting a topic removes its stored offsets", None, "5.0.0")
DELETE_GROUP_CLEARS = Switch("BQ-GROUP-2", "deleting a group can remove its offsets", "4.9.0", "5.0.0-PREVIEW")
DELETE_GROUP_CREATES = Switch("BQ-GROUP-3", "deleting a group without cleanOffset creates it", None, "5.5.0")
CLEAN_OFFSET = Switch("BQ-GROUP-2-NAME", "the flag is called cleanOffset, not removeOffset", None, "5.0.0")
FULL_BATCH = Switch(
    "BQ-PULL-7", "a pull answers as many messages as it asks for, not one less", "4.2.0", "5.0.0-PREVIEW"
)
OVERFLOW_IS_MAX = Switch("BQ-PULL-3", "a pull far beyond max is sent back to max, never to 0", "4.9.4", "5.0.0")
DRAWS_QUEUES = Switch("BQ-SEND-ANY", "the queue of a message that names none can be negative", "4.7.0", "5.0.0-PREVIEW")
DRAWS_WRITTEN = Switch(
    "BQ-SEND-ANY-SIGN", "the queue of a message that names none is a written one", "4.9.2", "5.0.0-ALPHA"
)
MAKES_ROOM = Switch("BQ-PULL-MOST", "a pull makes room for as many messages as it asks for", "4.9.2", None)
TYPED_EXPRESSIONS = Switch("BQ-PULL-SUB", "a subscription says which language it is in", "4.1.0", "5.0.0-PREVIEW")
SCANS_AS_ASKED = Switch("BQ-PULL-7-ASKED", "a pull for more messages looks at more entries", "4.1.0", "5.0.0-PREVIEW")
SCANS_ENTRIES = Switch("BQ-PULL-7-ENTRIES", "the scan limit counts entries, not bytes", None, "5.0.0-ALPHA", "5.1.0")
SCANS_ONE_MORE = Switch("BQ-PULL-7-BOUND", "the scan limit is passed by one entry", None, "5.0.0-ALPHA", "5.3.3")
ECHOES_BINARY = Switch("WIRE-FRAME-1", "a binary request is answered in binary", "4.9.4", None)
UNKNOWN_ANSWERED = Switch("WIRE-ERR-2", "a request with an unknown code is answered", "4.9.1", "5.0.0-ALPHA")
STANDARD_ROUTES = Switch("WIRE-JSON-1", "routes come in standard JSON to clients that want it", "4.9.4", "5.0.0")
LITE_PULLS = Switch("BQ-PULL-LITE", "LITE_PULL_MESSAGE is a request of its own", None, "5.0.0")
UNKNOWN_GROUP_SKIPPED = Switch("BQ-HB-1", "a heartbeat of an unknown group is not registered", None, "5.1.1")
BROADCAST_UNNOTIFIED = Switch("BQ-HB-3", "members of broadcasting groups are not told of changes", None, "5.3.1")
SERVER_RESET = Switch("BQ-RESET-2", "a reset is made by the broker, not by the members", None, "5.2.0")
RESET_NAMES_TOPIC = Switch("BQ-RESET-1-CODE", "a reset of an unknown topic says so", None, "5.3.2")
RESET_STORES = Switch("BQ-COM-5", "a reset is stored for a group without offsets too", None, "5.3.2")
DELETE_GROUP_FORGETS_RESETS = Switch("BQ-COM-9-GROUP", "offsets of a group go with its resets", None, "5.3.2")
DELETE_TOPIC_FORGETS_RESETS = Switch("BQ-COM-9-TOPIC", "offsets of a topic go with its resets", None, "5.3.4")
PULLS_COUNT = Switch("BQ-PULL-12", "who pulls from a topic counts as subscribed", None, "5.1.0")
VERSION_NUMBER_GONE = Switch("BQ-RUNTIME", "the runtime table has no brokerVersion", None, "5.4.0")
ASSIGNS = Switch("BQ-ASSIGN-1", "a broker assigns queues to members that ask", None, "5.0.0-PREVIEW")
ROUTES_POLLED = Switch("BQ-ASSIGN-2", "routes of own topics only are known", None, "5.0.0-PREVIEW", "5.0.0")
LARGE_SHARE_IS_ALL = Switch("BQ-ASSIGN-5", "a share as large as the group is everything", None, "5.0.0-ALPHA")
BLANK_CLIENT_REFUSED = Switch("BQ-ASSIGN-5-BLANK", "a blank client id pops nothing", None, "5.0.0")
LMQ_ASSIGNED = Switch("BQ-ASSIGN-2-LMQ", "a light message queue needs no route", None, "5.3.1")
MODE_CHECKED = Switch("BQ-ASSIGN-6", "a mode is set for known topics and groups only", None, "5.3.3")
LOCKS_STRICTLY = Switch("BQ-LOCK-STRICT", "in strict mode an unlock is answered before it is done", None, "5.0.0")


@dataclass(frozen=True, slots=True)
class BrokerRules:
    """The switches of one broker, as attributes for the models."""

    empty_is_unknown: bool
    set_zero: bool
    topic_checked: bool
    group_checked: bool
    invalid_parameter: bool
    empty_moves_min: bool
    boundary_search: bool
    upper_asked: bool
    clamped_search: bool
    delete_forgets: bool
    delete_group_clears: bool
    clean_offset: bool
    delete_group_creates: bool
    full_batch: bool
    overflow_is_max: bool
    draws_negative: bool
    makes_room: bool
    typed_expressions: bool
    scans_as_asked: bool
    scans_entries: bool
    scans_one_more: bool
    unknown_group_skipped: bool
    broadcast_unnotified: bool
    server_reset: bool
    reset_names_topic: bool
    reset_stores: bool
    delete_group_forgets_resets: bool
    delete_topic_forgets_resets: bool
    pulls_count: bool
    assigns: bool
    routes_polled: bool
    large_share_is_all: bool
    blank_client_refused: bool
    lmq_assigned: bool
    mode_checked: bool
    #: On Java 14 and later the residency test is constant true (BQ-MEM-2).
    always_resident: bool

    @classmethod
    def of(cls, profile: Profile) -> BrokerRules:
        """The switches of the profile's broker."""
        broker = profile.broker
        return cls(
            empty_is_unknown=EMPTY_IS_UNKNOWN.on(broker),
            set_zero=SET_ZERO.on(broker),
            topic_checked=TOPIC_CHECKED.on(broker),
            group_checked=GROUP_CHECKED.on(broker),
            invalid_parameter=INVALID_PARAMETER.on(broker),
            empty_moves_min=EMPTY_MOVES_MIN.on(broker),
            boundary_search=BOUNDARY_SEARCH.on(broker),
            upper_asked=UPPER_ASKED.on(broker),
            clamped_search=CLAMPED_SEARCH.on(broker),
            delete_forgets=DELETE_FORGETS.on(broker),
            delete_group_clears=DELETE_GROUP_CLEARS.on(broker),
            clean_offset=CLEAN_OFFSET.on(broker),
            delete_group_creates=DELETE_GROUP_CREATES.on(broker),
            full_batch=FULL_BATCH.on(broker),
            overflow_is_max=OVERFLOW_IS_MAX.on(broker),
            draws_negative=DRAWS_QUEUES.on(broker) and not DRAWS_WRITTEN.on(broker),
            makes_room=MAKES_ROOM.on(broker),
            typed_expressions=TYPED_EXPRESSIONS.on(broker),
            scans_as_asked=SCANS_AS_ASKED.on(broker),
            scans_entries=SCANS_ENTRIES.on(broker),
            scans_one_more=SCANS_ONE_MORE.on(broker),
            unknown_group_skipped=UNKNOWN_GROUP_SKIPPED.on(broker),
            broadcast_unnotified=BROADCAST_UNNOTIFIED.on(broker),
            server_reset=SERVER_RESET.on(broker),
            reset_names_topic=RESET_NAMES_TOPIC.on(broker),
            reset_stores=RESET_STORES.on(broker),
            delete_group_forgets_resets=DELETE_GROUP_FORGETS_RESETS.on(broker),
            delete_topic_forgets_resets=DELETE_TOPIC_FORGETS_RESETS.on(broker),
            pulls_count=PULLS_COUNT.on(broker),
            assigns=ASSIGNS.on(broker),
            routes_polled=ROUTES_POLLED.on(broker),
            large_share_is_all=LARGE_SHARE_IS_ALL.on(broker),
            blank_client_refused=BLANK_CLIENT_REFUSED.on(broker),
            lmq_assigned=LMQ_ASSIGNED.on(broker),
            mode_checked=MODE_CHECKED.on(broker),
            always_resident=EMPTY_IS_UNKNOWN.on(broker) and profile.java >= 14,
        )
