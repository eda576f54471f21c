"""What pulls bring of a queue under load, which a step does not show."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.traffic import Brought


class SetAside:
    """The messages of a queue that is not to be pulled show all together, once it is again: how many a client has
    before it stops is its own. Those that came only when a load was over do not show."""

    def __init__(self) -> None:
        #: The queue that is not to be pulled, and what was pulled of it so far.
        self.flooded: int | None = None
        self._kept: list[Brought] = []
        #: The queues whose messages were not given while a load lasted.
        self.starved: set[int] = set()

    def shown(self, brought: list[Brought]) -> list[Brought]:
        """What shows of the messages that pulls brought in a step."""
        brought = [one for one in brought if one[1] not in self.starved]
        if self.flooded is None:
            kept, self._kept = self._kept, []
            return kept + brought
        self._kept += [one for one in brought if one[1] == self.flooded]
        return [one for one in brought if one[1] != self.flooded]
