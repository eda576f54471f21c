"""The changes in Java clients' behaviour, by release (the S numbers of the switch table)."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release, Switch

NOT_FOUND_ONLY = Switch("S14", "only 'not found' reads as no offset; a missing queue reads -3", None, "5.0.0-ALPHA")
ASKS_NO_ZERO = Switch("S17", "asks the broker not to answer 0", None, "5.0.0", until_v5="5.1.0")
FILE_MERGES = Switch("S19", "the local store merges, persists one queue and removes", "4.9.8", "5.2.0")
FILE_INTS = Switch(
    "L01", "the local store reads no offset beyond 32 bits from its file", None, "5.4.0", until_v5="5.5.0"
)
FREEZES = Switch("S22", "entries can be frozen", None, "5.2.0")
CHECKED_START = Switch("S06", "computePullFromWhereWithException exists", "4.9.0", "5.0.0-PREVIEW")
LITE_PULL = Switch("S29", "lite pull consumers exist", "4.6.0", "5.0.0-PREVIEW")
LITE_STARTS = Switch(
    "S29", "a lite pull consumer asks where to start instead of starting at 0", "4.6.1", "5.0.0-PREVIEW"
)
LITE_MAX_THROWS = Switch("S06", "a lite pull start reports that max failed", "4.9.1", "5.0.0-ALPHA")
UNKNOWN_THROWS = Switch("S15", "an unreadable offset makes the start position throw", None, "5.0.0-ALPHA")
ROOM_FILTERED = Switch("S01", "MACHINE_ROOM takes the block from the filtered queues", "4.8.0", "5.0.0-PREVIEW")
ROOM_CHECKED = Switch("S02", "MACHINE_ROOM checks its arguments, and refuses a blank id", "4.9.3", "5.0.0-ALPHA")
ROOM_CHECK_SHARED = Switch("S02", "MACHINE_ROOM shares the check of all strategies", "4.9.4", "5.0.0")
REPORTS_BALANCE = Switch("S08", "a rebalance says whether it is balanced", None, "5.0.0-PREVIEW")
BALANCES_ALL = Switch("S10", "balanced means every topic, not the last one", None, "5.2.0")
NOTHING_IS_UNKNOWN = Switch("R01", "a rebalance takes no queues and an empty list for unknown ones", None, "5.5.0")
BORN_LOCKED = Switch("S07", "a new process queue counts as locked", "4.9.5", "5.0.0-PREVIEW")
ASKS_AGAIN = Switch("S07", "a round that is refused a lock asks for another one soon", None, "5.0.0-PREVIEW")
BROADCASTS_UNLOCKED = Switch("S11", "a broadcasting member locks nothing", None, "5.3.2")
SKIPS_DROPPED = Switch("S12", "dropped queues are neither locked again nor unlocked in the end", None, "5.0.0-PREVIEW")
UNLOCKS_IDLE = Switch("S13", "a lost queue is unlocked once no listener has it, or by force", None, "5.2.0")
HASHES = Switch("S03", "CONSISTENT_HASH exists", "4.1.0", "5.0.0-PREVIEW")
COUNTS_BYTES = Switch("C01", "a process queue counts bytes", "4.2.0", "5.0.0-PREVIEW")
RESETS_BYTES = Switch("S38", "the bytes of an empty process queue are set to 0", "4.9.8", "5.2.0")
ALLOWS_NO_BODY = Switch("C02", "a message without a body counts 0 bytes", None, "5.3.2")
SKIPS_GONE = Switch("S23", "what is not cached any more is not sent back", None, "5.1.0")
CLEANS_COUNTED = Switch("S25", "what timed out is taken off the count", "4.2.0", "5.0.0-PREVIEW")
CLEANS_GUARDED = Switch("S25", "a message that was not begun is no error", "4.9.3", "5.0.0-ALPHA")
COPIES_ORIGIN = Switch("C03", "a copy that is sent back names what it is a copy of", None, "5.4.0")
ORDERLY_ORIGIN = Switch("C04", "the copy of an orderly listener names what it is a copy of", "4.9.4", "5.0.0")
ORDERLY_TIMES = Switch("C05", "the copy of an orderly listener is counted as tried once more", None, "5.1.1")
ORDERLY_TOPIC = Switch("C06", "an orderly listener sees the first topic of a message", "4.5.1", "5.0.0-PREVIEW")
ASSIGNED = Switch("S09", "a push consumer can leave its assignment to the broker", None, "5.0.0-PREVIEW")
PROBES = Switch("S09", "asks first whether the broker assigns at all", None, "5.0.0-PREVIEW", until_v5="5.3.2")
POPS_BORN = Switch("S09", "a queue to pop from is young when it is added", None, "5.2.0")
PROBES_ONCE = Switch(
    "S09", "an error while it asks gives the topic to the client for good", None, "5.0.0", until_v5="5.3.2"
)
NEARBY = Switch("S04", "MACHINE_ROOM_NEARBY exists", "4.3.0", "5.0.0-PREVIEW")

CORRECTS_AT_ONCE = Switch("S21", "an illegal offset is corrected at once", None, "5.2.0")
FLOW_CONTROLLED = Switch("S24", "a broker's flow control puts a pull off for 20 ms", "4.9.5", "5.1.0")
RETRIES_SOONER = Switch("P01", "a failed pull is put off for 1 s, not 3", "4.6.0", "5.0.0-PREVIEW")
NEXT_SLAVE = Switch("P02", "the next slave replaces one that is not known", "4.8.0", "5.0.0-PREVIEW")
SELECTS = Switch("P03", "subscriptions can be SQL92 expressions", "4.1.0", "5.0.0-PREVIEW")
NAMES_TAGS = Switch("P05", "a pull says that its expression is one of tags", "4.3.0", "5.0.0-PREVIEW")
WEIGHS = Switch("P04", "the size of cached messages holds pulls up", "4.2.0", "5.0.0-PREVIEW")
NOTIFIES_OF_UNKNOWN = Switch(
    "V01", "the listener of a rebalance hears of a topic without known queues", None, "5.0.0-PREVIEW"
)
LITE_COMMITS_LATER = Switch("V02", "a lite pull consumer's commit is left to the timer", "4.6.1", "5.0.0-PREVIEW")
LITE_KEEPS_OTHERS = Switch("V03", "a broadcasting lite pull consumer's commit sends nothing", "4.9.4", "5.0.0")
ANNOUNCES_CHANGES = Switch("M01", "changed queues give a subscription a new version", "4.1.0", "5.0.0-PREVIEW")
DIVIDES_THRESHOLDS = Switch("M02", "thresholds of a topic are divided among queues", "4.2.0", "5.0.0-PREVIEW")
BRIEF_HEARTBEATS = Switch("M03", "heartbeats may leave out subscriptions that are known", None, "5.1.3")
NOTIFIES_LISTENER = Switch("M04", "the listener of a push consumer hears of changed queues", None, "5.2.0")
REBALANCES_SOON = Switch("M05", "a second is the least between rounds, and enough if not balanced", None, "5.2.0")
SKIPS_DISABLED = Switch("M06", "a pull consumer can be forbidden to rebalance", None, "5.3.2")


@dataclass(frozen=True, slots=True)
class ClientRules:
    """The switches of one client, as attributes for the models."""

    not_found_only: bool
    #: 5.0.0-ALPHA takes PULL_NOT_FOUND for the "not found" code (API-QCO-1).
    wrong_not_found: bool
    asks_no_zero: bool
    file_merges: bool
    file_ints: bool
    freezes: bool
    checked_start: bool
    lite_starts: bool
    lite_max_throws: bool
    unknown_throws: bool
    room_filtered: bool
    room_checked: bool
    room_check_shared: bool
    reports_balance: bool
    balances_all: bool
    nothing_is_unknown: bool
    corrects_at_once: bool
    flow_controlled: bool
    retries_sooner: bool
    next_slave: bool
    selects: bool
    names_tags: bool
    weighs: bool
    counts_bytes: bool
    resets_bytes: bool
    allows_no_body: bool
    skips_gone: bool
    cleans_counted: bool
    cleans_guarded: bool
    copies_origin: bool
    orderly_origin: bool
    orderly_times: bool
    orderly_topic: bool
    born_locked: bool
    asks_again: bool
    broadcasts_unlocked: bool
    skips_dropped: bool
    unlocks_idle: bool
    notifies_of_unknown: bool
    lite_commits_later: bool
    lite_keeps_others: bool
    assigned: bool
    probes: bool
    probes_once: bool
    pops_born: bool
    announces_changes: bool
    divides_thresholds: bool
    brief_heartbeats: bool
    notifies_listener: bool
    rebalances_soon: bool
    skips_disabled: bool

    @classmethod
    def of(cls, profile: Profile) -> ClientRules:
        """The switches of the profile's client."""
        client = profile.client
        return cls(
            not_found_only=NOT_FOUND_ONLY.on(client),
            wrong_not_found=client == Release(5, 0, 0, "ALPHA"),
            asks_no_zero=ASKS_NO_ZERO.on(client),
            file_merges=FILE_MERGES.on(client),
            file_ints=FILE_INTS.on(client),
            freezes=FREEZES.on(client),
            checked_start=CHECKED_START.on(client),
            lite_starts=LITE_STARTS.on(client),
            lite_max_throws=LITE_MAX_THROWS.on(client),
            unknown_throws=UNKNOWN_THROWS.on(client),
            room_filtered=ROOM_FILTERED.on(client),
            room_checked=ROOM_CHECKED.on(client),
            room_check_shared=ROOM_CHECK_SHARED.on(client),
            reports_balance=REPORTS_BALANCE.on(client),
            balances_all=BALANCES_ALL.on(client),
            nothing_is_unknown=NOTHING_IS_UNKNOWN.on(client),
            corrects_at_once=CORRECTS_AT_ONCE.on(client),
            flow_controlled=FLOW_CONTROLLED.on(client),
            retries_sooner=RETRIES_SOONER.on(client),
            next_slave=NEXT_SLAVE.on(client),
            selects=SELECTS.on(client),
            names_tags=NAMES_TAGS.on(client),
            weighs=WEIGHS.on(client),
            counts_bytes=COUNTS_BYTES.on(client),
            resets_bytes=RESETS_BYTES.on(client),
            allows_no_body=ALLOWS_NO_BODY.on(client),
            skips_gone=SKIPS_GONE.on(client),
            cleans_counted=CLEANS_COUNTED.on(client),
            cleans_guarded=CLEANS_GUARDED.on(client),
            copies_origin=COPIES_ORIGIN.on(client),
            orderly_origin=ORDERLY_ORIGIN.on(client),
            orderly_times=ORDERLY_TIMES.on(client),
            orderly_topic=ORDERLY_TOPIC.on(client),
            born_locked=BORN_LOCKED.on(client),
            asks_again=ASKS_AGAIN.on(client),
            broadcasts_unlocked=BROADCASTS_UNLOCKED.on(client),
            skips_dropped=SKIPS_DROPPED.on(client),
            unlocks_idle=UNLOCKS_IDLE.on(client),
            notifies_of_unknown=NOTIFIES_OF_UNKNOWN.on(client),
            lite_commits_later=LITE_COMMITS_LATER.on(client),
            lite_keeps_others=LITE_KEEPS_OTHERS.on(client),
            assigned=ASSIGNED.on(client),
            probes=PROBES.on(client),
            probes_once=PROBES_ONCE.on(client),
            pops_born=POPS_BORN.on(client),
            announces_changes=ANNOUNCES_CHANGES.on(client),
            divides_thresholds=DIVIDES_THRESHOLDS.on(client),
            brief_heartbeats=BRIEF_HEARTBEATS.on(client),
            notifies_listener=NOTIFIES_LISTENER.on(client),
            rebalances_soon=REBALANCES_SOON.on(client),
            skips_disabled=SKIPS_DISABLED.on(client),
        )
