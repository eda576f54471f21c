"""What members say that their listeners were given, beside what pulls brought them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence

from rocketmq_conformance.conformance.fakes.traffic import RETURNED, Brought, Message


class SaidMessages:
    """The messages that members said they were given, in this step and in the whole case.

    A member names a queue by its id alone, so that several may be meant: the retry queue, and those of other brokers.
    """

    def __init__(self) -> None:
        self._step: Counter[Message] = Counter()
        self._all: Counter[Message] = Counter()

    def begin_step(self) -> None:
        """A step begins."""
        self._step.clear()

    def add(self, client: str, queue: int, offset: int) -> None:
        """A client said that it was given a message of a queue that it names so."""
        self._step[client, queue, offset] += 1
        self._all[client, queue, offset] += 1

    def among(
        self,
        brought: Sequence[Brought],
        carried: Mapping[Message, int],
        name: Callable[[int], int],
        open_: Container[str | tuple[str, int]] = (),
    ) -> list[Brought]:
        """What clients were given: of what pulls ``brought`` in this step what they said they were given, and what they
        said more often than pulls have ``carried`` it to them. ``name`` names the queue of a number. Clients,
        or queues of them, that are ``open_`` may say it later, or never.
        """
        said = +self._step
        given: list[Brought] = []
        for client, queue, first, count in brought:
            for offset in range(first, first + count):
                message = client, name(queue), offset
                if client in open_ or (client, queue) in open_ or queue == RETURNED or said[message]:
                    said[message] -= 1
                    given.append((client, queue, offset, 1))
        again = (message for message in self._step if self._all[message] > carried.get(message, 0))
        return [*given, *((*message, 1) for message in again)]
