"""Records the requests of consumer programs: ``python recorded_requests.py NAME COMMAND ... > FILE``.

A program plays each kind of consumer that it knows at a fake broker. Of every kind of request (its code, its flag and
the names of its fields) the first one is kept, as a line of JSON.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.client.plan_words import FAILS
from rocketmq_conformance.models.client.start import TIMESTAMP
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_broadcast, whole_listener, whole_lite, whole_orderly, whole_push

#: Seconds until a member has committed, and until queues have changed hands.
_COMMIT, _ROUND = 18.0, 22.0


def line_of(client: str, command: Command) -> dict[str, Any]:
    """A request as a line says it."""
    return {
        "client": client,
        "code": command.code,
        "flag": command.flag,
        "language": command.language,
        "version": command.version,
        "binary": command.binary,
        "ext": command.ext,
        "body": base64.b64encode(command.body).decode(),
    }


def command_of(line: dict[str, Any]) -> Command:
    """The request of a line."""
    given = {name: value for name, value in line.items() if name != "client"}
    return Command(**{**given, "ext": dict(line["ext"]), "body": base64.b64decode(line["body"])})


def kind_of(command: Command) -> tuple[object, ...]:
    """What makes a request one of its own."""
    return command.code, command.flag, command.language, tuple(sorted(command.ext))


class Recorded:
    """A handler that keeps the requests of a case."""

    def __init__(self, case: GroupCase) -> None:
        self.requests: list[Command] = []
        self._case = case

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Keep a request, and answer it."""
        copy = Command(request.code, dict(request.ext), request.body, 0, request.flag, request.language)
        copy.version, copy.binary = request.version, request.binary
        self.requests.append(copy)
        return self._case.handle(peer, request)

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self._case.closed(peer)


def requests_of(command: Sequence[str]) -> Iterator[Command]:
    """The requests of a program as consumers of each kind."""
    for suite in (whole_push, whole_listener, whole_orderly, whole_lite, whole_broadcast):
        where = TIMESTAMP if suite is whole_push else "CONSUME_FROM_LAST_OFFSET"
        group = PlayedGroup(suite.SUITE, Profile(), command, Timing(), threading.Event())
        recorded = Recorded(group.case)
        group.case.broker.answer_by(recorded)
        try:
            group.do(whole_push.Prepare(4, "expired" if suite is whole_push else "young", -1, where))
            group.start(0)
            if suite is whole_listener:
                group.members.programs[0].send({"listen": FAILS})
                group.case.deliver()
            for queue in range(group.case.queues):
                group.case.send(queue)
            time.sleep(_COMMIT)
            group.start(1)
            time.sleep(_ROUND)
            group.stop(0)
        except CannotRunError:
            continue
        finally:
            group.close()
        yield from recorded.requests


def main() -> None:
    name, *command = sys.argv[1:]
    seen = set()
    for request in requests_of(command):
        if kind_of(request) not in seen:
            seen.add(kind_of(request))
            print(json.dumps(line_of(name, request)), flush=True)


if __name__ == "__main__":
    main()
