"""The commands ``predict …``: what a group of a real cluster will do, by the model."""

from __future__ import annotations

import click

from rocketmq_conformance.conformance.cli.lazy_group import Lazy, LazyGroup

_HERE = "rocketmq_conformance.conformance.cli"
#: The commands of the group by name; what they need is imported when they are used.
COMMANDS = {
    "allocation": Lazy(
        f"{_HERE}.predict_more:allocation",
        "Who gets which queues, and what moves.",
        "predict allocation --members 10.0.0.1@1,10.0.0.2@1 --queues broker-a:4",
    ),
    "failover": Lazy(
        f"{_HERE}.predict_failover:failover",
        "What it does to a group that its master is gone, and back.",
        "predict failover --broker 4.9.7 --queue 7/5/10 --queue -/3/10",
    ),
    "reset": Lazy(
        f"{_HERE}.predict_more:reset",
        "What a reset does, queue by queue and to members that run.",
        "predict reset 127.0.0.1:9876 --group app --topic orders --to end",
    ),
    "start": Lazy(
        f"{_HERE}.predict_start:start",
        "Where a group's consumers start, and what they consume again or skip.",
        "predict start 127.0.0.1:9876 --group app",
    ),
    "state": Lazy(
        f"{_HERE}.predict_state:state",
        "Write what is known about a group to a file, with names masked.",
        "predict state 127.0.0.1:9876 --group app --out facts.json",
    ),
    "upgrade": Lazy(
        f"{_HERE}.predict_more:upgrade",
        "What other releases change for a group, or for all of them.",
        "predict upgrade 127.0.0.1:9876 --all --broker 4.9.7..5.5.0",
    ),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def predict() -> None:
    """Predict what a group of a real cluster will do. Nothing is created or changed there.

    The exit code is 0 when it predicted, 2 for wrong usage, and 4 when the cluster could not be read. It is 1 when a
    limit is exceeded (start, failover), the reset would not be made (reset), a queue has no owner or several
    (allocation), or a first message changes (upgrade).
    """
