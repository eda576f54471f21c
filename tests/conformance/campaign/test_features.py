"""Features of steps name what a state has of a queue, by the topology of the suite."""

from __future__ import annotations

from every import every

from rocketmq_conformance.conformance.campaign.analysis.features import features
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES

STORED = "state: broker.stored has the queue"


@every("name", ["remote-store", "remote-store-two-brokers"])
def test_a_state_has_the_queue_for_which_an_offset_is_stored_and_no_other(name: str) -> None:
    """Also where another broker has a queue of the topic with the same id."""
    suite = SUITES[name]
    commit, read = suite.index["commit_elsewhere"], suite.index["read"]
    queues = [key for key in range(len(suite.topology.queues)) if key not in suite.topology.unrouted]
    for queue in queues:
        rows = [(commit, (queue, 5)), *((read, (other, "store", "answer")) for other in queues)]
        steps = Judge(suite, Profile()).expected(rows)
        texts = [{feature.text for feature in features(suite, steps, at)} for at in range(1, len(steps))]
        assert [other for other, said in zip(queues, texts, strict=True) if STORED in said] == [queue]
