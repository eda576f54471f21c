"""The expected divergences of one suite in a run: counted instead of reported, and checked for being up to date.

Those from rules that are newer than the chosen rule book are expected, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date

from rocketmq_conformance.conformance.engine.expected_file import Entry
from rocketmq_conformance.conformance.engine.judge import Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.player import BROKEN, Broken, Played, Player
from rocketmq_conformance.conformance.engine.rulebook_versions import RuleBook
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNSUPPORTED, ExpectedDivergence
from rocketmq_conformance.suites.declare.answer_parts import responsible
from rocketmq_conformance.suites.declare.suite import Suite

#: Why a case in which nothing but expected divergences could be judged is unsupported.
ONLY_EXPECTED = "it shows nothing but what is expected to diverge"

#: What is wrong with an entry whose divergence is gone.
GONE = "it does not diverge any more: remove it (`expect prune`)"


class ExpectedDivergences:
    """The entries that concern one suite and the implementation."""

    def __init__(self, entries: Iterable[Entry], book: RuleBook | None = None, *, today: date | None = None) -> None:
        self.entries = tuple(entries)
        self._book = book
        self._today = today or date.today()
        self._by_fingerprint = {entry.fingerprint: entry for entry in self.entries}
        #: Cases that show each of them.
        self._cases = dict.fromkeys(self._by_fingerprint, 0)
        #: Entries whose divergence is under another rule than they say, with that rule.
        self._rules: dict[str, str] = {}
        #: Fingerprints whose plan could not be replayed, with the reason.
        self._unplayed: dict[str, str] = {}
        #: Cases that diverge from a rule that is newer than the rule book, by suite, rule and fingerprint.
        self._newer: Counter[tuple[str, str, str]] = Counter()

    @property
    def occurred(self) -> int:
        """Entries that were seen, and kinds of divergences from newer rules."""
        return sum(1 for times in self._cases.values() if times) + len(self._newer)

    @property
    def faults(self) -> int:
        """Entries that fail the run."""
        return sum(1 for entry in self.entries if self._fault(entry))

    def replay(self, player: Player, suite: Suite) -> list[Judged]:
        """Play the plans of the entries; the divergences of them that are expected."""
        valid = [entry for entry in self.entries if not entry.invalid]
        found: list[Judged] = []
        for entry, judged in zip(valid, player.replay([entry.rows for entry in valid]), strict=True):
            found += self.take(suite, entry, judged)
        return found

    def take(self, suite: Suite, entry: Entry, judged: Judged | Broken) -> list[Judged]:
        """What came of an entry's plan; the divergences of it that are expected."""
        if isinstance(judged, BROKEN):
            self._unplayed[entry.fingerprint] = str(judged)
            return []
        return [one for one in judged.differences() if self._count_expected(suite, one)]

    def settle(self, suite: Suite, played: Played) -> Played:
        """A case without the divergences that are expected."""
        if played.verdict != DIVERGES or not (self.entries or self._book) or played.judged is None:
            return played
        left = [one for one in played.differences if not self._count_expected(suite, one)]
        return played._replace(differences=left) if left else without_differences(played)

    def events(self) -> Iterator[ExpectedDivergence]:
        """What became of every entry."""
        for entry in self.entries:
            yield entry.event(cases=self._cases[entry.fingerprint], fault=self._fault(entry))
        if self._book:
            for (suite, rule, fingerprint), cases in self._newer.items():
                yield newer_rule(self._book.version, suite, rule, fingerprint, cases)

    def knows(self, suite: Suite, judged: Judged) -> bool:
        """Is this divergence expected?"""
        step = judged.steps[-1]
        return self._entry(fingerprint_of(suite, step)) is not None or self._is_newer(responsible(suite, step))

    def _entry(self, fingerprint: str) -> Entry | None:
        """The entry that signs for divergences with this fingerprint."""
        entry = self._by_fingerprint.get(fingerprint)
        return None if entry is None or entry.invalid else entry

    def _is_newer(self, rule: str) -> bool:
        """Is a rule newer than the rule book?"""
        return self._book is not None and self._book.lacks(rule)

    def _count_expected(self, suite: Suite, judged: Judged) -> bool:
        """Is this divergence expected? It is counted then."""
        fingerprint, rule = fingerprint_of(suite, judged.steps[-1]), responsible(suite, judged.steps[-1])
        entry = self._entry(fingerprint)
        if entry is not None:
            self._cases[fingerprint] += 1
            if rule != entry.rule:
                self._rules[fingerprint] = rule
        elif self._is_newer(rule):
            self._newer[suite.name, rule, fingerprint] += 1
        else:
            return False
        return True

    def _fault(self, entry: Entry) -> str:
        fingerprint = entry.fingerprint
        if entry.invalid:
            return f"it is not valid: {entry.invalid}"
        if entry.expires < self._today:
            return f"it expired on {entry.expires.isoformat()}: {entry.owner} has to renew or mend it"
        if fingerprint in self._unplayed and not self._cases[fingerprint]:
            return f"its plan could not be replayed: {self._unplayed[fingerprint]}"
        if not self._cases[fingerprint]:
            return GONE
        return (
            f"it is a divergence from {self._rules[fingerprint]}, not {entry.rule}"
            if fingerprint in self._rules
            else ""
        )


def without_differences(played: Played) -> Played:
    """A case whose divergences are expected, or follow from those that are."""
    agreed = played.judged is not None and len(played.judged.steps) > len(played.judged.differing)
    verdict, reason = (CONFORMS, "") if agreed else (UNSUPPORTED, ONLY_EXPECTED)
    return played._replace(verdict=verdict, reason=reason, differences=())


def newer_rule(version: str, suite: str, rule: str, fingerprint: str, cases: int) -> ExpectedDivergence:
    """The event of divergences from a rule that the rule book of a version does not have."""
    return ExpectedDivergence(
        file=f"rule book {version}",
        line=0,
        suite=suite,
        rule=rule,
        fingerprint=fingerprint,
        reason=f"the rule is newer than rule book {version}",
        owner="",
        link="",
        expires="",
        cases=cases,
    )
