"""The suite ``broker-doubt``: commits on one broker, some of them with an indeterminate outcome.

The connection of such a commit is cut, so that it is unknown whether the broker handled it, or when it will; the
answers to later queries must follow from one of the possibilities.
"""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values

#: When the connection is cut: after the request is sent, or in the middle of it.
SENT, MIDDLE = "sent", "middle"
#: Few names and values, so that queries often meet an offset that is indeterminate.
_GROUP = Values(0, 1, weights=(6, 1))
_TOPIC = Values(0, 1, weights=(8, 1))
_QUEUE = Values(0, 1, weights=(3, 1))
_OFFSET = Values(1, 2, 3, 0, 2**53 + 1, -1, None, weights=(4, 4, 3, 2, 1, 1, 1))


@operation("Create a consumer group.", side=Side.BROKER, weight=1)
class CreateGroup(Operation):
    group: Annotated[int, _GROUP]


@operation("Commit an offset.", side=Side.BROKER, weight=5, may_be_indeterminate=True)
class Commit(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int | None, _OFFSET]


@operation(
    "Commit an offset over a connection of its own, which is cut when the request is `sent` or in its `middle`.",
    side=Side.BROKER,
    weight=2,
    may_be_indeterminate=True,
)
class CommitUnheard(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int | None, _OFFSET]
    cut: Annotated[str, Values(SENT, MIDDLE, weights=(3, 1))]


@operation("Query a group's offset.", side=Side.BROKER, weight=12)
class Query(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerOffsetsModel(profile)

    def commit_unheard(
        state: BrokerState, group: int, topic: int, queue: int, offset: int | None, cut: str
    ) -> Answer[BrokerState]:
        return model.commit(state, group, topic, queue, offset)

    def queried(state: BrokerState, group: int, topic: int, queue: int) -> Answer[BrokerState]:
        return model.query(state, group, topic, queue, None)

    return BoundModel(
        initial_state(),
        {
            CreateGroup: model.create_group,
            Commit: model.commit,
            CommitUnheard: commit_unheard,
            Query: queried,
        },
    )


SUITE = Suite(
    name="broker-doubt",
    sentence="Commits whose responses are lost, and other commits and queries.",
    side=Side.BROKER,
    bind=_bind,
    steps=12,
    cases=256,
    show=values.show,
    rules=(
        "BQ-UPDATE-1",
        "BQ-UPDATE-FIELD",
        "BQ-UPDATE-2",
        "BQ-GROUP-1",
        "BQ-QUERY-1",
        "BQ-COM-3",
        "BQ-QUERY-4",
        "BQ-QUERY-G3",
    ),
    repeatable=False,
)
