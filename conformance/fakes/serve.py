"""``serve``: runs a fake broker by itself until it is interrupted."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.pulls import HOLD_CHECK
from rocketmq_conformance.conformance.remoting.fault import parse_armed
from rocketmq_conformance.conformance.remoting.server import Observer
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
from rocketmq_conformance.models.broker.names import LONGEST_TOPIC, allowed
from rocketmq_conformance.models.profile import Profile

#: Queues of a topic that is named without a number, as a Java producer would create it.
_QUEUES = 4


def parse_topic(text: str) -> tuple[str, int]:
    """Read ``NAME`` or ``NAME=QUEUES``; raises ValueError with a sentence."""
    name, separator, queues = text.rpartition("=")
    if not separator:
        name, queues = text, str(_QUEUES)
    if not allowed(name, LONGEST_TOPIC):
        raise ValueError(f"{name!r} is no name of a topic: write letters a to z, digits, and any of % | _ -")
    if not name or not re.fullmatch("[0-9]{1,4}", queues) or not 0 < int(queues) <= 1024:
        raise ValueError(f"{text!r} is no topic; write NAME or NAME=QUEUES, such as orders=8")
    return name, int(queues)


def serve(
    profile: Profile,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    topics: Sequence[str] = (),
    faults: Sequence[str] = (),
    auto_create: bool = True,
    lease: int = MAX_LIVE_TIME,
    advertise: str = "",
    observer: Observer | None = None,
    ready: Callable[[FakeBroker], object] = lambda broker: None,
    ended: threading.Event | None = None,
) -> None:
    """Run a broker until ``ended`` is set, or without end; ``ready`` is called with it once it listens.

    ``topics`` (``NAME=QUEUES``) exist from the start, ``faults`` (``REQUEST=FAULT``) are armed; locks of queues
    live ``lease`` ms. Routes name the host ``advertise`` where that is not the one it listens on; ``observer`` is shown
    what goes over its connections. ValueError when something cannot be read, before anything is started;
    CannotRunError when the port is taken.
    """
    made = [parse_topic(text) for text in topics]
    armed = [parse_armed(text) for text in faults]
    with FakeBroker(profile, host, port, auto_create=auto_create, lease=lease, hold_check=HOLD_CHECK) as broker:
        for topic, queues in made:
            broker.create_topic(topic, queues)
        for request, fault in armed:
            broker.faults.arm(request, fault)
        if advertise:
            broker.advertise(advertise)
        broker.observe(observer)
        ready(broker)
        (ended or threading.Event()).wait()
