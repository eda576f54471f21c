"""The suite ``retry-delay``: how long a broker waits before it delivers a message again.

A message that a listener could not handle goes back to its broker, which puts it off by a *delay level*: level 3 (10 s)
after the first time, one level more after each further one, up to the last level.
"""

from __future__ import annotations

from typing import Annotated

from rocketmq_conformance import Answer, BoundModel, Operation, Profile, Reason, Rule, Side, Suite, Values, operation

#: Seconds of each delay level, from level 1 on (``messageDelayLevel`` of a broker).
LEVELS = (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
RULE = Rule(
    "OWN-RETRY-DELAY",
    "A message that comes back for the n-th time is put off by delay level n + 2, but never beyond the last one.",
    "SendMessageProcessor#asyncConsumerSendMsgBack @ 4.9.8",
)
RISING, LAST = Reason((RULE.id,), "levels are left"), Reason((RULE.id,), "the last level")


@operation("A message has come back so many times: answers the seconds until it is delivered again.", side=Side.PURE)
class Delay(Operation):
    times: Annotated[int, Values(1, 2, 3, 15, 16, 17, 100)]


def delay(state: None, times: int) -> Answer[None]:
    """The model's answer."""
    level = times + 2
    return state, LEVELS[min(level, len(LEVELS)) - 1], RISING if level < len(LEVELS) else LAST


def _bind(profile: Profile) -> BoundModel:
    return BoundModel(None, {Delay: delay})


SUITE = Suite(
    name="retry-delay",
    sentence="How long a broker waits before it delivers a message again.",
    side=Side.PURE,
    bind=_bind,
    steps=5,
    cases=20,
    show=lambda state: "no state",
    rules=(RULE.id,),
    own_rules=(RULE,),
)
