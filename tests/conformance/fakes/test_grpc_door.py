"""The gRPC door of the fake proxy: what clients are answered, over a real connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from grpc_calls import GrpcCalls

from rocketmq_conformance.conformance.fakes.grpc_door import GrpcDoor
from rocketmq_conformance.conformance.fakes.proxy_case import ProxyCase, ProxySettings
from rocketmq_conformance.conformance.remoting.grpc_codes import Code, DigestType, Encoding
from rocketmq_conformance.models.client.grpc_forms import FORMS

GROUP, TOPIC = {"name": "G"}, {"name": "T"}


@pytest.fixture
def case() -> ProxyCase:
    """A case whose receives poll for a short time."""
    made = ProxyCase("T", "G", time.monotonic)
    made.settings = ProxySettings(batch=3, polling=0.3, backoff=(1.0, 2.5), attempts=4)
    return made


@pytest.fixture
def calls(case: ProxyCase) -> Iterator[GrpcCalls]:
    """A client of its proxy."""
    with closing(GrpcDoor(case)) as door, closing(GrpcCalls(f"127.0.0.1:{door.port}")) as made:
        yield made


def test_a_route_and_an_assignment_name_queues_whose_endpoints_are_the_proxy(case: ProxyCase, calls: GrpcCalls) -> None:
    route = calls.call("QueryRoute", topic=TOPIC)
    assert [(one.id, one.broker.endpoints.addresses[0].host) for one in route.message_queues] == [
        (0, "127.0.0.1"),
        (1, "127.0.0.1"),
    ]
    assert calls.call("QueryRoute", topic={"name": "other"}).status.code == Code.TOPIC_NOT_FOUND
    assignments = calls.call("QueryAssignment", topic=TOPIC, group=GROUP).assignments
    assert [one.message_queue.id for one in assignments] == [-1]


def test_settings_are_answered_with_those_of_the_group(case: ProxyCase, calls: GrpcCalls) -> None:
    ends = threading.Event()
    settings = calls.settings("G", "T", ends)
    assert settings.subscription.receive_batch_size == 3
    assert [one.seconds + one.nanos / 1e9 for one in settings.backoff_policy.customized_backoff.next] == [1.0, 2.5]
    assert (settings.backoff_policy.max_attempts, settings.subscription.group.name) == (4, "G")
    case.settings = ProxySettings(exponential=True, backoff=(1.0, 5.0, 2.0))
    again = calls.settings("G", "T", ends).backoff_policy
    assert (again.exponential_backoff.max.seconds, len(again.customized_backoff.next)) == (5, 0)
    ends.set()


def test_a_receive_is_answered_with_messages_or_once_its_time_is_up(case: ProxyCase, calls: GrpcCalls) -> None:
    assert calls.receive("G", "T", -1, 3, 0.3) == (Code.MESSAGE_NOT_FOUND, [])
    for queue in (0, 1):
        case.send(queue)
    code, messages = calls.receive("G", "T", -1, 3, 0.3)
    assert (code, [(one.system_properties.queue_id, one.body) for one in messages]) == (
        Code.OK,
        [(0, b"0/0"), (1, b"1/0")],
    )
    first = messages[0].system_properties
    assert (first.delivery_attempt, first.body_digest.type, first.body_encoding) == (
        1,
        DigestType.MD5,
        Encoding.IDENTITY,
    )
    waiting = threading.Timer(0.1, case.send, (1,))
    waiting.start()
    assert len(calls.receive("G", "T", 1, 3, 0.3)[1]) == 1


def test_messages_end_by_their_newest_handle_alone(case: ProxyCase, calls: GrpcCalls) -> None:
    case.send(0, FORMS["gzip"])
    _, (message,) = calls.receive("G", "T", 0, 1, 0.3)
    what = {"message_id": message.system_properties.message_id, "receipt_handle": "another"}
    answer = calls.call("AckMessage", group=GROUP, topic=TOPIC, entries=[what])
    assert (answer.status.code, answer.entries[0].status.code) == (Code.INVALID_RECEIPT_HANDLE,) * 2
    what["receipt_handle"] = message.system_properties.receipt_handle
    changed = calls.call("ChangeInvisibleDuration", **what, invisible_duration={"seconds": 7})
    assert changed.status.code == Code.OK
    assert calls.call("ChangeInvisibleDuration", **what).status.code == Code.INVALID_RECEIPT_HANDLE
    what["receipt_handle"] = changed.receipt_handle
    assert calls.call("ForwardMessageToDeadLetterQueue", **what).status.code == Code.OK
    assert [how for _, _, how in case.ended] == [
        "acknowledged by a stale handle",
        "comes again after 7 s",
        "comes again after 0 s by a stale handle",
        "dead letter",
    ]


def test_calls_that_are_refused_say_so_and_others_do_not(case: ProxyCase, calls: GrpcCalls) -> None:
    case.refuse("Heartbeat", Code.INTERNAL_SERVER_ERROR)
    assert calls.call("Heartbeat", group=GROUP, client_type=2).status.code == Code.INTERNAL_SERVER_ERROR
    assert calls.call("QueryRoute", topic=TOPIC).status.code == Code.OK
    case.refuse("ReceiveMessage", Code.TOO_MANY_REQUESTS)
    assert calls.receive("G", "T", -1, 3, 0.3) == (Code.TOO_MANY_REQUESTS, [])
    case.mend()
    assert calls.call("NotifyClientTermination", group=GROUP).status.code == Code.OK
    assert case.seen("client").open_at_end == 0


def test_a_client_without_an_id_is_refused(case: ProxyCase) -> None:
    with closing(GrpcDoor(case)) as door, closing(GrpcCalls(f"127.0.0.1:{door.port}", "")) as calls:
        assert calls.call("QueryRoute", topic=TOPIC).status.code == Code.CLIENT_ID_REQUIRED


def test_several_codes_are_multiple_results(case: ProxyCase, calls: GrpcCalls) -> None:
    case.send(0)
    _, (message,) = calls.receive("G", "T", 0, 1, 0.3)
    properties = message.system_properties
    entries = [{"message_id": properties.message_id, "receipt_handle": properties.receipt_handle}] * 2
    answer = calls.call("AckMessage", group=GROUP, topic=TOPIC, entries=entries)
    assert answer.status.code == Code.MULTIPLE_RESULTS
    assert [one.status.code for one in answer.entries] == [Code.OK, Code.INVALID_RECEIPT_HANDLE]
