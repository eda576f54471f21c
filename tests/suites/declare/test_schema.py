"""The JSON Schema of plans: what the kit writes is valid, and what is no step is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from every import every
from jsonschema import Draft202012Validator

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.schema import DIALECT, case_line
from rocketmq_conformance.suites.declare.suite import Suite

SCHEMA = case_line(SUITES.values())
VALIDATOR = Draft202012Validator(SCHEMA)
READ = {"read": {"queue": 0, "kind": "memory", "fault": "answer"}}


def case(*steps: Any) -> dict[str, Any]:
    return {"case": 0, "steps": list(steps)}


def test_the_document_is_a_schema_of_its_dialect() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == DIALECT


def test_every_operation_of_every_suite_is_defined() -> None:
    named = {f"{suite.name}.{op.spec.name}" for suite in SUITES.values() for op in suite.operations}
    assert set(SCHEMA["$defs"]) == named


def test_every_line_of_a_sampled_plan_is_valid(tmp_path: Path) -> None:
    invalid = []
    for suite in SUITES.values():
        # one suite's part of the document: trying those of all others takes most of a minute
        validator = Draft202012Validator(case_line([suite]))
        for release in ("4.9.8", "5.5.0"):
            profile, file = Profile.of(release, release), tmp_path / f"{suite.name}-{release}.jsonl"
            if not suite.has(profile):
                continue
            drawn = sampler(suite, profile)
            plan.write(file, suite, profile, 9, [(number, drawn.case(9, number, 30)) for number in range(2)])
            lines = [json.loads(line) for line in file.read_text().splitlines()[1:]]
            assert len(lines) == 2
            invalid += [(suite.name, release, line) for line in lines if not validator.is_valid(line)]
    assert invalid == []


def test_the_document_allows_what_one_suite_allows() -> None:
    for suite in SUITES.values():
        alone = case_line([suite])
        assert alone["anyOf"][0] in SCHEMA["anyOf"]
        assert alone["$defs"].items() <= SCHEMA["$defs"].items()


@every("suite", SUITES.values())
def test_a_simpler_step_is_valid_too(suite: Suite) -> None:
    tried = 0
    for position, args in sampler(suite, Profile()).case(3, 0, 10):
        spec = suite.operations[position].spec
        step = Draft202012Validator(spec.schema())
        for simpler in spec.simpler(args)[:10]:
            written = json.loads(json.dumps(dict(zip([name for name, _ in spec.domains], simpler, strict=True))))
            assert step.is_valid(written), written
            tried += 1
    assert tried


@every(
    "line",
    [
        case({"fly": {}}),
        case({"read": {"queue": 0, "fault": "answer"}}),
        case({"read": {**READ["read"], "more": 1}}),
        case({"read": {**READ["read"], "queue": "0"}}),
        case({"read": {**READ["read"], "queue": 77}}),
        case({"read": {**READ["read"], "fault": "explode"}}),
        case({"update": {"queue": 0, "offset": 1, "increase_only": 0}}),
        case({**READ, "remove": {"queue": 0}}),
        case({"persist_all": {"queues": [0, 0]}}),
        case({"persist_all": {"queues": 0}}),
        case({"sort_queues": {"queues": [["T", "b0"]]}}),
        case({"place_text": {"text": 3}}),
        case("read"),
        {"case": -1, "steps": [READ]},
        {"case": "0", "steps": [READ]},
        {"steps": [READ]},
        {"case": 0},
        {"case": 0, "steps": READ},
        {"case": 0, "steps": [READ], "seed": 1},
        [],
    ],
)
def test_other_objects_are_no_valid_case(line: Any) -> None:
    assert VALIDATOR.is_valid(case(READ))
    assert not VALIDATOR.is_valid(line)


def test_steps_of_two_suites_are_no_case() -> None:
    restart, commit = {"restart": {"how": "stop"}}, {"persist": {"queue": 0}}
    assert VALIDATOR.is_valid(case(restart))
    assert VALIDATOR.is_valid(case(commit))
    assert not VALIDATOR.is_valid(case(restart, commit))


def test_the_command_line_prints_the_document() -> None:
    done = CliRunner().invoke(cli, ["list", "operations", "--format", "schema"])
    assert done.exit_code == 0
    assert json.loads(done.output) == SCHEMA


def test_nothing_else_has_a_schema() -> None:
    done = CliRunner().invoke(cli, ["list", "rules", "--format", "schema"])
    assert done.exit_code == 2
    assert "list operations --format schema" in done.output
