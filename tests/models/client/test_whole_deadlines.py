"""By when a step is seen, by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rocketmq_conformance.models.client.whole_deadlines import Due, due
from rocketmq_conformance.models.client.whole_moves import COMMIT, MEMBERS, PULL, QUERY, SILENT, Fail

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
