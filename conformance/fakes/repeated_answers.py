"""An answer to a pull that is sent once too often: twice at once, or to a pull that was sent again by then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rocketmq_conformance.conformance.fakes.pulls import HeldPull
from rocketmq_conformance.conformance.fakes.responses import place
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.client.whole_moves import TOO_LATE


class RepeatedAnswers:
    """Sends the next answer that brings messages of one queue once too often, and is asked about every pull of it."""

    def __init__(self) -> None:
        self._place: tuple[str, int] | None = None
        self._how = ""
        #: The pulls whose clients are to send them again.
        self.put_off: list[tuple[Peer, Command]] = []

    def arm(self, topic: str, queue: int, how: str) -> None:
        """Do so with the next message of a queue."""
        self.disarm()
        self._place, self._how = (topic, queue), how

    def disarm(self) -> None:
        """Do so no more."""
        self._place, self._how = None, ""
        self.put_off.clear()

    def put_off_held(self, pulls: Iterable[HeldPull]) -> None:
        """Pulls are not answered that were held when a late answer was wanted."""
        self.put_off += [(held.peer, held.request) for held in pulls]

    def puts_off(self, peer: Peer, request: Command) -> bool:
        """Is a pull that arrives not answered, as its client is to send it again?"""
        first = self._how == TOO_LATE and place(request.ext) == self._place and not self.put_off
        if first:
            self.put_off.append((peer, request))
        return first

    def answered(self, peer: Peer, request: Command, response: Command) -> None:
        """A pull is answered: send the answer that is too many, if it is time."""
        if response.code != 0 or self._place is None or place(request.ext) != self._place:
            return
        for asker, asked in self.put_off or [(peer, request)]:
            asker.answer(asked, replace(response))
        self.disarm()
