"""Connections of the members of cases: some that all lanes share, and others that one lane alone uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rocketmq_conformance.conformance.adapter import RecordMessage
from rocketmq_conformance.conformance.engine.transcript import BROKER, MEMBER, request_text, response_text
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.pipelined_jobs import PATIENCE
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.targets.broker.requests_at_once import Exchanged, Fault, Sending, exchange
from rocketmq_conformance.models.broker.overlapping import CLIENTS
from rocketmq_conformance.models.broker.send_back import NAMES_LIMIT
from rocketmq_conformance.suites.broker_doubt import MIDDLE

#: Number of the connection of a client before 3.4.9, and the version by which it identifies itself.
OLD_CLIENT, OLD_VERSION = -1, NAMES_LIMIT - 1
#: Seconds without a request after which it is looked whether the broker closed a connection: it does so 120 s after the
#: last request, and 120 s after the last heartbeat of a member, whatever came over it since.
_SILENCE = 0.5
#: Numbers of the connections of administrators, by the language that their requests say.
_ADMINISTRATORS = {"CPP": -2, "JAVA": -3, "GO": -4}


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
        names.ask_in = partial(self._ask_in, names)
        names.ask_own = partial(self._ask_own, names, lane)
        names.own_requests = partial(self._own_requests, lane)
        names.close_own = partial(self._close_own, lane)
        names.post_own = partial(self._post_own, names, lane)
        names.collect_own = partial(self._collect_own, names, lane)
        names.exchange = partial(self._exchange, names, lane)

    def close(self) -> None:
        """Close all of them; they are opened anew when they are used."""
        for member in (*self._shared.values(), *self._own.values()):
            member.close()
        self._shared.clear()
        self._own.clear()

    def _ask_as(self, names: CaseNames, connection: int, request: Ask) -> Command:
        """Send a request over a member's own connection; members of all lanes share it, each in its own groups."""
        member = self._shared.get(connection)
        if member is None or not member.usable(_SILENCE):
            member = self._shared[connection] = self._connect()
            if connection == OLD_CLIENT:
                member.version = OLD_VERSION
        return self._ask_over(names, member, request)

    def _ask_in(self, names: CaseNames, language: str, request: Ask) -> Command:
        """Send a request as a client in this language would."""
        number = _ADMINISTRATORS[language]
        member = self._shared.get(number)
        if member is None or not member.usable(_SILENCE):
            member = self._shared[number] = self._connect()
            member.language = language
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

    def _exchange(self, names: CaseNames, lane: int, sendings: Sequence[Sending]) -> list[Exchanged]:
        """Send requests of several clients at the same time, over such connections: new ones where an earlier case, of
        this suite or another, has left requests without answers, which would be taken for those of these."""
        for by in {one.by for one in sendings}:
            member = self._own.get((lane, by))
            if member is not None and member.outstanding:
                self._close_own(lane, by)
        exchanged = exchange(
            sendings,
            partial(self.own_connection, lane),
            partial(self._close_own, lane),
            partial(self.send_and_cut, cut="sent"),
            PATIENCE,
        )
        record = self.record
        if record is None:
            return exchanged
        for moment, place, answer in sorted(_moments(exchanged), key=lambda one: one[0]):
            client, ask = f"client {CLIENTS[sendings[place].by]}", sendings[place].ask
            if isinstance(ask, Fault):
                if moment == exchanged[place].sent:
                    record(BROKER, BROKER, ask.name)
            elif answer is None:
                record(client, BROKER, names.plain(request_text(ask.code, ask.ext)))
            else:
                record(BROKER, client, names.plain(response_text(answer.code, answer.ext, answer.body)))
        return exchanged

    def own_connection(self, lane: int, connection: int) -> Connection:
        """A connection that one lane alone uses."""
        member = self._own.get((lane, connection))
        if member is None or not member.usable(_SILENCE):
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


def _moments(exchanged: Sequence[Exchanged]) -> Iterator[tuple[int, int, Command | None]]:
    """(moment, place of the request, its answer): of each sending, without an answer, and of each answer."""
    for place, one in enumerate(exchanged):
        yield one.sent, place, None
        if one.answered is not None:
            yield one.answered, place, one.answer
