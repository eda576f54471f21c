"""The default of every property of brokers, by release: what a broker answers that is configured with its places only.

``defaults.txt`` holds them: name, releases and value, between tabs. ``rocketmq-conformance regenerate
--broker-defaults`` makes it by starting a broker of every release and asking it (GET_BROKER_CONFIG).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from rocketmq_conformance.models.release import KNOWN, Release, Releases

FILE = Path(__file__).with_name("defaults.txt")
#: Stands for a default that the machine, the place or the moment decides.
HERE = "*"
#: Properties with such defaults: names, addresses, folders, and numbers of threads that go by the number of CPUs.
_OF_HERE = frozenset(
    {
        "bindAddress",
        "brokerClusterName",
        "brokerIP1",
        "brokerIP2",
        "brokerName",
        "haListenPort",
        "listenPort",
        "recoverThreadPoolNums",
        "rocketmqHome",
        "sendMessageThreadPoolNums",
        "storePathCommitLog",
        "storePathEpochFile",
        "storePathRootDir",
        "batchDispatchRequestThreadPoolNums",
        "putMessageFutureThreadPoolNums",
        "ackMessageThreadPoolNums",
        "processReplyMessageThreadPoolNums",
        "pullMessageThreadPoolNums",
        "litePullMessageThreadPoolNums",
        "queryMessageThreadPoolNums",
        "adminBrokerThreadPoolNums",
        "clientManageThreadPoolNums",
        "consumerManageThreadPoolNums",
        "heartbeatThreadPoolNums",
        "endTransactionThreadPoolNums",
        "loadBalanceProcessorThreadPoolNums",
    }
)
#: Properties that a broker answers only when they are set, and the releases that have them; those of ``OFF`` are off.
OFF = frozenset({"authenticationEnabled", "authorizationEnabled", "migrateAuthFromV1Enabled"})
_OF_ACCOUNTS = (
    *("authConfigPath", "initAuthenticationUser", "innerClientAuthenticationCredentials"),
    *("authenticationMetadataProvider", "authenticationProvider", "authenticationStrategy", "authenticationWhitelist"),
    *("authorizationMetadataProvider", "authorizationProvider", "authorizationStrategy", "authorizationWhitelist"),
    *("userCacheExpiredSecond", "userCacheMaxNum", "userCacheRefreshSecond"),
    *("aclCacheExpiredSecond", "aclCacheMaxNum", "aclCacheRefreshSecond"),
    *("statefulAuthenticationCacheExpiredSecond", "statefulAuthenticationCacheMaxNum"),
    *("statefulAuthorizationCacheExpiredSecond", "statefulAuthorizationCacheMaxNum"),
)
_UNSET = {
    **dict.fromkeys((*OFF, *_OF_ACCOUNTS), "5.3.0+"),
    "dLegerGroup": "4.5.0+",
    "dLegerPeers": "4.5.0+",
    "dLegerSelfId": "4.5.0+",
    "haMasterAddress": "all",
    "namesrvAddr": "all",
    "preferredLeaderId": "4.8.0+",
    "readOnlyCommitLogStorePaths": "4.9.2+",
    "storePathDLedgerCommitLog": "4.9.4+",
}


def defaults_of(release: Release, known: Release = KNOWN) -> Mapping[str, str]:
    """The default of every property of a release, by name; of a release after the newest ``known`` one that one's.

    A release that was not asked has the properties and defaults of the releases around it.
    """
    return _of(min(release, known))


def new_with(release: Release, read: Mapping[str, str], known: Release = KNOWN) -> tuple[str, ...]:
    """The properties among these that came with a release after the newest ``known`` one: no release before has them,
    and what their defaults are nothing says."""
    return tuple(sorted(read.keys() - _names_up_to(known))) if release > known else ()


@cache
def _names_up_to(known: Release) -> frozenset[str]:
    """The properties that some release has, up to a known one."""
    every = [(name, releases) for name, releases, _ in _rows()]
    return frozenset(
        name
        for name, releases in (*every, *_UNSET.items())
        if any(first is None or first <= known for first, _ in Releases.parse(releases).ranges)
    )


@cache
def _of(release: Release) -> Mapping[str, str]:
    unset = {
        name: "false" if name in OFF else "" for name, releases in _UNSET.items() if release in Releases.parse(releases)
    }
    return {name: value for name, releases, value in _rows() if release in Releases.parse(releases)} | unset


@cache
def releases_of(name: str) -> tuple[tuple[str, str], ...]:
    """(releases, default) of a property, the oldest first; nothing when no release has it."""
    return tuple((releases, value) for other, releases, value in _rows() if other == name)


@cache
def names() -> tuple[str, ...]:
    """The properties of all releases, sorted."""
    return tuple(sorted({name for name, _, _ in _rows()}))


@cache
def _rows() -> tuple[tuple[str, str, str], ...]:
    # the kit may be imported from a zip, as on Spark's workers
    text = files(__package__).joinpath(FILE.name).read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return tuple((name, releases, value) for name, releases, value in rows)


def parse(body: str) -> dict[str, str]:
    """The properties in the body of a response to GET_BROKER_CONFIG."""
    lines = (line.partition("=") for line in body.splitlines())
    return {name: value for name, equals, value in lines if equals}


def text_of(read: Mapping[Release, Mapping[str, str]]) -> str:
    """The text of ``defaults.txt`` from what a broker of each release answered."""
    ordered = sorted(read)
    return "".join(
        f"{name}\t{releases}\t{value}\n"
        for name in sorted({name for properties in read.values() for name in properties})
        for releases, value in _runs(name, ordered, read)
    )


def _runs(
    name: str, ordered: Sequence[Release], read: Mapping[Release, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """(releases, value) for every run of releases with the same value."""
    values = [None if (value := read[release].get(name)) is None else _kept(name, value) for release in ordered]
    begin = 0
    for end in range(1, len(ordered) + 1):
        if end < len(ordered) and values[end] == values[begin]:
            continue
        value = values[begin]
        if value is not None:
            yield _named(ordered, begin, end - 1), value
        begin = end


def _kept(name: str, value: str) -> str:
    return HERE if name in _OF_HERE else value


def _named(ordered: Sequence[Release], first: int, last: int) -> str:
    """A run of releases as ``Releases.parse`` reads it."""
    newest = last == len(ordered) - 1
    if first == 0:
        return "all" if newest else f"up to {ordered[last]}"
    if newest:
        return f"{ordered[first]}+"
    return str(ordered[first]) if first == last else f"{ordered[first]} – {ordered[last]}"
