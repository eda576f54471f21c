"""Plays the suite ``start-push`` with the release's own push consumer."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.suites.start_push import Start, StartAtTime, StartAtTimeChecked, StartChecked


class JavaStartPush(JavaStart):
    """A push consumer."""

    consumer_class = "client.consumer.DefaultMQPushConsumer"
    implementation = "defaultMQPushConsumerImpl"

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Start: self.start,
            StartChecked: self.start_checked,
            StartAtTime: self.start_at_time,
            StartAtTimeChecked: self.start_at_time_checked,
            **self.around(),
        }


PART = JavaStartPush
