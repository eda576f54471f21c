"""What members say they have, beside what they should have by the model.

Judged in a group of push consumers while no request fails: a member has its share then, whatever it did before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rocketmq_conformance.models.client.fixtures import QUEUES, TOPIC
from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_push import WholePushState

#: The queues of a member: topic and queue id.
Owned = Collection[tuple[str, int]]


def differing(state: object, topic: str, said: Mapping[str, Owned]) -> str:
    """One sentence on the first member that says it has other queues of the case's topic than it should have, or ""."""
    if not isinstance(state, WholePushState) or state.group.kind != PUSH or state.group.fails:
        return ""
    for name, queues in said.items():
        has = sorted(queue for of, queue in queues if of == topic)
        owned = state.group.members[name].pulls
        should = sorted(QUEUES[queue].id for queue in owned if QUEUES[queue].topic == TOPIC)
        if has != should:
            return f"{name} says that it has the queues {has}, and should have {should}"
    return ""
