"""The faults of a case of whole consumers for the parts of its broker, and what these parts observe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.pulls import HeldPull, Pulls
from rocketmq_conformance.conformance.fakes.repeated_answers import RepeatedAnswers
from rocketmq_conformance.conformance.fakes.watched_case import Failing
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES
from rocketmq_conformance.suites.declare.topologies import OTHER_TOPIC, TOPIC

#: How long a pull is held (ms): so long that no case sees the end of it, but less than a client waits; and briefly.
HOLD, BRIEF_HOLD = 25_000, 1000
#: The number of the first queue of each topic.
_FIRST = {TOPIC: 0, OTHER_TOPIC: OTHER_QUEUES}


class Script:
    """The faults for the parts of a case's broker, and what the parts observe. ``hold`` is how long (ms) a
    pull that finds nothing waits for a message."""

    def __init__(self, hold: int = HOLD) -> None:
        #: Pulls of its topics so far that were answered correctly, by the number of the queue; and the offset that the
        #: last of them asked for.
        self.pulls: Counter[int] = Counter()
        self.latest: dict[int, int] = {}
        script = self

        class ScriptedOffsets(Offsets):
            """Answers one more query of a stored offset, and then none."""

            def _query(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
                answer = super()._query(code, ext, body)
                return answer if ext["topic"] != TOPIC else script.answered(answer)

        class CountedPulls(Pulls):
            """Counts the pulls of the topics."""

            def pull(self, peer: Peer, request: Command) -> Command | None:
                request.ext["suspendTimeoutMillis"] = str(hold)
                first = _FIRST.get(request.ext["topic"])
                if first is not None:
                    number = first + int(request.ext["queueId"])
                    script.pulls[number] += 1
                    script.latest[number] = int(request.ext["queueOffset"])
                if script.repeated.puts_off(peer, request):
                    return None
                response = super().pull(peer, request)
                if response is not None:
                    script.repeated.answered(peer, request, response)
                return response

            def _end(self, held: HeldPull, response: Command) -> None:
                script.repeated.answered(held.peer, held.request, response)
                super()._end(held, response)

        self.parts: Mapping[str, type] = {"offsets": ScriptedOffsets, "pulls": CountedPulls}
        self._arm: Callable[[], None] | None = None
        #: The requests about one thing alone that fail, and how many of them have come.
        self.lone: Failing | None = None
        self.met = 0
        self.repeated = RepeatedAnswers()

    def fail_later(self, arm: Callable[[], None]) -> None:
        """Answer one more query correctly; ``arm`` plants the fault for later ones."""
        self._arm = arm

    def mend(self) -> None:
        """Answer every query again."""
        self._arm = self.lone = None
        self.repeated.disarm()

    def answered(self, answer: Answered) -> Answered:
        """The response to a query about the topic, after which the fault is planted."""
        arm, self._arm = self._arm, None
        if arm is not None:
            arm()
        return answer
