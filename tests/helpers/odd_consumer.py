"""The consumer of paced_consumer.py with an oddity: ``python odd_consumer.py PACE closes|stays|deaf [SECONDS]``.

``closes`` and ``stays``: it lets the broker hold a pull for 15 s, whatever its pace, and gives it up after so many
seconds; it closes the connection then and opens another one, or pulls again over the same one. ``deaf``: it takes no
notice of members that come and go.
"""

from __future__ import annotations

import sys

ODDITY, *SECONDS = sys.argv[2:]
# the other one has an argument of its own in this place
del sys.argv[2:]

import paced_consumer  # noqa: E402

from rocketmq_conformance.conformance.remoting.codes import Request  # noqa: E402
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


if __name__ == "__main__":
    if SECONDS:
        paced_consumer.HOLD, paced_consumer.PULL_END = 15.0, float(SECONDS[0])
    paced_consumer.Wire = OddWire  # type: ignore[misc]
    paced_consumer.main()
