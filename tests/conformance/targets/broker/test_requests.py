"""What the requests to a broker hold."""

from __future__ import annotations

import json

from rocketmq_conformance.conformance.targets.broker import requests


def test_a_client_that_is_not_said_is_no_field() -> None:
    asked = json.loads(requests.lock("G", None, [("T", "b", 0)]).body)
    assert asked == {"consumerGroup": "G", "mqSet": [{"topic": "T", "brokerName": "b", "queueId": 0}]}
    assert json.loads(requests.unlock("G", "c", []).body) == {"consumerGroup": "G", "clientId": "c", "mqSet": []}


def test_only_a_pull_that_commits_has_the_flag() -> None:
    plain, commits = requests.pull("G", "T", 0, 5), requests.pull("G", "T", 0, 5, 0)
    assert (plain.ext["sysFlag"], commits.ext["sysFlag"]) == ("4", "5")
    assert requests.pull("G", "T", 0, 5, -1).ext["commitOffset"] == "-1"
