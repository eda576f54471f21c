"""The words of plans: how the fake broker plays requests, what listeners do, what stands for nothing and everything."""

from __future__ import annotations

#: "No queue": the null that a caller may pass.
NO_QUEUE = -1

#: How the fake broker plays a request. "answer" is the correct answer; a name in capitals is that response
#: code; "no-field" is SUCCESS without the field; "silent" lets the caller time out; "cut" closes the connection.
FAULTS = (
    "answer",
    "QUERY_NOT_FOUND",
    "SYSTEM_ERROR",
    "SYSTEM_BUSY",
    "PULL_NOT_FOUND",
    "no-field",
    "silent",
    "cut",
)

#: How the fake broker plays max, min and search: the same, and "negative" is SUCCESS with this offset.
BOUND_FAULTS = (*FAULTS, "negative")
NEGATIVE_OFFSET = -3

#: How the fake broker plays a request for the members of the group: "empty" is an empty list, "no-body" is
#: SUCCESS without a list.
LIST_FAULTS = ("answer", "SYSTEM_ERROR", "empty", "no-body", "silent", "cut")

#: How the fake broker plays requests to lock and unlock queues.
LOCK_FAULTS = ("answer", "SYSTEM_ERROR", "silent", "cut")

#: How the fake broker plays heartbeats.
BEAT_FAULTS = ("answer", "SYSTEM_ERROR", "silent", "cut")

#: How the fake broker plays requests for an assignment: "no-body" is SUCCESS without a body, "null" one whose body
#: has no assignments; "silent-once" and "silent-twice" lose the first requests of a topic, "answer-once" answers the
#: first and refuses the others, "error-once" refuses the first.
ASSIGN_FAULTS = (
    "answer",
    "SYSTEM_ERROR",
    "silent",
    "cut",
    "no-body",
    "null",
    "silent-once",
    "silent-twice",
    "answer-once",
    "error-once",
)


def nth_assignment_fault(fault: str, nth: int) -> str:
    """How the nth request for the assignment of one topic is played: one of the first six ASSIGN_FAULTS."""
    if fault == "silent-once":
        return "silent" if nth == 1 else "answer"
    if fault == "silent-twice":
        return "silent" if nth <= 2 else "answer"
    if fault == "answer-once":
        return "answer" if nth == 1 else "SYSTEM_ERROR"
    if fault == "error-once":
        return "SYSTEM_ERROR" if nth == 1 else "answer"
    return fault


#: "Every queue" and "no stored offset" in operations on whole consumers.
EVERY, NOTHING = -1, -1

#: What the listener of a whole consumer does with the messages that it is given; it HOLDS them by not returning.
SUCCEEDS, FAILS, HOLDS = "succeeds", "fails", "holds"
