"""Mutants of the port's whole push consumers that are answered in an unusual way, after real defects of clients."""

from __future__ import annotations

from typing import ClassVar

from rocketmq_conformance.conformance.adapter import Answered, Case
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import decode_all
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.remote_store import header
from rocketmq_conformance.conformance.targets.port.whole_answers import WholeAnswers
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-answers")
_QUERY = int(Request.QUERY_CONSUMER_OFFSET)


class StartEndsRound(WholePush):
    """A queue that cannot begin ends the round."""

    def gain_all(self, consumer: Consumer, queues: list[int], new_pulls: list[tuple[int, int]]) -> None:
        for queue in queues:
            self.gain(consumer, queue, new_pulls)
            if queue not in consumer.table:
                break


class FailureEndsReading(WholePush):
    """What comes after a pull that fails is not read."""

    def answers(self, line: Line) -> list[tuple[Command, Command]]:
        found = super().answers(line)
        failed = next((at for at, (_, response) in enumerate(found) if not self.is_answer(response)), len(found))
        return found[: failed + 1]


class CommitEndsCommits(WholePush):
    """A commit that is refused ends the commits of the others."""

    def persist(self, consumer: Consumer) -> Result:
        for queue in consumer.table:
            self.refusal = 0
            consumer.store.persist(queue)
            if self.refusal:
                break
        return None

    def _exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        answered = super()._exchange(address, code, ext, body, one_way)
        self.refusal = answered[0]
        return answered


@_mutant("D79", "A queue that cannot begin ends the round.")
class WholeAnswersStartEndsRound(StartEndsRound, WholeAnswers):
    pass


@_mutant("D151", "What comes after a pull that fails is not read.")
class WholeAnswersFailureEndsReading(FailureEndsReading, WholeAnswers):
    pass


@_mutant("D79", "A commit that fails ends the commits of the others.")
class WholeAnswersCommitEndsCommits(WholeAnswers):
    def persist(self, consumer: Consumer) -> Result:
        for queue in consumer.table:
            offset = self.remembered(consumer, queue)
            if offset >= 0 and self.fails_to_send(queue, offset):
                break
        return None

    def fails_to_send(self, queue: int, offset: int) -> bool:
        topic, broker, number = ORDINARY.queues[queue]
        ext = {**header(topic, number), "commitOffset": str(offset)}
        try:
            return bool(self.transport.ask(topic, broker, int(Request.UPDATE_CONSUMER_OFFSET), ext, True)[0])
        except OSError:
            return True


@_mutant("D32", "A commit that fails is the last of its queue.")
class WholeAnswersCommitIsLast(WholeAnswers):
    def _exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        answered = super()._exchange(address, code, ext, body, one_way)
        if code == Request.UPDATE_CONSUMER_OFFSET and answered[0]:
            self.lost.add(ext["queueId"])
        return answered

    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(queue for queue in consumer.table if str(ORDINARY.queues[queue].id) not in self.lost)

    def begin_case(self, case: Case) -> None:
        self.lost: set[str] = set()
        super().begin_case(case)


class _ReadsZero(WholeAnswers):
    """Where to go on is 0 where an answer of a status does not say it."""

    statuses: ClassVar[tuple[int, ...]]

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code in self.statuses:
            response.ext.setdefault("nextBeginOffset", "0")
        super().answered(consumer, line, queue, owned, response)


@_mutant("D231", "PULL_OFFSET_MOVED without an offset sends to 0.")
class WholeAnswersMovedToZero(_ReadsZero):
    statuses = (Response.PULL_OFFSET_MOVED,)


@_mutant("D231", "PULL_NOT_FOUND without an offset sends to 0.")
class WholeAnswersNothingAtZero(_ReadsZero):
    statuses = (Response.PULL_NOT_FOUND,)


@_mutant("D231", "PULL_RETRY_IMMEDIATELY without an offset sends to 0.")
class WholeAnswersRetriesAtZero(_ReadsZero):
    statuses = (Response.PULL_RETRY_IMMEDIATELY,)


@_mutant("D231", "Messages are passed over that an answer has found and does not have.")
class WholeAnswersPassesOver(WholeAnswers):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code == 0 and "nextBeginOffset" in response.ext and not response.body:
            owned.offset = int(response.ext["nextBeginOffset"])
        super().answered(consumer, line, queue, owned, response)


class _GivesUp(WholeAnswers):
    """A pull that is refused by some codes is the last of its queue."""

    def ends(self, code: int) -> bool:
        """Is it?"""
        raise NotImplementedError

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if not self.ends(response.code):
            super().answered(consumer, line, queue, owned, response)


