"""The adapter of ``exec:COMMAND``: starts the program, asks it, and starts it again when it ended or hung."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rocketmq_conformance.conformance.adapter import (
    CRASHED,
    AdapterError,
    CannotRunError,
    Case,
    Hello,
    NoAnswerError,
    RecordMessage,
    ShowLine,
)
from rocketmq_conformance.conformance.alarm import Overdue
from rocketmq_conformance.conformance.engine.limits import START_TIMEOUT
from rocketmq_conformance.conformance.startup import more_time, phase, time_left
from rocketmq_conformance.conformance.targets.child_process import EndedError, ErrorLog, SilentError
from rocketmq_conformance.conformance.targets.exec_client import lines
from rocketmq_conformance.conformance.targets.exec_client.greeting import Greeting, greeting
from rocketmq_conformance.conformance.targets.exec_client.lines import Json, ProtocolError
from rocketmq_conformance.conformance.targets.exec_client.program import Program
from rocketmq_conformance.models.outcome import Answer, Err, Outcome, Unsupported, result_of
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The file of what programs write to standard error, in the folder of a run.
LOG_NAME = "exec.log"

T = TypeVar("T")


class ExecClient:
    """A client behind a program."""

    def __init__(self, command: str) -> None:
        #: In shell words; ValueError when these cannot be read.
        self.words = shlex.split(command)
        self._log = ErrorLog()
        self._show: ShowLine | None = None
        self._record: RecordMessage | None = None
        self._program: Program | None = None
        self._greeting: Greeting | None = None
        self._case: Case | None = None
        #: How the program ended in this case, or "".
        self._crash = ""

    # --- the four methods -----------------------------------------------------------------------------------

    def hello(self) -> Hello:
        """Start the program, and ask it who it is."""
        with phase(f"starting {self.words[0]}"):
            try:
                self._start(time_left(START_TIMEOUT))
            except EndedError as error:
                raise CannotRunError(f"{self._it} gave no hello: {error}{self._last_words()}.") from None
            except NoAnswerError:
                hint = f"it must answer each line, and flush{more_time()}"
                raise CannotRunError(f"{self._it} gave no hello in time: {hint}{self._last_words()}.") from None
        assert self._greeting
        return self._greeting.hello

    def reset(self, case: Case) -> None:
        """Begin a case, in a new process when the last one is gone."""
        self._case, self._crash = case, ""
        try:
            if self._program is None:
                self._start(case.patience)
            answer = self._ask({"reset": self._reset_of(case)})
        except EndedError as error:
            raise AdapterError(f"{self._it} did not begin a case: {error}{self._last_words()}.") from None
        with self._protocol():
            begun = lines.outcome(answer)
        if isinstance(begun, (Err, Unsupported)):
            raise AdapterError(f"{self._it} did not begin a case: it answered {begun}.")

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation."""
        lacks = self._lacks(operation)
        if lacks:
            return Unsupported(lacks)
        if self._crash:
            return self._crash_outcome()
        try:
            answer = self._ask(lines.step(operation))
        except EndedError as error:
            return self._note_crash(error)
        with self._protocol():
            return lines.outcome(answer, operation.spec.sets)

    def close(self) -> None:
        """End the program."""
        if self._program:
            self._program.end()
            self._program = None

    # --- abilities ------------------------------------------------------------------------------------------

    def pass_time(self, millis: int) -> Outcome:
        """Turn the program's clock."""
        assert self._case
        suite = self._case.suite
        assert suite.clock is not None
        return self.apply(suite.operations[suite.clock].of((millis,)))

    def record_messages(self, record: RecordMessage | None) -> None:
        """Tell how the program ended; what it asks brokers goes through the kit."""
        self._record = record

    def keep_log(self, folder: Path) -> None:
        """Keep what the program writes to standard error in this folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._log.keep(folder / LOG_NAME)

    def show_lines(self, show: ShowLine) -> None:
        """Show every line both ways."""
        self._show = show
        if self._program:
            self._program.show(show)

    def plays_whole(self, suite: Suite) -> bool:
        """Are cases of the suite played in one line each?"""
        return self._greeting is not None and self._greeting.takes_whole(suite)

    def play_case(self, case: Case, rows: Sequence[Row], reached: Callable[[int], None]) -> list[Answer]:
        """Play a whole case in one line; fewer answers than rows when the program ended."""
        self._case, self._crash = case, ""
        operations = [_in_line(case.suite, row) for row in rows]
        missing = {at: self._lacks(operation) for at, operation in enumerate(operations)}
        sent = [at for at, why in missing.items() if not why]
        steps = [lines.step(operations[at]) for at in sent]
        try:
            if self._program is None:
                self._start(case.patience)
            answer = self._ask(
                {"case": {"reset": self._reset_of(case), "steps": steps}}, lambda at: reached(_nth(sent, at))
            )
        except EndedError as error:
            # which step it was, playing the case step by step shows
            return [self._note_crash(error)]
        with self._protocol():
            answers = answer.get("steps")
            if not isinstance(answers, list) or len(answers) != len(steps):
                raise ProtocolError(f'it answered a case of {len(steps)} steps without as many in "steps"')
            given: dict[int, Answer] = {}
            for at, one in zip(sent, answers, strict=True):
                if not isinstance(one, dict):
                    raise ProtocolError(f"the answer to step {at} of a case is no object")
                given[at] = result_of(lines.outcome(one, operations[at].spec.sets))
        return [given[at] if at in given else Unsupported(why) for at, why in missing.items()]

    # --- the program ----------------------------------------------------------------------------------------

    @property
    def _it(self) -> str:
        return f"The program {self.words[0]}"

    def _start(self, seconds: float) -> None:
        try:
            self._program = Program(self.words, self._log, self._show)
        except OSError as error:
            raise CannotRunError(
                f"{self._it} cannot be started ({error.strerror}): after exec: stands a command that runs here, in "
                "shell words."
            ) from None
        with self._keep_in_step():
            answer = self._program.ask(lines.hello(), seconds)
        with self._protocol():
            self._greeting = greeting(answer.get("hello"))

    def _reset_of(self, case: Case) -> Json:
        assert self._greeting
        return lines.reset(case, pure=case.suite.side.value == "pure", sockets=self._greeting.sockets)

    def _ask(self, request: Json, reached: Callable[[int], None] | None = None) -> Json:
        assert self._program
        assert self._case
        with self._keep_in_step():
            return self._program.ask(request, self._case.patience, self._case.exchange, reached)

    @contextmanager
    def _keep_in_step(self) -> Iterator[None]:
        """Keep the program only while it is in step with the kit."""
        try:
            with self._protocol():
                yield
        except (SilentError, Overdue):
            self._drop()
            raise NoAnswerError(
                f"{self._it} did not answer in time, and was killed{self._last_words()}; --patience allows more."
            ) from None
        except BaseException:
            self._drop()
            raise

    @contextmanager
    def _protocol(self) -> Iterator[None]:
        """Turn a breach of the protocol into an AdapterError, and begin with a new process."""
        try:
            yield
        except ProtocolError as error:
            self._drop()
            raise AdapterError(f"{self._it} does not keep to the protocol: {error}{self._last_words()}.") from None

    def _drop(self) -> None:
        if self._program:
            self._program.kill()
            self._program = None

    def _lacks(self, operation: Operation) -> str:
        assert self._greeting
        assert self._case
        if not self._greeting.lacks:
            return ""
        return self._greeting.lacks.get(f"{self._case.suite.name}.{operation.spec.name}", "")

    def _note_crash(self, error: EndedError) -> Err:
        self._crash = f"{error}{self._last_words()}"
        return self._crash_outcome()

    def _crash_outcome(self) -> Err:
        if self._record:
            self._record("member", "member", self._crash)
        return Err(CRASHED, detail=self._crash)

    def _last_words(self) -> str:
        """The last lines on standard error, to be appended to a sentence."""
        last = self._log.last_lines()
        return f"; its last lines on standard error: {last}" if last else ""


def _nth(sent: Sequence[int], at: int) -> int:
    if at == lines.BEGINNING:
        return at
    if at >= len(sent):
        raise ProtocolError(f"its exchange names step {at} of a case that has {len(sent)}, counted from 0")
    return sent[at]


def _in_line(suite: Suite, row: Row) -> Operation:
    """The operation of a row; one that lets time pass has for how long."""
    return suite.operation(row) if suite.operations[row[0]].spec.duration else suite.for_implementation(row)
