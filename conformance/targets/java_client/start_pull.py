"""Plays the suite ``start-pull`` with the release's own plain pull consumer, which has no setting where to start."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.start_pull import Start, StartChecked


class JavaStartPull(JavaStart):
    """A plain pull consumer."""

    consumer_class = "client.consumer.DefaultMQPullConsumer"
    implementation = "defaultMQPullConsumerImpl"

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Start: self.start_anywhere,
            StartChecked: self.start_anywhere_checked,
            **self.around(),
        }

    def start_anywhere(self, queue: int) -> Result:
        """The start offset."""
        return self.start(queue, LAST)

    def start_anywhere_checked(self, queue: int) -> Result:
        """The same, with failures as errors."""
        return self.start_checked(queue, LAST)


PART = JavaStartPull
