"""What distinguishes one Java client from another, for the models: the changes of its release."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.client import switches
from rocketmq_conformance.models.profile_fields import ProfileFields, in_client, read
from rocketmq_conformance.models.release import Release


@dataclass(frozen=True, slots=True)
class ClientRules(ProfileFields):
    """The switches of one client, as attributes for the models."""

    not_found_only: bool = in_client(switches.NOT_FOUND_ONLY)
    #: 5.0.0-ALPHA takes PULL_NOT_FOUND for the "not found" code (API-QCO-1).
    wrong_not_found: bool = read(lambda profile: profile.client == Release(5, 0, 0, "ALPHA"))
    asks_no_zero: bool = in_client(switches.ASKS_NO_ZERO)
    file_merges: bool = in_client(switches.FILE_MERGES)
    file_ints: bool = read(lambda profile: switches.FILE_INTS.on(profile.client) and profile.accidents)
    freezes: bool = in_client(switches.FREEZES)
    checked_start: bool = in_client(switches.CHECKED_START)
    lite_starts: bool = in_client(switches.LITE_STARTS)
    #: Has an orderly consumer two timers that lock its queues?
    locks_twice: bool = in_client(switches.LOCKS_TWICE)
    lite_max_throws: bool = in_client(switches.LITE_MAX_THROWS)
    unknown_throws: bool = in_client(switches.UNKNOWN_THROWS)
    room_filtered: bool = in_client(switches.ROOM_FILTERED)
    room_checked: bool = in_client(switches.ROOM_CHECKED)
    room_check_shared: bool = in_client(switches.ROOM_CHECK_SHARED)
    reports_balance: bool = in_client(switches.REPORTS_BALANCE)
    balances_all: bool = in_client(switches.BALANCES_ALL)
    nothing_is_unknown: bool = in_client(switches.NOTHING_IS_UNKNOWN)
    corrects_at_once: bool = in_client(switches.CORRECTS_AT_ONCE)
    flow_controlled: bool = in_client(switches.FLOW_CONTROLLED)
    retries_sooner: bool = in_client(switches.RETRIES_SOONER)
    next_slave: bool = in_client(switches.NEXT_SLAVE)
    selects: bool = in_client(switches.SELECTS)
    names_tags: bool = in_client(switches.NAMES_TAGS)
    weighs: bool = in_client(switches.WEIGHS)
    counts_bytes: bool = in_client(switches.COUNTS_BYTES)
    resets_bytes: bool = in_client(switches.RESETS_BYTES)
    allows_no_body: bool = in_client(switches.ALLOWS_NO_BODY, mends=True)
    #: Does a run commit, and so fail, when nothing is aside (CONS-2-COMMIT)?
    commits_nothing: bool = read(lambda profile: profile.accidents)
    #: Does a queue that is sent elsewhere begin anew, whatever fails then (WHOLE-MOVED-ANEW)?
    begins_anew: bool = read(lambda profile: profile.accidents)
    #: Is what comes in an answer behind a message that cannot be read passed over, too (WHOLE-MSG-BAD)?
    passes_over_rest: bool = read(lambda profile: profile.accidents)
    skips_uncached: bool = in_client(switches.SKIPS_UNCACHED)
    cleans_counted: bool = in_client(switches.CLEANS_COUNTED, mends=True)
    cleans_guarded: bool = in_client(switches.CLEANS_GUARDED, mends=True)
    copies_origin: bool = in_client(switches.COPIES_ORIGIN)
    orderly_origin: bool = in_client(switches.ORDERLY_ORIGIN)
    orderly_times: bool = in_client(switches.ORDERLY_TIMES)
    orderly_topic: bool = in_client(switches.ORDERLY_TOPIC)
    born_locked: bool = in_client(switches.BORN_LOCKED)
    requests_round: bool = in_client(switches.REQUESTS_ROUND)
    broadcasts_unlocked: bool = in_client(switches.BROADCASTS_UNLOCKED)
    skips_dropped: bool = in_client(switches.SKIPS_DROPPED)
    unlocks_idle: bool = in_client(switches.UNLOCKS_IDLE)
    notifies_of_unknown: bool = in_client(switches.NOTIFIES_OF_UNKNOWN)
    lite_commits_later: bool = in_client(switches.LITE_COMMITS_LATER)
    lite_keeps_others: bool = in_client(switches.LITE_KEEPS_OTHERS)
    lite_remembers: bool = in_client(switches.LITE_REMEMBERS)
    lite_ends_dropped: bool = in_client(switches.LITE_ENDS_DROPPED)
    lite_late_ends: bool = in_client(switches.LITE_LATE_ENDS)
    lite_start_ends: bool = in_client(switches.LITE_START_ENDS)
    lite_seeks_at_once: bool = in_client(switches.LITE_SEEKS_AT_ONCE)
    lite_shows_queues: bool = in_client(switches.LITE_SHOWS_QUEUES)
    lite_flow_controlled: bool = in_client(switches.LITE_FLOW_CONTROLLED)
    assigned: bool = in_client(switches.ASSIGNED)
    probes: bool = in_client(switches.PROBES)
    probes_once: bool = in_client(switches.PROBES_ONCE)
    pops_born: bool = in_client(switches.POPS_BORN)
    announces_changes: bool = in_client(switches.ANNOUNCES_CHANGES)
    divides_thresholds: bool = in_client(switches.DIVIDES_THRESHOLDS)
    brief_heartbeats: bool = in_client(switches.BRIEF_HEARTBEATS)
    notifies_listener: bool = in_client(switches.NOTIFIES_LISTENER)
    retries_round: bool = in_client(switches.RETRIES_ROUND)
    skips_disabled: bool = in_client(switches.SKIPS_DISABLED)
    numbers_starts: bool = in_client(switches.NUMBERS_STARTS)
    streams: bool = in_client(switches.STREAMS)
    keeps_store: bool = in_client(switches.KEEPS_STORE)
    serial_resets: bool = in_client(switches.SERIAL_RESETS)
    resets_at_once: bool = in_client(switches.RESETS_AT_ONCE)
    names_pulled_tags: bool = in_client(switches.NAMES_PULLED_TAGS)
    flags_lite: bool = in_client(switches.FLAGS_LITE)
    lite_requests: bool = in_client(switches.LITE_REQUESTS)
    names_broker: bool = in_client(switches.NAMES_BROKER)
    limits_bytes: bool = in_client(switches.LIMITS_BYTES)
    orders_numbers: bool = in_client(switches.ORDERS_NUMBERS)
    offsets_at_master: bool = in_client(switches.OFFSETS_AT_MASTER, mends=True)
    #: Do reads and commits of offsets look for the master in the route, though a slave is known?
    reads_at_master: bool = in_client(switches.OFFSETS_AT_MASTER)
    commits_at_master: bool = in_client(switches.COMMITS_AT_MASTER)
    has_20_threads: bool = in_client(switches.HAS_20_THREADS)
    leaves_vip_off: bool = in_client(switches.LEAVES_VIP_OFF)
    awaits_listeners: bool = in_client(switches.AWAITS_LISTENERS)
    sets_api_timeout: bool = in_client(switches.SETS_API_TIMEOUT)
