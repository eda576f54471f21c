"""What distinguishes one broker from another, for the models: the changes of its release, and its configuration."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.broker import configuration, switches
from rocketmq_conformance.models.broker.memory_ratio import is_hot
from rocketmq_conformance.models.broker.state import READ, WRITE
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.profile_fields import ProfileFields, in_broker, read


def _is_true(setting: str) -> bool:
    """A field that is true where this property of the broker is "true"."""
    return read(lambda profile: profile.setting(setting) == "true")


def _refused_writes_offsets(profile: Profile) -> bool:
    return not switches.REFUSED_WRITES_NOTHING.on(profile.broker) or switches.REFUSED_WRITES_TABLES.on(profile.broker)


def _delete_topic_fails(profile: Profile) -> bool:
    return switches.COUNTS_TIMERS.on(profile.broker) and profile.setting(configuration.TIMER_WHEEL) == "false"


def _filters_properties(profile: Profile) -> bool:
    return switches.TYPED_EXPRESSIONS.on(profile.broker) and profile.setting(configuration.PROPERTY_FILTER) == "true"


def _keeps_broadcast(profile: Profile) -> bool:
    return switches.KEEPS_BROADCAST.on(profile.broker) and profile.setting(configuration.BROADCAST) == "true"


def _pop_needs_timers(profile: Profile) -> bool:
    return switches.POP_NEEDS_TIMERS.on(profile.broker) and profile.setting(configuration.TIMER_WHEEL) == "false"


def _pop_checks_memory(profile: Profile) -> bool:
    checks = switches.POP_STARTS_AT_ZERO.on(profile.broker)
    return checks and profile.setting(configuration.POP_CHECKS_MEMORY) == "true"


def _pop_shows_retries(profile: Profile) -> bool:
    hides = switches.POP_HIDES_RETRIES.on(profile.broker)
    return switches.POPS.on(profile.broker) and (
        not hides or profile.setting(configuration.POP_SHOWS_RETRIES) == "true"
    )


def _every_lmq(profile: Profile) -> bool:
    return profile.setting(configuration.LIGHT) == "true" or (
        profile.setting(configuration.TABLES) == configuration.ROCKSDB_TABLES
    )


@dataclass(frozen=True, slots=True)
class BrokerRules(ProfileFields):
    """The switches of one broker, of its release and its configuration, as attributes for the models."""

    empty_is_unknown: bool = in_broker(switches.EMPTY_IS_UNKNOWN)
    set_zero: bool = in_broker(switches.SET_ZERO)
    topic_checked: bool = in_broker(switches.TOPIC_CHECKED)
    group_checked: bool = in_broker(switches.GROUP_CHECKED)
    invalid_parameter: bool = in_broker(switches.INVALID_PARAMETER)
    empty_moves_min: bool = in_broker(switches.EMPTY_MOVES_MIN)
    boundary_search: bool = in_broker(switches.BOUNDARY_SEARCH)
    honours_boundary: bool = in_broker(switches.HONOURS_BOUNDARY)
    clamped_search: bool = in_broker(switches.CLAMPED_SEARCH)
    delete_forgets: bool = in_broker(switches.DELETE_FORGETS)
    delete_group_clears: bool = in_broker(switches.DELETE_GROUP_CLEARS)
    clean_offset: bool = in_broker(switches.CLEAN_OFFSET)
    delete_group_creates: bool = in_broker(switches.DELETE_GROUP_CREATES)
    full_batch: bool = in_broker(switches.FULL_BATCH)
    overflow_is_max: bool = in_broker(switches.OVERFLOW_IS_MAX)
    draws_negative: bool = in_broker(switches.DRAWS_QUEUES, until=switches.DRAWS_WRITTEN)
    makes_room: bool = in_broker(switches.MAKES_ROOM)
    #: Is a queue read as a range of RocksDB, which has no negative length, and does an empty one fail, too?
    ranges: bool = read(lambda profile: profile.setting(configuration.STORE) == configuration.ROCKSDB_STORE)
    empty_range_fails: bool = in_broker(switches.EMPTY_RANGE_FAILS)
    typed_expressions: bool = in_broker(switches.TYPED_EXPRESSIONS)
    #: Are expressions in SQL92 answered?
    filters_properties: bool = read(_filters_properties)
    #: Are offsets kept of groups that broadcast?
    keeps_broadcast: bool = read(_keeps_broadcast)
    negative_passes: bool = in_broker(switches.TYPED_EXPRESSIONS, until=switches.NEGATIVE_FILTERED)
    blank_is_tag: bool = in_broker(switches.BLANK_IS_TAG)
    scans_by_request: bool = in_broker(switches.SCANS_BY_REQUEST)
    scans_entries: bool = in_broker(switches.SCANS_ENTRIES)
    scans_one_more: bool = in_broker(switches.SCANS_ONE_MORE)
    unknown_group_skipped: bool = in_broker(switches.UNKNOWN_GROUP_SKIPPED)
    known_topics_compiled: bool = in_broker(switches.KNOWN_TOPICS_COMPILED)
    keeps_pulls: bool = in_broker(switches.KEEPS_PULLS)
    filters_forgotten: bool = in_broker(switches.FILTERS_FORGOTTEN)
    broadcast_unnotified: bool = in_broker(switches.BROADCAST_UNNOTIFIED)
    server_reset: bool = _is_true(configuration.SERVER_RESET)
    reset_names_topic: bool = in_broker(switches.RESET_NAMES_TOPIC)
    reset_stores: bool = in_broker(switches.RESET_STORES)
    delete_group_forgets_resets: bool = in_broker(switches.DELETE_GROUP_FORGETS_RESETS)
    delete_topic_forgets_resets: bool = in_broker(switches.DELETE_TOPIC_FORGETS_RESETS)
    compares_corrections: bool = in_broker(switches.COMPARES_CORRECTIONS)
    pulls_count: bool = in_broker(switches.PULLS_COUNT)
    assigns: bool = in_broker(switches.ASSIGNS)
    routes_polled: bool = in_broker(switches.ROUTES_POLLED)
    large_share_is_all: bool = in_broker(switches.LARGE_SHARE_IS_ALL)
    blank_client_refused: bool = in_broker(switches.BLANK_CLIENT_REFUSED)
    lmq_assigned: bool = in_broker(switches.LMQ_ASSIGNED)
    mode_checked: bool = in_broker(switches.MODE_CHECKED)
    pull_fails_at_once: bool = in_broker(switches.PULL_FAILS_AT_ONCE)
    topic_names: bool = in_broker(switches.TOPIC_NAMES)
    deleted_names: bool = in_broker(switches.DELETED_NAMES)
    group_names: bool = in_broker(switches.GROUP_NAMES)
    new_group_names: bool = in_broker(switches.NEW_GROUP_NAMES)
    back_fenced: bool = in_broker(switches.BACK_FENCED)
    dead_letter_id: bool = in_broker(switches.DEAD_LETTER_ID)
    back_limit_optional: bool = in_broker(switches.BACK_LIMIT_OPTIONAL)
    dead_letters_open: bool = in_broker(switches.DEAD_LETTERS_OPEN)
    dead_letter_named: bool = in_broker(switches.DEAD_LETTER_NAMED)
    copy_limit_optional: bool = in_broker(switches.COPY_LIMIT_OPTIONAL)
    copies_beyond: bool = in_broker(switches.COPIES_BEYOND)
    locked_copies_die: bool = in_broker(switches.LOCKED_COPIES_DIE)
    has_timers: bool = in_broker(switches.TIMERS)
    timer_refusal_named: bool = in_broker(switches.TIMER_REFUSAL_NAMED)
    timer_wheel: bool = _is_true(configuration.TIMER_WHEEL)
    pop_retries_deleted: bool = in_broker(switches.POP_RETRIES_DELETED)
    system_names: bool = in_broker(switches.SYSTEM_NAMES)
    forbids_sending: bool = in_broker(switches.FORBIDS_SENDING)
    stats_count_read: bool = in_broker(switches.STATS_COUNT_READ)
    checkpoint_name: bool = in_broker(switches.CHECKPOINT_NAME)
    rocks_names: bool = in_broker(switches.ROCKS_NAMES)
    long_retry_topics: bool = in_broker(switches.LONG_RETRY_TOPICS)
    indexes_subscribers: bool = in_broker(switches.INDEXES_SUBSCRIBERS)
    indexes_groups: bool = in_broker(switches.INDEXES_GROUPS)
    lists_topics: bool = in_broker(switches.LISTS_TOPICS)
    shows_index: bool = in_broker(switches.SHOWS_INDEX)
    fills_index: bool = in_broker(switches.FILLS_INDEX)
    #: Files of tables: what a stop, a start and a start that is refused write (table_files.py).
    stop_writes_tables: bool = in_broker(switches.STOP_WRITES_TABLES)
    start_writes_topics: bool = in_broker(switches.START_WRITES_TOPICS, until=switches.STARTS_QUIETLY)
    refused_writes_offsets: bool = read(_refused_writes_offsets)
    refused_writes_tables: bool = in_broker(switches.REFUSED_WRITES_TABLES)
    deletes_unusable: bool = in_broker(switches.DELETES_UNUSABLE)
    #: On Java 14 and later the residency test is constant true (BQ-MEM-2).
    always_resident: bool = read(lambda profile: switches.EMPTY_IS_UNKNOWN.on(profile.broker) and profile.java >= 14)
    # of the broker's configuration (configuration.py)
    strict_locks: bool = _is_true(configuration.STRICT_LOCKS)
    #: Do the messages of a case count as being in memory?
    hot: bool = read(lambda profile: is_hot(int(profile.setting(configuration.MEMORY_RATIO))))
    #: Does the answer to the deletion of a topic fail, after it was deleted?
    delete_topic_fails: bool = read(_delete_topic_fails)
    long_polling: bool = _is_true(configuration.LONG_POLLING)
    #: How long a pull is held without it (ms).
    short_polling: int = read(lambda profile: int(profile.setting(configuration.SHORT_POLLING)))
    creates_groups: bool = _is_true(configuration.CREATES_GROUPS)
    #: Are queues and tables in files, such as those of the aged store? Else the broker begins with nothing.
    in_files: bool = read(lambda profile: configuration.are_in_files(dict(profile.configuration)))
    #: Are stored offsets in the file of brokers with light message queues?
    light: bool = _is_true(configuration.LIGHT)
    #: Is it a slave (slave.py)? No profile says so. Which requests does one refuse, and does it correct offsets?
    slave: bool = read(lambda profile: False)
    slave_rejects: bool = in_broker(switches.SLAVE_REJECTS)
    slave_unread: bool = in_broker(switches.SLAVE_UNREAD)
    slave_fenced: bool = in_broker(switches.SLAVE_FENCED)
    slave_reads: bool = _is_true(configuration.SLAVE_READS)
    slave_checks: bool = _is_true(configuration.SLAVE_CHECKS)
    #: May its slave act as master, and does it take the offsets of that one when it is back?
    slave_acts: bool = _is_true(configuration.SLAVE_ACTS)
    #: Does the broker have every light message queue?
    every_lmq: bool = read(_every_lmq)
    #: May it be pulled from?
    readable: bool = read(lambda profile: bool(int(profile.setting(configuration.PERMISSION)) & READ))
    #: May messages be sent back to it?
    writeable: bool = read(lambda profile: bool(int(profile.setting(configuration.PERMISSION)) & WRITE))
    pops: bool = in_broker(switches.POPS)
    pop_names_corrected: bool = in_broker(switches.POPS, until=switches.POP_NAMES_CORRECTED)
    pop_needs_timers: bool = read(_pop_needs_timers)
    pop_stores_min: bool = in_broker(switches.POP_STORES_MIN)
    pop_retries_from_min: bool = in_broker(switches.POP_RETRIES_FROM_MIN)
    pop_acks_by_broker: bool = in_broker(switches.POP_ACKS_BY_BROKER)
    pop_batches: bool = in_broker(switches.POP_BATCHES)
    pop_shows_retries: bool = read(_pop_shows_retries)
    pop_checks_memory: bool = read(_pop_checks_memory)
    balances: bool = _is_true(configuration.BALANCES)
    #: How queues are assigned where nothing is set: "PULL" or "POP", and how many members share a queue.
    default_mode: str = read(lambda profile: profile.setting(configuration.DEFAULT_MODE))
    default_share: int = read(lambda profile: int(profile.setting(configuration.DEFAULT_SHARE)))
