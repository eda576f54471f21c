"""A first look at a gRPC consumer program: how far does one member get, and what is missing?"""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.proxy_moves import arrive
from rocketmq_conformance.conformance.fakes.proxy_seen import end, seen
from rocketmq_conformance.conformance.targets.client_program.required_consumers import LISTEN
from rocketmq_conformance.conformance.targets.client_program.smoke import FirstLook, Seen
from rocketmq_conformance.conformance.targets.grpc_program.adapter import GrpcProgram
from rocketmq_conformance.conformance.targets.grpc_program.played_proxy import END
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.grpc_push import SETTINGS, TERMINATED
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.suites import grpc_push

#: Seconds for everything that follows the settings: the first heartbeat comes within 10 s.
LIMIT = 30.0
_POLL_INTERVAL = 0.05


def look_at(program: GrpcProgram, limit: float = LIMIT) -> FirstLook:
    """Start one member, send it messages, shut it down. CannotRunError when it does not connect, or says that it is no
    push consumer."""
    case = program.case(grpc_push.SUITE)
    try:
        introduced = case.introduce()
        if introduced.unsupported:
            found = [Seen("is a push consumer", False, introduced.unsupported, needed=True)]
            return FirstLook(found, grpc_push.SUITE.name)
        client, proxy = case.ids[0], case.case
        arrive(proxy, EVERY)
        wait_until(lambda: len(proxy.ended) >= proxy.queues and proxy.seen(client).beats, limit, _POLL_INTERVAL)
        settings, beats = (part[0] for part in seen(proxy, [client])[4:6] if isinstance(part, tuple))
        given = len(proxy.given)
        acknowledged = sum(how == "acknowledged" for _, _, how in proxy.ended)
        case.ids.pop(0)
        stopped = case.programs.pop(0).stop(END)
        said, _ = end(proxy, client)
        missing = introduced.lacks(LISTEN)
        found = [
            Seen("connected and sent its settings", True, "", needed=True),
            Seen("subscribed to the topic", settings == SETTINGS, f"its settings say: {settings}", needed=True),
            Seen("sent a heartbeat", bool(beats), "a client sends one within 10 s, and every 10 s"),
            Seen(
                f"was given {given} of {proxy.queues} messages", given == proxy.queues, "it is to receive", needed=True
            ),
            Seen(
                f"acknowledged {acknowledged} of {proxy.queues}",
                acknowledged == proxy.queues,
                "let its listener succeed",
            ),
            Seen("ended on SIGTERM", stopped, "shut the consumer down when the signal comes"),
            Seen("said that it ends", said == TERMINATED, "shut the consumer down before the process ends"),
            Seen("takes listen", not missing, missing, needed=True),
        ]
    finally:
        case.close()
    return FirstLook(found, grpc_push.SUITE.name)
