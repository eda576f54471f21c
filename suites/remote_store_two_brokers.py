"""The suite ``remote-store-two-brokers``: an offset store, and queues of two brokers that have the same ids."""

from dataclasses import replace
from functools import partial

from rocketmq_conformance.suites import remote_store
from rocketmq_conformance.suites.declare.topologies import TWO_BROKERS

SUITE = replace(
    remote_store.SUITE,
    name="remote-store-two-brokers",
    sentence="A consumer's offset store against two brokers that have queues of a topic with the same ids.",
    topology=TWO_BROKERS,
    bind=partial(remote_store.bind, TWO_BROKERS),
)
