"""Differences between releases on the wire: the form of a response, and whether there is one at all (WIRE-*)."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.broker.switches import (
    ECHOES_BINARY,
    LITE_PULLS,
    OMITS_VERSION,
    STANDARD_ROUTES,
    UNKNOWN_ANSWERED,
)
from rocketmq_conformance.models.profile_fields import ProfileFields, in_broker, read
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "WIRE-FRAME-1",
        "4.9.4 to 4.9.8 answer in the form of the request's header, JSON or binary; all others in JSON whatever they "
        "are asked in, unless told otherwise at the start.",
        "NettyRemotingAbstract#processRequestCommand @ 4.9.3, 4.9.7, 5.5.0",
    ),
    Rule(
        "WIRE-ERR-2",
        "A request with an unknown code is answered REQUEST_CODE_NOT_SUPPORTED from 4.9.1 and 5.0.0-ALPHA, and not "
        "at all before.",
        "AdminBrokerProcessor#processRequest @ 4.9.0, 4.9.1, 5.5.0",
    ),
    Rule(
        "BQ-PULL-LITE",
        "LITE_PULL_MESSAGE is answered as PULL_MESSAGE is, from 5.0.0; before it is an unknown code.",
        "BrokerController#registerProcessor @ 4.9.7, 5.0.0, 5.5.0",
    ),
    Rule(
        "WIRE-JSON-1",
        'Keys that are numbers are not quoted: {0:"address"}. Routes are standard JSON for clients that ask for it '
        "(acceptStandardJsonOnly) or are of 4.9.4 or later, when the name server is of 4.9.4 to 4.9.8 or from 5.0.0.",
        "ClientRequestProcessor#getRouteInfoByTopic @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WIRE-VER-1",
        "Releases number themselves on the wire: 213 for 4.0.0, 413 for 5.0.0, 20 more per minor release and 2 more "
        "per patch; 4.0.0, 4.1.0 and 4.2.0 say that they are their own snapshots, 1 less. A client of 401 (4.9.4) or "
        "more is given routes in standard JSON.",
        "MQVersion @ 5.5.0",
    ),
)

#: Version of the first client that is given standard JSON unasked (V4_9_4).
STANDARD_SINCE = 401


#: Releases that were published with their snapshots' name.
_SNAPSHOTS = frozenset({Release(4, 0, 0), Release(4, 1, 0), Release(4, 2, 0)})


def ordinal(release: Release) -> int:
    """WIRE-VER-1: the number by which a release identifies itself."""
    number = (413 if release.major >= 5 else 213) + 20 * release.minor + 2 * release.patch
    return number - (release in _SNAPSHOTS)


def description(release: Release) -> str:
    """WIRE-VER-1: the name by which a release identifies itself, such as V5_5_0."""
    stage = "SNAPSHOT" if release in _SNAPSHOTS else release.stage
    return f"V{release.major}_{release.minor}_{release.patch}" + (f"_{stage}" if stage else "")


@dataclass(frozen=True, slots=True)
class WireRules(ProfileFields):
    """The switches of one broker and its name server, as attributes for a server."""

    echoes_binary: bool = in_broker(ECHOES_BINARY)
    unknown_answered: bool = in_broker(UNKNOWN_ANSWERED)
    standard_routes: bool = in_broker(STANDARD_ROUTES)
    omits_version: bool = in_broker(OMITS_VERSION)
    lite_pulls: bool = in_broker(LITE_PULLS)
    ordinal: int = read(lambda profile: ordinal(profile.broker))

    def standard(self, version: int, asked: bool) -> bool:
        """WIRE-JSON-1: is a route written in standard JSON for a client of ``version`` that ``asked`` for it?"""
        return self.standard_routes and (asked or version >= STANDARD_SINCE)
