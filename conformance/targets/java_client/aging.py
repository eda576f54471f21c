"""Ages by the case's clock, of objects of Java that compare times with the machine's.

The machine's clock cannot be set, but the times that are compared with it can. They are set again when the case's clock
has moved, or a while has passed; until then the classes set new ones by the machine's clock themselves.
"""

from __future__ import annotations

import time

from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: Ms by which objects are made younger than they are: less than the difference of any two ages.
SLACK = 5_000
#: How long ages that were set are good for (s), while the case's clock stands still: much less than the slack.
_DRIFT = 1.0


class Aging:
    """When the ages of some objects are to be set: never, when the clock of the case is the machine's."""

    def __init__(self, release: JavaRelease) -> None:
        self._by_machine = release.pace is not None
        #: When they were set last: by the case's clock (ms), None for never, and by the machine's (s).
        self.since: int | None = None
        self._set = 0.0

    def are_due(self, now: int) -> bool:
        """Are they to be set, at this time of the case (ms)?"""
        return not self._by_machine and (now != self.since or time.monotonic() - self._set >= _DRIFT)

    def are_set(self, now: int) -> None:
        """They have just been set."""
        self.since, self._set = now, time.monotonic()
