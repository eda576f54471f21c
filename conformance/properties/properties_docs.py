"""The page of brokers' properties (docs/configuration.md), made from the lists."""

from __future__ import annotations

from collections.abc import Iterable

from rocketmq_conformance.conformance.properties.defaults import defaults_of, releases_of
from rocketmq_conformance.conformance.properties.harmless import AT_LEAST, COUNTS, HARMLESS, Bound
from rocketmq_conformance.conformance.properties.listed import LISTED
from rocketmq_conformance.conformance.properties.unmodelled import UNMODELLED
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.release import KNOWN

_INTRODUCTION = """# Configuration

A broker is judged as it is configured. When a run begins, the kit asks the broker for its configuration
(GET_BROKER_CONFIG) and compares it with the defaults of its release, which are in
`conformance/properties/defaults.txt`, as a broker of each of 34 releases answered that was started with nothing
configured but names, ports and folders. Properties at their default play no role. Every other one is on one of four
lists. Each property was put on its list by what reads it in the sources of releases, and tried on real brokers where
that left a doubt.

| list | what becomes of it | printed |
|---|---|---|
| modelled | it is part of the profile: the rules judge as the broker is configured | yes |
| listed | the rules that it touches are known: a difference in them is *unsupported*, with the property's name | yes |
| cannot matter here | nothing; a number may be too small for that, and is unclassified then | no |
| unclassified | it may change an answer, and no model has it: a difference is *undecided* | yes |

What is on none of them is unclassified, too. Beside an unclassified property a difference is *undecided* (exit code 3),
with the names of property and rule: it is no divergence, because the property may explain it, and no pass, because it
may not. It is shown all the same, with its shortest plan. Without any difference the broker conforms. A property
pardons nothing else: beside a listed one every other rule is judged as ever.

The first lines of a run name what was found off its default and what it means; the page and the event `run-started`
(`properties`) have it, too. Plans keep modelled properties with their profile.

- A broker that refuses to show its configuration is judged by the defaults of its release. A note says so, and a
  difference is undecided.
- A broker that asks for an account or for TLS is given [what it asks for](access.md); its properties about that cannot
  matter, because a request that is refused for its account ends the run.
- Of a release that the kit does not know yet, no default is known but those that it shares with the newest known one.
  A property that no known release has came with it, and says nothing about how the broker is configured; a note lists
  these. Of a broker that the kit starts, builds and images among them, everything is at its default that no `set=`
  names.
- A broker that forgets members, or closes connections, sooner than after two minutes (`channelExpiredTimeout`,
  `subscriptionExpiredTimeout`, `serverChannelMaxIdleTimeSeconds`) is not judged by suites whose members may be silent
  for longer: they are unsupported, with the property's name.
- A refusal because the broker is busy, or its disk is full, proves nothing, and so no property can matter that leads to
  one. A message that is stored, but was not flushed or replicated in time, counts as sent.
- System properties of the JVM are no part of the configuration; `-Drocketmq.broker.rebalance.lockMaxLiveTime` is given
  with the address: `?lease=MS`.

## Setting properties

`broker:VERSION?set=NAME=VALUE` starts a broker with a property, from jars or in a container; `&set=…` may be repeated.
`broker?set=NAME=VALUE` gives the fake broker one that is modelled, and `mutant:NAME?set=NAME=VALUE` a mutant of it.
Quote the address in a shell.

```sh
rocketmq-conformance run 'broker:5.5.0?set=useServerSideResetOffset=false&set=lockInStrictMode=true'
```

A property that a known release does not have, and a value that the property cannot have, are usage errors, exit code
2. So are those that the kit itself needs, because it gives them to each broker that it starts: names, ports and
folders, sizes of the files of its store, delay levels, and when offsets are written and messages expire. A broker that
does not start with a property, or does not take it, could not run, exit code 4.
"""
_MODELLED = """
## Modelled

Each was compared with real brokers of every release that has it, by all suites that its rules are in
(`conformance/proof/broker.py`).

| property | default | releases | off its default | rules |
|---|---|---|---|---|"""
_KEPT = """
### What a broker keeps when it is ended

With `storeType=defaultRocksDB` and `configManagerVersion=v2` a broker does not read the files of the kit's aged store.
The suites that are about it (`broker-expired`, `broker-search-files`, `broker-tables`, `broker-cold`) are
unsupported there, with the property's name; `broker-restart` and `broker-process` begin with an empty store, stop and
kill them, and agree with 5.3.2 and 5.5.0. Resets by the broker are no operation of these two; what becomes of them was
measured on real brokers (v2 on 5.3.2, 5.4.0 and 5.5.0, RocksDB on 5.5.0):

| | stopped | killed |
|---|---|---|
| default | commits and resets | those that were written to disk, every 5 s or as configured |
| `storeType=defaultRocksDB` | commits and resets | the same |
| `configManagerVersion=v2` | commits, **and no reset by the broker** | the same, up to about 0.2 s before |

Messages, topics and groups are kept by all of them."""
_LISTED = """
## Listed

| property | default | releases | off its default | unsupported rules |
|---|---|---|---|---|"""
_HARMLESS = """
## Cannot matter here

`*` stands for any characters.

| why | properties |
|---|---|"""
_AT_LEAST = """
Numbers that cannot matter where they are large enough:

| property | at least | why |
|---|---|---|"""
_UNCLASSIFIED = """
## Unclassified

What these are about may change an answer, and no model has it. Every property that a known release does not have is
unclassified, too.

| about | properties |
|---|---|"""


def page() -> str:
    """The page, as Markdown that ends with a line break."""
    parts = [
        _INTRODUCTION,
        _MODELLED,
        *(_row(name, one.effect, one.rules) for name, one in sorted(SETTINGS.items())),
        _KEPT,
        _LISTED,
        *(_row(name, one.effect, one.rules) for name, one in sorted(LISTED.items())),
        _HARMLESS,
        *(f"| {why} | {_code(patterns)} |" for why, patterns in HARMLESS.items()),
        _AT_LEAST,
        *(_bound(name, one) for name, one in AT_LEAST.items()),
        f"\nOf {_code(COUNTS)} a number below 1 is unclassified: a broker divides by it, or has none of what it needs.",
        _UNCLASSIFIED,
        *(f"| {about} | {_code(patterns)} |" for about, patterns in UNMODELLED.items()),
    ]
    return "\n".join(part.removeprefix("\n") if part is _MODELLED else part for part in parts) + "\n"


def _row(name: str, effect: str, rules: Iterable[str]) -> str:
    by_release = releases_of(name)
    default = defaults_of(KNOWN)[name]
    others = [f"`{value}` in {releases}" for releases, value in by_release if value != default]
    since = by_release[0][0]
    releases = "all" if since == "all" else f"{since.split(' ')[0].rstrip('+')}+"
    shown = ", ".join([f"`{default}`", *others])
    return f"| `{name}` | {shown} | {releases} | {effect} | {_code(rules)} |"


def _bound(name: str, bound: Bound) -> str:
    return f"| `{name}` | {bound.least}{', or 0 for never' if bound.off else ''} | {bound.why} |"


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
