"""By when a step is seen, by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.whole import BROADCAST, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_deadlines import Due, due, waits_of
from rocketmq_conformance.models.client.whole_moves import COMMIT, MEMBERS, PULL, QUERY, SILENT, Fail
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

NONE: Mapping[str, Fail] = {}


def failing(request: str, fault: str = "SYSTEM_ERROR") -> Mapping[str, Fail]:
    return {request: Fail(request, fault)}


#: (what failed, what fails now, what is late, a rule that fired, seconds for owners)
STEPS = [
    (NONE, NONE, "", "WHOLE-SHARE", 0),
    (NONE, NONE, "", "WHOLE-RESET", 10),
    (NONE, NONE, "", "WHOLE-MOVED", 30),
    (NONE, NONE, QUERY, "WHOLE-SHARE", 10),
    (failing(MEMBERS), NONE, "", "WHOLE-SHARE", 20),
    (failing(PULL), NONE, "", "WHOLE-PULL", 3),
    (failing(PULL, SILENT), NONE, "", "WHOLE-SILENT", 33),
    (failing(COMMIT), NONE, "", "WHOLE-LOST", 0),
    (failing(COMMIT), failing(COMMIT), "", "WHOLE-LOST", 0),
    (failing(QUERY), failing(QUERY), "", "WHOLE-UNREAD", 20),
    (failing(PULL, SILENT), failing(PULL), "", "WHOLE-PULL", 53),
]


@pytest.mark.parametrize(("before", "after", "late", "rule", "owners"), STEPS)
def test_owners_are_seen_in_time_and_offsets_by_the_next_timer(
    before: Mapping[str, Fail], after: Mapping[str, Fail], late: str, rule: str, owners: float
) -> None:
    assert due(before, after, late, [rule]) == Due(owners, owners + 5)
    assert due(before, after, late, [rule], 10.0) == Due(owners, owners + 10)


#: (kind, client, do listeners fail or hold?, rules that fired, seconds for owners)
WAITS = [
    (PUSH, "4.9.4", False, ("WHOLE-MOVED", "WHOLE-SHARE"), 30),
    (BROADCAST, "4.9.7", False, ("WHOLE-MOVED",), 60),
    (BROADCAST, "4.9.8", False, ("WHOLE-MOVED",), 30),
    (BROADCAST, "5.1.4", False, ("WHOLE-MOVED",), 60),
    (BROADCAST, "5.5.0", False, ("WHOLE-MOVED",), 30),
    # the lock timer
    (ORDERLY, "5.5.0", False, ("REB-LOCK-3", "PULL-PRE-LOCK"), 23),
    (ORDERLY, "4.9.8", False, ("REB-LOCK-3", "PULL-PRE-LOCK"), 43),
    # who is refused a lock asks again at once, or in the next round
    (ORDERLY, "5.5.0", False, ("WHOLE-SHARE", "WHOLE-LOCK"), 0),
    (ORDERLY, "4.9.8", False, ("WHOLE-SHARE", "WHOLE-LOCK"), 20),
    (ORDERLY, "5.5.0", False, ("REB-LOCK-3",), 20),
    (ORDERLY, "4.9.8", False, ("REB-LOCK-3",), 20),
    # up to 4.9.4 a queue that was taken waits for the lock timer
    (ORDERLY, "4.9.4", False, ("WHOLE-LOCK",), 23),
    (ORDERLY, "4.9.8", False, ("WHOLE-LOCK",), 0),
    (ORDERLY, "4.9.4", False, ("CONS-ORDER-1",), 23),
    (ORDERLY, "4.9.8", False, ("CONS-ORDER-1",), 0),
    # a listener holds a message of a queue that is lost
    (ORDERLY, "5.5.0", True, ("REB-REM-3",), 20),
    (ORDERLY, "5.1.4", True, ("REB-REM-2",), 0),
    (ORDERLY, "4.9.8", True, ("REB-REM-2",), 20),
    (ORDERLY, "5.5.0", True, ("WHOLE-BUSY",), 0),
    (ORDERLY, "5.1.4", True, ("WHOLE-BUSY",), 40),
    (ORDERLY, "4.9.8", True, ("WHOLE-BUSY",), 60),
    # messages wait in a queue that is lost
    (ORDERLY, "5.5.0", True, ("WHOLE-SHARE",), 0),
    (ORDERLY, "4.9.8", True, ("WHOLE-SHARE",), 40),
    (ORDERLY, "4.9.8", True, ("REB-LOCK-4",), 40),
]


@pytest.mark.parametrize(("kind", "client", "listens", "rules", "owners"), WAITS)
def test_what_rules_add_by_kind_and_release(
    kind: str, client: str, listens: bool, rules: tuple[str, ...], owners: float
) -> None:
    waits = waits_of(kind, ClientRules.of(Profile(client=Release.parse(client))), listens)
    assert due(NONE, NONE, "", rules, 0.0, waits) == Due(owners, owners)
