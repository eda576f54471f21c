"""The port's whole push consumers, which are answered in an unusual way about one thing alone."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_answers as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import ORDINARY, TOPIC


class WholeAnswers(WholePush):
    """The members that run."""

    #: The queue about which requests fail, by its number.
    lone: int | None = None

    def fail_pulls(self, queue: int, answer: str) -> Result:
        """From now on pulls of a queue fail."""
        return self.fail_alone("PULL_MESSAGE", answer, queue)

    def fail_start(self, queue: int, request: str, answer: str) -> Result:
        """From now on a question where a queue begins fails."""
        return self.fail_alone(request, answer, queue)

    def fail_commits(self, queue: int, answer: str) -> Result:
        """From now on commits of a queue fail."""
        return self.fail_alone("UPDATE_CONSUMER_OFFSET", answer, queue)

    def fail_list(self, answer: str) -> Result:
        """From now on the list of members cannot be had."""
        return self.fail("GET_CONSUMER_LIST_BY_GROUP", answer)

    def fail_route(self, answer: str) -> Result:
        """From now on the route of the topic cannot be had."""
        return self.fail_alone("GET_ROUTEINFO_BY_TOPIC", answer, None)

    def fail_alone(self, request: str, fault: str, queue: int | None) -> Result:
        """From now on requests about a queue fail, or about the topic, and no other ones."""
        self.instead(lambda: self.world.fail_alone(Request[request], fault, queue))
        self.lone = queue
        for consumer in filter(None, self.members):
            self.learn(consumer)
        return self.look()

    def send_again(self, queue: int, how: str) -> Result:
        """A message arrives in a queue, and the answer that brings it comes twice, or too late."""
        if queue < self.world.queues:
            self.world.send_again(queue, how)
            if self.world.repeated.put_off:
                self.pull_again(queue)
        return self.look()

    def ask_again(self) -> None:
        """The time of the pulls is up that were not answered: they are sent again."""
        if self.lone is not None:
            self.pull_again(self.lone)

    def pull_again(self, number: int) -> None:
        """Give the pulls of a queue up, and send another one."""
        queue = ORDINARY.places.index((TOPIC, number))
        for consumer, line in zip(self.members, self._lines, strict=True):
            owned = consumer.table.get(queue) if consumer is not None else None
            if consumer is None or line is None or owned is None:
                continue
            for opaque in [opaque for opaque, one in line.asked.items() if one is owned]:
                self.forget_pull(line, opaque)
            self.ask(consumer, line, queue, owned)

    def forget_pull(self, line: Line, opaque: int) -> None:
        """Wait no longer for the answer to a pull."""
        del line.asked[opaque]

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Prepare: methods[group.Prepare],
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Crash: methods[group.Crash],
            operations.Send: methods[group.Send],
            operations.Look: methods[group.Look],
            operations.Mend: methods[group.Mend],
            operations.FailPulls: self.fail_pulls,
            operations.FailStart: self.fail_start,
            operations.FailCommits: self.fail_commits,
            operations.FailList: self.fail_list,
            operations.FailRoute: self.fail_route,
            operations.SendAgain: self.send_again,
        }


PART = WholeAnswers
