"""Plays the suite ``broker-cold`` on a broker that the kit started, whose messages can be paged out of memory."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.process_control import ProcessControl
from rocketmq_conformance.suites.broker_cold import Commit, Evict, QueryPages, Read, Send

PART = Part(
    jobs={Send: jobs.send, Read: jobs.read, Commit: jobs.commit},
    controls={Evict: ProcessControl.evict, QueryPages: ProcessControl.query_pages},
    lanes=1,
    needs=frozenset({Need.AGED_STORE, Need.PAGE_CACHE}),
)
