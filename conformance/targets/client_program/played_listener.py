"""One case of the suite of listeners that fail or hold, played with a program for each member."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.models.client.whole_moves import CLOSING, CUT
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_listener as operations
from rocketmq_conformance.suites.declare.operation import Operation

#: The rules of steps in which one message alone is sent back to an unusual answer.
_ALONE = frozenset({"WHOLE-BACK-ALONE", "WHOLE-BACK-ONCE"})


class PlayedListener(PlayedGroup):
    """The members of one case, and what is done to them and their broker."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.RefuseOne(queue, answer) | operations.LoseOne(queue, answer):
                outcome = self._played(operation, lambda: self._send_one(queue, answer))
                self.case.mend()
                return outcome
            case _:
                return super()._do(operation)

    def _send_one(self, queue: int, answer: str) -> None:
        """A message arrives in the queue, and the others once it was sent back.

        A connection that is closed takes the answers to requests about others with it, so that these arrive once the
        member is known again. One that is not answered is closed by the client itself, later.
        """
        self.case.fail_alone(Request.CONSUMER_SEND_MSG_BACK, answer, queue)
        if queue in self.case.seen:
            self.case.send(queue)
        if _ALONE & self._points.rules:
            self._wait(lambda: self.members.ended() or self.case.met, self._timing.look)
        if answer == CUT:
            self._await_members()
        for number in self.case.seen:
            if number != queue:
                self.case.send(number)
        if answer in CLOSING and answer != CUT:
            self._await_members()

    def _await_members(self) -> None:
        """Wait until the member that lost its connection, or is about to close it, is known."""
        if not _ALONE & self._points.rules:
            return
        self._wait(self.members.ended, self._timing.answer)
        self._wait(lambda: self.members.ended() or self.members.all_known(), self._timing.routes + self._timing.look)

    def _unseen(self) -> str:
        """Also that the request has not come yet that is answered in an unusual way."""
        if not _ALONE & self._points.rules or self.case.met:
            return super()._unseen()
        return super()._unseen() or "no member was seen to send back the message alone"
