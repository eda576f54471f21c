"""Fixture: an aged broker, with one topic whose older messages have expired and offsets that were stored long ago.

Expiry takes a minute and a half on a real broker, and store times cannot be chosen there. So the kit writes such a
store itself, and every release starts on it: ``QUEUES`` is what the files hold, ``aged_broker`` the state of a broker
that loaded them (BQ-MIN-1).
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.fixtures import GROUPS
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Stored, Topic

TOPIC = "AGED"
#: The group whose offsets the store holds.
KEPT_GROUP = "KEPT"
#: Store time of the first retained message (ms since the epoch): 2024-01-01T00:00:00Z.
EPOCH = 1_704_067_200_000


def _log(first: int, *times: int) -> QueueLog:
    return QueueLog(first=first, times=tuple(EPOCH + time for time in times))


#: Queues by id: how many messages expired, and when the retained ones were stored (ms after the epoch).
QUEUES = (
    _log(10, 0, 10, 10, 20, 35),  # the oldest ones expired; equal times, even and odd gaps
    _log(3),  # everything expired
    _log(0, 0, 5, 5, 5, 9),  # nothing expired
    _log(0),  # never written
    _log(0, 0, 1, 1, 1, 1, 2, 7, 7, 7, 20, 21, 30),  # nothing expired; runs of equal times
    _log(3, 0),  # one message left
    _log(7, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5),  # the oldest ones expired; nearly all times equal
)

#: Offsets of the kept group by queue id: = max - 3, < min, 0, on a never written queue, > max, negative.
STORED = {0: 12, 1: 1, 2: 0, 3: 2, 4: 9999, 5: -7}


def aged_broker(rules: BrokerRules) -> BrokerState:
    """The broker after it started on the store, or with nothing, where it keeps nothing in files; group 0 exists as
    well."""
    if not rules.in_files:
        return BrokerState(groups=frozenset({GROUPS[0]}))
    hot = rules.hot or rules.empty_is_unknown
    return BrokerState(
        topics={TOPIC: Topic.of(len(QUEUES))},
        groups=frozenset({GROUPS[0]}),
        logs={
            (TOPIC, queue): reopened(rules, log)._replace(hot=hot)
            for queue, log in enumerate(QUEUES)
            if log != QueueLog()
        },
        stored={} if rules.light else kept(),
    )


def kept() -> Stored:
    """The stored offsets in the file of brokers without light message queues."""
    return {(KEPT_GROUP, TOPIC, queue): offset for queue, offset in STORED.items()}
