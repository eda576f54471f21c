"""Plays the suite ``start-push`` with the release's own push consumer."""

from __future__ import annotations

from typing import ClassVar

from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.suites.start_push import Start, StartAtTime, StartAtTimeChecked, StartChecked


class JavaStartPush(JavaStart):
    """A push consumer."""

    consumer_class = "client.consumer.DefaultMQPushConsumer"
    implementation = "defaultMQPushConsumerImpl"
    starts: ClassVar = {
        Start: JavaStart.start,
        StartChecked: JavaStart.start_checked,
        StartAtTime: JavaStart.start_at_time,
        StartAtTimeChecked: JavaStart.start_at_time_checked,
    }


PART = JavaStartPush
