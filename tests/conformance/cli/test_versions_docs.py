"""The page of versions says what files of a run have, and what programs are greeted with."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rocketmq_conformance import __version__, run
from rocketmq_conformance.conformance.cli.versions_docs import page
from rocketmq_conformance.conformance.targets.exec_client.lines import hello


def test_it_has_the_versions_that_a_run_and_a_greeting_have(tmp_path: Path) -> None:
    versions = {cells[1].strip(): cells[2].strip() for line in page().splitlines() if (cells := line.split("|"))[3:]}
    list(run("port", suites=["allocation"], cases=1, seed=1, tiers=["seeded"], out=tmp_path))
    plan = json.loads((tmp_path / "allocation.plan.jsonl").read_text("utf-8").splitlines()[0])
    greeting = hello()["hello"]
    assert versions["the kit"] == __version__ == plan["kit"] == greeting["kit"]
    assert re.findall("`(.*)`", versions["rules"]) == [plan["rulebook"]] == [greeting["rulebook"]]
    assert versions["rule books"].split(", ")[-1] == __version__
    assert versions["plans"] == str(plan["plan"])
    assert versions["`exec:` programs and adapters"] == str(greeting["protocol"])
