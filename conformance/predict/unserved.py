"""Why a broker gives nothing to consumers that pull: it does not know their pulls, or it is a slave."""

from __future__ import annotations

from typing import cast

from rocketmq_conformance.conformance.predict.facts import LITE, BrokerFacts
from rocketmq_conformance.conformance.predict.model_state import StoredKey, broker_profile
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.slave import refuses_pulls, slave_rules
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.broker.switches import LITE_PULLS
from rocketmq_conformance.models.release import Release

UNKNOWN_PULLS = "the broker does not know its pulls"
REJECTED_PULLS = "a slave whose master is gone rejects its pulls (slaveReadEnable=false)"
UNCORRECTED = "a slave whose master is gone does not correct an offset that its queue does not have"


def unserved_pulls(broker: BrokerFacts, kind: str, client: Release) -> str:
    """Why a broker gives a consumer that pulls nothing; "" when it does."""
    release = Release.parse(broker.release)
    if kind == LITE and LITE_PULLS.on(client) and not LITE_PULLS.on(release):
        return UNKNOWN_PULLS
    refuses = broker.slave and refuses_pulls(slave_rules(broker_profile(broker)))
    return REJECTED_PULLS if refuses else ""


def uncorrected_by(broker: BrokerFacts, state: BrokerState, key: StoredKey, offset: int) -> str:
    """The rule by which a slave leaves an offset that its queue does not have; "" where it has it, or corrects it."""
    rules = slave_rules(broker_profile(broker))
    if not broker.slave or refuses_pulls(rules):
        return ""
    entries = [StoredEntry(1)] * len(state.logs[key[1:]].times)
    answer, why = pull(rules, state, PullMessageRequest(*key, offset), None, entries)[1:]
    status = cast(PullResult, answer)[0]  # no error: the group, the topic and its queue are there
    return why.rules[-1] if response_code(status, offset, rules) != response_code(status, offset) else ""
