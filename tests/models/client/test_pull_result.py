"""One pull of each kind of consumer: requests by release, and what comes of each answer, worked out by hand."""

from __future__ import annotations

from typing import Any

from every import every

from rocketmq_conformance.models.client.pull_result import REFUSED, PullResultState
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.pull_result import (
    SUITE,
    Hook,
    Pull,
    PullClass,
    PullLite,
    PullPush,
    PullSized,
    Select,
    SelectWaiting,
    SetTimes,
)

ANY_BYTES = 2_147_483_647
#: Two messages are found between min and max, and the slave is suggested.
FOUND = ("SUCCESS", 8, 2, 11, ((5, "A"), (6, "B")), 1)
LATE = ("PULL_NOT_FOUND", 5, 2, 5, (), 0)


class Played:
    """A case of one release; ``do`` answers what the model expects, and ``why`` is the reason."""

    def __init__(self, release: str = "5.5.0") -> None:
        bound = SUITE.bind(Profile.of(client=release))
        self.state: PullResultState = bound.initial
        self._handlers = bound.handlers
        self.why = ""

    def do(self, operation: type, *args: Any) -> Expected:
        self.state, result, why = self._handlers[operation](self.state, *args)
        self.why = why.kind
        return result

    def sent(self, operation: type, *args: Any) -> dict[str, Any]:
        """The parts of the answer by name."""
        names = operation.spec.answer  # type: ignore[attr-defined]
        result = self.do(operation, *args)
        assert isinstance(result, tuple)
        return dict(zip(names, result, strict=True))


@every(
    ("release", "kind", "size", "broker"),
    [
        ("4.0.0", None, None, None),
        ("4.1.0", "TAG", None, None),
        ("4.9.4", "TAG", None, None),
        ("4.9.5", "TAG", None, "broker-a"),
        ("5.0.0-PREVIEW", "TAG", None, None),
        ("5.0.0-ALPHA", "TAG", ANY_BYTES, None),
        ("5.0.0", "TAG", ANY_BYTES, "broker-a"),
    ],
)
def test_a_pull_of_the_application_has_the_fields_of_its_release(
    release: str, kind: str | None, size: int | None, broker: str | None
) -> None:
    sent = ("PULL_MESSAGE", 0, 10_000, "G", "T", 1, 5, 32, 4, 0, 20_000, "A", "0", kind, size, broker)
    case = Played(release)
    result = case.do(Pull, *FOUND, "plain", False, 1, 5, 32, "A")
    assert result == (*sent, "FOUND", 8, 2, 11, ((5, 2, 11),))
    assert case.why == "plain, messages"


def test_a_pull_that_waits_may_be_held_and_has_more_time() -> None:
    case = Played()
    case.do(SetTimes, 5_000, 12_000, 3_000)
    for way, flag, timeout in (("plain", 4, 3_000), ("timed", 4, 700), ("waiting", 6, 12_000)):
        sent = case.sent(Pull, *LATE, way, True, 0, 5, 1, None)
        assert (sent["flag"], sent["timeout"], sent["suspend"], sent["expression"]) == (flag, timeout, 5_000, "*")


def test_the_bytes_of_a_pull_are_sent() -> None:
    assert Played().sent(PullSized, *LATE, 0, 5, 1000)["bytes"] == 1000


@every(
    ("operation", "arguments"),
    [
        (Pull, ("plain", False, 0, -1, 32, "A")),
        (Pull, ("waiting", True, 0, 5, 0, "A")),
        (Pull, ("plain", False, 0, 5, 32, "||")),
        (PullSized, (0, 5, 0)),
        (Select, ("plain", False, 0, 5, 32, "")),
        (PullLite, (0, -1, 10, "TAG", "A")),
    ],
)
def test_what_is_refused_is_not_sent_and_suggests_no_node(operation: type, arguments: tuple[Any, ...]) -> None:
    case = Played()
    assert case.do(operation, *FOUND, *arguments) == REFUSED
    assert case.state == PullResultState()


def test_only_sql92_and_push_consumers_have_a_version() -> None:
    case = Played()
    assert case.sent(Select, *LATE, "timed", False, 0, 5, 32, "a > 1")["version"] == "time"
    waiting = case.sent(SelectWaiting, *LATE, True, 0, 5, 32, "a > 1")
    assert (waiting["version"], waiting["type"], waiting["flag"], waiting["timeout"]) == ("time", "SQL92", 6, 30_000)
    assert case.sent(PullLite, *LATE, 0, 5, 10, "TAG", "A")["version"] == "0"
    assert case.sent(PullLite, *LATE, 0, 5, 10, "SQL92", "A")["version"] == "time"
    assert case.sent(PullPush, *LATE, 0, 5, 32, -1, "A", False)["version"] == "time"


@every(
    ("release", "request", "flag"),
    [
        ("4.6.0", "PULL_MESSAGE", 6),
        ("4.6.1", "PULL_MESSAGE", 22),
        ("5.0.0-ALPHA", "PULL_MESSAGE", 22),
        ("5.0.0", "LITE_PULL_MESSAGE", 22),
    ],
)
def test_lite_pull_has_a_flag_and_a_request_of_its_own(release: str, request: str, flag: int) -> None:
    case = Played(release)
    case.do(SetTimes, 5_000, 12_000, 3_000)
    sent = case.sent(PullLite, *FOUND, 2, 5, 10, "TAG", "B")
    assert (sent["request"], sent["flag"], sent["suspend"], sent["timeout"]) == (request, flag, 20_000, 12_000)
    assert (sent["topic"], sent["status"], sent["messages"]) == ("U", "FOUND", ((6, 2, 11),))


