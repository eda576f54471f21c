"""The fixture ``rocketmq_broker``, in a test project that has nothing but the kit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from places import ROOT

TESTS = """
import pytest
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request


def asked(broker, request, **fields):
    host, port = broker.address.split(":")
    with Connection(host, int(port), 30.0) as line:
        return line.call(request, fields)


@pytest.mark.rocketmq_broker(version="4.9.8", topics={"orders": 3}, auto_create=False)
def test_marked(rocketmq_broker):
    assert b'"writeQueueNums":3' in asked(rocketmq_broker, Request.GET_ROUTEINFO_BY_TOPIC, topic="orders").body
    assert b"V4_9_8" in asked(rocketmq_broker, Request.GET_BROKER_RUNTIME_INFO).body
    assert asked(rocketmq_broker, Request.GET_ROUTEINFO_BY_TOPIC, topic="other").code != 0


def test_plain(rocketmq_broker):
    assert b"V5_5_0" in asked(rocketmq_broker, Request.GET_BROKER_RUNTIME_INFO).body
    rocketmq_broker.create_topic("orders", 2)
    assert rocketmq_broker.send("orders", b"body") == 0


@pytest.mark.rocketmq_broker(version="six")
def test_no_release(rocketmq_broker):
    pass


@pytest.mark.rocketmq_broker(release="4.9.8")
def test_unknown_option(rocketmq_broker):
    pass
"""


def test_a_test_of_another_project_gets_a_broker_as_it_is_marked(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", "test_theirs.py"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert "2 passed, 2 errors" in ran.stdout, ran.stdout + ran.stderr
    assert "the mark rocketmq_broker: 'six' is not a RocketMQ release" in ran.stdout
    assert "the mark rocketmq_broker takes version=, topics= and auto_create=, by name" in ran.stdout
    assert ran.stdout.count("Traceback") == 0


def test_the_mark_is_documented() -> None:
    assert "@pytest.mark.rocketmq_broker(version=" in (ROOT / "docs" / "guides" / "fake-broker.md").read_text("utf-8")
