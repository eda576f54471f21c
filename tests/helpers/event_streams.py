"""Streams of events for tests: runs that nearly passed, and streams of anything at all."""

from __future__ import annotations

import dataclasses
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from places import GOLDEN

from rocketmq_conformance.reports.decode import EVENTS
from rocketmq_conformance.reports.event import (
    CaseEnded,
    CaseLost,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    Separator,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.jsonl import read

GOOD = read(GOLDEN / "conforms.events.jsonl").events
FOUND = [e for e in read(GOLDEN / "diverges.events.jsonl").events if isinstance(e, DivergenceFound)]

VERDICTS = ("conforms", "diverges", "undecided", "could not run", "unsupported")
#: Names and verdicts that mean something, and text that only means harm.
TEXT = st.one_of(
    st.sampled_from(("", *VERDICTS, "allocation", "remote-store", "interrupted", "time limit", "Verdict: conforms")),
    st.text(st.characters(codec=None, categories=None), max_size=12),
    st.text("<>&]\"'\x00\x1b\r\n\t\ud800\ufffe\U0001f600[/]", max_size=12),
)
#: Who speaks in messages.
WHO = ("member", "another member", "broker", "name server")
NUMBER = st.one_of(st.integers(0, 3), st.integers(0, 2**63))
CASE = st.one_of(st.integers(-3, 3), st.integers(0, 2**63))
COVERAGE = st.lists(st.tuples(TEXT, TEXT, TEXT, NUMBER).map(list), max_size=3)


def values(hint: Any, name: str) -> st.SearchStrategy[Any]:
    """Values of an event's field."""
    if name == "coverage":
        return COVERAGE
    if name == "format":
        return st.just(1)
    if name == "separates":
        return st.lists(built(Separator), max_size=2)
    if name == "messages":
        return st.lists(st.lists(st.one_of(TEXT, st.sampled_from(WHO)), max_size=4), max_size=3)
    if name == "curve":
        return st.lists(st.lists(st.integers(-3, 2**63), max_size=3), max_size=4)
    if name == "case":
        return CASE
    if get_origin(hint) is list:
        return st.lists(values(get_args(hint)[0], ""), max_size=3)
    if get_origin(hint) is dict:
        return st.dictionaries(TEXT, values(get_args(hint)[1], ""), max_size=3)
    if get_origin(hint) is UnionType:
        return st.one_of(*(values(arg, "") for arg in get_args(hint)))
    if dataclasses.is_dataclass(hint):
        return built(hint)
    plain = {str: TEXT, int: NUMBER, bool: st.booleans(), float: st.floats(0, 1e6), type(None): st.none()}
    return plain[hint]


def built(cls: Any) -> st.SearchStrategy[Any]:
    """Events of one kind."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{item.name: values(hints[item.name], item.name) for item in dataclasses.fields(cls)})


ANY_EVENT = st.one_of(*(built(cls) for cls in EVENTS))


@st.composite
def nearly_good(draw: st.DrawFn) -> list[Event]:
    """A conforming run with up to three things wrong."""
    stream = list(GOOD)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(stream) - 1)) if stream else 0
        match draw(st.sampled_from(("drop", "cut", "again", "insert", "edit"))):
            case "drop" if stream:
                del stream[at]
            case "cut":
                del stream[at:]
            case "again" if stream:
                stream.insert(at, stream[draw(st.integers(0, len(stream) - 1))])
            case "insert":
                stream.insert(at, draw(st.one_of(st.sampled_from(FOUND), ANY_EVENT)))
            case "edit" if stream:
                item = draw(st.sampled_from(dataclasses.fields(stream[at])))  # type: ignore[arg-type]
                hints = get_type_hints(type(stream[at]))
                change = {item.name: draw(values(hints[item.name], item.name))}
                stream[at] = dataclasses.replace(stream[at], **change)
    return stream


STREAM = st.one_of(nearly_good(), st.lists(ANY_EVENT, max_size=6))


def may_pass(stream: list[Event]) -> bool:
    """The least that a pass needs, said without the ledger."""
    stream = [event for event in stream if not isinstance(event, Progress)]
    if len(stream) < 2 or not isinstance(stream[0], RunStarted) or not isinstance(stream[-1], RunEnded):
        return False
    header, footer = stream[0], stream[-1]
    if any(isinstance(event, RunStarted | RunEnded) for event in stream[1:-1]):
        return False
    ended = {event.suite: event for event in stream if isinstance(event, SuiteEnded)}
    begun = {*header.suites, *(event.suite for event in stream if isinstance(event, SuiteStarted))}
    return (
        begun <= set(ended)
        and all(suite.verdict in ("conforms", "unsupported") and suite.control is not False for suite in ended.values())
        and any(suite.cases.get("conforms", 0) > 0 for suite in ended.values())
        and not any(isinstance(event, DivergenceFound) and event.against == "model" for event in stream)
        and not any(isinstance(e, CaseEnded) and e.verdict not in ("conforms", "unsupported") for e in stream)
        and not any(isinstance(event, CaseLost) for event in stream)
        and (footer.verdict, footer.exit_code, footer.divergences) == ("conforms", 0, 0)
        and footer.stopped in ("", "time limit")
        and footer.controls_noticed >= footer.controls
    )


def run_of_suites(number: int, *divergences: DivergenceFound) -> list[Event]:
    """A run of so many suites, some of which do not have everything; those with divergences diverge.

    Its names, notes and reasons are as long as the kit's own longest ones.
    """
    header, footer = GOOD[0], GOOD[-1]
    assert isinstance(header, RunStarted)
    assert isinstance(footer, RunEnded)
    started = next(event for event in GOOD if isinstance(event, SuiteStarted))
    ended = next(event for event in GOOD if isinstance(event, SuiteEnded) and event.coverage)
    names = [f"rebalance-broker-{at:02}" for at in range(number)]
    note = "the plan was written for client 5.5.0, broker 5.5.0 and java 17; it is judged by client 4.9.8, broker 5.1.4"
    stream: list[Event] = [dataclasses.replace(header, suites=names, notes=[note, note, note])]
    for at, name in enumerate(names):
        found = [one for one in divergences if one.suite == name]
        wrong = sum(one.cases for one in found)
        cases = {"conforms": 200, "diverges": wrong, "unsupported": 7 * (at % 5 == 0)}
        case = CaseEnded(
            suite=name,
            case=12,
            verdict="unsupported",
            steps=0,
            seconds=0.0,
            digest="",
            reason="client 4.9.8, broker 5.1.4, java 17 has no set_message_request_mode",
        )
        replayed = dataclasses.replace(case, case=-1, verdict="conforms", reason="")
        stream += [dataclasses.replace(started, suite=name), replayed, *([case] * 7 * (at % 5 == 0)), *found]
        stream.append(
            dataclasses.replace(
                ended,
                suite=name,
                verdict="diverges" if found else "conforms",
                cases=cases,
                silent_rules=[f"REB-BROKER-ROUND-{at}-{rule}" for rule in range(4)],
                unsupported={f"operation_{n}": "the client has no such method" for n in range(12 * (at % 5 == 0))},
            )
        )
    silent = [rule for event in stream if isinstance(event, SuiteEnded) for rule in event.silent_rules]
    verdict = {"verdict": "diverges", "exit_code": 1} if divergences else {}
    stream.append(
        dataclasses.replace(
            footer,
            **verdict,
            cases={"conforms": 200 * number, "diverges": sum(one.cases for one in divergences)},
            controls=number,
            controls_noticed=number,
            divergences=len(divergences),
            silent_rules=silent,
        )
    )
    return stream


#: Text that means harm to a page, and can be shown.
HOSTILE = [
    "</script><script>document.title='hacked'</script>",
    "<img src=x onerror=document.title='hacked'>",
    "'\"><svg/onload=alert(1)>",
    "{{7*7}}{% include 'x' %}{# #}",
    "&lt;b&gt;&amp;amp;&#60;",
    "javascript:alert(1)",
    "]]><!-- --><![CDATA[",
    "</title></style></code></details>",
    "\U0001f600 Ü ß 中文",
]
#: Hostile text that is never shown as it is.
UNSHOWABLE = ["\u202eevil\u2066", "\ud800\udfff", "\x00\x1b[31m\x7f\x85", "line\r\nline\t\u2028", "\ufeff\u200b"]


def filled(value: Any, text: str) -> Any:
    """A value with ``text`` in place of every text in it."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [filled(item, text) for item in value]
    if isinstance(value, dict):
        return {
            key if key in ("id", "sentence", "level", "source") else text: filled(v, text) for key, v in value.items()
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(
            value, **{item.name: filled(getattr(value, item.name), text) for item in dataclasses.fields(value)}
        )
    return value
