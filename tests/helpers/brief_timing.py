"""Hardly any time for anything, where what is waited for comes at once or never."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.client_program.timing import Timing

BRIEF = Timing(
    pace=1000, connect=30.0, margin=0.1, end=0.1, look=0.1, quiet=0.01, round=0.1, write=0.1, routes=0.1, retry=0.05
)
