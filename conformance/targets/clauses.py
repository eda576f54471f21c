"""Which clauses of rules are seen: those about time, order, the number of requests, header fields, the one-way flag and
repetition. ``list clauses`` shows the table.

A rule is confirmed by steps in which it decides an answer; that says nothing about a clause which no answer depends on.
So each clause of these kinds has a row here, with a mutant that breaks it and is noticed, or the reason why none is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocketmq_conformance.reports.markdown_table import markdown_table

TIME, ORDER, NUMBER, FIELD, ONE_WAY, AGAIN = (
    "time",
    "order",
    "number of requests",
    "header field",
    "one-way flag",
    "repetition",
)
#: The words by which a sentence speaks of each kind.
MARKERS = {
    TIME: r"\b\d+ (s|ms)\b|\b(half a|a|ten) seconds?\b(?! time)|half an hour|the last 20 s",
    ORDER: (
        r"\bin this order\b|, and then (?!every|replaces)|, then (persists|unregisters)|before it (sends|waits)"
        r"|(?<!,) and then sends"
    ),
    NUMBER: r"\b(one|by one|two equal) (one-way )?(requests?|commit|heartbeat|ones)\b",
    FIELD: r"\b(header|sysFlag|field|flag)\b(?! file)",
    ONE_WAY: r"\bone[- ]way\b",
    AGAIN: r"\btwice\b|\b(tried|sent|given) again\b|\bonce only\b|, once a|\bup to three times\b|however often",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of a rule's sentence."""

    rule: str
    kind: str
    #: The part of the sentence.
    words: str
    #: A mutant that breaks it, and the rule that a step blames then, if it is not this one.
    mutant: str = ""
    blamed: str = ""
    #: Why no mutant breaks it.
    unseen: str = ""


def markers_of(sentence: str) -> list[tuple[str, str]]:
    """(kind, words) of all that a sentence says of these kinds."""
    return [
        (kind, found.group()) for kind, pattern in MARKERS.items() for found in re.finditer(pattern, sentence, re.I)
    ]


def _seen(rule: str, kind: str, words: str, mutant: str, blamed: str = "") -> Clause:
    return Clause(rule=rule, kind=kind, words=words, mutant=mutant, blamed=blamed)


def _unseen(rule: str, kind: str, words: str, reason: str) -> Clause:
    return Clause(rule=rule, kind=kind, words=words, unseen=reason)


_LATER = "Answers of whole consumers are a second late at most; PULL-ASK-WAIT is about the times themselves."
_UNTIMED = "Looks at programs have it as a deadline; the port, with all its mutants, has no clock as a whole consumer."

