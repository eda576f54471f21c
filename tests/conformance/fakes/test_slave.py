"""A fake broker that is the slave of another one."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.broker import FakeBroker


def test_a_slave_has_messages_at_once_and_the_rest_once_it_asks() -> None:
    with FakeBroker() as master, FakeBroker(slave=True) as slave:
        slave.follow(master)
        master.create_topic("T", 1)
        master.create_group("G")
        assert [master.send("T", body) for body in (b"a", b"b")] == [0, 1]
        assert [one.body for one in slave.messages("T")] == [b"a", b"b"]
        assert "T" not in slave.state.topics
        slave.synchronise()
        assert ("T" in slave.state.topics, "G" in slave.state.groups) == (True, True)
        master.stop()
        slave.synchronise()
        assert "T" in slave.state.topics
