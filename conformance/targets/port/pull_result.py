"""The port's pulls, one at a time: the request of each kind of consumer, and what the application gets."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.pull import COMMIT, EXPRESSION, SUSPEND
from rocketmq_conformance.conformance.targets.port.pull_settings import PullSettings, RefusedError, Subscription
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.suites import pull_result as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

#: The flag of lite pull consumers.
LITE = 16
APPLICATION, LITE_PULL, PUSH = "application", "lite pull", "push"
#: The flag of a subscription by a class, and how many messages such a consumer asks for.
CLASS, CLASS_NUMBER = 8, 32
#: Ms for which the broker may hold a pull of a lite pull consumer.
LITE_SUSPEND = 20_000
#: Ms until a push consumer's pull is given up, how long the broker may hold it, and the bytes that it takes.
PUSH_TIMEOUT, PUSH_SUSPEND, PUSH_BYTES = 30_000, 15_000, 262_144
#: The timeout (ms) that a timed pull is given, and the bytes of pulls without a limit.
GIVEN_TIMEOUT, ANY_BYTES = 700, 2_147_483_647
STATUSES = {
    "SUCCESS": "FOUND",
    "PULL_NOT_FOUND": "NO_NEW_MSG",
    "PULL_RETRY_IMMEDIATELY": "NO_MATCHED_MSG",
    "PULL_OFFSET_MOVED": "OFFSET_ILLEGAL",
}
NO_ANSWERS = ("no-field", "silent", "cut")

Message = tuple[int, str]


class Answer(NamedTuple):
    """The answer of the broker."""

    code: str
    next_offset: int
    low: int
    high: int
    messages: tuple[Message, ...]
    suggested: int


class Header(NamedTuple):
    """What is the same in the pulls of all kinds of consumers."""

    caller: str
    queue: int
    offset: int
    most: int
    chosen: Subscription
    size: int


class PullResult:
    """A pull consumer, a lite pull consumer and a push consumer of one group."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.settings = PullSettings()
        self.clear()

    def clear(self) -> None:
        """New consumers."""
        self.suspend, self.waiting, self.plain = 20_000, 30_000, 10_000
        #: The node that the last answer suggested, by consumer and queue.
        self.nodes: dict[tuple[str, int], int] = {}
        self.hooks: tuple[str, ...] = ()

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.clear()

    # --- what is sent -------------------------------------------------------------------------------------

    def node(self, caller: str, queue: int) -> int:
        """The node to ask."""
        return self.nodes.get((caller, queue), 0)

    def flag(self, caller: str, waits: bool) -> int:
        """The flag of a pull of the application or of lite pull."""
        return EXPRESSION + SUSPEND * waits + LITE * (caller == LITE_PULL)

    def version(self, chosen: Subscription) -> str:
        """The version of a subscription."""
        return "0" if chosen.kind == "TAG" else "time"

    def request(self, caller: str) -> str:
        """The name of the request."""
        return "LITE_PULL_MESSAGE" if caller == LITE_PULL else "PULL_MESSAGE"

    def timeout(self, way: str) -> int:
        """The ms until a pull is given up."""
        return {"waiting": self.waiting, "plain": self.plain}.get(way, GIVEN_TIMEOUT)

    def held_at_most(self, caller: str) -> int:
        """The ms for which the broker may hold a pull."""
        return LITE_SUSPEND if caller == LITE_PULL else self.suspend

    def kind(self, header: Header) -> str | None:
        """The type of the expression that goes with a pull."""
        return header.chosen.kind

    def broker(self, header: Header) -> str | None:
        """The name of the broker that goes with a pull."""
        return ORDINARY.queues[header.queue].broker

    def limit(self, header: Header) -> int | None:
        """The bytes that a pull takes."""
        return header.size

    def number(self, header: Header) -> int:
        """The number of messages that are asked for."""
        return header.most

    def sent(
        self, header: Header, timeout: int, flag: int, commit: int, suspend: int, text: str | None, version: str
    ) -> tuple[Value, ...]:
        """The request."""
        queue = ORDINARY.queues[header.queue]
        where = self.request(header.caller), self.node(header.caller, header.queue), timeout
        what = GROUP, queue.topic, queue.id, header.offset, self.number(header), flag, commit, suspend, text, version
        return *where, *what, self.kind(header), self.limit(header), self.broker(header)

    def refuses(self, header: Header) -> bool:
        """Is a pull refused before it is sent?"""
        return header.offset < 0 or header.most < 1 or header.size < 1

    # --- what comes of the answer -------------------------------------------------------------------------

    def status(self, answer: Answer) -> str | None:
        """The status; None of a failure."""
        return STATUSES.get(answer.code)

    def failure(self, answer: Answer) -> str:
        """The failure that the application is told."""
        return "no answer" if answer.code in NO_ANSWERS else answer.code

    def accepted(self, answer: Answer, chosen: Subscription) -> tuple[Message, ...]:
        """The messages that the subscription accepts."""
        return tuple([message for message in answer.messages if not chosen.tags or message[1] in chosen.tags])

    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        """The numbers in the properties of each message."""
        return answer.low, answer.high

    def next(self, answer: Answer, header: Header) -> int:
        """Where the application goes on."""
        return answer.next_offset

    def suggest(self, answer: Answer, header: Header) -> None:
        """Ask the suggested node from now on."""
        self.nodes[header.caller, header.queue] = answer.suggested

    def messages(self, answer: Answer, header: Header) -> tuple[Value, ...] | None:
        """The messages with their bounds; None unless they were found."""
        if self.status(answer) != "FOUND":
            return None
        return tuple(
            [(offset, *self.bounds(answer, header)) for offset, _ in self.left(answer, header)],
        )

    def left(self, answer: Answer, header: Header) -> tuple[Message, ...]:
        """What the hooks leave of the accepted messages."""
        return self.hooked(self.accepted(answer, header.chosen), header)

    def hooked(self, accepted: tuple[Message, ...], header: Header) -> tuple[Message, ...]:
        """Call the hooks; a lite pull consumer has none."""
        given = list(accepted)
        seen = given
        for hook in () if header.caller == LITE_PULL else self.hooks:
            if hook == "replaces":
                seen = self.replaced(given)
            elif hook in ("first", "last") and seen:
                seen.pop(0 if hook == "first" else -1)
            elif hook == "fails" and self.ends_at_failure():
                break
        return tuple(given)

    def replaced(self, given: list[Message]) -> list[Message]:
        """The list that later hooks see, once one has put another in place of it."""
        return []

    def ends_at_failure(self) -> bool:
        """Is no hook called after one that failed?"""
        return False

    def result(self, answer: Answer, header: Header) -> tuple[Value, ...]:
        """What the application gets."""
        status = self.status(answer)
        if status is None:
            return self.failure(answer), None, None, None, None
        self.suggest(answer, header)
        return status, self.next(answer, header), answer.low, answer.high, self.messages(answer, header)

    # --- the consumers ------------------------------------------------------------------------------------

    def ask(self, answer: Answer, way: str, header: Header) -> Result:
        """One pull of the application, or of the lite pull consumer."""
        if self.refuses(header):
            return Err("CLIENT")
        waits, chosen = way == "waiting", header.chosen
        flag, suspend = self.flag(header.caller, waits), self.held_at_most(header.caller)
        sent = self.sent(header, self.timeout(way), flag, 0, suspend, chosen.text, self.version(chosen))
        return *sent, *self.result(answer, header)

    def parsed(self, expression: str | None, kind: str = "TAG") -> Subscription | None:
        """An expression; None when it is refused."""
        if kind != "TAG":
            return Subscription(expression, kind) if expression else None
        try:
            return self.settings.parse(expression or "*")
        except RefusedError:
            return None

    def pull_parsed(
        self, answer: Answer, way: str, queue: int, offset: int, most: int, chosen: Subscription | None
    ) -> Result:
        """The application pulls."""
        if chosen is None:
            return Err("CLIENT")
        return self.ask(answer, way, Header(APPLICATION, queue, offset, most, chosen, ANY_BYTES))

    def pull(self, asked: operations.Pull) -> Result:
        """The application pulls by tags."""
        chosen = self.parsed(asked.expression)
        return self.pull_parsed(_answer(asked), asked.way, asked.queue, asked.offset, asked.most, chosen)

    def pull_sized(self, asked: operations.PullSized) -> Result:
        """The application limits the bytes."""
        header = Header(APPLICATION, asked.queue, asked.offset, 32, Subscription(), asked.size)
        return self.ask(_answer(asked), "timed", header)

    def select(self, asked: operations.Select) -> Result:
        """The application pulls by an SQL92 expression."""
        chosen = self.parsed(asked.expression, "SQL92")
        return self.pull_parsed(_answer(asked), asked.way, asked.queue, asked.offset, asked.most, chosen)

    def select_waiting(self, asked: operations.SelectWaiting) -> Result:
        """The application pulls by an SQL92 expression, and waits."""
        chosen = self.parsed(asked.expression, "SQL92")
        return self.pull_parsed(_answer(asked), "waiting", asked.queue, asked.offset, asked.most, chosen)

    def pull_lite(self, asked: operations.PullLite) -> Result:
        """The lite pull consumer pulls."""
        chosen = self.parsed(asked.expression, asked.kind) or Subscription()
        header = Header(LITE_PULL, asked.queue, asked.offset, asked.most, chosen, ANY_BYTES)
        return self.ask(_answer(asked), "waiting", header)

    def pull_push(self, asked: operations.PullPush) -> Result:
        """The push consumer pulls: the request, and what the listener is given."""
        chosen = self.parsed(asked.expression) or Subscription()
        header = Header(PUSH, asked.queue, asked.offset, asked.most, chosen, PUSH_BYTES)
        return self.pushed(_answer(asked), header, asked.held, asked.posts, 0)

    def pushed(self, answer: Answer, header: Header, held: int, posts: bool, more: int) -> Result:
        """A pull of the push consumer, with these flags besides."""
        flag = SUSPEND + EXPRESSION * posts + COMMIT * self.commits(header, held) + more
        text = header.chosen.text if posts else None
        suspend, version = self.push_suspend(), self.push_version()
        sent = self.sent(header, self.push_timeout(), flag, held, suspend, text, version)
        return *sent, self.result(answer, header)[-1] or ()

    def pull_class(self, asked: operations.PullClass) -> Result:
        """The push consumer pulls from a filter server."""
        header = Header(PUSH, asked.queue, asked.offset, CLASS_NUMBER, Subscription(), PUSH_BYTES)
        if not self.filters(self.node(PUSH, asked.queue), asked.servers or ()):
            return None
        return self.pushed(_answer(asked), header, asked.held, self.posts_class(asked.posts), self.class_flag())

    def filters(self, node: int, servers: tuple[int, ...]) -> bool:
        """Is there a filter server to be asked?"""
        return node in servers

    def posts_class(self, posts: bool) -> bool:
        """Does the expression go with a pull from a filter server?"""
        return False

    def class_flag(self) -> int:
        """The flag that a pull from a filter server has besides."""
        return CLASS

    def hook(self, hooks: tuple[str, ...]) -> Result:
        """The application registers hooks."""
        self.hooks = hooks
        return None

    def commits(self, header: Header, held: int) -> bool:
        """Does a pull of the push consumer commit?"""
        return held > 0 and not self.node(PUSH, header.queue)

    def push_timeout(self) -> int:
        """The ms until a pull of a push consumer is given up."""
        return PUSH_TIMEOUT

    def push_suspend(self) -> int:
        """The ms for which the broker may hold a pull of a push consumer."""
        return PUSH_SUSPEND

    def push_version(self) -> str:
        """The version of the subscription of a push consumer."""
        return "time"

    def set_times(self, asked: operations.SetTimes) -> Result:
        """The application sets times."""
        self.suspend, self.waiting, self.plain = asked.suspend, asked.waiting, asked.plain
        return None

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Pull: lambda *args: self.pull(operations.Pull(*args)),
            operations.PullSized: lambda *args: self.pull_sized(operations.PullSized(*args)),
            operations.Select: lambda *args: self.select(operations.Select(*args)),
            operations.SelectWaiting: lambda *args: self.select_waiting(operations.SelectWaiting(*args)),
            operations.PullLite: lambda *args: self.pull_lite(operations.PullLite(*args)),
            operations.PullPush: lambda *args: self.pull_push(operations.PullPush(*args)),
            operations.PullClass: lambda *args: self.pull_class(operations.PullClass(*args)),
            operations.Hook: self.hook,
            operations.SetTimes: lambda *args: self.set_times(operations.SetTimes(*args)),
        }


def _answer(asked: operations.Answered) -> Answer:
    """The answer of the broker to a pull."""
    return Answer(asked.code, asked.next_offset, asked.low, asked.high, asked.messages, asked.suggested)


PART = PullResult
