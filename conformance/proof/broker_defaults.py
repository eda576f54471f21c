"""The defaults of a broker's properties, as a broker answers that is configured with its places only."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.properties.defaults import parse
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.models.release import Release


def read_defaults(release: Release) -> dict[str, str]:
    """The properties of a release and their defaults, by name; CannotRunError when it cannot be started here."""
    with Broker(release, ordinary=True) as broker, Connection("127.0.0.1", broker.port) as connection:
        answer = connection.call(requests.configuration().code)
    if answer.code:
        raise CannotRunError(f"A broker {release} does not show its configuration ({answer.code} {answer.remark}).")
    return parse(answer.body.decode())
