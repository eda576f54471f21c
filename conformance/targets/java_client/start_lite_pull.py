"""Plays the suite ``start-lite-pull`` with the release's own lite pull consumer."""

from __future__ import annotations

from typing import ClassVar

from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL
from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.suites.start_lite_pull import Start, StartAtTime, StartAtTimeChecked, StartChecked


class JavaStartLitePull(JavaStart):
    """A lite pull consumer."""

    since = LITE_PULL
    lacking = "lite pull consumer"
    consumer_class = "client.consumer.DefaultLitePullConsumer"
    implementation = "defaultLitePullConsumerImpl"
    starts: ClassVar = {
        Start: JavaStart.start,
        StartChecked: JavaStart.start_checked,
        StartAtTime: JavaStart.start_at_time,
        StartAtTimeChecked: JavaStart.start_at_time_checked,
    }


PART = JavaStartLitePull
