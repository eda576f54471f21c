"""What a consumer is made of: one that ``start()`` assembled, and one that the suites step by hand.

The stepped consumers are not started: a part of each is put in by this kit, as ``start()`` of the release would. What
both are made of is read off their fields: the settings of the consumer, its implementation, its rebalance and its
wrapper of pulls. ``conformance/proof/assembly.py`` compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import CannotRunError, Case
from rocketmq_conformance.conformance.targets.java_client.group import JavaGroup
from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder
from rocketmq_conformance.conformance.targets.java_client.rebalance import JavaRebalance
from rocketmq_conformance.conformance.targets.java_client.rebalance_orderly import JavaRebalanceOrderly
from rocketmq_conformance.conformance.targets.java_client.rebalance_plain import JavaRebalancePlain
from rocketmq_conformance.conformance.targets.java_client.rebalance_pull import JavaRebalancePull
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL, JavaRelease
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.suites.declare.topologies import GROUP, OTHER_TOPIC, TOPIC

PUSH, ORDERLY, LITE, PLAIN = "push", "orderly", "lite pull", "pull"
MODES = (CLUSTERING, BROADCASTING)
#: What steps the consumers of each kind.
STEPPED: Mapping[str, type[JavaGroup[Any]]] = {
    PUSH: JavaRebalance,
    ORDERLY: JavaRebalanceOrderly,
    LITE: JavaRebalancePull,
    PLAIN: JavaRebalancePlain,
}
#: The text of each field, by the name of its part and its own.
Parts = Mapping[str, str]


def kinds(release: JavaRelease) -> tuple[str, ...]:
    """The kinds of consumers that a release has."""
    return tuple(kind for kind in STEPPED if kind != LITE or release.release >= LITE_PULL)


def started(release: JavaRelease, kind: str, mode: str, name_server: str) -> Parts:
    """What ``start()`` makes of a consumer with default settings; ``name_server`` is its address.

    CannotRunError when it does not start.
    """
    offset_folder(release)  # before the class of the local store is initialised
    group = STEPPED[kind].member_class
    consumer = release.load(group.consumer_class)(GROUP)
    consumer.setNamesrvAddr(name_server)
    consumer.setMessageModel(getattr(release.load("remoting.protocol.heartbeat.MessageModel"), mode))
    if kind == PLAIN:
        topics = jpype.JClass("java.util.HashSet")()
        for topic in (TOPIC, OTHER_TOPIC):
            topics.add(topic)
        consumer.setRegisterTopics(topics)
    else:
        for topic in (TOPIC, OTHER_TOPIC):
            consumer.subscribe(topic, "*")
    if kind in (PUSH, ORDERLY):
        name = f"client.consumer.listener.MessageListener{'Orderly' if kind == ORDERLY else 'Concurrently'}"
        consumer.registerMessageListener(jpype.JProxy(release.load(name), dict={"consumeMessage": lambda *given: None}))
    try:
        consumer.start()
    except jpype.JException as error:  # its first requests wait for three seconds only
        raise CannotRunError(f"A {kind} consumer did not start ({error}): try again on a quieter machine.") from error
    try:
        return _parts(release, consumer, release.get(consumer, group.implementation))
    finally:
        consumer.shutdown()


def stepped(release: JavaRelease, kind: str, mode: str, case: Case) -> Parts:
    """What the suites step instead."""
    group = STEPPED[kind](release)
    group.begin(case)
    try:
        group.start_member(0, False, mode, "CONSUME_FROM_LAST_OFFSET", "AVG")
        member = group.members[0]
        assert member is not None  # it has just begun
        return _parts(release, member.consumer, member.inside)
    finally:
        group.close()


def _parts(release: JavaRelease, consumer: Any, inside: Any) -> Parts:
    found: dict[str, str] = {}
    for name, owner in (
        ("consumer", consumer),
        ("inside", inside),
        ("rebalance", release.get(inside, "rebalanceImpl")),
        ("pulls", release.get(inside, "pullAPIWrapper")),
    ):
        found |= {f"{name}.{field}": text for field, text in _fields(owner).items()}
    return found


def _fields(owner: Any) -> dict[str, str]:
    """The fields of an object, of its bases too, as text."""
    found = {}
    kind = owner.getClass()
    while kind is not None and str(kind.getName()).startswith("org.apache"):
        for field in kind.getDeclaredFields():
            if not jpype.JClass("java.lang.reflect.Modifier").isStatic(field.getModifiers()):
                field.setAccessible(True)
                found[str(field.getName())] = _text(field.get(owner))
        kind = kind.getSuperclass()
    return found


def _text(value: Any) -> str:
    """A plain value as it is written, a collection by its size, an object of this kit as such, another by its class."""
    if value is None:
        return "null"
    lang, util = "java.lang.", "java.util."
    if any(isinstance(value, jpype.JClass(lang + name)) for name in ("String", "Number", "Boolean", "Enum")):
        return str(value)
    if isinstance(value, (jpype.JClass(util + "Collection"), jpype.JClass(util + "Map"))):
        return f"{value.size()} of {value.getClass().getSimpleName()}"
    if not hasattr(value, "getClass"):
        return "of this kit"
    return str(value.getClass().getSimpleName())
