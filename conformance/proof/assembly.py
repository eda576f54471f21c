"""Proof that consumers that are stepped are made of what ``start()`` makes them of.

A rule about a consumer is proven only if the consumer is one that exists. So each kind of consumer of a release, in
both message models, is started against a fake broker, and compared with the one that the suites step, field by field.
What the application of a started consumer left unset is compared with the defaults of its release (DEFAULT-*).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.selection import Part
from rocketmq_conformance.models.client.defaults import DEFAULTS, LITE, PULL, PUSH, defaults
from rocketmq_conformance.models.client.member import BROADCASTING
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.discovery import SUITES

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: Fields that may differ, and why no rule is confirmed or missed through that; java-client.md has the same list.
REASONS: Mapping[str, str] = {
    "consumer.autoCommit": "the plan says when a lite pull consumer commits: on its own it commits every 5 s",
    "consumer.consumeTimestamp": "by default half an hour before the consumer was made, in seconds",
    "consumer.instanceName": "a client instance is made for each client id of a case, whatever the name would give",
    "consumer.messageListener": "the plan is the listener; the suites `consume` and `consume-orderly` have real ones",
    "consumer.messageQueueListener": "the suite `rebalance-plain` listens to changes of queues",
    "consumer.namespaceInitialized": "says that the namespace, which there is none of, was looked for",
    "consumer.namesrvAddr": "requests are calls in this process",
    "consumer.offsetStore": "a note of the store that was made; from then on the implementation has it",
    "inside.consumeMessagePopService": "no suite consumes what was popped",
    "inside.consumeMessageService": "the plan consumes; the suites `consume` and `consume-orderly` have real services",
    "inside.consumerStartTimestamp": "when the consumer was made, in ms",
    "inside.messageListenerInner": "as `consumer.messageListener`",
    "rebalance.processQueueTable": "the first round of a consumer that was started may be over, or not",
    "rebalance.topicSubscribeInfoTable": "its routes may have come, or not",
}
_SUITES = ("rebalance", "rebalance-orderly", "rebalance-pull", "rebalance-plain")
_WHY = {
    False: Reason(("REB-BEGIN-1",), "made of what start() makes it of"),
    True: Reason(("REB-BEGIN-1", "REB-BC-STORE"), "made of what start() makes it of, broadcasting"),
}
#: How the suite ``defaults`` calls the kinds of consumers, and the settings that a started consumer shows otherwise:
#: the tests of its kind set one of them, and the others are objects.
_KINDS = {"push": PUSH, "orderly": PUSH, "lite pull": LITE, "pull": PULL}
_SHOWN_OTHERWISE = ("messageModel", "allocateMessageQueueStrategy")
_UNSET = {
    kind: Reason(tuple(dict.fromkeys(one.rule for one in settings.values())), f"a started {kind} consumer")
    for kind, settings in DEFAULTS.items()
}
PART = Part(
    frozenset((*_SUITES, "defaults")),
    frozenset(rule for why in (*_WHY.values(), *_UNSET.values()) for rule in why.rules),
)


def differences(stepped: Mapping[str, str], started: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The fields that differ without a reason: of the stepped consumer, and of the started one."""
    return {
        field: (stepped.get(field, "no field"), started.get(field, "no field"))
        for field in sorted({*stepped, *started} - REASONS.keys())
        if stepped.get(field) != started.get(field)
    }


def unset(kind: str, profile: Profile, started: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Settings left alone that are not the defaults of the release: by the model, and of a started consumer."""
    found = {}
    for setting, value in defaults(profile, _KINDS[kind]).items():
        shown = started.get(f"consumer.{setting}")
        if value is not None and setting not in _SHOWN_OTHERWISE and shown not in (None, str(value)):
            found[setting] = str(value), shown or ""
    return found


def compare(release: JavaRelease, kind: str, mode: str) -> dict[str, tuple[str, str]]:
    """The differences of one kind of consumer in one message model."""
    return differences(*_parts(release, kind, mode))


def _parts(release: JavaRelease, kind: str, mode: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What a consumer is made of, stepped and started."""
    from rocketmq_conformance.conformance.targets.java_client import assembly

    profile = Profile.of(client=str(release.release))
    broker = FakeBroker(profile)
    try:
        address = broker.open()
        with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as folder:
            case = Case(SUITES["rebalance"], 0, profile, lambda: address, broker.exchange, lambda: Path(folder))
            return assembly.stepped(release, kind, mode, case), assembly.started(release, kind, mode, address)
    finally:
        broker.stop()


def prove(release: JavaRelease, tally: Tally) -> None:
    """Compare all kinds of consumers of a release, in both message models: 6 or 8 of them, with two cases each."""
    from rocketmq_conformance.conformance.targets.java_client import assembly

    for kind in assembly.kinds(release):
        for mode in assembly.MODES:
            stepped, started = _parts(release, kind, mode)
            who = f"a {kind} consumer of {mode}"
            made = _as_rows(differences(stepped, started))
            tally.add((), _WHY[mode == BROADCASTING], made, f"what {who} is made of, stepped and started".format)
            left = _as_rows(unset(kind, Profile.of(client=str(release.release)), started))
            tally.add((), _UNSET[_KINDS[kind]], left, f"what {who} has that sets nothing".format)


def _as_rows(found: Mapping[str, tuple[str, str]]) -> tuple[tuple[str, str, str], ...]:
    return tuple([(field, *texts) for field, texts in found.items()])