CLAUSES: tuple[Clause, ...] = (
    _unseen(
        "ALLOC-CHK-1",
        ORDER,
        "In this order",
        "The cases with two wrong arguments see it; no mutant breaks the order alone.",
    ),
    _unseen(
        "BQ-BROADCAST-2",
        TIME,
        "Every 5 s",
        "A step waits until the broker has looked, however long that takes.",
    ),
    _seen("BQ-COM-12", TIME, "first 10 s after the start", "tables-timer-late"),
    _seen("BQ-FIELD", FIELD, "without one of its required fields", "pull-any-number"),
    _unseen(
        "BQ-GROUP-2",
        FIELD,
        "The flag is removeOffset",
        "The other name is sent to releases on both sides of the switch; no mutant mixes them up.",
    ),
    _seen("BQ-PULL-1", ORDER, "in this order", "language-first"),
    _seen("BQ-PULL-10", AGAIN, "held once only", "poll-held-again"),
    _seen("BQ-PULL-CHECK", TIME, "every 5 s", "poll-checks-always"),
    _seen("BQ-PULL-8", FIELD, "has the commit flag", "reset-over-commit-flag", "BQ-COM-3"),
    _seen("BQ-PULL-9", FIELD, "If it has the commit flag", "reset-over-commit-flag", "BQ-COM-3"),
    _seen("BQ-PULL-BLANK", FIELD, "named by an empty field", "language-blank"),
    _seen("BQ-PULL-CLASS", FIELD, "The flag of class filters in a pull's sysFlag", "filter-class-flag"),
    _seen("BQ-TIMER-1", TIME, "rounded down to a second", "timer-early"),
    _seen("BQ-UPDATE-2", FIELD, "without header fields", "commit-answers-bounds"),
    _seen("CID-SHARE", NUMBER, "with one heartbeat for all their groups", "beats-per-group", "TIMER-BEAT"),
    _seen("CONS-1-FULL", TIME, "5 s later", "refused-waits-10-s"),
    _seen("CONS-1-FULL", NUMBER, "one request", "refused-rest-is-cut"),
    _seen("CONS-1-LOCAL", TIME, "after 5 s", "tries-at-once"),
    _seen("DEFAULT-CLIENT", TIME, "every 5 s", "small-units"),
    _seen("DEFAULT-CLIENT", TIME, "every 30 s", "small-units"),
    _seen("DEFAULT-CLIENT", TIME, "waits 3 s", "small-units"),
    _seen("DEFAULT-CLIENT", TIME, "1 s after a pull", "small-units"),
    _seen("DEFAULT-LISTENER", TIME, "after 1 s", "small-units"),
    _seen("DEFAULT-LITE", TIME, "polls for 5 s", "small-units"),
    _seen("DEFAULT-LITE", TIME, "every 5 s by itself", "small-units"),
    _seen("DEFAULT-POP", TIME, "for 60 s", "small-units"),
    _seen("DEFAULT-PULL", TIME, "for 20 s", "small-units"),
    _seen("DEFAULT-PULL", TIME, "waits 10 s", "small-units"),
    _seen("DEFAULT-PULL", TIME, "or 30 s", "small-units"),
    _seen("GP-ACK-3", AGAIN, "is sent again", "grpc-swallows-refusals"),
    _seen("GP-ACK-4", AGAIN, "is not sent again", "grpc-insists-on-handles"),
    _seen("GP-ASG-2", TIME, "Within 5 s", "grpc-assigned-once"),
    _seen("GP-HB-1", TIME, "Within 10 s", "grpc-beats-never"),
    _seen("LP-WAIT", TIME, "after a threshold in 50 ms", "manual-full-is-a-failure"),
    _seen("LP-WAIT", TIME, "in 1 s, however soon", "manual-fails-at-once"),
    _seen("LP-WAIT-BUSY", TIME, "comes in 20 ms", "manual-flow-control-is-a-failure"),
    _seen("LP-WAIT-START", TIME, "3 s later", "manual-start-is-a-failure"),
    _seen("OFF-R-P", ONE_WAY, "sends the queue's entry one way", "sends-synchronously"),
    _seen("OFF-R-PALL", ONE_WAY, "are sent one way", "sends-synchronously"),
    _seen("OFF-R-UPD", AGAIN, "is not sent again", "unanswered-commit-is-repeated"),
    _seen("OFF-R-UPD", ONE_WAY, "a one-way commit never does", "one-way-reports"),
    _unseen(
        "POP-ACK-BAD",
        ORDER,
        "in this order",
        "Cases with two faults at once see it; no mutant breaks the order alone.",
    ),
    _unseen(
        "POP-CHECK",
        ORDER,
        "in this order",
        "Cases with two faults at once see it; no mutant breaks the order alone.",
    ),
    _seen("PULL-ASK-1", TIME, "brokerSuspendMaxTimeMillis (20 s)", "suspends-as-long-as-it-waits"),
    _seen("PULL-ASK-1", FIELD, "the expression with flag 4", "pull-hides-expression"),
    _seen("PULL-ASK-1", FIELD, "flag 2 when it waits", "pull-always-waits"),
    _seen("PULL-ASK-1", FIELD, "0 as the offset to commit without its flag", "application-pull-commits"),
    _seen("PULL-ASK-LITE", TIME, "for 20 s, which cannot be set", "lite-takes-suspend-of-pull"),
    _seen("PULL-ASK-LITE", FIELD, "with the flag 16", "lite-has-no-flag"),
    _seen("PULL-ASK-PUSH", TIME, "hold it for 15 s", "push-is-held-20-s"),
    _seen("PULL-ASK-PUSH", TIME, "after 30 s", "push-gives-up-early"),
    _seen("PULL-ASK-WAIT", TIME, "consumerPullTimeoutMillis (10 s)", "pull-gives-up-late"),
    _seen("PULL-ASK-WAIT", TIME, "consumerTimeoutMillisWhenSuspend (30 s)", "lite-gives-up-early"),
    _seen("PULL-CLASS", FIELD, "with flag 8", "class-has-no-flag"),
    _seen("PULL-COM-1", FIELD, "its flag says to commit it", "pull-never-commits"),
    _seen("PULL-COM-BC", FIELD, "no flag to commit it", "broadcast-pull-commits"),
    _seen("PULL-ILL-1", TIME, "10 s later", "corrects-late"),
    _seen("PULL-PRE-1", TIME, "3 s, 1 s from 4.6.0", "failure-waits-3-s"),
    _seen("PULL-PRE-1", TIME, "50 ms each", "full-waits-a-second"),
    _seen("PULL-PRE-1", ORDER, "in this order", "full-before-paused"),
    _seen("PULL-RES-1", TIME, "for 20 ms", "flow-control-is-failure"),
    _seen("PULL-SUB-3", FIELD, "flag 4", "always-posts-expression"),
    _seen("REB-ADD-LOCK", TIME, "500 ms later", "refused-is-not-retried"),
    _seen("REB-BRK-POP", TIME, "more than 120 s", "pop-expires-early"),
    _unseen(
        "REB-BRK-PROBE",
        AGAIN,
        "up to three times",
        "Before 5.3.2 only, and the port, with all its mutants, is a client of the newest release.",
    ),
    _unseen(
        "REB-DO-1",
        ORDER,
        ", and then drops the queues of topics",
        "Queues of topics that are not subscribed belong to no share: the order shows in no answer.",
    ),
    _seen("REB-DROP-EXPIRY", TIME, "more than 120 s", "expires-early", "REB-CLU-4"),
    _seen("REB-DROP-KEPT", AGAIN, "tried again in every round", "never-forces", "REB-REM-3"),
    _seen("REB-LOCK-1", TIME, "for 30 s", "lock-expires-early"),
    _seen("REB-LOCK-3", NUMBER, "in one request", "locks-by-one-timer", "TIMER-LOCK"),
    _seen("REB-LOCK-4", ORDER, "before it sends their offsets", "persists-before-it-unlocks", "TIMER-END"),
    _seen("REB-MQC-VERSION", ORDER, ", and then a heartbeat", "heartbeat-before-version"),
    _seen("REB-PERSIST-1", ONE_WAY, "one way, and forgets all others", "persist-waits", "TIMER-PERSIST"),
    _seen("REB-REM-1", ORDER, ", and then forgets it", "forgotten-first"),
    _seen("REB-REM-1", ONE_WAY, "to the broker, one way", "loss-waits"),
    _unseen(
        "REB-REM-2",
        TIME,
        "20 s later",
        "Its steps and those of REB-LOCK-DELAY see it; up to 5.1.4 only, and the mutants are of the newest release.",
    ),
    _unseen(
        "REB-REM-2",
        ONE_WAY,
        "is unlocked, one way",
        "Its steps see it; up to 5.1.4 only, and the mutants are of the newest release.",
    ),
    _seen("REB-REM-3", TIME, "in the last 20 s", "forces-early"),
    _seen("REB-REM-3", ONE_WAY, "is unlocked, one way", "loss-unlock-waits"),
    _seen("REB-REM-3", AGAIN, "it is sent again", "lost-is-sent-once"),
    _seen("REB-SVC-1", TIME, "20 s after the last round", "always-soon"),
    _seen("REB-SVC-MIN", TIME, "Less than a second", "wakes-at-once"),
    _seen("REB-SVC-MIN", AGAIN, "however often it was woken up", "early-wake-waits", "REB-SVC-1"),
    _seen("REB-SVC-SOON", TIME, "after a second", "never-soon"),
    _seen("REB-SVC-WAKE", TIME, "20 s later again", "wakes-in-periods", "REB-SVC-1"),
    _seen("RST-LISTENER", TIME, "ten seconds at most", "reset-gives-up-listener"),
    _seen("RST-PUSH", ONE_WAY, "lower or not, one way", "reset-commit-waits"),
    _seen("RST-TWICE", ORDER, "before it waits", "reset-commits-once"),
    _seen("RST-TWICE", AGAIN, "commits an offset twice", "reset-commits-thrice"),
    _seen("RST-UNLOCK", TIME, "for a second up to 5.1.4, for half a second from 5.2.0", "reset-unlocks-late"),
    _seen("RST-UNLOCK", TIME, "granted more than 20 s ago", "reset-unlocks-by-force"),
    _seen("RST-WAIT", TIME, "ten seconds pass", "reset-too-early"),
    _seen("START-TS-DEFAULT", TIME, "half an hour before", "timestamp-is-an-hour-ago"),
    _seen("TIMER-BEAT", TIME, "1 s after it began", "beats-after-30-s"),
    _seen("TIMER-BEAT", TIME, "(30 s)", "beats-every-5-minutes"),
    _seen("TIMER-BEAT", NUMBER, "one heartbeat for all its groups", "beats-per-group"),
    _seen("TIMER-END", ORDER, ", then persists, then unregisters", "leaves-before-it-persists"),
    _seen("TIMER-LOCK", TIME, "1 s after its own start", "locks-a-second-late"),
    _seen("TIMER-LOCK", TIME, "every 20 s", "locks-every-30-s"),
    _seen("TIMER-LOCK", NUMBER, "by one request up to 4.9, by two equal ones in 5.x", "locks-by-one-timer"),
    _seen("TIMER-PERSIST", TIME, "10 s after it began", "persists-a-second-late"),
    _seen("TIMER-PERSIST", TIME, "(5 s)", "persists-every-10-s"),
    _seen("TIMER-PERSIST", NUMBER, "by one one-way commit a queue", "persists-three-times"),
    _seen("TIMER-PERSIST", ONE_WAY, "one-way commit", "persist-waits"),
    _seen("TIMER-ROUTE", TIME, "10 ms after it began", "routes-after-30-s"),
    _seen("TIMER-ROUTE", TIME, "(30 s)", "routes-are-kept"),
    _seen("TIMER-ROUTE", AGAIN, ", once a topic", "routes-per-consumer"),
    _seen("TIMER-START", ORDER, "and then sends the heartbeat", "beats-before-routes"),
    _seen("VIP-PORT", ONE_WAY, "one-way unlocks", "unlocks-by-vip"),
    _seen("WAIT-ANSWER", TIME, "waits 5 s", "waits-for-offsets"),
    _seen("WAIT-ANSWER", TIME, "6 s for max", "waits-alike"),
    _seen("WAIT-ANSWER", TIME, "3 s for the members", "small-units"),
    _seen("WAIT-ANSWER", TIME, "1 s for locks", "waits-alike"),
    _seen("WHOLE-ANS-TWICE", AGAIN, "comes twice counts once", "whole-answers-takes-twice"),
    _unseen("WHOLE-BACK-ONCE", TIME, "a second", _LATER),
    _seen("WHOLE-BUSY", TIME, "confirmed in the last 20 s", "ordered-lock-never-forced", "REB-REM-3"),
    _seen("WHOLE-LATE", TIME, "comes a second late", "whole-push-impatient"),
    _unseen("WHOLE-LATE", TIME, "wait 3 s for routes, members, max and searches", _LATER),
    _unseen("WHOLE-LATE", TIME, "5 s for a stored offset", _LATER),
    _unseen("WHOLE-LATE", TIME, "30 s for a pull", _LATER),
    _unseen(
        "WHOLE-LOST",
        AGAIN,
        "the messages are given again",
        "Its steps see it, when a member ends and its last commit is lost; no mutant commits once more then.",
    ),
    _seen("WHOLE-LOAD-STOP", AGAIN, "nothing is given again", "whole-load-starts-again"),
    _seen("WHOLE-MISTAKEN", AGAIN, "lost, or given again", "whole-push-not-found-fails"),
    _unseen(
        "WHOLE-MOVED",
        TIME,
        "10 s later up to 5.1.4",
        "Looks at programs wait so long; up to 5.1.4 only, and the mutants are of the newest release.",
    ),
    _seen(
        "WHOLE-MSG-BATCH", FIELD, "to be taken apart (bits 6 and 7 of the system flag)", "whole-messages-whole-batch"
    ),
    _seen("WHOLE-MSG-HOSTS", FIELD, "where bits 4 and 5 of the system flag say so", "whole-messages-short-hosts"),
    _seen("WHOLE-MSG-READ", FIELD, "compressed (bit 0 of the system flag)", "whole-messages-never-uncompresses"),
    _seen("WHOLE-MSG-TYPE", FIELD, "Bits 8 to 10 of the system flag say how", "whole-messages-zlib-alone"),
    _seen("WHOLE-PAUSE", AGAIN, "nothing is given twice", "whole-pause-again"),
    _seen("WHOLE-PULL", AGAIN, "is tried again", "whole-push-failed-pull-is-last", "WHOLE-COMMIT"),
    _unseen(
        "WHOLE-PULL",
        AGAIN,
        "nothing is given twice",
        "Steps count what pulls bring; no mutant asks twice because a pull failed.",
    ),
    _seen("WHOLE-REPEAT", AGAIN, "is sent again by the next one", "whole-push-commits-changes"),
    _unseen(
        "WHOLE-REREAD",
        AGAIN,
        "asks twice where a queue begins",
        "Brokers that fail by a script refuse the second question; in suites all questions of a step fail alike.",
    ),
    _seen("WHOLE-SHARE", AGAIN, "is not given again", "whole-push-commits-nothing"),
    _seen("WHOLE-SILENT", AGAIN, "sent again", "whole-push-silent-pull-is-last"),
    _unseen("WHOLE-SILENT", TIME, "after 30 s", _UNTIMED),
    _unseen("WHOLE-SILENT", TIME, "3 s later", _UNTIMED),
    _unseen(
        "WIRE-FRAME-1",
        FIELD,
        "in the form of the request's header",
        "The wire is compared frame by frame in the proof; mutants are of answers.",
    ),
)


def page() -> str:
    """The table as a page, in Markdown."""
    columns = ("rule", "kind", "clause")
    seen = (
        (one.rule, one.kind, one.words, f"`{one.mutant}`" + (f", as {one.blamed}" if one.blamed else ""))
        for one in CLAUSES
        if one.mutant
    )
    unseen = [clause for clause in CLAUSES if clause.unseen]
    lines = [
        "# Clauses",
        "",
        "`rocketmq-conformance list clauses` makes this page from `conformance/targets/clauses.py`.",
        "",
        "A rule counts as confirmed when it decided an answer that was right. A clause on which no answer depends",
        "would be confirmed with it, unseen. So every clause about time, order, the number of requests, header",
        "fields, the one-way flag and repetition is listed here with a mutant that breaks it. A test sees to it that",
        "a step which the rule decides notices the mutant, or a step of the rule behind *as*.",
        "",
        f"{len(CLAUSES) - len(unseen)} clauses are seen, and {len(unseen)} are not.",
        "",
        *markdown_table((*columns, "broken by"), seen),
        "",
        "## Not seen",
        "",
        *markdown_table((*columns, "why"), ((one.rule, one.kind, one.words, one.unseen) for one in unseen)),
    ]
    return "\n".join(lines) + "\n"