@_mutant("D232", "A queue whose topic is said not to exist is given up.")
class WholeAnswersNoTopicEnds(_GivesUp):
    def ends(self, code: int) -> bool:
        return code == Response.TOPIC_NOT_EXIST


@_mutant("D232", "A queue is given up whose group is said not to exist.")
class WholeAnswersNoGroupEnds(_GivesUp):
    def ends(self, code: int) -> bool:
        return code == Response.SUBSCRIPTION_GROUP_NOT_EXIST


@_mutant("D232", "A queue that may not be pulled is given up.")
class WholeAnswersForbiddenEnds(_GivesUp):
    def ends(self, code: int) -> bool:
        return code == Response.NO_PERMISSION


@_mutant("D232", "A queue is given up whose pull is refused by an unknown code.")
class WholeAnswersUnknownEnds(_GivesUp):
    def ends(self, code: int) -> bool:
        return code not in set(Response)


class _ReadsAs(WholeAnswers):
    """Some answers to the question for the stored offset are read as others."""

    def read_as(self, answered: Answered) -> Answered:
        """What an answer is read as."""
        raise NotImplementedError

    def _exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        answered = super()._exchange(address, code, ext, body, one_way)
        return self.read_as(answered) if code == _QUERY else answered


_NOT_FOUND: Answered = (int(Response.QUERY_NOT_FOUND), "", {}, b"")
_ZERO: Answered = (0, "", {"offset": "0"}, b"")


@_mutant("D04", "A stored offset that is not said is 0.")
class WholeAnswersNoFieldIsZero(_ReadsAs):
    def read_as(self, answered: Answered) -> Answered:
        return _ZERO if answered[0] == 0 and "offset" not in answered[2] else answered


@_mutant("D232", "A stored offset is 0 that is refused by an unknown code.")
class WholeAnswersUnknownIsZero(_ReadsAs):
    def read_as(self, answered: Answered) -> Answered:
        return answered if answered[0] in set(Response) else _ZERO


@_mutant("D15", "PULL_NOT_FOUND says that nothing is stored.")
class WholeAnswersWrongNotFound(_ReadsAs):
    def read_as(self, answered: Answered) -> Answered:
        return _NOT_FOUND if answered[0] == Response.PULL_NOT_FOUND else answered


@_mutant("D01", "Nothing is stored where topic or group are said not to exist.")
class WholeAnswersNoneIsNew(_ReadsAs):
    def read_as(self, answered: Answered) -> Answered:
        absent = (Response.TOPIC_NOT_EXIST, Response.SUBSCRIPTION_GROUP_NOT_EXIST)
        return _NOT_FOUND if answered[0] in absent else answered


@_mutant("D26", "By a list without members no queue is its own.")
class WholeAnswersEmptyListDrops(WholeAnswers):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        empty = self.listed(topic) == ()
        return self.own(consumer, topic, (), []) if empty else super().without_list(consumer, topic)


@_mutant("D82", "By a list without members it is alone.")
class WholeAnswersEmptyListTakes(WholeAnswers):
    def without_list(self, consumer: Consumer, topic: str) -> bool:
        if self.listed(topic) != ():
            return super().without_list(consumer, topic)
        return self.own(consumer, topic, consumer.routes.get(topic) or (), [])


@_mutant("D95", "Without the topic's route its queues are dropped.")
class WholeAnswersLostRouteDrops(WholeAnswers):
    def lost_route(self, consumer: Consumer, topic: str) -> None:
        self.own(consumer, topic, (), [])
        consumer.routes.pop(topic, None)


class _GivesWhatCame(WholeAnswers):
    """The listener is given whatever an answer has."""

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code == 0 and response.body:
            owned.offset = decode_all(response.body)[0].offset
        super().answered(consumer, line, queue, owned, response)


@_mutant("D233", "An answer that comes twice is taken twice.")
class WholeAnswersTakesTwice(_GivesWhatCame):
    def asked_for(self, line: Line, request: Command) -> OwnedQueue | None:
        return line.asked.get(request.opaque)


@_mutant("D233", "The answer to a pull that was given up is taken, too.")
class WholeAnswersTakesLate(_GivesWhatCame):
    def forget_pull(self, line: Line, opaque: int) -> None:
        pass


@_mutant("D167", "A pull of one queue that is not answered is the last.")
class WholeAnswersSilentIsLast(WholeAnswers):
    def pull_again(self, number: int) -> None:
        pass
