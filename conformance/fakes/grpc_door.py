"""The gRPC door of the fake proxy: a server that answers clients' calls by what the proxy of a case does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import grpc

from rocketmq_conformance.conformance.fakes.proxy_case import (
    SILENCE,
    Asked,
    Given,
    ProxyCase,
    ProxySettings,
    Said,
    body_of,
)
from rocketmq_conformance.conformance.remoting.grpc_codes import Code, DigestType, Encoding
from rocketmq_conformance.conformance.remoting.grpc_messages import (
    FIFO,
    IPV4,
    METHODS,
    NORMAL,
    READ_WRITE,
    SERVICE,
    message_class,
)

#: Calls that are answered at a time: each client holds one for its telemetry and one for each queue.
_THREADS = 24
_BROKER = "broker-a"
#: Seconds that a message is hidden once it was given; the proxy renews that.
_INVISIBLE = 60.0
#: Seconds until a call that is not answered is given up.
_SILENT = 60.0
_CLIENT_ID = "x-mq-client-id"


class GrpcDoor:
    """A server on a free port of this machine, for the clients of one case."""

    def __init__(self, case: ProxyCase) -> None:
        self._case = case
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="proxy")
        self._server = grpc.server(self._pool, options=[("grpc.so_reuseport", 0)])
        handlers = {name: self._handler(name) for name in METHODS}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def close(self) -> None:
        """End the server, and what is under way."""
        self._server.stop(0).wait(2)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _handler(self, name: str) -> grpc.RpcMethodHandler[Any, Any]:
        method = METHODS[name]
        answer = message_class(method.response)
        how = {
            "request_deserializer": message_class(method.request).FromString,
            "response_serializer": answer.SerializeToString,
        }
        if name == "Telemetry":
            return grpc.stream_stream_rpc_method_handler(self._telemetry, **how)
        if name == "ReceiveMessage":
            return grpc.unary_stream_rpc_method_handler(self._receive, **how)
        calls: dict[str, Callable[[str, Any], dict[str, Any]]] = {
            "QueryRoute": self._route,
            "QueryAssignment": self._assignment,
            "Heartbeat": self._heartbeat,
            "AckMessage": self._acknowledge,
            "ChangeInvisibleDuration": self._change,
            "ForwardMessageToDeadLetterQueue": self._forward,
            "NotifyClientTermination": self._terminate,
        }
        return grpc.unary_unary_rpc_method_handler(partial(self._answer, calls[name], answer), **how)

    def _answer(self, call: Callable[[str, Any], dict[str, Any]], answer: Any, request: Any, context: Any) -> Any:
        client = _client(context)
        if not client:
            return answer(status=_status(Code.CLIENT_ID_REQUIRED))
        fields = call(client, request)
        if fields.get("status", {}).get("code") == SILENCE:
            _wait_for_end(context)
        return answer(**fields)

    # --- calls ------------------------------------------------------------------------------------------------

    def _route(self, client: str, request: Any) -> dict[str, Any]:
        code, queues = self._case.route(client, request.topic.name)
        return {"status": _status(code), "message_queues": [self._queue(one) for one in range(queues)]}

    def _assignment(self, client: str, request: Any) -> dict[str, Any]:
        code, queues = self._case.assignment(client)
        return {"status": _status(code), "assignments": [{"message_queue": self._queue(one)} for one in queues]}

    def _heartbeat(self, client: str, request: Any) -> dict[str, Any]:
        return {"status": _status(self._case.beat(client, request.group.name, request.client_type))}

    def _acknowledge(self, client: str, request: Any) -> dict[str, Any]:
        codes = [self._case.acknowledge(client, one.message_id, one.receipt_handle) for one in request.entries]
        entries = [
            {"message_id": one.message_id, "receipt_handle": one.receipt_handle, "status": _status(code)}
            for one, code in zip(request.entries, codes, strict=True)
        ]
        code = codes[0] if len({*codes}) == 1 else Code.MULTIPLE_RESULTS
        return {"status": _status(code), "entries": entries}

    def _change(self, client: str, request: Any) -> dict[str, Any]:
        seconds = _seconds(request.invisible_duration)
        code, handle = self._case.change(client, request.message_id, request.receipt_handle, seconds)
        return {"status": _status(code), "receipt_handle": handle}

    def _forward(self, client: str, request: Any) -> dict[str, Any]:
        what = request.message_id, request.receipt_handle, request.delivery_attempt
        return {"status": _status(self._case.forward(client, *what))}

    def _terminate(self, client: str, request: Any) -> dict[str, Any]:
        return {"status": _status(self._case.terminate(client, request.group.name))}

    def _telemetry(self, commands: Iterator[Any], context: Any) -> Iterator[Any]:
        client = _client(context)
        made = message_class("TelemetryCommand")
        try:
            for command in commands:
                if not command.HasField("settings"):
                    continue
                settings = command.settings
                answered = made(status=_status(), settings=settings)
                if settings.HasField("subscription"):
                    self._settle(answered.settings, self._case.say(client, _said(settings)))
                yield answered
        except grpc.RpcError:
            pass  # its connection is gone
        finally:
            self._case.drop(client)

    def _receive(self, request: Any, context: Any) -> Iterator[Any]:
        answer = message_class("ReceiveMessageResponse")
        answers: SimpleQueue[tuple[int, Sequence[Given]] | None] = SimpleQueue()
        context.add_callback(lambda: answers.put(None))
        queue = request.message_queue.id
        opened = self._case.receive(
            _client(context), queue, _asked(request), lambda code, given: answers.put((code, given))
        )
        try:
            found = answers.get(timeout=self._case.settings.polling)
        except Empty:
            late = opened is not None and not self._case.give_up(opened)
            found = answers.get() if late else (int(Code.MESSAGE_NOT_FOUND), ())
        if found is None:
            if opened is not None:
                self._case.give_up(opened)
            return
        code, given = found
        if code == SILENCE:
            _wait_for_end(context)
        yield answer(status=_status(code))
        for one in given:
            yield answer(message=self._message(one))
        if given:
            yield answer(delivery_timestamp=_moment())

    # --- what answers have ------------------------------------------------------------------------------------

    def _queue(self, number: int) -> dict[str, Any]:
        return {
            "topic": {"name": self._case.topic},
            "id": number,
            "permission": READ_WRITE,
            "broker": {"name": _BROKER, "endpoints": self._endpoints()},
            "accept_message_types": [self._kind],
        }

    @property
    def _kind(self) -> int:
        return FIFO if self._case.settings.fifo else NORMAL

    def _endpoints(self) -> dict[str, Any]:
        return {"scheme": IPV4, "addresses": [{"host": "127.0.0.1", "port": self.port}]}

    @staticmethod
    def _settle(settings: Any, answered: ProxySettings) -> None:
        """Put what the proxy answers into a client's settings."""
        subscription = settings.subscription
        subscription.fifo = answered.fifo
        subscription.receive_batch_size = answered.batch
        _set_duration(subscription.long_polling_timeout, answered.polling)
        policy = settings.backoff_policy
        policy.max_attempts = answered.attempts
        if answered.exponential:
            first, longest, factor = answered.backoff
            policy.ClearField("customized_backoff")
            _set_duration(policy.exponential_backoff.initial, first)
            _set_duration(policy.exponential_backoff.max, longest)
            policy.exponential_backoff.multiplier = factor
        else:
            policy.ClearField("exponential_backoff")
            for seconds in answered.backoff:
                _set_duration(policy.customized_backoff.next.add(), seconds)

    def _message(self, given: Given) -> Any:
        held = given.message
        body, checksum = body_of(held)
        made = message_class("Message")(
            topic={"name": self._case.topic},
            body=body,
            system_properties={
                "message_id": held.id,
                "body_digest": {"type": DigestType[held.form.digest], "checksum": checksum},
                "body_encoding": Encoding.GZIP if held.form.compressed else Encoding.IDENTITY,
                "message_type": self._kind,
                "born_timestamp": _moment(),
                "born_host": "127.0.0.1",
                "store_timestamp": _moment(),
                "store_host": "127.0.0.1:10911",
                "queue_id": held.queue,
                "queue_offset": held.offset,
                "receipt_handle": given.handle,
                "delivery_attempt": given.attempt,
            },
        )
        if self._case.settings.fifo:
            made.system_properties.message_group = f"group-{held.queue}"
        _set_duration(made.system_properties.invisible_duration, _INVISIBLE)
        return made


