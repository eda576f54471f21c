"""Whole consumers of one group whose broker fails, as seen by an observer that looks at intervals (WHOLE-*).

Between two looks the members have time enough to finish all their work: they rebalance, compute starts, pull, consume
messages and commit. A failure lasts from ``Fail`` to ``Mend``, and consumers retry all the time:

=====================================  ====================================================
failing requests                       effect on a consumer
=====================================  ====================================================
route, heartbeat                       it is unknown to the group and gets nothing
the list of members                    it keeps what it has, and takes nothing new
a lock (orderly)                       it does not take the queue
stored offset, max or search           it does not begin
pulls                                  it gets nothing, and goes on where it began
commits                                its progress is not stored
=====================================  ====================================================
"""

from __future__ import annotations

from typing import cast

from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.lifecycle import expire
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.client.lone_answers import AGAIN, TAKEN, back_reasons
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS
from rocketmq_conformance.models.client.readable_messages import RULE_OF, readable
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH, SENT_ON, first_message
from rocketmq_conformance.models.client.whole_faults import LATE_ANSWERS, loses_connections, mended_reasons
from rocketmq_conformance.models.client.whole_group_state import (
    WholeGroup,
    WholeMember,
    failing,
    hiding,
    log_of,
    number_of,
    seen_queues,
    with_failure,
    with_member,
    with_reason,
)
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    FILLED,
    LATE,
    LOADED,
    MEMBERS,
    PULL,
    QUERY,
    SEND_BACK,
    SPANNED,
    STRETCHED,
    Arrive,
    ArriveAgain,
    ArriveAs,
    AssignQueues,
    CommitNow,
    Crowd,
    Deliver,
    Expire,
    Fail,
    Flood,
    Free,
    GivenMessages,
    Hang,
    Hold,
    Join,
    Leave,
    LetGo,
    Listen,
    Load,
    LockElsewhere,
    Look,
    Mend,
    Move,
    Observation,
    PauseQueues,
    ResetTo,
    Resume,
    ResumeQueues,
    Seek,
    SeekToBound,
    Stay,
    Subscribe,
    Suspend,
    Unsubscribe,
)
from rocketmq_conformance.models.client.whole_queues import DISCARDED, LOST, WholeQueues, is_known
from rocketmq_conformance.models.message_forms import offsets_of
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Level, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "WHOLE-UNHEARD",
        "A consumer starts without an error while the name server gives no route or the broker takes no heartbeat. It "
        "is given nothing, and begins once its timers have sent both. One that has begun goes on without.",
        "MQClientInstance#start, #startScheduledTask, #sendHeartbeatToAllBrokerWithLock @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-LIST",
        "Without a list of the members a consumer takes no queue that it does not have, and goes on with those that "
        "it has.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-LOCK",
        "An orderly consumer is given nothing of a queue whose lock is refused, be it by an error or because somebody "
        "else has it, and begins once it is granted. Consumers of other kinds ask for no lock.",
        "RebalanceImpl#updateProcessQueueTableInRebalance, #lock @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-UNREAD",
        "A consumer that cannot ask where a queue begins, because the stored offset, max or a search cannot be had, is "
        "given nothing of it and stores nothing. Once it can ask, it begins where it is told then: with "
        "CONSUME_FROM_LAST_OFFSET behind what arrived in the meantime.",
        "RebalanceImpl#updateProcessQueueTableInRebalance, DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-MISTAKEN",
        "A consumer that is told QUERY_NOT_FOUND for an offset that is stored, and up to 4.9.8 and in 5.0.0-PREVIEW "
        "one whose question is refused in any way, begins where ConsumeFromWhere says, and commits from there: "
        "messages are lost, or given again.",
        "RemoteBrokerOffsetStore#readOffset @ 4.9.8, 5.0.0-PREVIEW, 5.0.0-ALPHA",
    ),
    Rule(
        "WHOLE-REREAD",
        "An orderly consumer asks twice where a queue begins. When nothing can be read the second time, up to 4.9.8 "
        "and in 5.0.0-PREVIEW it pulls from -1, is sent to min, and stores min: once it can begin, it is given every "
        "message again. Later ones wait.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.9.7, 5.0.0-ALPHA, 5.5.0",
    ),
    Rule(
        "WHOLE-PULL",
        "A pull that fails is tried again until it succeeds: nothing is lost, nothing is given twice.",
        "DefaultMQPushConsumerImpl#pullMessage, DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-LOST",
        "What a lost commit said the next one says. When none follows, because the consumer ends, the messages are "
        "given again to the next owner of the queue.",
        "RemoteBrokerOffsetStore#persistAll, RebalanceImpl#updateProcessQueueTableInRebalance @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-MOVED-ANEW",
        "A push consumer that is sent elsewhere begins the queue anew even where it cannot, and is given nothing of "
        "it: while commits fail it begins where it is sent away from, again and again, and without the list of members "
        "or the stored offset it does not begin. One that pulls on where it is sent loses nothing.",
        "DefaultMQPushConsumerImpl#pullMessage, RebalanceImpl#updateProcessQueueTableInRebalance @ 4.9.7, 5.5.0",
        level=Level.QUIRK,
    ),
    Rule(
        "WHOLE-REPEAT",
        "The timer sends the offset of each queue, changed or not: a commit that was lost on its way is sent again by "
        "the next one, though nothing was consumed meanwhile.",
        "RemoteBrokerOffsetStore#persistAll, MQClientInstance#startScheduledTask @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-SHARE",
        "When a member joins or leaves, queues change hands: the old owner commits, and the new one goes on behind "
        "what was committed. What was consumed before is not given again, and nothing is lost.",
        "RebalanceImpl#updateProcessQueueTableInRebalance, DefaultMQPushConsumerImpl#shutdown @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-BUSY",
        "A message that a push or orderly listener is busy with when its queue goes to another member is given there "
        "again: what a listener returns for a queue that was lost is not stored. An orderly consumer keeps the lock "
        "until its listener returns, so that the other one is given the message after it, not beside it; from 5.2.0 "
        "only as long as the lock was confirmed in the last 20 s. Messages that wait for the listener, or for a poll, "
        "go with the queue.",
        "ConsumeMessageConcurrentlyService.ConsumeRequest#run, ConsumeMessageOrderlyService#processConsumeResult, "
        "DefaultLitePullConsumerImpl#poll @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-RESET",
        "A push consumer that is told RESET_CONSUMER_CLIENT_OFFSET lets go of the queues that are named, commits the "
        "offsets that it is told, and begins there; how long that takes is said by RST-WAIT and RST-LISTENER.",
        "MQClientInstance#resetOffset @ 4.9.7, 5.4.0, 5.5.0",
    ),
    Rule(
        "WHOLE-RESET-LITE",
        "A lite pull consumer takes no notice of RESET_CONSUMER_CLIENT_OFFSET.",
        "MQClientInstance#resetOffset @ 4.6.1, 5.5.0",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-SEEK",
        "A lite pull consumer that seeks, in a queue that it has, to an offset from min to max is given the message "
        "there next, again or earlier than others, and commits from there on. Any other seek fails and changes "
        "nothing.",
        "DefaultLitePullConsumerImpl#seek, #nextPullOffset @ 4.6.1, 4.9.0, 4.9.7, 5.3.3",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-DEMAND",
        "A lite pull consumer without automatic commits stores nothing of what was polled until it is asked to commit "
        "its queues. Then it sends the offset behind the last message that was polled of each, or where it sought to, "
        "at once, and waits for no timer. What was not committed is lost with the queue: its next owner begins at "
        "what is stored.",
        "DefaultLitePullConsumerImpl#commit, RemoteBrokerOffsetStore#persistAll @ 4.9.4, 4.9.8, 5.0.0, 5.3.3",
        releases="4.9.4+, 5.0.0+",
    ),
    Rule(
        "WHOLE-ASSIGN",
        "A lite pull consumer that assigns queues pulls these and no others, also where its group has other members. "
        "Queues that it has assigned and names again go on, and others are forgotten, with a pause, or a seek that "
        "waits. One that is assigned again begins at its stored offset.",
        "DefaultLitePullConsumerImpl#assign, #updateAssignPullTask, AssignedMessageQueue#updateAssignedMessageQueue "
        "@ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-PAUSE-QUEUES",
        "A queue that a lite pull consumer has paused is not pulled any more once its last pull was answered, and "
        "keeps its place, while others go on. Once it is resumed its consumer is given what waited. A queue that is "
        "not assigned cannot be paused.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run, AssignedMessageQueue#pause, #resume @ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-SEEK-PAUSED",
        "A seek in a paused queue waits: nothing is pulled and nothing is committed of it. The last one counts when "
        "the queue is resumed: its consumer is given the message there next, and commits from there on.",
        "DefaultLitePullConsumerImpl#seek, #nextPullOffset @ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-SEEK-ENDS",
        "seekToBegin and seekToEnd are seeks to min and to max, as the broker has them at that moment.",
        "DefaultLitePullConsumerImpl#seekToBegin, #seekToEnd @ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-PAUSE",
        "A push consumer that is suspended begins no pull, and lets go of nothing: it stays a member of its group, has "
        "its queues, and commits what it has consumed. Messages in its queues wait. When it is resumed it pulls on "
        "from where it was: nothing is lost, and nothing is given twice.",
        "DefaultMQPushConsumerImpl#pullMessage, #doRebalance, #resume @ 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-SUBSCRIBE",
        "When the members of a group subscribe to another topic while they run, each takes its share of the topic's "
        "queues as soon as it has the route, and begins as one that starts does. When they unsubscribe, the queues are "
        "let go, and what was consumed of them stays stored: once subscribed again they are given what arrived in the "
        "meantime. The queues of the first topic go on all the time.",
        "DefaultMQPushConsumerImpl#subscribe, #unsubscribe, RebalanceImpl#doRebalance, "
        "#truncateMessageQueueNotMyTopic @ 4.9.8, 5.3.3",
    ),
)

