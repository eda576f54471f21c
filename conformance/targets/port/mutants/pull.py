"""Mutants of the port's pull loop, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.pull import WHILE_FULL, Message, Pull
from rocketmq_conformance.conformance.targets.port.pull_request import NotNowError, PullCache, PullRequest
from rocketmq_conformance.conformance.targets.port.pull_settings import Subscription
from rocketmq_conformance.models.client.fixtures import QUEUES
from rocketmq_conformance.models.outcome import Result

# --- the offset of the next pull -----------------------------------------------------------------------------


class NothingGoesNowhere(Pull):
    def next_empty(self, request: PullRequest, code: str, next_offset: int) -> int:
        return request.offset


class NoMatchGoesNowhere(Pull):
    def next_empty(self, request: PullRequest, code: str, next_offset: int) -> int:
        return request.offset if code == "PULL_RETRY_IMMEDIATELY" else next_offset


class FilteredGoesNowhere(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        return next_offset if self.accepted(request, messages) else request.offset


class GoesAfterLastMessage(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        return messages[-1][0] + 1 if messages else next_offset


class NeverGoesBack(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        return max(next_offset, request.offset)


class FilteredStalls(Pull):
    def none_wanted(self, request: PullRequest) -> None:
        self.delay, self.next_action = 0, ""


class FilteredIsSkipped(Pull):
    def none_wanted(self, request: PullRequest) -> None:
        if not request.owned.offsets:
            self.skip(request.queue, request.offset)
        super().none_wanted(request)


# --- offsets in memory ---------------------------------------------------------------------------------------


class IdleLeavesNoRecord(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return False


class OnlyNothingNewSkips(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return code == "PULL_NOT_FOUND" and super().may_skip(request, code)


class SkipsWhatIsConsumed(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return True


class NoMatchPassesConsumed(Pull):
    def may_skip(self, request: PullRequest, code: str) -> bool:
        return code == "PULL_RETRY_IMMEDIATELY" or super().may_skip(request, code)


class SkipMayLower(Pull):
    def skip(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, False)


class RemembersTheBeginning(Pull):
    def gain(self, queue: int, offset: int, anew: bool) -> Result:
        result = super().gain(queue, offset, anew)
        if result == (True,):
            self.store.update(queue, offset, True)
        return result


class GoesOnFromMemory(Pull):
    def clean(self, queue: int) -> None:
        pass


# --- pull requests -------------------------------------------------------------------------------------------


class CommitsToSlaves(Pull):
    def commits(self, commit: int, node: int) -> bool:
        return commit > 0


class CommitsZero(Pull):
    def commits(self, commit: int, node: int) -> bool:
        return commit >= 0 and node == 0


class NeverCommits(Pull):
    def commits(self, commit: int, node: int) -> bool:
        return False


class AnyNode(Pull):
    def node(self, queue: int) -> int:
        return self.nodes[-1]


class SuggestionIsIgnored(Pull):
    def suggest(self, queue: int, node: int) -> None:
        pass


class SuggestionIsForAll(Pull):
    def suggest(self, queue: int, node: int) -> None:
        for other in range(len(QUEUES)):
            super().suggest(other, node)


class PullsWithoutSubscription(Pull):
    def unsubscribed(self, request: PullRequest) -> None:
        pass


class AlwaysPosts(Pull):
    def expression(self, chosen: Subscription) -> str | None:
        return chosen.text


# --- filters -------------------------------------------------------------------------------------------------


class FiltersByOldTags(Pull):
    def tags(self, request: PullRequest) -> frozenset[str]:
        chosen = self.subscriptions.get(QUEUES[request.queue].topic)
        return chosen.tags if chosen else super().tags(request)


class TrustsTheBroker(Pull):
    def tags(self, request: PullRequest) -> frozenset[str]:
        return frozenset()


class PartsAreNotTrimmed(Pull):
    def named(self, parts: list[str]) -> frozenset[str]:
        return frozenset(part for part in parts if part.strip())


# --- flow control --------------------------------------------------------------------------------------------


class FlowControlIsPulling(Pull):
    def count(self, request: PullRequest) -> None:
        super().count(request)
        self.counted = not (self.is_full(request.owned) or self.is_wide(request.owned))


class FullIsTooEarly(Pull):
    def is_full(self, owned: PullCache) -> bool:
        return len(owned.offsets) >= 3 or owned.mib() > 0


class FailureEndsLoop(Pull):
    def failed(self, request: PullRequest, failure: str) -> None:
        self.delay, self.next_action = 0, ""


class FlowControlIsFailure(Pull):
    def failed(self, request: PullRequest, failure: str) -> None:
        self.pull_later(request, self.after_failure())


# --- illegal offsets -----------------------------------------------------------------------------------------


class CorrectsToMin(Pull):
    def corrected(self, next_offset: int, low: int, high: int) -> int:
        return low


class CorrectsIntoBounds(Pull):
    def corrected(self, next_offset: int, low: int, high: int) -> int:
        return min(max(next_offset, low), high)


class ZeroIsNoCorrection(Pull):
    def write(self, queue: int, offset: int) -> None:
        if offset > 0:
            super().write(queue, offset)


class IllegalIsPulledOn(Pull):
    def stop(self, request: PullRequest) -> None:
        self.pull_now(request)


class CorrectsLate(Pull):
    def correction_delay(self) -> int:
        return 10_000


class CorrectionDoesNotFreeze(Pull):
    def write(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, False)


class CorrectionForgetsOffset(Pull):
    def end_corrected(self, request: PullRequest) -> None:
        self.store.remove(request.queue)


class CorrectedStaysOwned(Pull):
    def end_corrected(self, request: PullRequest) -> None:
        pass


class CorrectionIsNotSent(Pull):
    def send(self, queue: int) -> None:
        pass


class NoneIsLeft(Pull):
    def send(self, queue: int) -> None:
        if queue not in self.store.table and self.finds(QUEUES[queue].topic):
            self.store.send(queue, NO_OFFSET)
        super().send(queue)


class CorrectionForgetsOthers(Pull):
    def send(self, queue: int) -> None:
        super().send(queue)
        for other in [other for other in self.store.table if other != queue]:
            self.store.remove(other)


class NobodyRebalances(Pull):
    def request_rebalance(self) -> None:
        pass


# --- queues that come and go ---------------------------------------------------------------------------------


class LostIsStillPulled(Pull):
    def drop(self, owned: PullCache) -> None:
        pass


class LateAnswerFillsNewQueue(Pull):
    def take(self, request: PullRequest, given: tuple[int, ...]) -> None:
        owner = self.table.get(request.queue)
        if owner is not None and owner is not request:
            for offset in given:
                owner.owned.put(offset)
        super().take(request, given)


class LateAnswerMovesNewQueue(Pull):
    def next_found(self, request: PullRequest, next_offset: int, messages: tuple[Message, ...]) -> int:
        owner = self.table.get(request.queue)
        if owner is not None:
            owner.offset = next_offset
        return next_offset


class FailureWaits3Seconds(Pull):
    def after_failure(self) -> int:
        return 3_000


class FullComesBeforePaused(Pull):
    def hold(self, request: PullRequest) -> None:
        if self.running and (self.is_full(request.owned) or self.is_wide(request.owned)):
            raise NotNowError(WHILE_FULL)
        super().hold(request)


class FullWaitsASecond(Pull):
    def hold(self, request: PullRequest) -> None:
        try:
            super().hold(request)
        except NotNowError as error:
            raise NotNowError(1_000 if error.millis == WHILE_FULL else error.millis) from error


_mutant = partial(Mutant.of, "pull")

MUTANTS = (
    _mutant("nothing-goes-nowhere", "D44", "After an empty answer the same offset is asked for.", NothingGoesNowhere),
    _mutant("no-match-goes-nowhere", "D44", "What does not match is asked for again and again.", NoMatchGoesNowhere),
    _mutant(
        "filtered-goes-nowhere",
        "D44",
        "A batch that is filtered out is asked for again and again.",
        FilteredGoesNowhere,
    ),
    _mutant("goes-after-last-message", "D44", "The next pull goes after the last message found.", GoesAfterLastMessage),
    _mutant("found-never-goes-back", "D46", "An answer with a smaller next offset does not count.", NeverGoesBack),
    _mutant("filtered-stalls", "D45", "A queue whose batch is filtered out is not pulled any more.", FilteredStalls),
    _mutant(
        "filtered-is-skipped", "D45", "A batch that is filtered out raises the offset in memory.", FilteredIsSkipped
    ),
    _mutant("idle-leaves-no-record", "D45", "An empty answer leaves no offset in memory.", IdleLeavesNoRecord),
    _mutant("only-nothing-new-skips", "D45", "What does not match leaves no offset in memory.", OnlyNothingNewSkips),
    _mutant(
        "skips-what-is-consumed", "D94", "An empty answer passes messages that are being consumed.", SkipsWhatIsConsumed
    ),
    _mutant(
        "no-match-passes-consumed",
        "D94",
        "An answer that nothing matched passes messages that are being consumed.",
        NoMatchPassesConsumed,
    ),
    _mutant("skip-may-lower", "D41", "An empty answer may lower the offset in memory.", SkipMayLower),
    _mutant("remembers-beginning", "D39", "Where a queue begins counts as consumed.", RemembersTheBeginning),
    _mutant("gains-with-old-offset", "D92", "A gained queue keeps the offset of an earlier time.", GoesOnFromMemory),
    _mutant("commits-to-slaves", "D71", "A pull from a slave commits.", CommitsToSlaves),
    _mutant("commits-zero", "D07", "An offset of 0 is committed with a pull.", CommitsZero),
    _mutant("pull-never-commits", "D31", "Pulls do not commit.", NeverCommits),
    _mutant("pulls-from-any-node", "D70", "Pulls go to the node that is listed last.", AnyNode),
    _mutant("suggestion-is-ignored", "D70", "Pulls go to the master even if it suggests a slave.", SuggestionIsIgnored),
    _mutant("suggestion-is-for-all", "D27", "A suggested node is asked for all queues.", SuggestionIsForAll),
    _mutant(
        "pulls-without-subscription", "D81", "A topic is pulled after it was unsubscribed.", PullsWithoutSubscription
    ),
    _mutant("always-posts-expression", "D96", "The expression always goes with a pull.", AlwaysPosts),
    _mutant("filters-by-other-tags", "D96", "An answer is filtered by a later subscription.", FiltersByOldTags),
    _mutant("trusts-broker-filter", "D96", "The consumer does not filter by tags.", TrustsTheBroker),
    _mutant("parts-not-trimmed", "D96", "Blanks around tags belong to them.", PartsAreNotTrimmed),
    _mutant(
        "flow-control-expires",
        "D95",
        "A queue that is held up by its cache counts as not pulled.",
        FlowControlIsPulling,
    ),
    _mutant("full-too-early", "D95", "A queue is held up when its limit is reached, not exceeded.", FullIsTooEarly),
    _mutant("failure-ends-loop", "D95", "A queue whose pull failed is not pulled any more.", FailureEndsLoop),
    _mutant("flow-control-is-failure", "D87", "Flow control is a failure like any other.", FlowControlIsFailure),
    _mutant("corrects-to-min", "D46", "An illegal offset is corrected to the first one.", CorrectsToMin),
    _mutant("corrects-into-bounds", "D46", "An illegal offset is corrected into the bounds.", CorrectsIntoBounds),
    _mutant("zero-is-no-correction", "D43", "A correction to 0 is ignored.", ZeroIsNoCorrection),
    _mutant("illegal-is-pulled-on", "D44", "An illegal offset is not corrected.", IllegalIsPulledOn),
    _mutant("corrects-late", "D41", "An illegal offset is corrected after 10 s.", CorrectsLate),
    _mutant(
        "correction-does-not-freeze", "D41", "A late result may change a corrected offset.", CorrectionDoesNotFreeze
    ),
    _mutant(
        "correction-forgets-offset", "D42", "A correction removes the offset, not the queue.", CorrectionForgetsOffset
    ),
    _mutant("corrected-stays-owned", "D27", "A correction does not remove the process queue.", CorrectedStaysOwned),
    _mutant("correction-is-not-sent", "D33", "A corrected offset is not sent.", CorrectionIsNotSent),
    _mutant("none-is-left", "D28", "A lost queue of which nothing was consumed is committed as -1.", NoneIsLeft),
    _mutant(
        "correction-forgets-others", "D25", "Sending one offset forgets those of other queues.", CorrectionForgetsOthers
    ),
    _mutant("correction-wakes-nobody", "D41", "A corrected queue waits for the next round.", NobodyRebalances),
    _mutant("lost-pull-goes-on", "D94", "A queue that comes back has two pull loops.", LostIsStillPulled),
    _mutant("late-answer-fills-queue", "D38", "A late answer's messages go to the new owner.", LateAnswerFillsNewQueue),
    _mutant("late-answer-moves-queue", "D38", "A late answer moves the new pull loop.", LateAnswerMovesNewQueue),
    _mutant("failure-waits-3-s", "D95", "A pull that fails is tried again after 3 s.", FailureWaits3Seconds),
    _mutant(
        "full-before-paused", "D95", "A full cache counts before the pause of its consumer.", FullComesBeforePaused
    ),
    _mutant("full-waits-a-second", "D95", "A queue whose cache is full waits for a second.", FullWaitsASecond),
)