def _said(settings: Any) -> Said:
    subscriptions = ((one.topic.name, one.expression.expression) for one in settings.subscription.subscriptions)
    return Said(settings.client_type, settings.subscription.group.name, tuple(sorted(subscriptions)))


def _asked(request: Any) -> Asked:
    return Asked(
        request.batch_size,
        request.auto_renew,
        _seconds(request.long_polling_timeout),
        request.filter_expression.expression,
        bool(request.attempt_id),
        _seconds(request.invisible_duration),
    )


def _client(context: Any) -> str:
    """The id of the client that calls, as its metadata say."""
    return str(dict(context.invocation_metadata()).get(_CLIENT_ID, ""))


def _status(code: int = Code.OK) -> dict[str, Any]:
    named = Code(code).name if code in Code._value2member_map_ else str(code)
    return {"code": code, "message": named}


def _wait_for_end(context: Any) -> None:
    """Answer nothing, until the client gives the call up."""
    end = time.monotonic() + _SILENT
    while context.is_active() and time.monotonic() < end:
        time.sleep(0.05)


def _seconds(duration: Any) -> float:
    return float(duration.seconds + duration.nanos / 1e9)


def _set_duration(duration: Any, seconds: float) -> None:
    duration.seconds, duration.nanos = int(seconds), round(seconds % 1 * 1e9)


def _moment() -> dict[str, int]:
    now = time.time_ns()
    return {"seconds": now // 10**9, "nanos": now % 10**9}
