"""How long the play of a case waits for what, by how much faster than standard the timers of its programs are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.fakes.group_case import DELAY

#: By how much (s) a client with standard timers may be later than these make it.
MARGIN = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long is waited, in seconds."""

    #: How much faster than standard the slowest of the program's timers is, and what its address says of all of them.
    pace: float = 1.0
    program_pace: float = 1.0
    #: By how much (s) a client may be later than its timers make it.
    margin: float = MARGIN
    #: The same where timers are standard, if these are faster (0: they are not): what is seen only by then decides
    #: nothing.
    standard_margin: float = 0.0
    #: For a program's first heartbeat, and for its end after SIGTERM.
    connect: float = 60.0
    end: float = 15.0
    #: For whatever may come before a step goes on: a correction (10 s), a round (20 s) and a commit (10 s).
    look: float = 50.0
    #: How long nothing else may be seen after that.
    quiet: float = 1.0
    #: A round of rebalance.
    round: float = 21.0
    #: How long timers may take to write offsets, and to ask for routes.
    write: float = 11.0
    routes: float = 31.0
    #: For the answer to a request, and for a round of five queues that waits for each.
    answer: float = 6.0
    answers: float = 30.0
    #: After how long a pull that failed has been sent again.
    retry: float = 4.0

    @classmethod
    def of(cls, pace: float) -> Timing:
        """Of a program whose timers are ``pace`` times faster than standard."""
        looks = cls(
            pace=pace,
            program_pace=pace,
            margin=5 + 5 / pace,
            standard_margin=MARGIN if pace > 1 else 0.0,
            look=5 + 45 / pace,
            quiet=0.5 + 0.5 / pace,
            round=0.5 + 20.5 / pace,
            write=0.5 + 10.5 / pace,
        )
        return replace(looks, routes=0.5 + 30.5 / pace, retry=0.5 + 3.5 / pace)

    @property
    def delay(self) -> float:
        """How late answers are where they are late."""
        return DELAY / self.program_pace

    @property
    def next_round(self) -> float:
        """When a round is over that no notification was needed for."""
        return self.round - self.quiet

    def too_quick_for(self) -> dict[str, str]:
        """The rules that a client could break and nothing of it would be seen, each with the reason."""
        found = {}
        if self.next_round <= self.margin:
            found["REB-SVC-WAKE"] = (
                f"a client that was not notified has its next round before the deadline, {self.margin:g} s"
            )
        if self.delay < DELAY:
            found["WHOLE-LATE"] = f"answers are late by {self.delay:g} s, and not by {DELAY:g} s"
        return found
