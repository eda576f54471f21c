"""Plays the suite ``start-lite-pull`` with the release's own lite pull consumer."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL
from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.suites.start_lite_pull import Start, StartAtTime, StartAtTimeChecked, StartChecked


class JavaStartLitePull(JavaStart):
    """A lite pull consumer."""

    since = LITE_PULL
    lacking = "lite pull consumer"
    consumer_class = "client.consumer.DefaultLitePullConsumer"
    implementation = "defaultLitePullConsumerImpl"

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Start: self.start,
            StartChecked: self.start_checked,
            StartAtTime: self.start_at_time,
            StartAtTimeChecked: self.start_at_time_checked,
            **self.around(),
        }


PART = JavaStartLitePull
