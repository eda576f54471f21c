"""The port's whole push consumers whose listeners can be told to fail or to hold what they are given."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import (
    Message,
    decode_all,
    format_properties,
    message_id,
    parse_properties,
)
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import NOT_ENDED, Line, WholePush, with_end
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_listener as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY

_BACK, _SEND = int(Request.CONSUMER_SEND_MSG_BACK), int(Request.SEND_MESSAGE_V2)
#: How often a message may be tried, and the delay level of a copy that was never tried before.
_MOST, _LEVEL = "16", 3


class Batch(NamedTuple):
    """Messages that a listener was given, up to an offset of a queue."""

    queue: int
    owned: OwnedQueue
    messages: list[Message]
    following: int


class WholeListener(WholePush):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: What each member's listener does, and what it holds.
        self.listeners = [SUCCEEDS for _ in ORDINARY.members]
        self.held: list[list[Batch]] = [[] for _ in ORDINARY.members]
        #: The messages of the pull that was answered last.
        self.pulled: list[Message] = []

    def begin_case(self, case: Case) -> None:
        """Begin a case: nobody runs."""
        super().begin_case(case)
        self.world.add_retry_topic()
        self.world.listeners_fail = True

    def prepare(self, queues: int, shape: str, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        super().prepare(queues, shape, stored, where)
        self.world.add_retry_topic()
        return None

    # --- a member's life ------------------------------------------------------------------------------------

    def topics(self) -> list[str]:
        """The topic, and the group's retry topic."""
        return [*super().topics(), RETRY_TOPIC]

    def start(self, member: int) -> None:
        """Start a member, whose listener succeeds."""
        self.listeners[member], self.held[member] = SUCCEEDS, []
        super().start(member)

    def connected_again(self, line: Line) -> None:
        """A connection is a new one: what was pulled over the other one is not answered."""
        super().connected_again(line)
        line.asked.clear()

    def connect(self, consumer: Consumer, line: Line) -> None:
        """A member becomes known, and pulls its queues if it was known before."""
        super().connect(consumer, line)
        for queue, owned in consumer.table.items() if line.known else ():
            self.ask(consumer, line, queue, owned)

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue, unless the connection was lost and the member is not known again."""
        if line.known or not line.reconnected:
            super().ask(consumer, line, queue, owned)

    # --- messages -------------------------------------------------------------------------------------------

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        """A pull was answered: let the listener have its messages, and pull on."""
        self.pulled = decode_all(response.body) if response.code == 0 else []
        super().answered(consumer, line, queue, owned, response)

    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """Messages were pulled, up to an offset: the listener has them."""
        self.listen_to(consumer, queue, owned.offset, following)
        member, batch = ORDINARY.members.index(consumer.client), Batch(queue, owned, self.pulled, following)
        if self.listeners[member] == HOLDS:
            self.hold(consumer, member, batch)
        else:
            self.returned(consumer, batch, self.listeners[member])

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """A pull found nothing: what the listener holds is not consumed yet."""
        if not any(batch.owned is owned for batch in self.held[ORDINARY.members.index(consumer.client)]):
            super().found_nothing(consumer, queue, owned, following)

    def hold(self, consumer: Consumer, member: int, batch: Batch) -> None:
        """A listener does not return."""
        self.held[member].append(batch)

    def returned(self, consumer: Consumer, batch: Batch, how: str) -> None:
        """A listener returned: what it says of a queue that was lost is discarded."""
        if not self.takes(batch.owned):
            return
        if how == FAILS:
            for message in batch.messages:
                self.give_back(message)
        self.result(consumer, batch.queue, batch.owned, batch.following)

    def give_back(self, message: Message) -> None:
        """Send a message back, or a copy of it when that is refused."""
        ext = {
            "group": GROUP,
            "originTopic": self.first_topic(message),
            "offset": str(message.physical),
            "delayLevel": "0",
            "originMsgId": message_id(message.store_host, message.physical),
            "maxReconsumeTimes": _MOST,
        }
        if not self.is_taken_back(ext):
            self.copy(message)

    def is_taken_back(self, ext: dict[str, str]) -> bool:
        """Does the broker take a message back? Not if no answer comes."""
        try:
            return self.takes_code(self.transport.ask(RETRY_TOPIC, BROKER, _BACK, ext)[0])
        except OSError:
            return False

    def takes_code(self, code: int) -> bool:
        """Does the code of an answer say that a message was taken back?"""
        return code == 0

    def copy(self, message: Message) -> None:
        """Send a copy of a message to the retry topic."""
        properties = {
            **parse_properties(message.properties),
            "RETRY_TOPIC": self.first_topic(message),
            "DELAY": str(_LEVEL + message.reconsume_times),
        }
        ext = {"a": "CLIENT_INNER_PRODUCER", "b": RETRY_TOPIC, "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "0"}
        times = str(message.reconsume_times + 1)
        more = {"h": "0", "i": format_properties(properties), "j": times, "k": "false", "l": _MOST}
        self.transport.ask(RETRY_TOPIC, BROKER, _SEND, {**ext, **more}, body=message.body)

    def first_topic(self, message: Message) -> str:
        """The topic that a message was first sent to."""
        return parse_properties(message.properties).get("RETRY_TOPIC", message.topic)

    # --- operations -----------------------------------------------------------------------------------------

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs and its listener does not hold."""
        if self.members[member] is not None and self.listeners[member] == HOLDS:
            return with_end(self.look(), NOT_ENDED)
        return super().leave_group(member)

    def listen(self, member: int, listener: str) -> Result:
        """A member's listener does this from now on, and ends so what it holds."""
        consumer, self._line = self.members[member], self._lines[member] or self._line
        if consumer is not None:
            self.listeners[member] = listener
            if listener != HOLDS:
                for batch in self.held[member]:
                    self.returned(consumer, batch, listener)
                self.held[member].clear()
        return self.look()

    def deliver(self) -> Result:
        """Everything that was sent back comes again."""
        self.world.deliver()
        return self.look()

    def refuse(self, refuses: bool) -> Result:
        """The broker refuses to take messages back, or takes them."""
        if refuses:
            self.world.fail(Request.CONSUMER_SEND_MSG_BACK, "SYSTEM_ERROR")
        else:
            self.world.mend()
        return self.look()

    def refuse_one(self, queue: int, answer: str) -> Result:
        """A message arrives in every queue, and the request to take that of one queue back fails, or is answered late,
        or twice."""
        self.world.fail_alone(Request.CONSUMER_SEND_MSG_BACK, answer, queue)
        for number in sorted(range(self.world.queues), key=lambda number: number != queue):
            self.world.send(number)
            self.turns()
        seen = self.look()
        self.world.mend()
        return seen

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, and the retry queue."""
        seen = super().observed(running)
        assert isinstance(seen, tuple)
        return (*seen, self.world.retry_queue(running))

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            group.Prepare: methods[group.Prepare],
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Crash: methods[group.Crash],
            operations.Send: methods[group.Send],
            operations.Look: methods[group.Look],
            operations.Listen: self.listen,
            operations.Deliver: self.deliver,
            operations.Refuse: self.refuse,
            operations.RefuseOne: self.refuse_one,
            operations.LoseOne: self.refuse_one,
        }


PART = WholeListener
