"""Plays the suite ``start-pull`` with the release's own plain pull consumer, which has no setting where to start."""

from __future__ import annotations

from typing import ClassVar

from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.conformance.targets.java_client.steps import Calls
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.suites.start_pull import Start, StartChecked


class JavaStartPull(JavaStart):
    """A plain pull consumer."""

    consumer_class = "client.consumer.DefaultMQPullConsumer"
    implementation = "defaultMQPullConsumerImpl"

    def start_anywhere(self, queue: int) -> Calls:
        """The start offset."""
        return self.start(queue, LAST)

    def start_anywhere_checked(self, queue: int) -> Calls:
        """The same, with failures as errors."""
        return self.start_checked(queue, LAST)

    starts: ClassVar = {Start: start_anywhere, StartChecked: start_anywhere_checked}


PART = JavaStartPull
