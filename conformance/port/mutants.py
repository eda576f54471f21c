"""All mutants of the bundled port, by name."""

from __future__ import annotations

from rocketmq_conformance.conformance.port import (
    allocation_mutants,
    assigned_mutants,
    changed_mutants,
    consume_mutants,
    consume_orderly_mutants,
    lite_mutants,
    local_mutants,
    orderly_mutants,
    plain_mutants,
    pull_mutants,
    rebalance_mutants,
    service_mutants,
    start_mutants,
    store_mutants,
)
from rocketmq_conformance.conformance.port.mutant import Mutant

_MODULES = (
    allocation_mutants,
    store_mutants,
    local_mutants,
    start_mutants,
    rebalance_mutants,
    orderly_mutants,
    pull_mutants,
    consume_mutants,
    consume_orderly_mutants,
    lite_mutants,
    assigned_mutants,
    changed_mutants,
    service_mutants,
    plain_mutants,
)

MUTANTS: dict[str, Mutant] = {mutant.name: mutant for module in _MODULES for mutant in module.MUTANTS}
