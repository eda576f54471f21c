"""What orderly listeners were given in each step of a case, where one may be given the same message many times."""

from __future__ import annotations

from rocketmq_conformance.models.client.orderly_work import MemberQueue, given_in_order
from rocketmq_conformance.models.outcome import Value


class GivenInOrder:
    """The messages of one step, and of each queue the latest of the steps before."""

    def __init__(self) -> None:
        self._latest: dict[MemberQueue, int] = {}
        self._lines: list[tuple[int, int, int]] = []
        self._places: Value = ()

    def begin_step(self) -> None:
        """A step begins. A member that had no queue at the end of the last one begins anew there."""
        latest = given_in_order(self._latest, self._lines)[2]
        self._latest = {place: offset for place, offset in latest.items() if self._has(*place)}
        self._lines.clear()

    def add(self, member: int, queue: int, offset: int) -> None:
        """A member's listener was given a message."""
        self._lines.append((member, queue, offset))

    def shown(self, places: Value, says: bool) -> tuple[Value, Value]:
        """The two last parts of an answer, whose first part is ``places``: what was given, and what was given once more
        to the member that pulls the queue. None where members do not say such things."""
        self._places = places
        given, again, _ = given_in_order(self._latest, self._lines)
        if not says:
            return None, None
        return given, tuple(one for one in again if self._has(*one[:2]))

    def _has(self, member: int, queue: int) -> bool:
        assert isinstance(self._places, tuple)
        if queue >= len(self._places):
            return False
        place = self._places[queue]
        return isinstance(place, tuple) and place[0] == member
