"""The fake broker of a case with whole consumers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.consumers import locked
from rocketmq_conformance.conformance.fakes.message_forms import between_plain
from rocketmq_conformance.conformance.fakes.pulls import HeldPull, Pulls
from rocketmq_conformance.conformance.fakes.repeated_answers import RepeatedAnswers
from rocketmq_conformance.conformance.fakes.responses import command, document
from rocketmq_conformance.conformance.fakes.traffic import AGAIN, Traffic
from rocketmq_conformance.conformance.fakes.watched_case import STRANGER, Failing, WatchedCase, meets_message
from rocketmq_conformance.conformance.remoting.client_requests import reset_body, reset_body_for_cpp
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import GARBAGE, Peer
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Topic
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_allocation import STORED, Crowded
from rocketmq_conformance.models.client.whole_group_state import number_of, seen_queues
from rocketmq_conformance.models.client.whole_listener import retry_begins
from rocketmq_conformance.models.client.whole_moves import GARBAGE as NO_FRAME
from rocketmq_conformance.models.client.whole_moves import LATE, OTHER_QUEUES, RETRIES, SILENT, TOO_LATE, TWICE
from rocketmq_conformance.models.client.whole_push import Setting, initial_broker
from rocketmq_conformance.models.client.whole_subscriptions import with_other_topic
from rocketmq_conformance.models.message_forms import offsets_of
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, OTHER_TOPIC, RETRY_TOPIC, TOPIC

#: Seconds by which a late answer is late, for clients whose timers are standard.
DELAY = 1.0
#: The id of a client outside the group.
OUTSIDE = "outside"


class GroupCase(WatchedCase):
    """A broker with one topic and one group, without members at first; ``later`` replaces its timers, and late answers
    are ``delay`` seconds late."""

    #: Their names.
    group, topic, other_topic = GROUP, TOPIC, OTHER_TOPIC

    def __init__(
        self,
        profile: Profile,
        later: Callable[[float, Callable[[], object]], Any] | None = None,
        broadcasting: bool = False,
        name: str = BROKER,
        delay: float = DELAY,
    ) -> None:
        super().__init__(broadcasting)
        self._delay = delay
        # without a wire, and its timers, clients have pulled again by the time that anybody looks
        self._again = AGAIN if later is None else 0.0
        case = self

        class WatchedPulls(Pulls):
            """Shows the pulls of the topic to the case."""

            def __init__(self, *args: Any) -> None:
                super().__init__(*args)
                self._later = later or self._later

            def pull(self, peer: Peer, request: Command) -> Command | None:
                traffic = case.traffic_of(request)
                if not traffic.watches(request):
                    return super().pull(peer, request)
                traffic.pull(peer, request)
                if case.repeated.puts_off(peer, request):
                    traffic.unanswered(traffic.number(request))
                    return None
                response = super().pull(peer, request)
                if response is not None:
                    traffic.ended(peer, request, response)
                    case.repeated.answered(peer, request, response)
                return response

            def answered(self, peer: Peer, request: Command, response: Command) -> None:
                traffic = case.traffic_of(request)
                if traffic.watches(request):
                    traffic.answer(peer, request, response)

            def _end(self, held: HeldPull, response: Command) -> None:
                traffic = case.traffic_of(held.request)
                if traffic.watches(held.request):
                    traffic.ended(held.peer, held.request, response)
                    case.repeated.answered(held.peer, held.request, response)
                super()._end(held, response)

        self.repeated = RepeatedAnswers()
        #: How long the client waited for the last answer (s), in a case without a wire, where it did not.
        self.waited = 0.0
        #: Did the last answer come twice? In a case without a wire, where it did not.
        self.repeated_answer = False
        #: Client ids that it lists beside those of its members.
        self._others: tuple[str, ...] = ()
        #: Is there another topic?
        self._has_other = False
        #: Where consumers are to begin.
        self._where = LAST
        #: The time of the broker, in ms since the epoch.
        self._now = TIMES[-1]
        self.broker = FakeBroker(profile, name=name, clock=lambda: self._now, parts={"pulls": WatchedPulls})
        self.broker.answer_by(self)

    def begin(self, state: BrokerState) -> None:
        """Have this state, and forget all clients; before any client is connected."""
        self.broker.storage.begin(state)
        self.broker.consumers.begin({})
        self.broker.retries.forget()
        self.traffic = Traffic(self._broadcasting, owner=self.owner, again=self._again)
        self.mend()
        self.loses_commits = False
        self._others = ()
        self._has_other = False
        self._where = LAST
        self._now = TIMES[-1]

    def traffic_of(self, pull: Command) -> Traffic:
        """The traffic that a pull is part of."""
        return self.traffic

    def watch_anew(self) -> None:
        """Forget what clients sent, but not the messages that answers carried."""
        carried = self.traffic.carried
        self.traffic = Traffic(self._broadcasting, owner=self.owner, again=self._again)
        self.traffic.carried = carried

    def open(self) -> str:
        """Let clients connect; host:port of the name server, which has a port of its own."""
        self.broker.encrypt(self.guard.context)
        self.broker.open()
        return self.broker.open_another()

    def close(self) -> None:
        """End it."""
        self.broker.stop()

    def settle(self) -> None:
        """Wait until everything is handled that clients have sent."""
        self.broker.settle()

    def _end_held(self, queues: Collection[int], ends: Callable[[Command], bool]) -> None:
        self.broker.end_held_pulls(ends)

    def end_idle_pulls(self) -> None:
        """Answer the pulls that are held of all queues where nothing was brought since that was taken."""
        self.end_pulls({*self.seen, RETRIES} - {queue for _, queue, _, _ in self.traffic.brought})

    def prepare(self, queues: int, shape: str, stored: int, where: str = LAST) -> None:
        """Have a topic of so many queues of a shape, with the same stored offset in each (-1: none), for consumers that
        begin at ``where``."""
        self.begin(initial_broker(self.broker.storage.rules, ORDINARY, Setting(queues, shape, stored)))
        self._where = where

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer a request of a client; TimeoutError and ConnectionError as for any handler."""
        self.waited, self.repeated_answer = 0.0, False
        self.traffic.request(peer, request)
        fault = self._failing.fault if self._failing is not None and self._meets(self._failing, request) else ""
        if fault in (LATE, TWICE):
            self.met += 1
            return self._late(peer, request) if fault == LATE else self._twice(peer, request)
        if fault == NO_FRAME:
            self._garbage(peer)
            return None
        failed = self._failure(request)
        return self._answered(peer, request) if failed is None else failed

    def _meets(self, failing: Failing, request: Command) -> bool:
        """Also those about a message of a queue."""
        return meets_message(failing, request, self.broker.storage)

    def _twice(self, peer: Peer, request: Command) -> Command | None:
        """The answer to a request, twice."""
        response = self._answered(peer, request)
        self.repeated_answer = True
        if response is not None and self.broker.running:
            peer.answer(request, response)
        return response

    def _garbage(self, peer: Peer) -> None:
        """Send what is no frame."""
        if not self.broker.running:
            # without a wire there is what a client does then: it closes the connection
            raise ConnectionError("bytes that are no frame")
        peer.write(GARBAGE)

    def _late(self, peer: Peer, request: Command) -> Command | None:
        """The answer to a request, later where there is a wire."""
        if not self.broker.running:
            self.waited = self._delay
            return self._answered(peer, request)

        def answer() -> None:
            response = self._answered(peer, request) if peer.open else None
            if response is not None:
                peer.answer(request, response)

        self.broker.later(self._delay, answer)
        return None

    def _answered(self, peer: Peer, request: Command) -> Command | None:
        response = self.broker.dispatcher.handle(peer, request)
        if request.code == Request.LOCK_BATCH_MQ and response is not None:
            self._refusals(request, response)
        if request.code == Request.GET_CONSUMER_LIST_BY_GROUP and response is not None:
            return self._listed(response)
        return response

    def _listed(self, response: Command) -> Command:
        """The answer to who the members are: each is listed once, over however many connections its heartbeats came.
        Brokers list it once for each (BQ-LIST-1), which leaves queues without a member: its end shows that, and its
        shares are judged apart from it."""
        listed = json.loads(response.body)["consumerIdList"] if response.body else []
        once = [*self._others[::-1], *dict.fromkeys(listed)]
        if once == listed:
            return response
        return command((0, "", {}, document({"consumerIdList": once})))

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self.traffic.closed(peer)
        self.broker.dispatcher.closed(peer)

    def fail(self, request: Request, fault: str) -> None:
        """Play every request of a kind by a fault from now on (``fault_script``; ``models.client.whole_moves`` has the
        others), and others no more. A pull does not commit while commits fail, and those that are held fail when pulls
        do, or are never answered when pulls are not."""
        self._fail(Failing(request, fault))

    def fail_alone(self, request: Request, fault: str, queue: int | None, topic: str = "") -> None:
        """Play those about a queue of the topic, or about the topic or another one, by a fault from now on, and others
        no more; a pull of that queue does not commit while its commits fail."""
        self._fail(Failing(request, fault, topic or self.topic, queue))

    def _fail(self, failing: Failing) -> None:
        self.repeated.disarm()
        self._play(failing)
        _, fault, topic, queue = failing
        if fault == LATE or failing.request is not Request.PULL_MESSAGE:
            return
        if fault == SILENT:
            self.broker.forget_held_pulls(topic, queue)
            self.traffic.unanswered(queue)
        else:
            self.broker.fail_held_pulls(topic, queue)

    def members(self) -> tuple[str, ...]:
        """The client ids that the broker knows as members of the group."""
        return tuple(self.broker.members(GROUP))

    def mend(self) -> None:
        """Answer every request again."""
        super().mend()
        self.repeated.disarm()

    def resize(self, queues: int) -> None:
        """The topic has so many queues from now on, and its route names them."""
        self.set_topic(Topic.of(queues))

    def set_topic(self, settings: Topic) -> None:
        """The topic has these settings from now on."""
        # without a TCP door requests come one by one anyway
        place = self.broker if self.broker.running else self.broker.storage
        place.create_topic(TOPIC, settings)

    def add_other_topic(self) -> None:
        """Have another topic, whose queues and stored offsets are like those of the first one."""
        self.broker.storage.begin(with_other_topic(ORDINARY, self.broker.state))
        self._has_other = True
        self.traffic.watch_other(OTHER_TOPIC)

    def send(self, queue: int) -> None:
        """A message arrives in a queue."""
        other = self._has_other and queue >= OTHER_QUEUES
        self.broker.send(OTHER_TOPIC if other else TOPIC, b"x", queue - OTHER_QUEUES if other else queue)

    def send_again(self, queue: int, how: str) -> None:
        """A message arrives in a queue. If a pull waits there, the answer that brings it comes twice, or once the pull
        was sent again, which is answered, too."""
        if self.traffic.waiting(queue):
            self.repeated.arm(TOPIC, queue, how)
            if how == TOO_LATE:
                self.repeated.put_off_held(self.broker.forget_held_pulls(TOPIC, queue))
                self.traffic.unanswered(queue)
        self.send(queue)

    def send_as(self, form: str, queue: int) -> range:
        """A message of a form arrives in a queue, between two plain ones; its offsets."""
        first = self.max_offset(queue) + 1
        self.broker.send_together(between_plain(form, TOPIC, queue))
        return range(first, first + offsets_of(form))

    def divide(self, queues: int) -> None:
        """Have a topic of so many queues, in each of which the group has stored the same offset."""
        self.prepare(queues, "young", STORED)

    def crowd(self, before: int, after: int, members: Iterable[str] = ()) -> None:
        """List so many clients before those of ``members``, and after them; tell these that the group has changed."""
        self._others = Crowded(before, after).clients(members)
        if self.broker.members(GROUP):
            request = Command(int(Request.NOTIFY_CONSUMER_IDS_CHANGED), {"consumerGroup": GROUP})
            self.broker.send_to_members(GROUP, request)

    # --- messages that come again -----------------------------------------------------------------------------

    def add_retry_topic(self) -> None:
        """Have the group's retry topic before its first member joins, which would find no route to it."""
        storage = self.broker.storage
        storage.state = storage.state._replace(topics={**storage.state.topics, RETRY_TOPIC: Topic.of(1)})

    def deliver(self) -> None:
        """So much time passes at the broker that everything that was sent back comes again."""
        self._now += max(self.broker.retries.levels)
        self.broker.deliver()

    def retry_queue(self, members: Mapping[str, int]) -> Value:
        """The member that pulls the retry queue and the offset that it waits for, where the group begins there, and the
        number of messages that wait to come again."""
        client, at = next(iter(self.traffic.waiting(RETRIES)), ("", -1))
        begins = retry_begins(self._where, self.broker.state.stored.get((GROUP, RETRY_TOPIC, 0), -1))
        stored = self.traffic.shown(RETRIES, begins)
        return members.get(client, STRANGER) if client else -1, at, stored, self.broker.retries.waiting

    def reset(self, offset: int) -> None:
        """Tell the members to reset queue 0 to an offset, in the form of their language: an administrator says of
        which one they are (AdminBrokerProcessor#resetOffset @ 5.3.3)."""
        fields = {"group": GROUP, "topic": TOPIC, "timestamp": "0", "isForce": "true"}
        offsets = [(MessageQueue(TOPIC, BROKER, 0), offset)]
        request = Command(int(Request.RESET_CONSUMER_CLIENT_OFFSET), fields, reset_body(offsets))
        if self.broker.members(GROUP):
            self.broker.send_to_members(GROUP, request, reset_body_for_cpp(offsets))

    # --- locks ----------------------------------------------------------------------------------------------

    def take_locks(self) -> None:
        """The broker loses all locks, and a client outside the group takes those of the topic."""
        self.traffic.refused.clear()
        self.broker.take_locks(GROUP, OUTSIDE, [(TOPIC, BROKER, queue) for queue in range(self.queues)])

    def expire_locks(self) -> None:
        """So much time passes at the broker that every lock expires which is not confirmed again."""
        self._now += MAX_LIVE_TIME + 1

    def locks(self, members: Mapping[str, int]) -> tuple[int, ...]:
        """The member that has the lock of each queue: -1 for nobody, -2 for a client that is not among them."""
        held = self.broker.locks()
        owners = [held.get((GROUP, TOPIC, queue)) for queue in range(self.queues)]
        return tuple(-1 if owner is None else members.get(owner, STRANGER) for owner in owners)

    def _refusals(self, request: Command, response: Command) -> None:
        _, client, asked = locked(request.body)
        granted = json.loads(response.body)["lockOKMQSet"] if response.body else []
        given = {(one["topic"], one["queueId"]) for one in granted}
        for topic, _, queue in asked:
            if topic == TOPIC and (topic, queue) not in given:
                self.traffic.refused.add((client or "", queue))

    # --- what is seen ---------------------------------------------------------------------------------------

    @property
    def queues(self) -> int:
        """How many queues the topic has."""
        return self.broker.state.topics[TOPIC].read_queues

    @property
    def seen(self) -> Sequence[int]:
        """The numbers of the queues that answers show."""
        return [number_of(ORDINARY, queue) for queue in seen_queues(ORDINARY, self.broker.state)]

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""
        stored = self.broker.state.stored
        seen = seen_queues(ORDINARY, self.broker.state)
        return tuple(stored.get(ORDINARY.stored_keys[queue], -1) for queue in seen)

    def offers(self, queue: int, offset: int) -> bool:
        """Is an offset between min and max of a queue, both included?"""
        log = self.broker.state.logs.get((TOPIC, queue), ABSENT)
        return log.min <= offset <= log.max

    def max_offset(self, queue: int) -> int:
        """The offset after the last message of a queue."""
        return self.broker.state.logs.get((TOPIC, queue), ABSENT).max
