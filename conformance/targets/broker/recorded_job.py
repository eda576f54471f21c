"""Records the requests and responses of a running job, for transcripts."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import RecordMessage
from rocketmq_conformance.conformance.engine.transcript import (
    BROKER,
    MEMBER,
    SILENCE,
    request_text,
    response_text,
)
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.models.outcome import Result


def recorded(job: Requests, names: CaseNames, record: RecordMessage) -> Requests:
    """The same job, recorded with the plan's names instead of the case's own."""

    def note(sender: str, receiver: str, text: str) -> None:
        record(sender, receiver, names.plain(text))

    try:
        wish = next(job)
        while True:
            if isinstance(wish, float):
                wish = job.send((yield wish))
                continue
            for code, ext, _ in wish:
                note(MEMBER, BROKER, request_text(code, ext))
            try:
                answers = yield wish
            except TimeoutError as error:
                note(BROKER, MEMBER, SILENCE)
                wish = job.throw(error)
                continue
            for answer in answers:
                note(BROKER, MEMBER, response_text(answer.code, answer.ext, answer.body))
            wish = job.send(answers)
    except StopIteration as end:
        result: Result = end.value
        return result
