"""The suite ``local-store-two-brokers``: an offset file, and queues of two brokers that have the same ids."""

from dataclasses import replace
from functools import partial

from rocketmq_conformance.suites import local_store
from rocketmq_conformance.suites.declare.topologies import TWO_BROKERS

SUITE = replace(
    local_store.SUITE,
    name="local-store-two-brokers",
    sentence="A consumer's offset file with queues of two brokers that have the same ids.",
    topology=TWO_BROKERS,
    bind=partial(local_store.bind, TWO_BROKERS),
)
