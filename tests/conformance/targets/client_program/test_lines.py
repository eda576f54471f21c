"""The schema of lines and commands: what the kit checks, what it sends and what the page shows agree with it."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from places import ROOT

from rocketmq_conformance.conformance.targets.client_program.host import _METHODS
from rocketmq_conformance.conformance.targets.client_program.lines import FILE, schemas, wrong_with
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.suites.declare.schema import fits

#: Lines and commands, and whether they are right.
SAMPLES = {
    '{"got": ["T", 0, 7]}': True,
    '{"got": ["T", 0, 7], "more": 1}': True,
    '{"got": ["T", 0]}': False,
    '{"got": ["T", 0, 7, 8]}': True,
    '{"got": ["T", 0, 7, 8, "a b"]}': True,
    '{"got": ["T", 0, 7, 8, 9]}': False,
    '{"got": ["T", 0, 7, 8, "", 9]}': False,
    '{"got": ["T", "0", 7]}': False,
    '{"got": ["T", 0, 7.5]}': False,
    '{"got": ["T", true, 7]}': False,
    '{"got": ["T", 0, -1]}': False,
    '{"got": [null, 0, 7]}': False,
    '{"got": {"topic": "T"}}': False,
    '{"takes": []}': True,
    '{"takes": ["listen", "strategy"]}': True,
    '{"takes": "listen"}': False,
    '{"takes": [1]}': False,
    '{"owned": []}': True,
    '{"owned": [["T", 0], ["T", 1]]}': True,
    '{"owned": [["T", 0, 7]]}': False,
    '{"owned": ["T", 0]}': False,
    '{"seek": ["T", 0, -1]}': True,
    '{"seek": ["T", 0]}': False,
    '{"listen": "holds"}': True,
    '{"listen": "sleeps"}': False,
    '{"subscribe": "U"}': True,
    '{"subscribe": ["U"]}': False,
    '{"unsubscribe": "U"}': True,
    '{"unsubscribe": true}': False,
    '{"also": ["127.0.0.1:1", "G", "T", "member-0"]}': True,
    '{"also": ["127.0.0.1:1"]}': False,
    '{"end": "G"}': True,
    '{"end": ["G"]}': False,
}


@pytest.mark.parametrize("text", SAMPLES)
def test_a_line_fits_as_json_schema_says(text: str) -> None:
    line = json.loads(text)
    name = next(iter(line))
    schema = {**schemas("lines"), **schemas("commands")}[name]
    valid = jsonschema.Draft202012Validator(schema).is_valid(line)
    assert (fits(schema, line), valid) == (SAMPLES[text], SAMPLES[text])
    assert bool(wrong_with(line)) is (name in schemas("lines") and not valid)


def test_any_other_line_is_right() -> None:
    for line in ({}, {"level": "info", "got it": 1}):
        assert wrong_with(line) == ""


def test_a_long_line_is_cut_in_its_sentence() -> None:
    assert len(wrong_with({"got": "x" * 1000})) < 300


def test_the_file_is_a_schema_that_names_every_line_and_command() -> None:
    whole = json.loads(FILE.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(whole)
    validator = jsonschema.Draft202012Validator(whole)
    assert all(validator.is_valid(json.loads(text)) is right for text, right in SAMPLES.items())


def test_the_page_shows_every_line_and_command_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "client.md").read_text("utf-8")
    lines, commands = page.split("Standard input stays open.")
    for part, of in ((lines, "lines"), (commands, "commands")):
        shown = [json.loads(text) for text in re.findall(r"^\| `(\{\".*?\})` \|", part, re.MULTILINE)]
        assert [name for line in shown for name in line] == list(schemas(of))
        assert all(fits(schemas(of)[name], line) for line in shown for name in line)


def test_listeners_do_what_the_schema_says() -> None:
    assert schemas("commands")["listen"]["properties"]["listen"]["enum"] == [SUCCEEDS, FAILS, HOLDS]
    assert set(_METHODS) == set(schemas("commands")) - {"listen", "hold"}
