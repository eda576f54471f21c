"""Value domains of the client suites, such as queues, offsets and faults."""

from __future__ import annotations

from rocketmq_conformance.models.client.offset_table import MEMORY, MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.plan_words import FAULTS, NO_QUEUE
from rocketmq_conformance.suites.declare.domain import Fault, Requests, Values
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE

#: A queue of the case, the one without a route now and then.
QUEUE = Values(0, 1, 2, 3, LOST_QUEUE, weights=(6, 4, 3, 2, 1))
ROUTED = Values(0, 1, 2, 3, weights=(6, 4, 3, 2))
#: The same, and null.
ANY_QUEUE = Values(0, 1, 2, 3, LOST_QUEUE, NO_QUEUE, weights=(6, 4, 3, 2, 1, 1))
READ_KIND = Values(MEMORY, STORE, MEMORY_THEN_STORE)
#: 0, in the middle, at max, beyond it, below an expired head, negative, beyond 32 and 53 bits.
OFFSET = Values(0, 1, 2, 6, 12, 13, 100, -1, 2**31, 2**53 + 1)
FAULT = Fault(Requests.OFFSETS, *FAULTS, weights=(12, 1, 1, 1, 1, 1, 1, 1))
