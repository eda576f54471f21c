"""Makes every file that is made by code anew, and names what is still missing::

    python tests/regenerate.py

Made are docs/operations.md, docs/campaign-tables.md, docs/proof.md (of the rows in docs/proof), tests/data/digests.json
and the golden files. Read what has changed before you commit it. The exit code is 1 while something is missing: a
mutant that no plan of the corpus notices, a rule without a proof, a defect without an entry in docs/defects.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rocketmq_conformance.conformance.campaign.tables import tables_docs
from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.proof import proof_docs
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, suites_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.proof import read_rows
from rocketmq_conformance.suites import broker_locks
from rocketmq_conformance.suites.declare import operations_docs
from rocketmq_conformance.suites.declare.discovery import SUITES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: Tests that write their golden files when REWRITE_GOLDEN is set.
GOLDEN = (
    "tests/conformance/campaign/test_digests.py",
    "tests/models/test_new_group_start.py",
    "tests/reports/test_campaign.py",
    "tests/reports/test_console.py",
    "tests/reports/test_html.py",
)
PROFILE = Profile()


def pages() -> None:
    """Write the pages in docs."""
    (DOCS / "operations.md").write_text(operations_docs.page(SUITES.values()), "utf-8")
    (DOCS / "campaign-tables.md").write_text(tables_docs.page(), "utf-8")
    rows = [row for path in sorted((DOCS / "proof").glob("*.jsonl")) for row in read_rows(path)]
    (DOCS / "proof.md").write_text(proof_docs.page(RULES.values(), rows), "utf-8")


def golden() -> None:
    """Write the golden files; what the tests say meanwhile is of no interest, only what they say afterwards is."""
    environment = {**os.environ, "REWRITE_GOLDEN": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *GOLDEN]
    subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.DEVNULL)


def is_noticed(mutant: Mutant, plans: dict[str, list[corpus.CorpusCase]]) -> bool:
    """Does a plan of the corpus notice the mutant?"""
    for suite in suites_of(mutant):
        for case in plans.get(suite.name, ()):
            stage = Stage(open_mutant(mutant, PROFILE), PROFILE)
            try:
                if Player(stage, Judge(suite, PROFILE)).one(1, case.rows).verdict == DIVERGES:
                    return True
            finally:
                stage.close()
    return False


def missing() -> Iterator[str]:
    """What is missing, a line each."""
    plans = corpus.cases([corpus.kit_folder()], SUITES.values())
    for mutant in MUTANTS.values():
        # no plan can ask for strict locks
        if not mutant.equivalent and broker_locks.STRICT not in suites_of(mutant) and not is_noticed(mutant, plans):
            yield f"mutant {mutant.name}: no plan of the corpus notices it (campaign promote)"
    proof = (DOCS / "proof.md").read_text("utf-8")
    for rule in RULES:
        if rule not in proof_docs.UNASKED and re.search(
            rf"^\| {re.escape(rule)} \|.*\*\*unproven\*\*", proof, re.MULTILINE
        ):
            yield f"rule {rule}: no release has confirmed it (tox run -e proof-java, tox run -e proof-broker)"
    defects = set(re.findall(r"^## (D\d+)$", (DOCS / "defects.md").read_text("utf-8"), re.MULTILINE))
    for number in sorted({mutant.defect for mutant in MUTANTS.values()} - defects):
        yield f"defect {number}: docs/defects.md has no entry"


def main() -> int:
    """Make everything, and print what is missing."""
    pages()
    golden()
    found = list(missing())
    print("\n".join(found) or "Nothing is missing.")
    print(f"{len(SUITES)} suites, {len(RULES)} rules, {len(MUTANTS)} mutants.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
