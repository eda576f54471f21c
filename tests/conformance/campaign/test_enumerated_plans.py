"""Plans of an enumeration in a process of Spark, without one: they are judged there as in a run."""

from __future__ import annotations

from rocketmq_conformance.conformance.campaign import enumeration
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES


def test_accidents_of_java_are_judged_only_of_who_follows_java() -> None:
    read = SUITES["remote-store"].index["read"]
    found = {
        name: [
            verdict
            for _, verdict, _, _ in enumeration._play(
                f"python:null_refused:{name}", "remote-store", (), [(1, [(read, (-1, "memory", "answer"))])]
            )
        ]
        for name in ("OfAnotherMake", "LikeJava")
    }
    assert found == {"OfAnotherMake": [CONFORMS], "LikeJava": [DIVERGES]}
