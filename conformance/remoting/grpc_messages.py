"""The messages of RocketMQ 5's gRPC protocol that consumers and proxies exchange, as classes of protobuf.

Field names and numbers are facts of the protocol (apache/rocketmq-apis). They are written here as a table, from which
descriptors are made in a pool of their own: a client in the same process may have its own. Enumerations are int32,
which is the same on the wire, and every field says whether it was set.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "apache.rocketmq.v2"
SERVICE = f"{PACKAGE}.MessagingService"

#: A message a line: its name, and its fields as ``name:type``, which are numbered from 1 on; ``=N`` goes on from
#: number N, ``*`` is a list, and no type an int32.
_MESSAGES = """
Duration seconds:int64 nanos
Timestamp seconds:int64 nanos
Resource resource_namespace:string name:string
Status code message:string
Address host:string port
Endpoints scheme addresses:*Address
Broker name:string id endpoints:Endpoints
MessageQueue topic:Resource id permission broker:Broker accept_message_types:*int32
Assignment message_queue:MessageQueue
FilterExpression type expression:string
SubscriptionEntry topic:Resource expression:FilterExpression
ExponentialBackoff initial:Duration max:Duration multiplier:float
CustomizedBackoff next:*Duration
RetryPolicy max_attempts exponential_backoff:ExponentialBackoff customized_backoff:CustomizedBackoff
Publishing topics:*Resource max_body_size validate_message_type:bool
Subscription group:Resource subscriptions:*SubscriptionEntry fifo:bool receive_batch_size long_polling_timeout:Duration
UA language version:string platform:string hostname:string
Metric on:bool endpoints:Endpoints
Settings client_type access_point:Endpoints backoff_policy:RetryPolicy request_timeout:Duration publishing:Publishing \
subscription:Subscription user_agent:UA metric:Metric
Digest type checksum:string
Property key:string value:string
SystemProperties tag:string keys:*string message_id:string body_digest:Digest body_encoding message_type \
born_timestamp:Timestamp born_host:string store_timestamp:Timestamp store_host:string delivery_timestamp:Timestamp \
receipt_handle:string queue_id queue_offset:int64 invisible_duration:Duration delivery_attempt message_group:string
Message topic:Resource user_properties:*Property system_properties:SystemProperties body:bytes
TelemetryCommand status:Status settings:Settings
QueryRouteRequest topic:Resource endpoints:Endpoints
QueryRouteResponse status:Status message_queues:*MessageQueue
QueryAssignmentRequest topic:Resource group:Resource endpoints:Endpoints
QueryAssignmentResponse status:Status assignments:*Assignment
HeartbeatRequest group:Resource client_type
HeartbeatResponse status:Status
ReceiveMessageRequest group:Resource message_queue:MessageQueue filter_expression:FilterExpression batch_size \
invisible_duration:Duration auto_renew:bool long_polling_timeout:Duration attempt_id:string
ReceiveMessageResponse status:Status message:Message delivery_timestamp:Timestamp
AckMessageEntry message_id:string receipt_handle:string
AckMessageRequest group:Resource topic:Resource entries:*AckMessageEntry
AckMessageResultEntry message_id:string receipt_handle:string status:Status
AckMessageResponse status:Status entries:*AckMessageResultEntry
ChangeInvisibleDurationRequest group:Resource topic:Resource receipt_handle:string invisible_duration:Duration \
message_id:string =7 suspend:bool
ChangeInvisibleDurationResponse status:Status receipt_handle:string
ForwardMessageToDeadLetterQueueRequest group:Resource topic:Resource receipt_handle:string message_id:string \
delivery_attempt max_delivery_attempts
ForwardMessageToDeadLetterQueueResponse status:Status
NotifyClientTerminationRequest group:Resource
NotifyClientTerminationResponse status:Status
"""
_TYPES = {"": 5, "int32": 5, "int64": 3, "string": 9, "bytes": 12, "bool": 8, "float": 2}
_A_MESSAGE = 11


class Method(NamedTuple):
    """A call of the service: its request and its response, and whether these are streams."""

    request: str
    response: str
    streams_requests: bool = False
    streams_responses: bool = False


#: The calls of consumers.
METHODS = {
    name: Method(f"{name}Request", f"{name}Response")
    for name in (
        *("QueryRoute", "QueryAssignment", "Heartbeat", "AckMessage", "ChangeInvisibleDuration"),
        *("ForwardMessageToDeadLetterQueue", "NotifyClientTermination"),
    )
} | {
    "ReceiveMessage": Method("ReceiveMessageRequest", "ReceiveMessageResponse", streams_responses=True),
    "Telemetry": Method("TelemetryCommand", "TelemetryCommand", streams_requests=True, streams_responses=True),
}


#: The scheme of an address of IPv4, what a queue permits (read and write), an expression of tags, an ordinary message
#: and one of a message group.
IPV4, READ_WRITE, TAG, NORMAL, FIFO = 1, 4, 1, 1, 2


@cache
def message_class(name: str) -> Any:
    """The class of a message; KeyError for one that is not in the table."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="consumers.proto", package=PACKAGE, syntax="proto2")
    lines = [line.split() for line in _MESSAGES.strip().splitlines()]
    for name, *parts in lines:
        made, number = file.message_type.add(name=name), 0
        for part in parts:
            if part.startswith("="):
                number = int(part[1:]) - 1
                continue
            number += 1
            field, _, kind = part.partition(":")
            listed, kind = kind.startswith("*"), kind.removeprefix("*")
            one = made.field.add(name=field, number=number, label=3 if listed else 1)
            if kind in _TYPES:
                one.type = _TYPES[kind]  # type: ignore[assignment]
            else:
                one.type, one.type_name = _A_MESSAGE, f".{PACKAGE}.{kind}"  # type: ignore[assignment]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool
