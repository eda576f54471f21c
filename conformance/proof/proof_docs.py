"""The documentation page docs/proof.md, made from the rows of the proofs (docs/proof): ``prove page``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.release import KNOWN, Release
from rocketmq_conformance.models.rule import Level, Rule
from rocketmq_conformance.reports.proof import PAIR, ProofRow, ProvenRule, pairs, pairs_confirmed, render


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Releases of the client or the broker that no proof covers, and why (a sentence)."""

    side: str
    releases: tuple[str, ...]
    reason: str


UNJUDGED = (
    Unjudged(
        "client",
        ("5.3.4",),
        "Maven Central has a few modules of 5.3.4, but neither its client nor the parent that they name.",
    ),
    Unjudged(
        "broker",
        ("5.3.4",),
        "Maven Central has its broker, but not rocketmq-remoting 5.3.4, which the broker needs to start.",
    ),
    Unjudged(
        "broker",
        ("4.9.6", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.1.2"),
        "Maven Central has clients of these releases, but no broker.",
    ),
)

_INTRODUCTION = """# What is proven

Every rule of the rule book was read in the source of RocketMQ, and reading can be wrong. The proofs ask the real thing,
and compare each answer with the model's:

- **pure** and **client**: the classes of the published Java clients, loaded into a Java machine, release by release.
  Their network is a fake broker, their offset files are real files, and what they are made of is compared with what
  `start()` makes ([java-client.md](java-client.md)).
- **clock**: the same classes on the clock of the machine, their timers 250 times faster: the model uses the times that
  were measured.
- **whole** and **scripted**: push, orderly and lite pull consumers of these clients that run, with threads, timers and
  sockets: on real brokers of their release, where members of a group come and go, and on fake brokers that fail by a
  script.
- **broker**: brokers started from the published jars, asked over their sockets; stopped, killed and started again; and
  one whose messages really expire. Pulls, members, locks and the wire are compared through the fake broker, which
  answers by the same models: it and the real broker get the same requests, and each answer counts for every rule
  that its chapter of requests is about.

Repeat it (Java and Maven are needed):

```sh
tox run -e proof-java                              # one client release for each set of rules (prove java --distinct)
tox run -e proof-java -- --cover                   # every client release, each asked more
tox run -e proof-broker                            # brokers 4.9.7 and 5.5.0; or name releases after --
tox run -e proof-all                               # every release of both, pairs, whole consumers: hours, see below
rocketmq-conformance prove java 5.5.0 --suite pull,consume  # some suites, or one --rule; also with --real-clock
rocketmq-conformance prove pairs                            # ten clients, ten brokers
rocketmq-conformance prove whole --scripted 5.5.0           # whole consumers on brokers that fail by a script
rocketmq-conformance prove page                             # write this page again
```

Of releases that have the same rules `--distinct` asks the newest one; and of several in a row that by the model answer
the same in a suite, the first and the last: wherever the model has a rule begin at a wrong release, one of the two
beside that place is asked. All small allocations are tried on the newest of those that allocate the same, and of the
releases that play covering plans the newest of those that answer them the same plays those of a suite.

A proof prints what differs, and ends with 1 when something does. The rows that this page was made from are in
[proof/](proof/), of clients with `--cover`: a folder for each kind of proof, a file for each release or pair
([why](decisions/0012-rows-of-a-proof-by-release.md)). A rule that no row confirms is **unproven**.

## Everything, bit by bit

`tox run -e proof-all` is `prove all --out docs/proof --resume`. It writes the rows of a release as soon as they are
known, and leaves out the releases that were already confirmed by the code as it is. So it can be stopped (Ctrl-C, or
`--max-time SECONDS`) and started again, and spread over machines:

```sh
tox run -e proof-all -- --shard 1/4 --max-time 3600     # a quarter of the releases, an hour at most
tox run -e proof-all -- --rule OFF-R-READ               # all that can confirm a rule, after a change of it
```

`--suite` and `--rule` replace only the rows of rules whose cases were all played again. Rows say on which commit they
were confirmed, the last one that changed the code (`models`, `suites`, `conformance`, `reports`); uncommitted changes
add a digest of them, and an installation gives its version.

The exit code is 0 when all agree, 1 when something differs, 2 for wrong usage, 3 when releases are left (after
`--max-time` or Ctrl-C), and 4 when a release could not be judged. A release whose process dies is proven once more, and
could not be judged when that dies, too. Files of several machines are put together by copying them into one folder: no
two shards write the same file.

## Rules and releases

`rocketmq-conformance explain RULE` prints what a rule requires and its source. A case counts for every rule that
made its answer.
"""

#: Rules that no proof covers yet, and the evidence for them (a sentence each).
UNASKED = {
    "WIRE-JSON-1": "Real Java clients read the routes of the fake name server in "
    "`tests/conformance/fakes/test_broker_java.py`, but no name server was compared with it.",
}

_PAIRS = """
## Pairs

A real client of each release on a real broker of each release, over TCP, through the decision tables of what both
decide together: commit and read back, where a consumer starts, max, min and search by time. A cell has differences and
cases; a case counts for every rule that made its answer.

"""

_UNASKED = """
## Rules that no proof asks about

A rule of level UNDEFINED promises nothing, so nothing can be confirmed. The others without rows:

| rule | what speaks for it |
|---|---|
"""


def unjudged(side: str) -> frozenset[str]:
    """The releases of a side that cannot be judged."""
    return frozenset(release for group in UNJUDGED if group.side == side for release in group.releases)


_UNJUDGED = """
## Releases that cannot be judged

A proof says so by itself when it cannot get a release. Of releases from 4.0.0 to 5.5.0 these could not be asked:

| side | releases | reason |
|---|---|---|
"""

_AFTER = f"""
Releases before 4.0.0 were published by another group under other class names; no proof asks them. A release newer
than {KNOWN} is judged by the rules of {KNOWN}, and the report of a run says so.

## Where the notes were wrong

What the real thing did otherwise than its source was understood, and what was not in any note:
[proof-findings.md](proof-findings.md).
"""


def proof_page(rules: Iterable[Rule], rows: Iterable[ProofRow], unjudged: Iterable[Unjudged] = UNJUDGED) -> str:
    """The page, as Markdown that ends with a line break; ValueError when a row's rule is not among ``rules``."""
    proven = [ProvenRule(rule.id, rule.level.value, rule.origin.value) for rule in rules]
    found = [replace(row, release=_plain(row.release)) for row in rows]
    asked = {row.rule for row in found if row.cases and row.side != PAIR}
    table = render(proven, found)
    unasked = [rule.id for rule in proven if rule.id not in asked and rule.level != Level.UNDEFINED.value]
    whys = [f"| {rule} | {UNASKED.get(rule, 'Only its source.')} |\n" for rule in unasked]
    groups = [f"| {group.side} | {', '.join(group.releases)} | {group.reason} |\n" for group in unjudged]
    together = pairs(found)
    parts = [
        _INTRODUCTION,
        "\n",
        table,
        _PAIRS * bool(together),
        together,
        "\n" * bool(together),
        pairs_confirmed(found),
        _UNASKED * bool(whys),
        *whys,
        _UNJUDGED,
        *groups,
        _AFTER,
    ]
    return "".join(parts)


def _plain(release: str) -> str:
    """The release as the profile names it: 4.0.0-incubating is 4.0.0."""
    return str(Release.parse(release))


def page_of(kept: KeptRows) -> str:
    """The page of rows that proofs wrote; OSError or ValueError with one sentence when a file cannot be used."""
    return proof_page(rulebook.RULES.values(), kept.rows())
