"""Mutants of the port's pull loop, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.pull import WHILE_FULL, Message, Pull
from rocketmq_conformance.conformance.targets.port.pull_request import NotNowError, PullCache, PullRequest
from rocketmq_conformance.conformance.targets.port.pull_settings import Subscription
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "pull")


# --- the offset of the next pull -----------------------------------------------------------------------------


@_mutant("D44", "After an empty answer the same offset is asked for.")
class NothingGoesNowhere(Pull):
    def next_empty(self, request: PullRequest, code: str, next_offset: int) -> int:
        return request.offset


@_mutant("D44", "What does not match is asked for again and again.")
class NoMatchGoesNowhere(Pull):
    def next_empty(self, request: PullRequest, code: str, next_offset: int) -> int:
        return request.offset if code == "PULL_RETRY_IMMEDIATELY" else next_offset


@_mutant("D44", "A batch that is filtered out is asked for again and again.")
class FilteredGoesNowhere(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        return next_offset if self.accepted(request, messages) else request.offset


@_mutant("D44", "The next pull goes after the last message found.")
class GoesAfterLastMessage(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        return messages[-1][0] + 1 if messages else next_offset


@_mutant("D46", "An answer with a smaller next offset does not count.")
class FoundNeverGoesBack(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        return max(next_offset, request.offset)


@_mutant("D45", "A queue whose batch is filtered out is not pulled any more.")
class FilteredStalls(Pull):
    def none_wanted(self, request: PullRequest) -> None:
        self.delay, self.next_action = 0, ""


@_mutant("D45", "A batch that is filtered out raises the offset in memory.")
class FilteredIsSkipped(Pull):
    def none_wanted(self, request: PullRequest) -> None:
        if not request.owned.offsets:
            self.skip(request.queue, request.offset)
        super().none_wanted(request)


# --- offsets in memory ---------------------------------------------------------------------------------------


@_mutant("D45", "An empty answer leaves no offset in memory.")
class IdleLeavesNoRecord(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return False


@_mutant("D45", "What does not match leaves no offset in memory.")
class OnlyNothingNewSkips(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return code == "PULL_NOT_FOUND" and super().may_skip(request, code)


@_mutant("D94", "An empty answer passes messages that are being consumed.")
class SkipsWhatIsConsumed(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return True


@_mutant("D94", "An answer that nothing matched passes messages that are being consumed.")
class NoMatchPassesConsumed(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return code == "PULL_RETRY_IMMEDIATELY" or super().may_skip(request, code)


@_mutant("D41", "An empty answer may lower the offset in memory.")
class SkipMayLower(Pull):
    def skip(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, False)


@_mutant("D39", "Where a queue begins counts as consumed.")
class RemembersBeginning(Pull):
    def gain(self, queue: int, offset: int, anew: bool) -> Result:
        result = super().gain(queue, offset, anew)
        if result == (True,):
            self.store.update(queue, offset, True)
        return result


@_mutant("D92", "A gained queue keeps the offset of an earlier time.")
class GainsWithOldOffset(Pull):
    def clean(self, queue: int) -> None:
        pass


# --- pull requests -------------------------------------------------------------------------------------------


@_mutant("D71", "A pull from a slave commits.")
class CommitsToSlaves(Pull):
    def commits(self, commit: int, node: int) -> bool:
        return commit > 0


@_mutant("D07", "An offset of 0 is committed with a pull.")
class CommitsZero(Pull):
    def commits(self, commit: int, node: int) -> bool:
        return commit >= 0 and node == 0


@_mutant("D31", "Pulls do not commit.")
class PullNeverCommits(Pull):
    def commits(self, commit: int, node: int) -> bool:
        return False


@_mutant("D70", "Pulls go to the node that is listed last.")
class PullsFromAnyNode(Pull):
    def node(self, queue: int) -> int:
        return self.nodes[-1]


@_mutant("D70", "Pulls go to the master even if it suggests a slave.")
class SuggestionIsIgnored(Pull):
    def suggest(self, queue: int, node: int) -> None:
        pass


@_mutant("D27", "A suggested node is asked for all queues.")
class SuggestionIsForAll(Pull):
    def suggest(self, queue: int, node: int) -> None:
        for other in range(len(ORDINARY.queues)):
            super().suggest(other, node)


@_mutant("D81", "A topic is pulled after it was unsubscribed.")
class PullsWithoutSubscription(Pull):
    def unsubscribed(self, request: PullRequest) -> None:
        pass


@_mutant("D96", "The expression always goes with a pull.")
class AlwaysPostsExpression(Pull):
    def expression(self, chosen: Subscription) -> str | None:
        return chosen.text


# --- filters -------------------------------------------------------------------------------------------------


@_mutant("D96", "An answer is filtered by a later subscription.")
class FiltersByOtherTags(Pull):
    def tags(self, request: PullRequest) -> frozenset[str]:
        chosen = self.subscriptions.get(ORDINARY.queues[request.queue].topic)
        return chosen.tags if chosen else super().tags(request)


@_mutant("D96", "The consumer does not filter by tags.")
class TrustsBrokerFilter(Pull):
    def tags(self, request: PullRequest) -> frozenset[str]:
        return frozenset()


@_mutant("D96", "Blanks around tags belong to them.")
class PartsNotTrimmed(Pull):
    def named(self, parts: list[str]) -> frozenset[str]:
        return frozenset(part for part in parts if part.strip())


# --- flow control --------------------------------------------------------------------------------------------


@_mutant("D95", "A queue that is held up by its cache counts as not pulled.")
class FlowControlExpires(Pull):
    def count(self, request: PullRequest) -> None:
        super().count(request)
        self.counted = not (self.is_full(request.owned) or self.is_wide(request.owned))


@_mutant("D95", "A queue is held up when its limit is reached, not exceeded.")
class FullTooEarly(Pull):
    def is_full(self, owned: PullCache) -> bool:
        return len(owned.offsets) >= 3 or owned.mib() > 0


@_mutant("D95", "A queue whose pull failed is not pulled any more.")
class FailureEndsLoop(Pull):
    def failed(self, request: PullRequest, failure: str) -> None:
        self.delay, self.next_action = 0, ""


@_mutant("D87", "Flow control is a failure like any other.")
class FlowControlIsFailure(Pull):
    def failed(self, request: PullRequest, failure: str) -> None:
        self.pull_later(request, self.after_failure())


# --- illegal offsets -----------------------------------------------------------------------------------------


@_mutant("D46", "An illegal offset is corrected to the first one.")
class CorrectsToMin(Pull):
    def corrected(self, next_offset: int, low: int, high: int) -> int:
        return low


@_mutant("D46", "An illegal offset is corrected into the bounds.")
class CorrectsIntoBounds(Pull):
    def corrected(self, next_offset: int, low: int, high: int) -> int:
        return min(max(next_offset, low), high)


@_mutant("D43", "A correction to 0 is ignored.")
class ZeroIsNoCorrection(Pull):
    def write(self, queue: int, offset: int) -> None:
        if offset > 0:
            super().write(queue, offset)


@_mutant("D44", "An illegal offset is not corrected.")
class IllegalIsPulledOn(Pull):
    def stop(self, request: PullRequest) -> None:
        self.pull_now(request)


@_mutant("D41", "An illegal offset is corrected after 10 s.")
class CorrectsLate(Pull):
    def correction_delay(self) -> int:
        return 10_000


@_mutant("D41", "A late result may change a corrected offset.")
class CorrectionDoesNotFreeze(Pull):
    def write(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, False)


@_mutant("D42", "A correction removes the offset, not the queue.")
class CorrectionForgetsOffset(Pull):
    def end_corrected(self, request: PullRequest) -> None:
        self.store.remove(request.queue)


@_mutant("D27", "A correction does not remove the process queue.")
class CorrectedStaysOwned(Pull):
    def end_corrected(self, request: PullRequest) -> None:
        pass


@_mutant("D33", "A corrected offset is not sent.")
class CorrectionIsNotSent(Pull):
    def send(self, queue: int) -> None:
        pass


@_mutant("D28", "A lost queue of which nothing was consumed is committed as -1.")
class NoneIsLeft(Pull):
    def send(self, queue: int) -> None:
        if queue not in self.store.table and self.finds(ORDINARY.queues[queue].topic):
            self.store.send(queue, NO_OFFSET)
        super().send(queue)


@_mutant("D25", "Sending one offset forgets those of other queues.")
class CorrectionForgetsOthers(Pull):
    def send(self, queue: int) -> None:
        super().send(queue)
        for other in [other for other in self.store.table if other != queue]:
            self.store.remove(other)


@_mutant("D41", "A corrected queue waits for the next round.")
class CorrectionWakesNobody(Pull):
    def request_rebalance(self) -> None:
        pass


# --- queues that come and go ---------------------------------------------------------------------------------


@_mutant("D94", "A queue that comes back has two pull loops.")
class LostPullGoesOn(Pull):
    def drop(self, owned: PullCache) -> None:
        pass


@_mutant("D38", "A late answer's messages go to the new owner.")
class LateAnswerFillsQueue(Pull):
    def take(self, request: PullRequest, given: tuple[int, ...]) -> None:
        owner = self.table.get(request.queue)
        if owner is not None and owner is not request:
            for offset in given:
                owner.owned.put(offset)
        super().take(request, given)


@_mutant("D38", "A late answer moves the new pull loop.")
class LateAnswerMovesQueue(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        owner = self.table.get(request.queue)
        if owner is not None:
            owner.offset = next_offset
        return next_offset


@_mutant("D95", "A pull that fails is tried again after 3 s.")
class FailureWaits3S(Pull):
    def after_failure(self) -> int:
        return 3_000


@_mutant("D95", "A full cache counts before the pause of its consumer.")
class FullBeforePaused(Pull):
    def hold(self, request: PullRequest) -> None:
        if self.running and (self.is_full(request.owned) or self.is_wide(request.owned)):
            raise NotNowError(WHILE_FULL)
        super().hold(request)


@_mutant("D95", "A queue whose cache is full waits for a second.")
class FullWaitsASecond(Pull):
    def hold(self, request: PullRequest) -> None:
        try:
            super().hold(request)
        except NotNowError as error:
            raise NotNowError(1_000 if error.millis == WHILE_FULL else error.millis) from error
