"""docs/explanation/claims.md: its rules exist and were confirmed, and its commands show them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from command_line import kit
from every import every
from places import ROOT

from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.models.release import NEWEST
from rocketmq_conformance.models.rulebook import RULES

PAGE = (ROOT / "docs" / "explanation" / "claims.md").read_text("utf-8")
CONFIRMED = {row.rule for row in KeptRows(ROOT / "docs" / "proof").rows() if row.cases and not row.differences}
#: Of each claim its rules, and its command.
CLAIMS = {
    title: (re.findall(r"[A-Z]+(?:-[A-Z0-9]+)+", rules), shlex.split(command)[1:])
    for title, rules, command in re.findall(
        r"^### (.+?)$.*?^- Rules: (.+?)$.*?^- Shown by: `(.+?)`$", PAGE, re.MULTILINE | re.DOTALL
    )
}


def test_every_claim_has_an_answer_rules_and_a_command() -> None:
    titles = re.findall(r'^### (".+)$', PAGE, re.MULTILINE)
    assert list(CLAIMS) == titles
    assert len(titles) >= 20
    answers = re.findall(r'^### ".+\n\n\*\*.+?\*\*', PAGE, re.MULTILINE)
    assert len(answers) == len(titles)


@every("title", CLAIMS)
def test_its_rules_are_confirmed(title: str) -> None:
    rules, _ = CLAIMS[title]
    assert rules
    assert set(rules) <= RULES.keys()
    assert set(rules) <= CONFIRMED


@every("title", [title for title, (_, command) in CLAIMS.items() if command[0] == "run"])
def test_its_command_plays_one_of_its_rules(title: str, tmp_path: Path) -> None:
    rules, [_, address, _, rule] = CLAIMS[title]
    assert rule in rules
    kind, _, release = address.partition(":")
    if release != str(NEWEST):
        return  # what stands in for the real thing is of the newest release
    stand_in = "broker" if kind == "broker" else "port"
    ended = kit("run", stand_in, "--rule", rule, "--cases", "2", "--seed", "1", "--tier", "seeded", cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
