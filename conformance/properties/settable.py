"""Properties that an address sets for a broker that the kit starts: checked before anything is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from rocketmq_conformance.conformance.properties.defaults import defaults_of, new_with, releases_of
from rocketmq_conformance.conformance.properties.harmless import reason_in
from rocketmq_conformance.models.broker.configuration import BOOLEAN, SETTINGS
from rocketmq_conformance.models.release import Release

_FORM = "write set=NAME=VALUE, such as set=lockInStrictMode=true"
#: Properties that the kit gives a broker which it starts, by what it counts on them for.
_OF_THE_KIT = {
    "is what the kit reaches its own broker by": (
        *("bindAddress", "brokerClusterName", "brokerId", "brokerIP1", "brokerIP2", "brokerName", "haListenPort"),
        *("brokerRole", "listenPort", "namesrvAddr", "rocketmqHome", "storePathCommitLog", "storePathRootDir"),
    ),
    "is what the kit's stores are made for": ("ma*pedFileSizeCommitLog", "ma*pedFileSizeConsumeQueue"),
    "is what the kit's cases wait by": ("messageDelayLevel", "flushConsumerOffsetInterval"),
    "is by what nothing expires in the kit's own broker": (
        *("fileReservedTime", "cleanResourceInterval", "cleanFileForciblyEnable", "diskMaxUsedSpaceRatio"),
        *("diskSpaceCleanForciblyRatio", "diskSpaceWarningLevelRatio"),
    ),
    "may forbid what the kit changes of its own broker": ("configBlackList",),
}
#: Properties with passwords in them, which no address may have.
_SECRET = frozenset({"initAuthenticationUser", "innerClientAuthenticationCredentials"})


def settable(release: Release, pairs: Iterable[str]) -> dict[str, str]:
    """The properties in texts such as "lockInStrictMode=true", by name; ValueError with a sentence for a wrong one."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise ValueError(f"set={pair} sets no property; {_FORM}.")
        if found.setdefault(name, value) != value:
            raise ValueError(f"{name} is set to {found[name]!r} and to {value!r}; write one of them.")
        _check(release, name, value)
    return found


def of_the_model(release: Release, properties: Mapping[str, str]) -> dict[str, str]:
    """The same, for a broker that behaves by the models; ValueError with a sentence for what they do not have."""
    for name in properties:
        if name not in SETTINGS:
            known = ", ".join(sorted(name for name, setting in SETTINGS.items() if setting.has(release)))
            raise ValueError(f"The fake broker cannot be configured by {name}; it knows {known}.")
    return dict(properties)


def _check(release: Release, name: str, value: str) -> None:
    defaults, setting = defaults_of(release), SETTINGS.get(name)
    kept = reason_in(_OF_THE_KIT, name)
    if kept:
        raise ValueError(f"{name} {kept}; leave it out.")
    if name in _SECRET:
        raise ValueError(f"{name} has a password in it, which no address may have; see docs/guides/access.md.")
    if new_with(release, {name: value}):
        return  # whether it has the property, and which values, a broker of a release that is not known says itself
    if name not in defaults:
        raise ValueError(f"A broker {release} has no property {name!r}{_hint(name, defaults)}.")
    default = defaults[name]
    if setting and not setting.allows(value):
        wanted = f"one of {', '.join(setting.values)}" if setting.values else "a whole number"
    elif default in BOOLEAN and value not in BOOLEAN:
        wanted = "true or false"
    elif _is_whole(default) and not _is_whole(value):
        wanted = "a whole number"
    else:
        return
    raise ValueError(f"{name} cannot be {value!r}; write {wanted}.")


def _hint(name: str, defaults: Mapping[str, str]) -> str:
    elsewhere = " and ".join(dict.fromkeys(releases for releases, _ in releases_of(name)))
    if elsewhere:
        return f"; releases {elsewhere} have it"
    close = get_close_matches(name, defaults, 1)
    return f", but {close[0]}" if close else ""


def _is_whole(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdecimal()
