"""What members say they have, beside what they should have by the model.

Judged in a group of push consumers while no request fails, and where traffic shows that each member pulls its share:
who pulls otherwise differs by that already.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rocketmq_conformance.models.client.whole import PUSH
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.suites.declare.topologies import ORDINARY, TOPIC

#: The queues of a member: topic and queue id.
ClaimedQueues = Collection[tuple[str, int]]


def wrong_claim(state: object, topic: str, pulled: Sequence[Value], claims: Mapping[str, ClaimedQueues]) -> str:
    """One sentence on the first member that says it has other queues of the case's topic than it should have, or "".
    ``pulled`` has for each queue who pulls it, and from where."""
    if not isinstance(state, WholePushState) or state.group.kind != PUSH or state.group.fails:
        return ""
    pulls = {(name, queue) for name, member in state.group.members.items() for queue in member.pulls}
    for name, queue in pulls:
        found = ORDINARY.queues[queue]
        place = pulled[found.id] if found.id < len(pulled) else None
        if found.topic == TOPIC and (not isinstance(place, tuple) or place[0] != ORDINARY.members.index(name)):
            return ""
    for name, queues in claims.items():
        has = sorted(queue for of, queue in queues if of == topic)
        owned = state.group.members[name].pulls
        should = sorted(ORDINARY.queues[queue].id for queue in owned if ORDINARY.queues[queue].topic == TOPIC)
        if has != should:
            return f"{name} says that it has the queues {has}, and should have {should}"
    return ""
