"""A job overheard: what it asks a real broker, and what the broker answers, are told while it runs."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Hear
from rocketmq_conformance.conformance.engine.transcript import (
    BROKER,
    MEMBER,
    SILENCE,
    request_text,
    response_text,
)
from rocketmq_conformance.conformance.targets.broker.jobs import Names, Requests
from rocketmq_conformance.models.outcome import Result


def heard(job: Requests, names: Names, hear: Hear) -> Requests:
    """The same job; what makes the case's names its own is not told."""

    def tell(sender: str, receiver: str, text: str) -> None:
        hear(sender, receiver, names.plain(text))

    try:
        wish = next(job)
        while True:
            if isinstance(wish, float):
                wish = job.send((yield wish))
                continue
            for code, ext, _ in wish:
                tell(MEMBER, BROKER, request_text(code, ext))
            try:
                answers = yield wish
            except TimeoutError as error:
                tell(BROKER, MEMBER, SILENCE)
                wish = job.throw(error)
                continue
            for answer in answers:
                tell(BROKER, MEMBER, response_text(answer.code, answer.ext, answer.body))
            wish = job.send(answers)
    except StopIteration as end:
        result: Result = end.value
        return result
