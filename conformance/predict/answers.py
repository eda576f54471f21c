"""What servers answer about a group, as facts; CannotRunError with a sentence for what cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine.documents import what_is_wrong
from rocketmq_conformance.conformance.predict.facts import BROADCASTING, CLUSTERING, LITE, POP, PUSH, MemberFacts
from rocketmq_conformance.conformance.predict.releases import of_ordinal
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import Request, Response, response_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.models.outcome import Err

#: The kinds of consumers whose heartbeats say another type than CONSUME_PASSIVELY.
KIND_OF_TYPE = {"CONSUME_ACTIVELY": LITE, "CONSUME_POP": POP}
ALL_GROUPS = requests.Ask(Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, {})


@dataclass(frozen=True, slots=True)
class ConsumerConnections:
    """The members of a group, and how they consume."""

    members: tuple[MemberFacts, ...] = ()
    kind: str = ""
    model: str = ""
    where: str = ""
    topics: tuple[str, ...] = ()
    #: Why a broker does not show them; "" when all brokers do.
    unread: str = ""


def members_of(answers: Iterator[Command]) -> ConsumerConnections:
    """The members by the brokers' lists of connections; every broker has all of them."""
    unread = ""
    for answer in answers:
        if answer.code:
            if answer.code != Response.CONSUMER_NOT_ONLINE:
                unread = unread or f"{response_name(answer.code)} {answer.remark}".strip()
            continue
        members = []
        with document(answer, "connections") as body:
            for each in body.get("connectionSet") or ():
                known = of_ordinal(int(each.get("version") or 0))
                members.append(MemberFacts(client=str(each["clientId"]), release="" if known is None else str(known)))
            if members:
                return ConsumerConnections(
                    tuple(sorted(members, key=lambda member: member.client)),
                    KIND_OF_TYPE.get(str(body.get("consumeType")), PUSH),
                    BROADCASTING if body.get("messageModel") == "BROADCASTING" else CLUSTERING,
                    str(body.get("consumeFromWhere") or ""),
                    tuple(map(str, body.get("subscriptionTable") or ())),
                )
    return ConsumerConnections(unread=unread)


def known_groups(answer: Command) -> tuple[str, ...] | None:
    """The groups that a broker knows; None when it does not show them."""
    if answer.code:
        return None
    with document(answer, "groups") as body:
        return tuple(map(str, body.get("subscriptionGroupTable") or {}))


def stored_table(answer: Command) -> dict[str, dict[tuple[str, int], int]] | None:
    """All stored offsets by group, and then by topic and queue; None when the broker does not show them."""
    if answer.code:
        return None
    found: dict[str, dict[tuple[str, int], int]] = {}
    with document(answer, "stored offsets") as body:
        for name, offsets in dict(body.get("offsetTable") or {}).items():
            topic, separator, group = str(name).partition("@")
            if separator:
                of_group = found.setdefault(group, {})
                of_group |= {(topic, int(queue)): int(offset) for queue, offset in dict(offsets).items()}
    return found


def offsets_version(answer: Command) -> tuple[int, int, int]:
    """The data version of stored offsets: that of the state machine, the counter and the time, as brokers compare
    them; zeros where the broker shows none."""
    if answer.code:
        return (0, 0, 0)
    with document(answer, "stored offsets") as body:
        version = dict(body.get("dataVersion") or {})
        state, counter, time = (int(version.get(name) or 0) for name in ("stateVersion", "counter", "timestamp"))
        return state, counter, time


def is_built_in(group: str) -> bool:
    """Is it a group of RocketMQ's own, or of its tools?"""
    return group.startswith(("CID_RMQ_SYS_", "CID_ONS")) or group in {
        *("TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "%DLQ%")
    }


def master(data: Mapping[str, Any]) -> str:
    """The address of the master, or of the least slave where there is none; "" for no address at all."""
    addresses = _addresses(data)
    return addresses[min(addresses)] if addresses else ""


def first_slave(data: Mapping[str, Any]) -> str:
    """The address of the least slave; "" where there is none."""
    slaves = {number: address for number, address in _addresses(data).items() if number}
    return slaves[min(slaves)] if slaves else ""


def lacks_master(data: Mapping[str, Any]) -> bool:
    """Is there no address of a master?"""
    return 0 not in _addresses(data)


def _addresses(data: Mapping[str, Any]) -> dict[int, str]:
    return {int(number): str(address) for number, address in dict(data.get("brokerAddrs") or {}).items()}


@contextmanager
def document(answer: Command, what: str) -> Iterator[dict[str, Any]]:
    """The JSON object in an answer's body, to be read inside ``with``; ``what`` it is about, for the sentence of an
    error, also where it does not hold what is read.
    """
    try:
        found = java_json.loads(answer.body.decode())
        if not isinstance(found, dict):
            raise TypeError(f"it is no object: {json.dumps(found)[:80]}")
        yield found
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise CannotRunError(f"What was answered about {what} cannot be read ({what_is_wrong(error)}).") from error


def offset(answer: Command) -> int | None:
    """The offset in an answer to a query; None for QUERY_NOT_FOUND."""
    if answer.code == Response.QUERY_NOT_FOUND:
        return None
    return number(answer, "a stored offset")


def number(answer: Command, what: str, field: str = "offset") -> int:
    """The number in a field of an answer, which says ``what``; CannotRunError also where the broker refuses."""
    try:
        found = responses.number(answer, field)
    except AdapterError as error:
        raise CannotRunError(str(error)) from error
    if isinstance(found, Err):
        raise CannotRunError(f"A broker refuses to say {what} ({found.code} {found.detail}).".replace(" )", ")"))
    return found
