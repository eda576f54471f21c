"""JUnit XML: valid for CI servers, true to the verdicts, and never kinder than the run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from xml.etree import ElementTree

import xmlschema
from every import every
from places import DATA, GOLDEN

from rocketmq_conformance.reports.event import CaseEnded, DivergenceFound, Event, RunEnded, SuiteEnded
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.junit import JunitReport, document
from rocketmq_conformance.reports.run_summary import RunSummary

SCHEMA = xmlschema.XMLSchema(DATA / "junit.xsd")
RUNS = ("conforms", "diverges", "corpus", "undecided", "interrupted", "killed", "empty")


def events(name: str) -> list[Event]:
    return read(GOLDEN / f"{name}.events.jsonl").events


def tree(stream: list[Event]) -> ElementTree.Element:
    summary = RunSummary()
    for event in stream:
        summary.add(event)
    root = ElementTree.fromstring(document(summary))
    SCHEMA.validate(root)
    return root


def outcome(root: ElementTree.Element, suite: str, case: str) -> str:
    """ "pass", or "failure", "error" or "skipped" with its message."""
    found = root.findall(f"testsuite[@name='{suite}']/testcase[@name='{case}']")
    assert len(found) == 1, f"{suite}/{case} is there {len(found)} times"
    return " ".join([f"{child.tag}: {child.get('message')}" for child in found[0]]) or "pass"


@every("name", RUNS)
def test_the_numbers_are_those_of_the_cases(name: str) -> None:
    root = tree(events(name))
    for suite in [*root.findall("testsuite"), root]:
        for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert suite.get(attribute) == str(len(suite.findall(f".//{tag}")))


def test_a_plan_of_the_corpus_is_named_by_its_file() -> None:
    root = tree(events("corpus"))
    (failure,) = root.findall("testsuite/testcase[@name='OFF-R-READ']/failure")
    assert (failure.text or "").startswith("remote-store, corpus plan remote-store.5f0de8a1, case 17 ")
    (verdict,) = root.findall("testsuite[@name='remote-store']/testcase[@name='verdict']/failure")
    assert "has no freeze (1 case, first corpus plan remote-store.5f0de8a1, case 18)" in (verdict.text or "")


def test_a_conforming_run_has_neither_failures_nor_errors() -> None:
    root = tree(events("conforms"))
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert outcome(root, "run", "verdict") == "pass"
    assert outcome(root, "remote-store", "control") == "pass"
    reason = "no step of remote-store came to it in 200 cases: raise --cases"
    assert outcome(root, "remote-store", "OFF-R-FETCH") == f"skipped: not reached: {reason}"


def test_rules_that_no_suite_reaches_are_skipped_with_their_reasons() -> None:
    root = tree(events("conforms"))
    assert outcome(root, "rules not reached", "CONS-1") == (
        "skipped: not reached: none of consume, whole-listener was run (-k)"
    )
    assert root.find("testsuite[@name='rules not reached']/testcase[@name='OFF-R-READ']") is None


def test_a_divergence_fails_its_rule_and_its_suite() -> None:
    root = tree(events("diverges"))
    does = "skipped: An offset, 5, is read where there is none: messages are skipped, or come again."
    assert outcome(root, "remote-store", "OFF-R-READ") == f"failure: {does} expected -1, observed 5"
    assert outcome(root, "remote-store", "OFF-R-PALL") == "pass"
    assert outcome(root, "remote-store", "verdict").startswith("failure: diverges: conforms 197, diverges 2")
    assert outcome(root, "run", "verdict") == "failure: diverges"


def test_a_failure_has_the_whole_block_once_per_fingerprint() -> None:
    found = tree(events("diverges")).find("testsuite/testcase[@name='OFF-R-READ']/failure")
    assert found is not None
    assert found.text is not None
    assert found.text.count("fingerprint    9b1c2d3ea7f04456") == 1
    assert found.text.count("\nreplay         rocketmq-conformance replay conformance-out/") == 1
    assert "read(queue=0, kind='memory', fault='answer')" in found.text


def test_a_divergence_fails_the_rule_that_is_responsible_and_no_bystander() -> None:
    stream = events("diverges")
    both = [{"id": name, "sentence": "", "level": "MUST", "source": ""} for name in ("OFF-R-PALL", "START-1")]
    stream = [dataclasses.replace(e, rules=both) if isinstance(e, DivergenceFound) else e for e in stream]
    root = tree(stream)
    assert outcome(root, "remote-store", "OFF-R-PALL").startswith("failure")
    assert root.find("testsuite[@name='remote-store']/testcase[@name='START-1']") is None


def test_unsupported_is_skipped() -> None:
    root = tree(events("diverges"))
    assert outcome(root, "start", "verdict") == "skipped: unsupported: myport starts where it is told to"


def test_undecided_is_an_error_that_says_why() -> None:
    root = tree(events("undecided"))
    assert outcome(root, "remote-store", "verdict") == "error: undecided: conforms 197, undecided 3"
    error = root.find("testsuite[@name='remote-store']/testcase[@name='verdict']/error")
    assert error is not None
    assert error.text == "undecided: no answer to persist_all within 5 s (3 cases, first case 12)"


def test_a_suite_that_could_not_run_is_an_error() -> None:
    stream = [
        dataclasses.replace(e, verdict="could not run", reason="no Java") if isinstance(e, SuiteEnded) else e
        for e in events("conforms")
    ]
    assert outcome(tree(stream), "allocation", "verdict") == "error: could not run: no Java"


def test_a_silent_control_is_an_error_and_no_rule_of_its_suite_passes() -> None:
    root = tree(events("undecided"))
    assert outcome(root, "allocation", "control").startswith("error: the planted wrong answer was not noticed")
    assert outcome(root, "allocation", "ALLOC-AVG-1") == (
        "skipped: not reached: allocation: a planted wrong answer was not noticed"
    )


def test_a_suite_that_did_not_end_is_an_error() -> None:
    root = tree(events("killed"))
    assert outcome(root, "remote-store", "verdict") == "error: the suite did not end, so nothing is known of it"
    assert outcome(root, "run", "verdict") == "error: undecided: the run was cut off before its end"


def test_a_suite_without_a_conforming_case_does_not_pass() -> None:
    stream = [dataclasses.replace(e, cases={}) if isinstance(e, SuiteEnded) else e for e in events("conforms")]
    assert outcome(tree(stream), "allocation", "verdict").startswith("error: no case conformed")


def test_a_run_that_never_began_is_an_error() -> None:
    assert outcome(tree([]), "run", "verdict") == "error: undecided: nothing ran"


@every(
    "text",
    [
        "]]>",
        "<failure/>&amp;\"'",
        "\x00\x0b\x1b[31m\x7f\x85",
        "\ud800\udfff\ufffe\uffff",
        "\U0001f600\U0010ffff",
        "line\r\nline\t\u2028",
        "",
    ],
)
def test_hostile_strings_are_escaped(text: str) -> None:
    stream: list[Event] = []
    for event in events("diverges"):
        if isinstance(event, DivergenceFound):
            rule = dict.fromkeys(("id", "sentence", "level", "source"), text)
            step = dataclasses.replace(event.steps[-1], operation=text, observed=text, expected=text, before=text)
            event = dataclasses.replace(
                event, rules=[rule], observed=text, steps=[*event.steps[:-1], step], replay=text
            )
        elif isinstance(event, SuiteEnded):
            event = dataclasses.replace(event, reason=text, silent_rules=[text], unsupported={text: text})
        elif isinstance(event, CaseEnded):
            event = dataclasses.replace(event, reason=text)
        stream.append(event)
    # ``tree`` parses and validates; what can be shown is there as it was.
    failure = tree(stream).find("testsuite/testcase/failure")
    assert failure is not None
    message = failure.get("message")
    assert message is not None
    assert message.isprintable()
    assert not text.isprintable() or message.endswith(f"observed {text}")


def test_a_message_is_short_and_the_text_below_has_it_all() -> None:
    stream = [
        dataclasses.replace(e, observed="x" * 900) if isinstance(e, DivergenceFound) else e for e in events("diverges")
    ]
    failure = tree(stream).find("testsuite/testcase[@name='OFF-R-READ']/failure")
    assert failure is not None
    assert len(failure.get("message", "")) == 300
    assert failure.text is not None
    assert failure.text.count("x") >= 900


def test_the_file_is_never_a_pass_before_the_run_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    report = JunitReport(path)
    for event in events("conforms"):
        report(event)
        if not isinstance(event, RunEnded):
            root = ElementTree.parse(path).getroot()
            SCHEMA.validate(root)
            assert outcome(root, "run", "verdict").startswith("error: ")
    report.close()
    assert outcome(ElementTree.parse(path).getroot(), "run", "verdict") == "pass"
    assert [file.name for file in tmp_path.iterdir()] == ["junit.xml"]


def test_the_file_says_which_run_it_is() -> None:
    suite = tree(events("conforms")).find("testsuite")
    assert suite is not None
    properties = {item.get("name"): item.get("value") for item in suite.findall("properties/property")}
    assert properties == {
        "implementation": "port 0.1.0",
        "address": "port",
        "profile": "client 5.5.0, broker 5.5.0, java 17",
        "seed": "1729",
        "kit": "0.1.0",
        "rulebook": "3f9a12c0",
    }


def test_every_implementation_of_a_campaign_has_suites_of_its_own() -> None:
    stream: list[Event] = []
    for event in events("diverges"):
        if isinstance(event, SuiteEnded):
            stream += [dataclasses.replace(event, address=address) for address in ("port", "mutant:x")]
        elif isinstance(event, DivergenceFound):
            stream.append(dataclasses.replace(event, address="mutant:x"))
        else:
            stream.append(event)
    root = tree(stream)
    assert outcome(root, "remote-store (mutant:x)", "OFF-R-READ").startswith("failure")
    assert outcome(root, "remote-store (port)", "OFF-R-READ") == "pass"
