"""The suite ``defaults``: consumers whose applications set nothing, and the port that their requests go to."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.defaults import (
    CONCURRENT,
    DEFAULTS,
    LITE,
    OFF,
    ON,
    ORDERLY,
    PLAIN_REQUESTS,
    PULL,
    PUSH,
    UNSET,
    VIP_REQUESTS,
    WAITS,
    DefaultsModel,
)
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import fields, plain

_ANSWERS = (
    ": answers what the setting is then, by the Java client's name of it: a number, true or false, or a name; null of "
    "a setting that the release does not have."
)


@operation("Make a push consumer of which nothing is set" + _ANSWERS, weight=12)
class UnsetPush(Operation):
    setting: Annotated[str, Values(*DEFAULTS[PUSH])]


@operation("Make a pull consumer of which nothing is set" + _ANSWERS, weight=6)
class UnsetPull(Operation):
    setting: Annotated[str, Values(*DEFAULTS[PULL])]


@operation(
    "Make a lite pull consumer of which nothing is set" + _ANSWERS,
    weight=8,
    offered=lambda profile: LITE_PULL.on(profile.client),
)
class UnsetLite(Operation):
    setting: Annotated[str, Values(*DEFAULTS[LITE])]


@operation(
    "Make a push consumer of which nothing is set, with a listener: answers how many threads it has for that, the "
    "fewest and the most.",
    words=fields({"fewest": plain, "most": plain}),
)
class CountThreads(Operation):
    listener: Annotated[str, Values(CONCURRENT, ORDERLY)]


@operation(
    "A consumer has a request for a broker that listens on a port, with its VIP channel unset, on or off: answers the "
    "port that it is sent to; null of a request that the release does not have.",
    weight=10,
)
class AskPort(Operation):
    request: Annotated[str, Values(*VIP_REQUESTS, *PLAIN_REQUESTS)]
    channel: Annotated[str, Values(UNSET, ON, OFF)]
    port: Annotated[int, Values(10911, 30921)]


@operation(
    "A push consumer of which nothing is set has a request for a broker: answers how many ms it waits for the answer, "
    "or of a one-way request until it is sent.",
    weight=4,
)
class WaitFor(Operation):
    request: Annotated[str, Values(*WAITS)]


def _bind(profile: Profile) -> BoundModel:
    model = DefaultsModel(profile)
    return BoundModel(
        None,
        {
            UnsetPush: partial(model.leave_unset, PUSH),
            UnsetPull: partial(model.leave_unset, PULL),
            UnsetLite: partial(model.leave_unset, LITE),
            CountThreads: model.count_threads,
            AskPort: model.ask_port,
            WaitFor: model.wait_for,
        },
    )


SUITE = Suite(
    name="defaults",
    sentence="Consumers that set nothing: what they have, which port their requests go to, and how long they wait.",
    side=Side.CLIENT,
    bind=_bind,
    steps=40,
    show=lambda state: "no state",
    rules=(
        "DEFAULT-PUSH",
        "DEFAULT-LISTENER",
        "DEFAULT-THREADS",
        "DEFAULT-BYTES",
        "DEFAULT-GROUP",
        "DEFAULT-LITE",
        "DEFAULT-PULL",
        "DEFAULT-CLIENT",
        "DEFAULT-POP",
        "DEFAULT-OFF",
        "VIP-DEFAULT",
        "VIP-PORT",
        "WAIT-ANSWER",
    ),
)
