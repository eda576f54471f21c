"""The suite ``rebalance-two-brokers``: a group, and queues of two brokers that have the same ids."""

from dataclasses import replace
from functools import partial

from rocketmq_conformance.suites import rebalance
from rocketmq_conformance.suites.declare.topologies import TWO_BROKERS

SUITE = replace(
    rebalance.SUITE,
    name="rebalance-two-brokers",
    sentence="A group of consumers of two brokers that have queues of a topic with the same ids: who owns which.",
    topology=TWO_BROKERS,
    bind=partial(rebalance.bind, TWO_BROKERS),
    show=partial(rebalance.show, TWO_BROKERS),
)
