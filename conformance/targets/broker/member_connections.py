"""Connections of the members of cases: some that all lanes share, and others that one lane alone uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocketmq_conformance.conformance.adapter import RecordMessage
from rocketmq_conformance.conformance.engine.transcript import BROKER, MEMBER, request_text, response_text
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import PATIENCE
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.models.broker.send_back import NAMES_LIMIT
from rocketmq_conformance.suites.broker_doubt import MIDDLE

#: Number of the connection of a client before 3.4.9, and the version by which it identifies itself.
OLD_CLIENT, OLD_VERSION = -1, NAMES_LIMIT - 1


class MemberConnections:
    """Opened when they are first used, by ``connect``."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        #: By number: those that all lanes share, and those of each lane.
        self._shared: dict[int, Connection] = {}
        self._own: dict[tuple[int, int], Connection] = {}
        #: Is shown every request and response, unless it is None.
        self.record: RecordMessage | None = None

    def give(self, names: CaseNames, lane: int) -> None:
        """Let the case in a lane send over them."""
        names.send_and_cut = self.send_and_cut
        names.ask_as = partial(self._ask_as, names)
        names.ask_as_old = partial(self._ask_as, names, OLD_CLIENT)
        names.ask_own = partial(self._ask_own, names, lane)
        names.own_requests = partial(self._own_requests, lane)
        names.close_own = partial(self._close_own, lane)
        names.post_own = partial(self._post_own, names, lane)
        names.collect_own = partial(self._collect_own, names, lane)

    def close(self) -> None:
        """Close all of them; they are opened anew when they are used."""
        for member in (*self._shared.values(), *self._own.values()):
            member.close()
        self._shared.clear()
        self._own.clear()

    def _ask_as(self, names: CaseNames, connection: int, request: Ask) -> Command:
        """Send a request over a member's own connection; members of all lanes share it, each in its own groups."""
        member = self._shared.get(connection)
        if member is None or member.closed:
            member = self._shared[connection] = self._connect()
            if connection == OLD_CLIENT:
                member.version = OLD_VERSION
        return self._ask_over(names, member, request)

    def _ask_own(self, names: CaseNames, lane: int, connection: int, request: Ask) -> Command:
        """Send a request over a connection that one lane alone uses."""
        return self._ask_over(names, self.own_connection(lane, connection), request)

    def _post_own(self, names: CaseNames, lane: int, connection: int, request: Ask) -> None:
        """Send a request over such a connection, whose response is collected later."""
        member = self.own_connection(lane, connection)
        code, ext, body = request
        if self.record:
            self.record(MEMBER, BROKER, names.plain(request_text(code, ext)))
        member.post(code, ext, body)

    def _collect_own(self, names: CaseNames, lane: int, connection: int, seconds: float) -> Command | None:
        """The response to a request that was posted, if it arrives in so many seconds."""
        member = self._own.get((lane, connection))
        if member is None or not member.outstanding:
            return None
        try:
            answer = member.collect(seconds)
        except TimeoutError:
            return None
        if self.record:
            self.record(BROKER, MEMBER, names.plain(response_text(answer.code, answer.ext, answer.body)))
        return answer

    def own_connection(self, lane: int, connection: int) -> Connection:
        """A connection that one lane alone uses."""
        member = self._own.get((lane, connection))
        if member is None or member.closed:
            member = self._own[lane, connection] = self._connect()
        return member

    def _own_requests(self, lane: int, connection: int) -> list[Command]:
        """The requests that the broker sent over such a connection; each is given once."""
        member = self._own.get((lane, connection))
        return [] if member is None or member.closed else member.requests()

    def _close_own(self, lane: int, connection: int) -> None:
        """Close such a connection."""
        member = self._own.pop((lane, connection), None)
        if member is not None:
            member.close()

    def _ask_over(self, names: CaseNames, member: Connection, request: Ask) -> Command:
        code, ext, body = request
        if self.record:
            self.record(MEMBER, BROKER, names.plain(request_text(code, ext)))
        answer = member.call(code, ext, body, PATIENCE)
        if self.record:
            self.record(BROKER, MEMBER, names.plain(response_text(answer.code, answer.ext, answer.body)))
        return answer

    def send_and_cut(self, ask: Ask, cut: str) -> None:
        """Send a request over a connection that is cut before the response arrives."""
        if self.record:
            self.record(MEMBER, BROKER, f"{request_text(ask.code, ask.ext)}, cut when {cut}")
        self._connect().send_and_close(ask.code, ask.ext, ask.body, whole=cut != MIDDLE)
