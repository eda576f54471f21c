"""Sends requests of several clients at the same time, each over a connection of its own, and takes down the history.

One thread writes and reads, so moments are the numbers of what it did: a request counts as sent before it is written,
and as answered once its response was read. Two requests that overlap by that may have been apart in the broker, never
the other way round: nothing is called wrong that is not. A fault stands where a client would send a request.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from select import select
from typing import NamedTuple

from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.requests import Ask


class Fault(NamedTuple):
    """What befalls a broker: ``begin`` it, and ``end`` it after so many seconds."""

    name: str
    begin: Callable[[], object]
    end: Callable[[], object] = lambda: None
    seconds: float = 0.0


class Sending(NamedTuple):
    """A request of a client, by number, or a fault in its place; is its answer heard, or is its connection cut once it
    is sent?"""

    by: int
    ask: Ask | Fault
    heard: bool = True


class Exchanged(NamedTuple):
    """The moments of a request's sending and of its answer, and that answer; None and None without one."""

    sent: int
    answered: int | None = None
    answer: Command | None = None


def exchange(
    requests: Sequence[Sending],
    open_connection: Callable[[int], Connection],
    close_connection: Callable[[int], None],
    cut: Callable[[Ask], None],
    patience: float,
) -> list[Exchanged]:
    """What came of each request; one without an answer in ``patience`` seconds, or whose connection breaks, has none.

    A client sends its next request once the one before was answered. OSError when the broker cannot be reached.
    """
    waiting: dict[int, deque[int]] = {}
    for place, one in enumerate(requests):
        waiting.setdefault(one.by, deque()).append(place)
    found: dict[int, Exchanged] = {}
    under_way: dict[int, tuple[int, Connection]] = {}
    #: Clients in whose turn a fault began, the place of that, and when it is over.
    befallen: dict[int, tuple[int, Fault, float]] = {}
    moments = count()

    def send_next(by: int) -> None:
        """Write the client's next request, and those before it whose answers are not heard."""
        while waiting[by]:
            place = waiting[by].popleft()
            ask = requests[place].ask
            if isinstance(ask, Fault):
                for _, connection in under_way.values():
                    connection.lost()  # what was posted is written before
                found[place] = Exchanged(next(moments))
                ask.begin()
                befallen[by] = place, ask, time.monotonic() + ask.seconds
                return
            found[place] = Exchanged(next(moments))
            if not requests[place].heard:
                cut(ask)
                continue
            connection = open_connection(by)
            connection.post(ask.code, ask.ext, ask.body)
            under_way[by] = place, connection
            return

    def end_fault(by: int) -> None:
        """Let a fault be over: the client's next request follows."""
        place, fault, _ = befallen.pop(by)
        fault.end()
        found[place] = found[place]._replace(answered=next(moments))
        send_next(by)

    def take(by: int) -> bool:
        """Take the client's answer, if it is there: its next request follows."""
        place, connection = under_way[by]
        connection.lost()  # what has arrived is read
        try:
            answer = connection.collect(0.0)
        except TimeoutError:
            return False
        except ConnectionError:
            answer = None
        del under_way[by]
        if answer is not None:
            found[place] = found[place]._replace(answered=next(moments), answer=answer)
        send_next(by)
        return True

    for by in waiting:
        send_next(by)
    deadline = time.monotonic() + patience
    while under_way or befallen:
        if [by for by in [*under_way] if take(by)]:
            continue
        now = time.monotonic()
        ended = [by for by, (_, _, over) in befallen.items() if over <= now]
        for by in ended:
            end_fault(by)
            deadline = time.monotonic() + patience
        if ended:
            continue
        if now >= deadline and not befallen:
            break
        until = min([deadline, *(over for _, _, over in befallen.values())])
        select([one for _, one in under_way.values()], [], [], max(until - now, 0.0))
    for by in under_way:  # a late answer is none
        close_connection(by)
    for by, places in waiting.items():
        assert by in under_way or not places
        for place in places:
            found[place] = Exchanged(next(moments))
    return [found[place] for place in range(len(requests))]