_LIST = reasons_by_kind(("WHOLE-LIST",), "keeps", "takes nothing", beneath=("REB-CLU-1",))
_REREAD = reasons_by_kind(("WHOLE-REREAD",), "waits", "pulls from -1")
_ANEW = Reason(("WHOLE-MOVED-ANEW",), "sent elsewhere in vain")
_PUT_OFF = Reason(("WHOLE-PULL",), "put off")
_FOUND_NOTHING = Reason(("WHOLE-COMMIT",), "found nothing", beneath=("PULL-NON-1",))
_NOTHING_BESIDE = Reason(("PULL-NON-1",), "found nothing beside what is held")
_UNLOCKED = Reason(("REB-LOCK-4",), "shut down")
_NEVER_LOCKED = Reason(("WHOLE-LOCK",), "shut down without a lock")
_BUSY = reasons_by_kind(("WHOLE-BUSY",), "done with what was lost", "waits for a poll")
_SUBSCRIBED = reasons_by_kind(("WHOLE-SUBSCRIBE",), "subscribed", "unsubscribed", beneath=("REB-DO-1",))
_PAUSED = reasons_by_kind(("WHOLE-PAUSE",), "suspended", "resumed")
_SEEK = reasons_by_kind(("WHOLE-SEEK",), "goes there", "fails")
_ASSIGN = reasons_by_kind(("WHOLE-ASSIGN",), "takes", "lets go")
_HELD_BACK = reasons_by_kind(("WHOLE-PAUSE-QUEUES",), "paused", "resumed", "not assigned")
_WAITS, _TAKEN = reasons_by_kind(("WHOLE-SEEK-PAUSED",), "waits", "goes there").values()
_BOUND = Reason(("WHOLE-SEEK-ENDS",), "goes to a bound")
_DEMAND = reasons_by_kind(("WHOLE-DEMAND",), "polled, not stored", "committed", "nothing is new")
_RESET = (
    Reason(("WHOLE-RESET",), "reset", beneath=("RST-PUSH", "RST-RESUME")),
    Reason(("WHOLE-RESET-LITE",), "reset", beneath=("RST-OTHERS",)),
)
_BACK = {
    "sent back": Reason(("CONS-1-BACK", "CONS-BACK"), "sent back", beneath=("CONS-1-LATER",)),
    "copied": Reason(("CONS-1-BACK", "CONS-BACK-COPY"), "copied", beneath=("CONS-1-LATER",)),
}
_HELD = Reason(("CONS-1",), "held")
_HANGS = reasons_by_kind(("WHOLE-LOAD-HANG",), "begins", "others go on", "returns", beneath=("PULL-NON-1",))
_ENDS_BUSY = Reason(("WHOLE-LOAD-END",), "shut down")
_FLOODED = Reason(("WHOLE-LOAD-STOP",), "stops")
_GOES_ON = Reason(("WHOLE-LOAD-STOP",), "goes on")
_LONG = Reason(("WHOLE-LOAD-LONG",), "half a minute")
_LOADED = Reason(("WHOLE-LOAD-FAIR",), "a steady load")
_FORMED = {form: Reason((rule,), form) for form, rule in RULE_OF.items()}
_REPEATED = Reason(("WHOLE-REPEAT",), "committed again", beneath=("OFF-R-PALL",))


