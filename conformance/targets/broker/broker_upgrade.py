"""Plays the suite ``broker-upgrade`` on a broker that the kit started on the store of another release."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import broker_restart
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.suites.broker_restart import Memory, Save
from rocketmq_conformance.suites.broker_upgrade import Change

PART = Part(
    jobs=broker_restart.PART.jobs,
    controls={Save: ProcessControl.save, Memory: ProcessControl.set_memory, Change: ProcessControl.change},
    lanes=1,
    needs=frozenset({Need.PROCESS, Need.UPGRADE}),
)
