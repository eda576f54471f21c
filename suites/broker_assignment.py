"""The suite ``broker-assignment``: members of groups come and go, and ask the broker which queues are theirs."""

from typing import Annotated

from rocketmq_conformance.models.broker.assignment import BROADCASTING, CLUSTERING, POP, PULL
from rocketmq_conformance.models.broker.broker_assignment import (
    CLIENTS,
    CONNECTIONS,
    BrokerAssignmentModel,
    BrokerAssignmentState,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import BALANCES
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values, Whole
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import listed


def _assigns(profile: Profile) -> bool:
    return BrokerRules.of(profile).assigns


_GROUP = Values(0, 1, weights=(10, 1))
_ANY_GROUP = Values(0, 1, 2, weights=(20, 2, 1))
_TOPIC = Values(*range(8), weights=(8, 6, 3, 1, 1, 1, 1, 1))
_CONNECTION = Whole(0, CONNECTIONS - 1)
#: A member, an id that no member has, an empty one, and a field that is not sent.
_CLIENT = Values(*CLIENTS, "nobody", "", None, weights=(7, 7, 6, 6, 4, 2, 1, 1))
_STRATEGY = Values("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "NONE", None, weights=(12, 10, 1, 1, 1))
_MODEL = Values(CLUSTERING, BROADCASTING, None, weights=(20, 2, 1))


@operation("Create a topic on the broker that is asked.", side=Side.BROKER, weight=2)
class MakeTopic(Operation):
    topic: Annotated[int, Values(0, 1, 2, 3, 4, weights=(1, 4, 3, 2, 1))]


@operation("Register a member of a group over one of five connections.", side=Side.BROKER, weight=10)
class Register(Operation):
    connection: Annotated[int, _CONNECTION]
    client: Annotated[int, Values(0, 1, 2, 3, 4, weights=(3, 3, 3, 3, 2))]
    group: Annotated[int, _GROUP]


@operation("Unregister the client of a connection from a group.", side=Side.BROKER, weight=1)
class Unregister(Operation):
    connection: Annotated[int, _CONNECTION]
    group: Annotated[int, _GROUP]


@operation(
    "Set how the queues of a topic are asked for by a group, one by one or together with so many other members.",
    side=Side.BROKER,
    weight=6,
    offered=_assigns,
)
class SetMode(Operation):
    topic: Annotated[int, Values(*range(8), weights=(12, 8, 4, 2, 1, 1, 1, 1))]
    group: Annotated[int, _ANY_GROUP]
    mode: Annotated[str | None, Values(POP, PULL, None, weights=(6, 2, 1))]
    share: Annotated[int | None, Values(0, 1, 2, 3, 4, 5, -1, None, weights=(2, 5, 4, 2, 1, 1, 1, 1))]


@operation(
    "Ask which queues are a member's: answers sorted (broker, queue, mode) triples, or nothing when the broker "
    "cannot say.",
    side=Side.BROKER,
    weight=20,
    offered=_assigns,
    words=listed(lambda one: f"{one[0]} queue {one[1]} by {one[2]}"),
)
class Ask(Operation):
    topic: Annotated[int, _TOPIC]
    group: Annotated[int, _ANY_GROUP]
    client: Annotated[str | None, _CLIENT]
    model: Annotated[str | None, _MODEL]
    strategy: Annotated[str | None, _STRATEGY]


def bind(profile: Profile) -> BoundModel:
    """The model."""
    model = BrokerAssignmentModel(profile)
    return BoundModel(
        BrokerAssignmentState(),
        {
            MakeTopic: model.make_topic,
            Register: model.register,
            Unregister: model.unregister,
            SetMode: model.set_mode,
            Ask: model.ask,
        },
    )


def _show(state: BrokerAssignmentState) -> str:
    registered = {name: dict(group.members) for name, group in state.members.items()}
    modes = {f"{group}:{topic}": f"{mode} {share}" for (topic, group), (mode, share) in state.modes.items()}
    return f"topics {sorted(state.topics)}, members {registered}, modes {modes}"


SUITE = Suite(
    name="broker-assignment",
    sentence="Members of groups that come and go ask the broker which queues are theirs.",
    side=Side.BROKER,
    bind=bind,
    steps=50,
    show=_show,
    rules=(
        "BQ-ASSIGN-1",
        "BQ-ASSIGN-2",
        "BQ-ASSIGN-2-LMQ",
        "BQ-ASSIGN-3",
        "BQ-ASSIGN-4",
        "BQ-ASSIGN-5",
        "BQ-ASSIGN-6",
        "BQ-ASSIGN-OFF",
        "BQ-TOPIC-1",
        "BQ-HB-1",
        "BQ-HB-3",
        "BQ-HB-4",
        "BQ-HB-6",
    ),
    limits=(
        RuleLimit(
            rules=("BQ-ASSIGN-OFF",),
            setting=BALANCES,
            values=("false",),
            because="the broker balances groups: serverLoadBalancerEnable is on, the default",
        ),
    ),
)