class WholeGroupModel(WholeQueues):
    """The behaviour of whole consumers of one profile; every method is pure."""

    __slots__ = ()

    def play(self, group: WholeGroup, moves: tuple[Move, ...]) -> tuple[tuple[Observation, ...], tuple[Reason, ...]]:
        """The observation of each look, and the reasons."""
        seen: list[Observation] = []
        for move in moves:
            if isinstance(move, Look):
                group, shown = self.look(group)
                seen.append(shown)
            else:
                group = self.move(group, move)
        return tuple(seen), group.reasons

    def move(self, group: WholeGroup, move: Move) -> WholeGroup:
        """The group after a move other than a look."""
        match move:
            case Fail(request, fault, queue=None) if fault == LATE:
                return group._replace(late=request)
            case Fail():
                return group._replace(fails={**group.fails, move.request: move})
            case Mend(but):
                found = mended_reasons(group.fails) if group.members else ()
                if COMMIT in group.fails and but != COMMIT and any(_is_behind(group, name) for name in group.members):
                    found += (_REPEATED,)
                if loses_connections(group.fails):
                    cut = {name: member._replace(cut=True) for name, member in group.members.items()}
                    group = group._replace(members=cut)
                return group._replace(fails={}, late="", reasons=(*group.reasons, *found))
            case Join(name):
                return group._replace(members={**group.members, name: WholeMember()})
            case Leave(name):
                return self._left(group, name)
            case Arrive(queue):
                return self._arrived(group, queue)
            case ArriveAs(form, number):
                return self._arrived_as(group, form, number)
            case ArriveAgain(how, number):
                return self._arrived_again(group, how, number)
            case Hold(name) | LetGo(name):
                return with_member(group, name, group.members[name]._replace(busy=isinstance(move, Hold)))
            case Listen(name, listener):
                return self._listens(group, name, listener)
            case Hang(number):
                return self._hangs(group, number)
            case Free():
                return self._freed(group)
            case Stay():
                return with_reason(group, _LONG)
            case Flood(number, behind):
                return self._flooded(group, number, SPANNED + STRETCHED if behind else FILLED)
            case Load(number):
                return with_reason(self._arrived(self._many(group, number, LOADED - 1), None), _LOADED)
            case Deliver():
                return self._delivered(group)
            case Crowd(others):
                return group._replace(others=others)
            case Expire(first):
                broker, _ = expire(self.start.store.broker, group.broker, {(self.topology.topic, 0): first})
                return group._replace(broker=broker)
            case Seek(queue, offset, name):
                return self._sought(group, name, queue, offset)
            case CommitNow(name):
                return self._asked_to_commit(group, name)
            case AssignQueues(queues, name):
                return self._assigned(group, name, queues)
            case PauseQueues(queues, name) | ResumeQueues(queues, name):
                return self._held_back(group, name, queues, isinstance(move, PauseQueues))
            case SeekToBound(queue, end, name):
                return self._sought(with_reason(group, _BOUND), name, queue, self._end_of(group, queue, end))
            case ResetTo(offset):
                return self._reset(group, offset)
            case Suspend(name) | Resume(name):
                return self._paused(group, name, isinstance(move, Suspend))
            case Subscribe() | Unsubscribe():
                return self._subscribed(group, isinstance(move, Subscribe))
            case _:
                return group._replace(seized=isinstance(move, LockElsewhere))

    def look(self, group: WholeGroup) -> tuple[WholeGroup, Observation]:
        """Let the members finish their work, and look."""
        if group.late and group.members:
            group = with_reason(group, LATE_ANSWERS)
        group = self._register(group)
        shares = self._shares(group)
        for name, queues in shares.items():
            for queue in sorted(group.members[name].pulls.keys() - queues):
                group = self._drop(group, name, queue)
        for name in group.members:
            group = self._relocked(group, name)
        late: dict[str, GivenMessages] = {}
        for name in group.members:
            group, late[name] = self._returned(group, name)
        for name, queues in shares.items():
            for queue in sorted(queues - group.members[name].pulls.keys()):
                group = self._take(group, name, queue, alone=len(shares) == 1)
        shown = []
        for name in group.members:
            group, found = self._pull(group, name)
            given = tuple(sorted(found + late[name]))
            pulled = group.members[name].pulls.keys() - group.flooded
            owned = tuple(sorted(number_of(self.topology, queue) for queue in pulled))
            shown.append((name, owned, given))
        for name, member in group.members.items():
            for queue in member.pulls:
                group = self._commit(group, name, queue)
        keys = self.topology.stored_keys
        stored = tuple(group.broker.stored.get(keys[queue], -1) for queue in seen_queues(self.topology, group.broker))
        return group, (tuple(shown), stored)

    # --- messages -------------------------------------------------------------------------------------------

    def _returned(self, group: WholeGroup, name: str) -> tuple[WholeGroup, GivenMessages]:
        """The message that the listener was busy with until now, if the member does not have the queue any more."""
        member = group.members[name]
        if member.busy or member.in_progress is None:
            return group, ()
        queue, offset = member.in_progress
        group = with_member(group, name, member._replace(in_progress=None))
        if queue in member.pulls:
            return group, ()
        return with_reason(group, _BUSY["done with what was lost"]), ((self.topology.places[queue][1], offset, 1),)

    def _hold(self, group: WholeGroup, name: str) -> WholeGroup:
        """Give the listener the first message that there is, and nothing else."""
        for queue, offset in sorted(group.members[name].pulls.items()):
            member = group.members[name]
            if offset >= log_of(self.topology, group.broker, queue).max:
                continue
            if group.kind == LITE:
                group = with_reason(group, _BUSY["waits for a poll"])
            elif member.in_progress is None:
                group = with_member(group, name, member._replace(in_progress=(queue, offset)))
        return group

    def _pull(self, group: WholeGroup, name: str) -> tuple[WholeGroup, GivenMessages]:
        """Pull every queue to its end."""
        if group.members[name].busy:
            return self._hold(group, name), ()
        if group.members[name].suspended:
            return group, ()
        given: list[tuple[int, int, int]] = []
        member = group.members[name]
        if MEMBERS in group.fails:
            group = with_failure(group, group.fails[MEMBERS], _LIST["keeps" if member.pulls else "takes nothing"])
        for queue in sorted(member.pulls.keys() - member.unlocked - member.paused - group.flooded):
            group, found = self._pull_queue(group, name, queue)
            given += found
        return group, tuple(given)

    def _pull_queue(self, group: WholeGroup, name: str, queue: int) -> tuple[WholeGroup, GivenMessages]:
        if queue in group.members[name].fresh and failing(group, QUERY, queue):
            group, goes_on = self._first_pull(group, name, queue)
            if not goes_on:
                return group, ()
        topic, number = self.topology.places[queue]
        if failing(group, PULL, queue) or number >= group.broker.topics[topic].read_queues:
            # the broker does not let a queue be pulled that the topic has lost
            return with_failure(hiding(group, queue), failing(group, PULL, queue), _PUT_OFF), ()
        member, before = group.members[name], group.broker.stored
        broker, first, found = first_message(self.start, group.broker, group.kind, queue, member.pulls[queue])
        if first != member.pulls[queue]:
            group = hiding(group, queue)
        in_vain = any(failing(group, request, queue) for request in (COMMIT, MEMBERS, QUERY))
        if group.kind == PUSH and in_vain and _is_moved(found):
            if self.start.client.begins_anew:
                return self._moved(group._replace(reasons=(*group.reasons, *found, _ANEW)), broker, name, queue)
            if failing(group, COMMIT, queue):
                broker = broker._replace(stored=before)
        group = group._replace(broker=broker, reasons=group.reasons + found)
        end = log_of(self.topology, broker, queue).max
        member = member._replace(pulls={**member.pulls, queue: max(first, end)}, fresh=member.fresh - {queue})
        key = self.topology.stored_keys[queue]
        if broker.stored.get(key) != before.get(key):
            # sent elsewhere: it read the offset that it had stored when it began there
            member = member._replace(memory={**member.memory, queue: broker.stored[key]})
        if group.kind != LITE and SENT_ON in found:
            member = member._replace(memory={**member.memory, queue: first})
        if first >= end:
            return self._found_nothing(with_member(group, name, member), name, queue), ()
        given = tuple(readable(self.start.client, group.forms, number_of(self.topology, queue), first, end))
        group = with_member(group, name, member)
        # the offsets of messages that are not given are committed by the next pull that finds nothing
        return self._consumed(group, name, queue, first, sum(given[-1][1:])) if given else group, given

    def _found_nothing(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        """The group after a pull was answered that found nothing: what its member holds of the queue stays
        uncommitted, and a lite pull consumer writes no offset."""
        member = group.members[name]
        at = member.pulls[queue]
        if not group.pulls_end or group.kind == LITE or member.memory.get(queue) == at:
            return group
        if queue in member.held or queue in member.hung:
            return with_reason(group, _NOTHING_BESIDE)
        return with_reason(
            with_member(group, name, member._replace(memory={**member.memory, queue: at})), _FOUND_NOTHING
        )

    def _consumed(self, group: WholeGroup, name: str, queue: int, first: int, end: int) -> WholeGroup:
        """The group after a member's listener was given the messages of a queue from one offset to another."""
        member = group.members[name]
        if member.listener == HOLDS:
            held = {**member.held, queue: (member.held.get(queue, (first, end))[0], end)}
            return with_reason(with_member(group, name, member._replace(held=held)), _HELD)
        if queue in member.hung:
            # what is behind the message that hangs may be consumed, and is not committed
            memory = {**member.memory, queue: member.hung[queue]}
            return with_reason(with_member(group, name, member._replace(memory=memory)), _HANGS["others go on"])
        if group.on_demand:
            taken = {**member.taken, queue: end}
            return with_reason(with_member(group, name, member._replace(taken=taken)), _DEMAND["polled, not stored"])
        group = with_member(group, name, member._replace(memory={**member.memory, queue: end}))
        return self._sent_back(group, queue, end - first) if member.listener == FAILS else group

    def _sent_back(self, group: WholeGroup, queue: int, messages: int) -> WholeGroup:
        move = failing(group, SEND_BACK, queue)
        why = _BACK["copied" if move is not None and move.fault not in TAKEN else "sent back"]
        reasons = (*group.reasons, *back_reasons(move), why)
        return group._replace(delayed=group.delayed + messages, reasons=reasons)

    def _listens(self, group: WholeGroup, name: str, listener: str) -> WholeGroup:
        """The group after a member's listener does something else; what it holds ends that way, too."""
        member = group.members[name]
        if listener == HOLDS:
            return with_member(group, name, member._replace(listener=listener))
        ends = {queue: end for queue, (_, end) in member.held.items()}
        memory = {**member.memory, **ends}
        if member.discards:
            group = with_reason(group, DISCARDED)
        group = with_member(group, name, member._replace(listener=listener, held={}, discards=False, memory=memory))
        for queue, (first, end) in member.held.items() if listener == FAILS else ():
            group = self._sent_back(group, queue, end - first)
        return group

    def _hangs(self, group: WholeGroup, number: int) -> WholeGroup:
        """The group after a message arrived that its listener does not return from."""
        queue = self._queue(number)
        offset = log_of(self.topology, group.broker, queue).max
        group = self._arrived(group, number)
        for name, member in group.members.items():
            if queue in member.pulls:
                hung = member._replace(hung={**member.hung, queue: offset})
                group = with_reason(with_member(group, name, hung), _HANGS["begins"])
        return group

    def _freed(self, group: WholeGroup) -> WholeGroup:
        """The group after all listeners returned, also from messages of queues that were lost."""
        for name, member in group.members.items():
            if member.hung:
                group = with_reason(group, _HANGS["returns"])
            if member.discards:
                group = with_reason(group, DISCARDED)
            memory = {**member.memory, **{queue: member.pulls[queue] for queue in member.hung}}
            group = with_member(group, name, member._replace(hung={}, discards=False, memory=memory))
        return with_reason(group._replace(flooded=frozenset()), _GOES_ON) if group.flooded else group

    def _flooded(self, group: WholeGroup, number: int, messages: int) -> WholeGroup:
        """The group after a queue has more messages than a member has at a time."""
        flooded = frozenset({self._queue(number)})
        return with_reason(self._many(group, number, messages)._replace(flooded=flooded), _FLOODED)

    def _many(self, group: WholeGroup, number: int, messages: int) -> WholeGroup:
        """The group after so many messages arrived in a queue."""
        times = (log_of(self.topology, group.broker, self._queue(number)).times or (0,))[-1:] * messages
        broker = send(self.start.store.broker, group.broker, self.topology.topic, number, times)[0]
        return group._replace(broker=broker)

    def _queue(self, number: int) -> int:
        """The key of a queue of the topic."""
        return self.topology.places.index((self.topology.topic, number))

    def _delivered(self, group: WholeGroup) -> WholeGroup:
        """The group after the broker gave back what waited for its delay level."""
        topic = self.topology.retry_topic
        times = group.broker.logs.get((topic, 0), ABSENT).times
        arrived = (times[-1:] or (0,)) * group.delayed
        broker = send(self.start.store.broker, group.broker, topic, 0, arrived)[0]
        return group._replace(broker=broker, delayed=0)

    def _moved(self, group: WholeGroup, broker: BrokerState, name: str, queue: int) -> tuple[WholeGroup, GivenMessages]:
        """A push consumer was sent elsewhere, and has to begin anew while requests fail that it needs for that.
        ``broker`` has stored where it was sent."""
        if failing(group, COMMIT, queue):
            # nothing is stored, and so it begins at the same place and is sent away again and again
            return self._let_go(with_reason(group, LOST), name, queue), ()
        group = self._let_go(group._replace(broker=broker), name, queue)
        if MEMBERS in group.fails:
            return with_reason(group, _LIST["takes nothing"]), ()
        group = self._take(group, name, queue, alone=True)
        begun = group.members[name].pulls.get(queue)
        if begun is None:
            return group, ()
        _, _, found = first_message(self.start, group.broker, PUSH, queue, begun)
        if _is_moved(found):
            # it begins by mistake where it was sent away from
            return self._let_go(group, name, queue), ()
        return self._pull_queue(group, name, queue)

    def _first_pull(self, group: WholeGroup, name: str, queue: int) -> tuple[WholeGroup, bool]:
        """The first pull of an orderly consumer: does it go on?"""
        group, begins = self._begins(group, name, queue)
        if is_known(begins):
            member = group.members[name]
            return with_member(group, name, member._replace(pulls={**member.pulls, queue: cast(int, begins)})), True
        if isinstance(begins, Err):
            return with_reason(group, _REREAD["waits"]), False
        lowest = log_of(self.topology, group.broker, queue).min
        key = self.topology.stored_keys[queue]
        broker = commit_offset(self.start.store.broker, group.broker, *key, lowest)[0]
        return self._let_go(with_reason(group._replace(broker=broker), _REREAD["pulls from -1"]), name, queue), False

    # --- the moves ------------------------------------------------------------------------------------------

    def _arrived(self, group: WholeGroup, queue: int | None) -> WholeGroup:
        broker = group.broker
        for at in seen_queues(self.topology, broker):
            if queue in (None, number_of(self.topology, at)):
                times = log_of(self.topology, broker, at).times or (0,)
                broker = send(self.start.store.broker, broker, *self.topology.places[at], times[-1:])[0]
        return group._replace(broker=broker)

    def _arrived_as(self, group: WholeGroup, form: str, queue: int) -> WholeGroup:
        first = group.broker.logs[self.topology.topic, queue].max + 1
        for _ in range(2 + offsets_of(form)):
            group = self._arrived(group, queue)
        forms = {(queue, first + at): form for at in range(offsets_of(form))}
        group = group._replace(forms={**group.forms, **forms})
        return with_reason(group, _FORMED[form]) if group.members else group

    def _arrived_again(self, group: WholeGroup, how: str, number: int) -> WholeGroup:
        """The group after a message arrived in a queue, which comes again if a pull waits for it."""
        before, group = group.broker, self._arrived(group, number)
        queue = self._queue(number)
        waits = any(queue in member.pulls for member in group.members.values()) and not failing(group, PULL, queue)
        return with_reason(group, AGAIN[how]) if waits and group.broker is not before else group

    def _left(self, group: WholeGroup, name: str) -> WholeGroup:
        pulls = group.members[name].pulls
        for queue in pulls:
            group = self._commit(group, name, queue)
        if group.members[name].hung:
            group = with_reason(group, _ENDS_BUSY)
        if group.kind == ORDERLY and pulls:
            group = with_reason(group, _UNLOCKED)
        if group.kind == ORDERLY and self._shares(group).get(name, frozenset()) - pulls.keys():
            group = with_reason(group, _NEVER_LOCKED)
        return group._replace(members={other: member for other, member in group.members.items() if other != name})

    def _sought(self, group: WholeGroup, name: str, number: int, offset: int) -> WholeGroup:
        """The group after a lite pull consumer sought: its next pull asks there, and its next commit says so."""
        member = group.members[name]
        at = self._queue(number)
        log = log_of(self.topology, group.broker, at)
        if at not in member.pulls or not log.min <= offset <= log.max:
            return with_reason(group, _SEEK["fails"])
        if at in member.paused:
            waiting = member._replace(sought={**member.sought, at: offset})
            return with_reason(with_member(group, name, waiting), _WAITS)
        return with_reason(self._goes_to(group, name, at, offset), _SEEK["goes there"])

    def _end_of(self, group: WholeGroup, number: int, end: bool) -> int:
        """Where a queue of the topic ends, or begins."""
        log = log_of(self.topology, group.broker, self._queue(number))
        return log.max if end else log.min

    def _goes_to(self, group: WholeGroup, name: str, at: int, offset: int) -> WholeGroup:
        """The group after a pull took a seek."""
        member = group.members[name]
        member = member._replace(pulls={**member.pulls, at: offset})
        if group.on_demand:
            member = member._replace(taken={**member.taken, at: offset})
        else:
            member = member._replace(memory={**member.memory, at: offset})
        return with_member(group, name, member)

    def _assigned(self, group: WholeGroup, name: str, numbers: tuple[int, ...]) -> WholeGroup:
        """The group after a member assigned queues."""
        queues = frozenset(self._queue(number) for number in numbers)
        before = group.members[name].assigned
        if queues - before:
            group = with_reason(group, _ASSIGN["takes"])
        for queue in sorted(before - queues):
            group = self._let_go(with_reason(group, _ASSIGN["lets go"]), name, queue)
        member = group.members[name]
        sought = {queue: offset for queue, offset in member.sought.items() if queue in queues}
        return with_member(group, name, member._replace(assigned=queues, paused=member.paused & queues, sought=sought))

    def _held_back(self, group: WholeGroup, name: str, numbers: tuple[int, ...], pauses: bool) -> WholeGroup:
        """The group after a member paused queues, or resumed them."""
        member = group.members[name]
        queues = member.assigned.intersection(self._queue(number) for number in numbers)
        if not queues:
            return with_reason(group, _HELD_BACK["not assigned"])
        if pauses:
            group = with_reason(group, _HELD_BACK["paused"])
            return with_member(group, name, member._replace(paused=member.paused | queues))
        taken = {queue: offset for queue, offset in member.sought.items() if queue in queues}
        left = {queue: offset for queue, offset in member.sought.items() if queue not in queues}
        group = with_member(group, name, member._replace(paused=member.paused - queues, sought=left))
        for queue, offset in taken.items():
            group = with_reason(self._goes_to(group, name, queue, offset), _TAKEN)
        return with_reason(group, _HELD_BACK["resumed"])

    def _asked_to_commit(self, group: WholeGroup, name: str) -> WholeGroup:
        """The group after a member was asked to commit: what it remembers is sent, changed or not."""
        member = group.members[name]
        why = _DEMAND["committed" if member.taken else "nothing is new"]
        memory = {**member.memory, **member.taken}
        return with_reason(with_member(group, name, member._replace(memory=memory, taken={})), why)

    def _paused(self, group: WholeGroup, name: str, suspends: bool) -> WholeGroup:
        """The group after a member was suspended or resumed."""
        why = _PAUSED["suspended" if suspends else "resumed"]
        return with_member(with_reason(group, why), name, group.members[name]._replace(suspended=suspends))

    def _subscribed(self, group: WholeGroup, subscribes: bool) -> WholeGroup:
        """The group after its members subscribed to the other topic, or unsubscribed from it."""
        why = _SUBSCRIBED["subscribed" if subscribes else "unsubscribed"]
        group = group._replace(unsubscribed=frozenset() if subscribes else frozenset({self.topology.other_topic}))
        return with_reason(group, why) if group.members else group

    def _reset(self, group: WholeGroup, offset: int) -> WholeGroup:
        if group.kind == LITE:
            return with_reason(group, _RESET[1])
        group, queue = with_reason(group, _RESET[0]), self._queue(0)
        for name, member in group.members.items():
            if queue in member.pulls:
                broker = commit_offset(
                    self.start.store.broker, group.broker, *self.topology.stored_keys[queue], offset
                )[0]
                if failing(group, COMMIT, queue):
                    group, broker = with_reason(group, LOST), group.broker
                group = self._let_go(group._replace(broker=broker), name, queue)
        return group


def _is_behind(group: WholeGroup, name: str) -> bool:
    """Has a member offsets to commit that are not stored, as their commits were lost?"""
    memory, stored, keys = group.members[name].memory, group.broker.stored, group.topology.stored_keys
    return any(offset != stored.get(keys[queue]) for queue, offset in memory.items())


def _is_moved(found: tuple[Reason, ...]) -> bool:
    return any("WHOLE-MOVED" in why.rules for why in found)
