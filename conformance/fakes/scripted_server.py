"""The scripted broker: a name server and broker on one loopback port, answered by a world."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from rocketmq_conformance.conformance.remoting.fault import Faults
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Listener, Peer
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.profile import Profile


class Brain(Protocol):
    """What answers: ``World`` is one."""

    #: Where the name server says the broker is.
    address: str

    def exchange(
        self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool
    ) -> tuple[int, str, dict[str, str], bytes]:
        """Response code, remark, header fields, body. TimeoutError: no answer; ConnectionError: cut."""
        ...


class _Answers:
    """Hands every request to the world."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain

    def handle(self, peer: Peer, request: Command) -> Command:
        """What the world says."""
        one_way = request.is_one_way
        code, remark, ext, body = self.brain.exchange(
            self.brain.address, request.code, request.ext, request.body, one_way
        )
        return Command(code, ext, body, remark=remark)

    def closed(self, peer: Peer) -> None:
        """The world knows no connections."""


class ScriptedServer:
    """Serves a world to clients of any language.

    ``start`` sets the world's address, so that its routes lead here. ``faults`` plays request codes by faults on
    top of those that are armed on the world. The profile's broker decides in which form binary requests are
    answered (WIRE-FRAME-1).
    """

    def __init__(self, brain: Brain, profile: Profile | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        wire = WireRules.of(profile or Profile())
        self._answers = _Answers(brain)
        self._listener = Listener(self._answers, host, port, echo=wire.echoes_binary, version=wire.ordinal)

    @property
    def faults(self) -> Faults:
        """Faults by request code."""
        return self._listener.faults

    @property
    def address(self) -> str:
        """``host:port``, to be given to clients as the name server."""
        return self._listener.address

    def start(self) -> str:
        """Listen, and say where; raises CannotRunError when the port is taken."""
        self._listener.start()
        self._answers.brain.address = self.address
        return self.address

    def answer_by(self, brain: Brain) -> None:
        """Let another brain answer from now on."""
        self._answers.brain = brain

    def stop(self) -> None:
        """Close the port and all connections; twice does no harm."""
        self._listener.stop()

    def settle(self) -> None:
        """Wait until everything that clients have written is handled, one-way commits above all."""
        self._listener.settle()

    def arrived(self, request: int) -> int:
        """How many requests of a code arrived so far."""
        return self._listener.arrived[request]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
