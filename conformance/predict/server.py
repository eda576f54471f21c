"""A connection to one server of a cluster that is read; what goes wrong with it is a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.access import Access
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command, MalformedFrame
from rocketmq_conformance.conformance.remoting.host_port import host_port, is_host_port
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.refusals import (
    broken,
    not_encrypted,
    refused_account,
    refuses_account,
)

#: Timeout of a request (s), where no other one is given.
PATIENCE = 10.0
#: Queries that are outstanding on a connection at the same time.
_TOGETHER = 500


class UnreadableError(CannotRunError):
    """An answer that no client of RocketMQ takes: it is too long, or no frame."""


class Server:
    """One server of the cluster; what goes wrong with it is a CannotRunError with a sentence."""

    def __init__(self, address: str, access: Access, what: str, patience: float = PATIENCE) -> None:
        self._access, self._address, self._patience = access, address, patience
        self._name = f"{what} at {address}"
        if not is_host_port(address) or host_port(address).port > 65_535:
            raise CannotRunError(f"{address!r} is no address: write HOST:PORT, such as 127.0.0.1:9876.")
        self._connection = self._connected()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(self, ask: requests.Ask) -> Command:
        """The response to a request, which may be a refusal of it, but not of the account."""
        return next(self.ask_all([ask]))

    def try_to_ask(self, ask: requests.Ask) -> Command:
        """The response to a request that the account may be too weak for: it may be a refusal of either."""
        return next(self.try_to_ask_all([ask]))

    def try_to_ask_all(self, asks: Sequence[requests.Ask]) -> Iterator[Command]:
        """The responses to such requests, in their order."""
        for at in range(0, len(asks), _TOGETHER):
            yield from self._exchange(asks[at : at + _TOGETHER])

    def ask_all(self, asks: Sequence[requests.Ask]) -> Iterator[Command]:
        """The responses to requests, in their order."""
        for at in range(0, len(asks), _TOGETHER):
            yield from self._ask(asks[at : at + _TOGETHER])

    def _ask(self, asks: Sequence[requests.Ask]) -> list[Command]:
        answers = self._exchange(asks)
        for answer in answers:
            if refuses_account(answer):
                raise CannotRunError(refused_account(self._connection.address, answer, self._access))
        return answers

    def _connected(self) -> Connection:
        try:
            return Connection(*host_port(self._address), self._patience, access=self._access)
        except OSError as error:
            raise CannotRunError(
                not_encrypted(self._address, error) or f"No {self._name} answers ({error}): name another address."
            ) from error

    def _exchange(self, asks: Sequence[requests.Ask]) -> list[Command]:
        if self._connection.closed:
            self._connection = self._connected()
        connection = self._connection
        try:
            numbers = [connection.post(ask.code, ask.ext, ask.body) for ask in asks]
            answers = {}
            for _ in asks:
                answer = connection.collect()
                answers[answer.opaque] = answer
        except OSError as error:
            connection.close()  # what is answered late would be taken for answers to the next requests
            if isinstance(error.__cause__, MalformedFrame):
                raise UnreadableError(f"What the {self._name} answers cannot be read ({error}).") from error
            reason = broken(connection) if isinstance(error, ConnectionError) else ""
            raise CannotRunError(reason or f"The {self._name} does not answer ({error}): try again.") from error
        return [answers[number] for number in numbers]
