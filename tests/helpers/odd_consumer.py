"""The consumer of paced_consumer.py with an oddity: ``odd_consumer.py PACE closes|stays|deaf|goes-on [SECONDS]``.

``closes`` and ``stays``: it lets the broker hold a pull for 15 s, whatever its pace, and gives it up after so many
seconds; it closes the connection then and opens another one, or pulls again over the same one. ``deaf``: it takes no
notice of members that come and go. ``goes-on``: where it is sent elsewhere it pulls on at once.
"""

from __future__ import annotations

import sys
from dataclasses import replace

ODDITY, *SECONDS = sys.argv[2:]
# the other one has an argument of its own in this place
del sys.argv[2:]

import paced_consumer  # noqa: E402

from rocketmq_conformance.conformance.remoting.codes import Request, Response  # noqa: E402
from rocketmq_conformance.conformance.remoting.frame import Command  # noqa: E402


class OddWire(paced_consumer.Wire):
    """A connection that may be closed when a pull takes too long, and on which notifications may be lost."""

    def give_up(self, number: int) -> None:
        if number in self._pulls and ODDITY == "closes":
            paced_consumer._shut(self._socket)
        super().give_up(number)

    def _arrived(self, command: Command) -> None:
        if ODDITY != "deaf" or command.code != Request.NOTIFY_CONSUMER_IDS_CHANGED:
            super()._arrived(command)


class OddConsumer(paced_consumer.Consumer):
    """A consumer that may pull on where it is sent."""

    def pulled(self, answer: Command, one: paced_consumer.Queue, token: object, offset: int) -> None:
        if ODDITY == "goes-on" and answer.code == Response.PULL_OFFSET_MOVED:
            answer = replace(answer, code=Response.PULL_NOT_FOUND)
        super().pulled(answer, one, token, offset)


if __name__ == "__main__":
    if SECONDS:
        paced_consumer.HOLD, paced_consumer.PULL_END = 15.0, float(SECONDS[0])
    paced_consumer.Wire, paced_consumer.Consumer = OddWire, OddConsumer  # type: ignore[misc]
    paced_consumer.main()
