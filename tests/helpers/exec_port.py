"""The bundled port as a program of its own, for ``exec:``; ``--whole`` takes whole cases, ``--tcp`` uses sockets."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

Json = dict[str, Any]
FAULTS = {"silent": TimeoutError, "cut": ConnectionError}


class ExecPort:
    """Reads lines, and has the port answer them."""

    def __init__(self, whole: bool, tcp: bool) -> None:
        self.whole = whole
        self.port = Port(via="tcp" if tcp else "call")
        self.tcp = tcp
        self.suite: Suite
        self.step: int | None = None
        self.exchanges = 0

    def run(self) -> None:
        for line in sys.stdin:
            asked = json.loads(line)
            self.write({"id": asked["id"], **self.answer(asked)})

    def write(self, message: Json) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def answer(self, asked: Json) -> Json:
        if "hello" in asked:
            hello = self.port.hello()
            broker = "tcp" if self.tcp else "exchange"
            return {
                "hello": {
                    "protocol": 1,
                    "name": "exec-port",
                    "version": hello.version,
                    "unsupported": hello.unsupported,
                    "broker": broker,
                    "whole_cases": self.whole,
                }
            }
        if "reset" in asked:
            return self.reset(asked["reset"])
        if "case" in asked:
            self.step = -1
            self.reset(asked["case"]["reset"])
            answers = []
            for self.step, step in enumerate(asked["case"]["steps"]):
                answers.append(self.do(step))
            self.step = None
            return {"steps": answers}
        return self.do(asked)

    def reset(self, given: Json) -> Json:
        self.suite = SUITES[given["suite"]]
        if "queues" in given:
            # the suite of this name whose case has these queues
            queues = [MessageQueue(*queue) for queue in given["queues"]]
            alike = (one for one in SUITES.values() if one.family == self.suite.name)
            self.suite = next(one for one in alike if list(one.topology.queues) == queues)
        releases = given["profile"]
        profile = Profile.of(releases["client"], releases["broker"], releases["java"])
        self.port.reset(
            Case(
                self.suite,
                given["case"],
                profile,
                lambda: given["name_server"],
                self.exchange,
                lambda: Path(given["directory"]),
            )
        )
        return {"ok": None}

    def do(self, step: Json) -> Json:
        at = self.suite.index[step["do"]]
        kind = self.suite.operations[at]
        arguments = {name: as_tuple(value) for name, value in step["args"].items()}
        if kind.spec.duration:
            return shown(self.port.pass_time(arguments["millis" if "millis" in arguments else kind.spec.names[0]]))
        made = kind.__new__(kind)
        vars(made).update(arguments)
        return shown(self.port.apply(made))

    def exchange(
        self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool
    ) -> tuple[int, str, dict[str, str], bytes]:
        self.exchanges += 1
        request: Json = {"id": self.exchanges, "address": address, "code": code, "ext": ext, "one_way": one_way}
        request["body"] = base64.b64encode(body).decode()
        if self.step is not None:
            request["step"] = self.step
        self.write({"exchange": request})
        given = json.loads(sys.stdin.readline())["exchanged"]
        assert given["id"] == self.exchanges
        if "fault" in given:
            raise FAULTS[given["fault"]]
        return given["code"], given["remark"], given["ext"], base64.b64decode(given["body"])


def shown(outcome: Outcome) -> Json:
    """An outcome as an answer."""
    match outcome:
        case Ok(value):
            return {"ok": value}
        case Err(code, definite, detail):
            return {"err": code, "definite": definite, "detail": detail}
        case _:
            return {"unsupported": outcome.reason}


def as_tuple(value: Any) -> Any:
    """Tuples for lists."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


if __name__ == "__main__":
    ExecPort("--whole" in sys.argv, "--tcp" in sys.argv).run()
