"""The group of commands ``prove …``: check the model itself against real RocketMQ."""

from __future__ import annotations

import click

from rocketmq_conformance.conformance.cli.lazy_group import Lazy, LazyGroup

_PROOFS = "rocketmq_conformance.conformance.cli.proofs"
#: The commands of the group by name; what they need is imported when they are used.
COMMANDS = {
    "all": Lazy(
        f"{_PROOFS}:all_", "Prove everything: all releases of clients and brokers, and all pairs.", "prove all"
    ),
    "broker": Lazy(f"{_PROOFS}:broker", "Ask real brokers, started from jars.", "prove broker 5.5.0"),
    "folklore": Lazy(
        "rocketmq_conformance.conformance.cli.folklore:folklore",
        "Ask where new groups start, and how they are made to start at the end.",
        "prove folklore",
    ),
    "java": Lazy(f"{_PROOFS}:java", "Ask the classes of real Java clients.", "prove java 5.5.0"),
    "page": Lazy(f"{_PROOFS}:page", "Show what was proven, rule by rule.", "prove page"),
    "pairs": Lazy(f"{_PROOFS}:pairs", "Ask every pair of a real client and a real broker.", "prove pairs"),
    "predict": Lazy(
        f"{_PROOFS}:predict",
        "Compare what `predict` says with what real consumers and brokers do.",
        "prove predict --brokers 5.5.0 --few",
    ),
    "upgrades": Lazy(
        f"{_PROOFS}:upgrades",
        "Compare what `predict upgrade` says with what the next broker shows.",
        "prove upgrades 4.9.7,5.5.0",
    ),
    "whole": Lazy(f"{_PROOFS}:whole", "Run whole Java consumers, with threads and sockets.", "prove whole"),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def prove() -> None:
    """Check the model itself against real RocketMQ. Java and Maven are needed, except for `page`.

    Every result is printed, and its rows are kept, as soon as it is known; Ctrl-C keeps them, too.

    Exit codes: 0 all agree, 1 something differs, 2 usage, 3 releases are left (after --max-time or Ctrl-C), 4 a
    release could not be judged.
    """
