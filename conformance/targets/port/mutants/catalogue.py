"""All mutants of the bundled port, by name."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.mutants import (
    allocation,
    consume,
    consume_orderly,
    local_store,
    pull,
    rebalance,
    rebalance_broker,
    rebalance_changed,
    rebalance_orderly,
    rebalance_plain,
    rebalance_pull,
    rebalance_service,
    remote_store,
    start,
)

_MODULES = (
    allocation,
    remote_store,
    local_store,
    start,
    rebalance,
    rebalance_orderly,
    pull,
    consume,
    consume_orderly,
    rebalance_pull,
    rebalance_broker,
    rebalance_changed,
    rebalance_service,
    rebalance_plain,
)

MUTANTS: dict[str, Mutant] = {mutant.name: mutant for module in _MODULES for mutant in module.MUTANTS}
