"""The suites, in the order in which a run goes through them."""

from __future__ import annotations

from importlib import import_module

from rocketmq_conformance.suites.declare.suite import Suite

_MODULES = (
    "allocation",
    "remote_store",
    "local_store",
    "start_push",
    "start_lite_pull",
    "start_pull",
    "rebalance",
    "pull",
    "consume",
    "consume_orderly",
    "rebalance_orderly",
    "rebalance_pull",
    "rebalance_broker",
    "rebalance_changed",
    "rebalance_service",
    "rebalance_plain",
    "broker_offsets",
    "broker_search",
    "broker_admin",
    "broker_locks",
    "broker_doubt",
    "broker_assignment",
    "broker_expired",
    "broker_restart",
    "broker_process",
    "broker_cold",
)

#: Suites by name.
SUITES: dict[str, Suite] = {
    suite.name: suite for suite in (import_module(f"rocketmq_conformance.suites.{module}").SUITE for module in _MODULES)
}