@every(("held", "posts", "flag", "expression"), [(-1, False, 2, None), (0, True, 6, "A"), (7, False, 3, None)])
def test_push_commits_what_is_in_memory(held: int, posts: bool, flag: int, expression: str | None) -> None:
    sent = Played().sent(PullPush, *FOUND, 0, 5, 32, held, "A", posts)
    assert (sent["flag"], sent["offset to commit"], sent["expression"]) == (flag, held, expression)
    assert (sent["suspend"], sent["timeout"], sent["bytes"]) == (15_000, 30_000, 262_144)
    assert sent["messages"] == ((5, 2, 11),)


def test_each_consumer_asks_the_node_that_it_was_suggested_for_the_queue() -> None:
    case = Played()
    case.do(PullPush, *FOUND, 0, 5, 32, 7, "A", False)
    sent = case.sent(PullPush, *LATE, 0, 5, 32, 7, "A", False)
    assert (sent["node"], sent["flag"]) == (1, 2)  # a slave is not asked to commit
    assert case.sent(PullPush, *LATE, 1, 5, 32, 7, "A", False)["node"] == 0
    assert case.sent(Pull, *LATE, "plain", False, 0, 5, 32, "A")["node"] == 0
    assert case.sent(PullPush, *LATE, 0, 5, 32, 7, "A", False)["node"] == 0


@every(
    ("code", "result", "kind"),
    [
        ("SUCCESS", ("FOUND", 8, 2, 11, ()), "none wanted"),
        ("PULL_NOT_FOUND", ("NO_NEW_MSG", 8, 2, 11, None), "no messages"),
        ("PULL_RETRY_IMMEDIATELY", ("NO_MATCHED_MSG", 8, 2, 11, None), "no messages"),
        ("PULL_OFFSET_MOVED", ("OFFSET_ILLEGAL", 8, 2, 11, None), "no messages"),
        ("SYSTEM_ERROR", ("SYSTEM_ERROR", None, None, None, None), "failure"),
        ("silent", ("no answer", None, None, None, None), "failure"),
        ("no-field", ("no answer", None, None, None, None), "failure"),
    ],
)
def test_codes_become_statuses_or_failures(code: str, result: tuple[Any, ...], kind: str) -> None:
    case = Played()
    answered = case.do(Pull, code, 8, 2, 11, ((6, "B"),), 1, "plain", False, 0, 5, 32, "A")
    assert isinstance(answered, tuple)
    assert (answered[-5:], case.why) == (result, f"plain, {kind}")
    assert case.sent(Pull, *LATE, "plain", False, 0, 5, 32, "A")["node"] == (kind != "failure")
    pushed = case.do(PullPush, code, 8, 2, 11, ((6, "B"),), 1, 0, 5, 32, -1, "A", False)
    assert isinstance(pushed, tuple)
    assert pushed[-1] == ()


@every(
    ("hooks", "left"),
    [
        (("first",), (6,)),
        (("first", "last"), ()),
        (("first", "last", "last"), ()),
        (("fails", "last"), (5,)),
        (("last", "replaces", "first"), (5,)),
    ],
)
def test_hooks_take_out_what_is_given_and_nothing_else(hooks: tuple[str, ...], left: tuple[int, ...]) -> None:
    case, given = Played(), tuple((offset, 2, 11) for offset in left)
    case.do(Hook, hooks)
    sent = case.sent(Pull, *FOUND, "plain", False, 0, 5, 32, "*")
    assert (sent["status"], sent["next"], sent["messages"], case.why) == ("FOUND", 8, given, "plain, hooked")
    assert case.sent(PullPush, *FOUND, 0, 5, 32, 7, "*", False)["messages"] == given
    assert case.sent(PullLite, *FOUND, 0, 5, 10, "TAG", "B")["messages"] == ((6, 2, 11),)


def test_a_pull_by_a_class_goes_to_a_filter_server_of_the_node_that_was_suggested() -> None:
    case = Played()
    sent = case.sent(PullClass, *FOUND, 0, 5, 7, True, (0,))
    assert (sent["node"], sent["flag"], sent["offset to commit"], sent["expression"]) == (0, 11, 7, None)
    assert (sent["number"], sent["messages"]) == (32, ((5, 2, 11), (6, 2, 11)))
    for servers in ((0,), (), None):  # the slave was suggested
        assert case.do(PullClass, *FOUND, 0, 5, 7, True, servers) is None
    slave = case.sent(PullClass, *FOUND, 0, 5, 7, True, (0, 1))
    assert (slave["node"], slave["flag"], case.why) == (1, 10, "class, messages, of a slave")


def test_the_state_is_shown() -> None:
    case = Played()
    case.do(Pull, *FOUND, "plain", False, 0, 5, 32, "A")
    assert "suspend=20000" in SUITE.show(case.state)
    assert "'application of 0': 1" in SUITE.show(case.state)
