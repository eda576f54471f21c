"""A consumer with a timeout of its own for pulls: ``python impatient_consumer.py PACE SECONDS closes|stays``.

It is that of paced_consumer.py, but lets the broker hold a pull for 15 s, whatever its pace, and gives it up after so
many seconds: it closes the connection and opens another one, or pulls again over the same one.
"""

from __future__ import annotations

import sys

*_, SECONDS, END = sys.argv
# the other one has an argument of its own in this place
del sys.argv[2:]

import paced_consumer  # noqa: E402


class ImpatientWire(paced_consumer.Wire):
    """A connection that is closed when a pull takes too long."""

    def give_up(self, number: int) -> None:
        if number in self._pulls and END == "closes":
            paced_consumer._shut(self._socket)
        super().give_up(number)


if __name__ == "__main__":
    paced_consumer.HOLD, paced_consumer.PULL_END = 15.0, float(SECONDS)
    paced_consumer.Wire = ImpatientWire  # type: ignore[misc]
    paced_consumer.main()
