"""Mutants of the port's single pulls, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.pull import COMMIT, EXPRESSION, SUSPEND
from rocketmq_conformance.conformance.targets.port.pull_result import (
    ANY_BYTES,
    APPLICATION,
    LITE,
    LITE_PULL,
    NO_ANSWERS,
    PUSH,
    Answer,
    Header,
    Message,
    PullResult,
)
from rocketmq_conformance.conformance.targets.port.pull_settings import Subscription
from rocketmq_conformance.models.outcome import Value

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "pull-result")


# --- what is sent --------------------------------------------------------------------------------------------


@_mutant("D164", "A pull that waits is given up like one that does not.")
class LiteGivesUpEarly(PullResult):
    def timeout(self, way: str) -> int:
        return self.plain if way == "waiting" else super().timeout(way)


@_mutant("D164", "The timeout that a pull is given is ignored.")
class TimeoutIsNotTaken(PullResult):
    def timeout(self, way: str) -> int:
        return self.plain if way == "timed" else super().timeout(way)


@_mutant("D164", "The broker may hold a pull to its end.")
class SuspendsAsLongAsItWaits(PullResult):
    def held_at_most(self, caller: str) -> int:
        return self.waiting


@_mutant("D164", "Lite pull takes the pull's setting.")
class LiteTakesSuspendOfPull(PullResult):
    def held_at_most(self, caller: str) -> int:
        return self.suspend


@_mutant("D164", "Every pull is given up like one that waits.")
class PullGivesUpLate(PullResult):
    def timeout(self, way: str) -> int:
        return self.waiting if way == "plain" else super().timeout(way)


@_mutant("D164", "A pull of push is given up before the broker's time.")
class PushGivesUpEarly(PullResult):
    def push_timeout(self) -> int:
        return 10_000


@_mutant("D164", "The broker may hold a pull of push for 20 s.")
class PushIsHeld20S(PullResult):
    def push_suspend(self) -> int:
        return 20_000


@_mutant("D164", "The broker may hold every pull.")
class PullAlwaysWaits(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) | SUSPEND


@_mutant("D164", "The broker may hold no pull of the application.")
class PullNeverWaits(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) & ~SUSPEND


@_mutant("D165", "Pulls do not say that they have an expression.")
class PullHidesExpression(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) & ~EXPRESSION


@_mutant("D71", "A pull of the application says to commit.")
class ApplicationPullCommits(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) | COMMIT


@_mutant("D165", "Pulls of lite pull have no flag of their own.")
class LiteHasNoFlag(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) & ~LITE


@_mutant("D165", "Pulls of lite pull are PULL_MESSAGE.")
class LiteAsksAsPull(PullResult):
    def request(self, caller: str) -> str:
        return "PULL_MESSAGE"


@_mutant("D165", "Pulls of the application are LITE_PULL_MESSAGE.")
class PullAsksAsLite(PullResult):
    def request(self, caller: str) -> str:
        return "LITE_PULL_MESSAGE" if caller == APPLICATION else super().request(caller)


@_mutant("D165", "Also pulls by tags have a version.")
class TagsHaveVersions(PullResult):
    def version(self, chosen: Subscription) -> str:
        return "time"


@_mutant("D165", "Pulls by SQL92 have no version.")
class SqlHasNoVersion(PullResult):
    def version(self, chosen: Subscription) -> str:
        return "0"


@_mutant("D165", "Pulls of push have no version.")
class PushHasNoVersion(PullResult):
    def push_version(self) -> str:
        return "0"


@_mutant("D165", "That an expression is one of tags is not sent.")
class TagTypeIsNotSent(PullResult):
    def kind(self, header: Header) -> str | None:
        return None if header.chosen.kind == "TAG" else header.chosen.kind


@_mutant("D165", "Only pulls of push have the type.")
class PullSendsNoType(PullResult):
    def kind(self, header: Header) -> str | None:
        return header.chosen.kind if header.caller == PUSH else None


@_mutant("D165", "Pulls do not name the broker.")
class BrokerIsNotNamed(PullResult):
    def broker(self, header: Header) -> str | None:
        return None


@_mutant("D165", "The limit of bytes is not sent.")
class PullLimitIsIgnored(PullResult):
    def limit(self, header: Header) -> int | None:
        return header.size if header.caller == PUSH else ANY_BYTES


@_mutant("D165", "Pulls of push take any number of bytes.")
class PushTakesAnyBytes(PullResult):
    def limit(self, header: Header) -> int | None:
        return ANY_BYTES if header.caller == PUSH else header.size


@_mutant("D165", "Every pull asks for 32 messages.")
class PullAsksFor32(PullResult):
    def number(self, header: Header) -> int:
        return header.most if header.caller == PUSH else 32


@_mutant("D05", "A pull with a negative offset is sent.")
class PullSendsNegativeOffset(PullResult):
    def refuses(self, header: Header) -> bool:
        return header.most < 1 or header.size < 1


@_mutant("D05", "A pull of no messages is sent.")
class PullSendsNumberZero(PullResult):
    def refuses(self, header: Header) -> bool:
        return header.offset < 0 or header.most < 0 or header.size < 1


@_mutant("D05", "A pull of no bytes is sent.")
class PullSendsNoBytes(PullResult):
    def refuses(self, header: Header) -> bool:
        return header.offset < 0 or header.most < 1


@_mutant("D71", "A pull commits the offset 0.")
class PushCommitsZero(PullResult):
    def commits(self, header: Header, held: int) -> bool:
        return held >= 0 and not self.node(PUSH, header.queue)


@_mutant("D71", "A pull of a slave commits.")
class PushCommitsAtSlave(PullResult):
    def commits(self, header: Header, held: int) -> bool:
        return held > 0


@_mutant("D163", "The suggested node is not asked.")
class PullIgnoresSuggestion(PullResult):
    def suggest(self, answer: Answer, header: Header) -> None:
        pass


@_mutant("D163", "A suggestion counts for all.")
class SuggestionForAllCallers(PullResult):
    def suggest(self, answer: Answer, header: Header) -> None:
        for caller in (APPLICATION, LITE_PULL, PUSH):
            self.nodes[caller, header.queue] = answer.suggested


@_mutant("D385", "The broker is asked where a filter server is wanted.")
class ClassIsAskedOfBroker(PullResult):
    def filters(self, node: int, servers: tuple[int, ...]) -> bool:
        return True


@_mutant("D385", "A slave has the master's filter servers.")
class ClassAsksAtMasters(PullResult):
    def filters(self, node: int, servers: tuple[int, ...]) -> bool:
        return 0 in servers


@_mutant("D385", "Pulls by a class do not say so.")
class ClassHasNoFlag(PullResult):
    def class_flag(self) -> int:
        return 0


@_mutant("D385", "Pulls by a class have an expression.")
class ClassPostsExpression(PullResult):
    def posts_class(self, posts: bool) -> bool:
        return posts


# --- what comes of the answer --------------------------------------------------------------------------------


@_mutant("D163", "An illegal offset has no next offset.")
class IllegalHasNoNext(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return 0 if answer.code == "PULL_OFFSET_MOVED" else answer.next_offset


@_mutant("D163", "Without messages the next offset is the asked one.")
class EmptyHasNoNext(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return answer.next_offset if answer.code == "SUCCESS" else header.offset


@_mutant("D163", "After an illegal offset the next one is min.")
class IllegalGoesToMin(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return answer.low if answer.code == "PULL_OFFSET_MOVED" else answer.next_offset


@_mutant("D163", "The next offset follows the last message.")
class NextFollowsLastMessage(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return answer.messages[-1][0] + 1 if answer.code == "SUCCESS" else answer.next_offset


@_mutant("D163", "No matching message is no new one.")
class NoMatchIsNothingNew(PullResult):
    def status(self, answer: Answer) -> str | None:
        return "NO_NEW_MSG" if answer.code == "PULL_RETRY_IMMEDIATELY" else super().status(answer)


@_mutant("D163", "An illegal offset is a failure.")
class IllegalIsFailure(PullResult):
    def status(self, answer: Answer) -> str | None:
        return None if answer.code == "PULL_OFFSET_MOVED" else super().status(answer)


@_mutant("D163", "A pull without an answer found nothing.")
class NoAnswerIsNothingNew(PullResult):
    def status(self, answer: Answer) -> str | None:
        return "NO_NEW_MSG" if answer.code in NO_ANSWERS else super().status(answer)


@_mutant("D163", "The code of a refusal is lost.")
class RefusalHasNoCode(PullResult):
    def failure(self, answer: Answer) -> str:
        return "no answer"


@_mutant("D163", "Messages of other tags are kept.")
class PullKeepsUnwanted(PullResult):
    def accepted(self, answer: Answer, chosen: Subscription) -> tuple[Message, ...]:
        return answer.messages


@_mutant("D163", "There is no list when no message is wanted.")
class NoneWantedIsNoList(PullResult):
    def messages(self, answer: Answer, header: Header) -> tuple[Value, ...] | None:
        return super().messages(answer, header) or None


@_mutant("D163", "Messages have min and max the wrong way round.")
class BoundsAreSwapped(PullResult):
    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        return answer.high, answer.low


@_mutant("D163", "The bounds are those of the messages found.")
class BoundsOfMessages(PullResult):
    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        return answer.messages[0][0], answer.messages[-1][0]


@_mutant("D163", "The property MAX_OFFSET is the next offset.")
class MaxIsNextOffset(PullResult):
    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        return answer.low, answer.next_offset


# --- hooks ---------------------------------------------------------------------------------------------------


@_mutant("D386", "Hooks are never called.")
class HooksAreNotCalled(PullResult):
    def hooked(self, accepted: tuple[Message, ...], header: Header) -> tuple[Message, ...]:
        return accepted


@_mutant("D386", "Hooks see messages of other tags.")
class HooksSeeUnwanted(PullResult):
    def left(self, answer: Answer, header: Header) -> tuple[Message, ...]:
        hooked = self.hooked(answer.messages, header)
        return self.accepted(answer._replace(messages=hooked), header.chosen)


@_mutant("D386", "A hook that fails is the last.")
class HookEndsAtFailure(PullResult):
    def ends_at_failure(self) -> bool:
        return True


@_mutant("D386", "The list that a hook puts there counts.")
class HookReplacesMessages(PullResult):
    def replaced(self, given: list[Message]) -> list[Message]:
        given.clear()
        return given


@_mutant("D386", "Hooks behind another list see the first one.")
class HookSeesFirstList(PullResult):
    def replaced(self, given: list[Message]) -> list[Message]:
        return given


@_mutant("D386", "Lite pull calls the hooks, too.")
class LiteCallsHooks(PullResult):
    def hooked(self, accepted: tuple[Message, ...], header: Header) -> tuple[Message, ...]:
        return super().hooked(accepted, header._replace(caller=APPLICATION))


@_mutant("D386", "The next offset counts what hooks leave.")
class NextCountsHooked(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        left = self.left(answer, header) if self.hooks else answer.messages
        return answer.next_offset - len(answer.messages) + len(left)
