"""The port's whole push consumers that subscribe to another topic while they run."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites import whole_subscriptions as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC

#: The topics, by their numbers in answers.
TOPICS = TOPIC, OTHER_TOPIC


class WholeSubscriptions(WholePush):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: Do members subscribe to the other topic?
        self.subscribed = False

    def begin_case(self, case: Case) -> None:
        """Begin a case: nobody runs, and nobody is to subscribe to the other topic."""
        self.subscribed = False
        super().begin_case(case)

    def prepare(self, queues: int, shape: str, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            super().prepare(queues, shape, stored, where)
            self.world.add_other_topic()
        return None

    # --- subscriptions --------------------------------------------------------------------------------------

    def topics(self) -> list[str]:
        """The topics that a member subscribes to when it starts."""
        return [TOPIC, OTHER_TOPIC] if self.subscribed else [TOPIC]

    def named(self, consumer: Consumer) -> list[str]:
        """Heartbeats name all topics that a member subscribes to."""
        return consumer.topics

    def begin_topic(self, consumer: Consumer, line: Line) -> None:
        """A member subscribes: a heartbeat says so at once, and the timer asks for the route."""
        self.subscribe(consumer, OTHER_TOPIC)
        self.say(consumer, line)
        self.learn(consumer)

    def end_topic(self, consumer: Consumer, line: Line) -> None:
        """A member unsubscribes: the timer's heartbeat says so, and the next round lets the queues go."""
        self.unsubscribe(consumer, OTHER_TOPIC)
        self.say(consumer, line)

    def say(self, consumer: Consumer, line: Line) -> None:
        """Send a heartbeat."""
        self.beat(consumer, line)

    # --- operations -----------------------------------------------------------------------------------------

    def choose(self, shape: str, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        return self.prepare(4, shape, stored, where)

    def send(self, queue: int) -> Result:
        """A message arrives in a queue, or in every queue."""
        for number in self.world.seen:
            if queue in (number, EVERY):
                self.world.send(number)
        return self.look()

    def subscribe_all(self) -> Result:
        """Every member subscribes to the other topic, unless they do."""
        if not self.subscribed:
            self.subscribed = True
            for consumer, line in zip(self.members, self._lines, strict=True):
                if consumer is not None and line is not None:
                    self.begin_topic(consumer, line)
        return self.look()

    def unsubscribe_all(self) -> Result:
        """Every member unsubscribes from the other topic, if they are subscribed."""
        if self.subscribed:
            self.subscribed = False
            for consumer, line in zip(self.members, self._lines, strict=True):
                if consumer is not None and line is not None:
                    self.end_topic(consumer, line)
        return self.look()

    def fail_of(self, topic: int, request: str) -> Result:
        """From now on a request about one topic is refused."""
        self.world.fail_alone(Request[request], "SYSTEM_ERROR", None, TOPICS[topic])
        for consumer in filter(None, self.members):
            self.learn(consumer)
        return self.look()

    def said_queue(self, queue: int) -> int:
        """The number of a queue: messages have their topic, too."""
        return super().said_queue(queue) + (OTHER_QUEUES if ORDINARY.queues[queue].topic == OTHER_TOPIC else 0)

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, and the topics that heartbeats named."""
        seen, said = super().observed(running), self.world.traffic.topics
        assert isinstance(seen, tuple)
        named = [said.get(name, ()) if name in running else () for name in ORDINARY.members]
        return (*seen, tuple(tuple(number for number, topic in enumerate(TOPICS) if topic in one) for one in named))

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Prepare: self.choose,
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Crash: methods[group.Crash],
            operations.Send: self.send,
            operations.Look: methods[group.Look],
            operations.Subscribe: self.subscribe_all,
            operations.Unsubscribe: self.unsubscribe_all,
            operations.FailOf: self.fail_of,
            operations.Mend: methods[group.Mend],
        }


PART = WholeSubscriptions
