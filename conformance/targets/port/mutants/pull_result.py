"""Mutants of the port's single pulls, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
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

# --- what is sent --------------------------------------------------------------------------------------------


class LiteGivesUpEarly(PullResult):
    def timeout(self, way: str) -> int:
        return self.plain if way == "waiting" else super().timeout(way)


class TimeoutIsNotTaken(PullResult):
    def timeout(self, way: str) -> int:
        return self.plain if way == "timed" else super().timeout(way)


class SuspendsAsLongAsItWaits(PullResult):
    def held_at_most(self, caller: str) -> int:
        return self.waiting


class LiteTakesSuspendOfPull(PullResult):
    def held_at_most(self, caller: str) -> int:
        return self.suspend


class PullWaitsAsLongAsHeld(PullResult):
    def timeout(self, way: str) -> int:
        return self.waiting if way == "plain" else super().timeout(way)


class PushGivesUpEarly(PullResult):
    def push_timeout(self) -> int:
        return 10_000


class PushIsHeld20Seconds(PullResult):
    def push_suspend(self) -> int:
        return 20_000


class AlwaysWaits(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) | SUSPEND


class NeverWaits(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) & ~SUSPEND


class ExpressionHasNoFlag(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) & ~EXPRESSION


class PullCommits(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) | COMMIT


class LiteHasNoFlag(PullResult):
    def flag(self, caller: str, waits: bool) -> int:
        return super().flag(caller, waits) & ~LITE


class LiteAsksAsPull(PullResult):
    def request(self, caller: str) -> str:
        return "PULL_MESSAGE"


class PullAsksAsLite(PullResult):
    def request(self, caller: str) -> str:
        return "LITE_PULL_MESSAGE" if caller == APPLICATION else super().request(caller)


class TagsHaveVersions(PullResult):
    def version(self, chosen: Subscription) -> str:
        return "time"


class SqlHasNoVersion(PullResult):
    def version(self, chosen: Subscription) -> str:
        return "0"


class PushHasNoVersion(PullResult):
    def push_version(self) -> str:
        return "0"


class TypeIsNotSent(PullResult):
    def kind(self, header: Header) -> str | None:
        return None if header.chosen.kind == "TAG" else header.chosen.kind


class PullsTypeIsNotSent(PullResult):
    def kind(self, header: Header) -> str | None:
        return header.chosen.kind if header.caller == PUSH else None


class BrokerIsNotNamed(PullResult):
    def broker(self, header: Header) -> str | None:
        return None


class LimitIsIgnored(PullResult):
    def limit(self, header: Header) -> int | None:
        return header.size if header.caller == PUSH else ANY_BYTES


class PushTakesAnyBytes(PullResult):
    def limit(self, header: Header) -> int | None:
        return ANY_BYTES if header.caller == PUSH else header.size


class AsksFor32(PullResult):
    def number(self, header: Header) -> int:
        return header.most if header.caller == PUSH else 32


class SendsNegativeOffsets(PullResult):
    def refuses(self, header: Header) -> bool:
        return header.most < 1 or header.size < 1


class SendsNumberZero(PullResult):
    def refuses(self, header: Header) -> bool:
        return header.offset < 0 or header.most < 0 or header.size < 1


class SendsNoBytes(PullResult):
    def refuses(self, header: Header) -> bool:
        return header.offset < 0 or header.most < 1


class CommitsZero(PullResult):
    def commits(self, header: Header, held: int) -> bool:
        return held >= 0 and not self.node(PUSH, header.queue)


class CommitsAtSlave(PullResult):
    def commits(self, header: Header, held: int) -> bool:
        return held > 0


class IgnoresSuggestion(PullResult):
    def suggest(self, answer: Answer, header: Header) -> None:
        pass


class SuggestionForAllCallers(PullResult):
    def suggest(self, answer: Answer, header: Header) -> None:
        for caller in (APPLICATION, LITE_PULL, PUSH):
            self.nodes[caller, header.queue] = answer.suggested


# --- what comes of the answer --------------------------------------------------------------------------------


class IllegalHasNoNextOffset(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return 0 if answer.code == "PULL_OFFSET_MOVED" else answer.next_offset


class EmptyHasNoNextOffset(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return answer.next_offset if answer.code == "SUCCESS" else header.offset


class IllegalGoesToMin(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return answer.low if answer.code == "PULL_OFFSET_MOVED" else answer.next_offset


class GoesAfterLastMessage(PullResult):
    def next(self, answer: Answer, header: Header) -> int:
        return answer.messages[-1][0] + 1 if answer.code == "SUCCESS" else answer.next_offset


class NoMatchIsNothingNew(PullResult):
    def status(self, answer: Answer) -> str | None:
        return "NO_NEW_MSG" if answer.code == "PULL_RETRY_IMMEDIATELY" else super().status(answer)


class IllegalIsFailure(PullResult):
    def status(self, answer: Answer) -> str | None:
        return None if answer.code == "PULL_OFFSET_MOVED" else super().status(answer)


class FailureIsNothingNew(PullResult):
    def status(self, answer: Answer) -> str | None:
        return "NO_NEW_MSG" if answer.code in NO_ANSWERS else super().status(answer)


class CodeIsLost(PullResult):
    def failure(self, answer: Answer) -> str:
        return "no answer"


class KeepsUnwanted(PullResult):
    def accepted(self, answer: Answer, chosen: Subscription) -> tuple[Message, ...]:
        return answer.messages


class NoneWantedIsNoList(PullResult):
    def messages(self, answer: Answer, header: Header) -> tuple[Value, ...] | None:
        return super().messages(answer, header) or None


class BoundsAreSwapped(PullResult):
    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        return answer.high, answer.low


class BoundsOfMessages(PullResult):
    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        return answer.messages[0][0], answer.messages[-1][0]


class MaxIsNextOffset(PullResult):
    def bounds(self, answer: Answer, header: Header) -> tuple[int, int]:
        return answer.low, answer.next_offset


_mutant = partial(Mutant.of, "pull-result")

MUTANTS = (
    _mutant("lite-gives-up-early", "D164", "A pull that waits is given up like one that does not.", LiteGivesUpEarly),
    _mutant("timeout-is-not-taken", "D164", "The timeout that a pull is given is ignored.", TimeoutIsNotTaken),
    _mutant("suspends-as-long-as-it-waits", "D164", "The broker may hold a pull to its end.", SuspendsAsLongAsItWaits),
    _mutant("lite-takes-suspend-of-pull", "D164", "Lite pull takes the pull's setting.", LiteTakesSuspendOfPull),
    _mutant("push-is-held-20-s", "D164", "The broker may hold a pull of push for 20 s.", PushIsHeld20Seconds),
    _mutant("pull-always-waits", "D164", "The broker may hold every pull.", AlwaysWaits),
    _mutant("pull-never-waits", "D164", "The broker may hold no pull of the application.", NeverWaits),
    _mutant("pull-gives-up-late", "D164", "Every pull is given up like one that waits.", PullWaitsAsLongAsHeld),
    _mutant("push-gives-up-early", "D164", "A pull of push is given up before the broker's time.", PushGivesUpEarly),
    _mutant("pull-hides-expression", "D165", "Pulls do not say that they have an expression.", ExpressionHasNoFlag),
    _mutant("application-pull-commits", "D71", "A pull of the application says to commit.", PullCommits),
    _mutant("lite-has-no-flag", "D165", "Pulls of lite pull have no flag of their own.", LiteHasNoFlag),
    _mutant("lite-asks-as-pull", "D165", "Pulls of lite pull are PULL_MESSAGE.", LiteAsksAsPull),
    _mutant("pull-asks-as-lite", "D165", "Pulls of the application are LITE_PULL_MESSAGE.", PullAsksAsLite),
    _mutant("tags-have-versions", "D165", "Also pulls by tags have a version.", TagsHaveVersions),
    _mutant("sql-has-no-version", "D165", "Pulls by SQL92 have no version.", SqlHasNoVersion),
    _mutant("push-has-no-version", "D165", "Pulls of push have no version.", PushHasNoVersion),
    _mutant("tag-type-is-not-sent", "D165", "That an expression is one of tags is not sent.", TypeIsNotSent),
    _mutant("pull-sends-no-type", "D165", "Only pulls of push have the type.", PullsTypeIsNotSent),
    _mutant("broker-is-not-named", "D165", "Pulls do not name the broker.", BrokerIsNotNamed),
    _mutant("pull-limit-is-ignored", "D165", "The limit of bytes is not sent.", LimitIsIgnored),
    _mutant("push-takes-any-bytes", "D165", "Pulls of push take any number of bytes.", PushTakesAnyBytes),
    _mutant("pull-asks-for-32", "D165", "Every pull asks for 32 messages.", AsksFor32),
    _mutant("pull-sends-negative-offset", "D05", "A pull with a negative offset is sent.", SendsNegativeOffsets),
    _mutant("pull-sends-number-zero", "D05", "A pull of no messages is sent.", SendsNumberZero),
    _mutant("pull-sends-no-bytes", "D05", "A pull of no bytes is sent.", SendsNoBytes),
    _mutant("push-commits-zero", "D71", "A pull commits the offset 0.", CommitsZero),
    _mutant("push-commits-at-slave", "D71", "A pull of a slave commits.", CommitsAtSlave),
    _mutant("pull-ignores-suggestion", "D163", "The suggested node is not asked.", IgnoresSuggestion),
    _mutant("suggestion-for-all-callers", "D163", "A suggestion counts for all.", SuggestionForAllCallers),
    _mutant("illegal-has-no-next", "D163", "An illegal offset has no next offset.", IllegalHasNoNextOffset),
    _mutant("empty-has-no-next", "D163", "Without messages the next offset is the asked one.", EmptyHasNoNextOffset),
    _mutant("illegal-goes-to-min", "D163", "After an illegal offset the next one is min.", IllegalGoesToMin),
    _mutant("next-follows-last-message", "D163", "The next offset follows the last message.", GoesAfterLastMessage),
    _mutant("no-match-is-nothing-new", "D163", "No matching message is no new one.", NoMatchIsNothingNew),
    _mutant("illegal-is-failure", "D163", "An illegal offset is a failure.", IllegalIsFailure),
    _mutant("no-answer-is-nothing-new", "D163", "A pull without an answer found nothing.", FailureIsNothingNew),
    _mutant("refusal-has-no-code", "D163", "The code of a refusal is lost.", CodeIsLost),
    _mutant("pull-keeps-unwanted", "D163", "Messages of other tags are kept.", KeepsUnwanted),
    _mutant("none-wanted-is-no-list", "D163", "There is no list when no message is wanted.", NoneWantedIsNoList),
    _mutant("bounds-are-swapped", "D163", "Messages have min and max the wrong way round.", BoundsAreSwapped),
    _mutant("bounds-of-messages", "D163", "The bounds are those of the messages found.", BoundsOfMessages),
    _mutant("max-is-next-offset", "D163", "The property MAX_OFFSET is the next offset.", MaxIsNextOffset),
)
