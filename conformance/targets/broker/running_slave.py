"""A slave that runs already beside its master: nothing is stopped, and it asks its master when its timer says so.

A group of the kit's own shows when it has asked: the offset of it that the slave has is the one that the master had
then. A step that a slave asked meanwhile decides nothing, as it may have asked before or after it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.fakes.broker import ROLE, SLAVE
from rocketmq_conformance.conformance.properties.defaults import parse
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.host_port import HostPort
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.outcome import Err

#: For how long a slave is waited for that asks every minute (s), and for how long until it has taken the last answer.
_ASKS, _TAKES = 200.0, 20.0
#: What says which pair a broker belongs to.
_NAMES = ("brokerClusterName", "brokerName")


class RunningSlave:
    """The slave at an address; ``to_master`` connects to its master."""

    #: A slave that lost its master looks for it every 5 s or so.
    arrives = 40.0
    #: How long a step may take that waits for it (s).
    patience = _ASKS + _TAKES

    def __init__(self, at: HostPort, to_master: Callable[[], Connection], access: Access = OPEN) -> None:
        self._at, self._access, self._to_master = at, access, to_master
        self._mark = f"conf-{secrets.token_hex(4)}-mark"
        #: What the master has of the mark, and what the slave had of it when it was looked at last.
        self._set = self._seen = 0
        self._lines: tuple[Connection, Connection] | None = None

    def open(self) -> Connection:
        """Connect."""
        try:
            return Pipeline(*self._at, access=self._access)
        except OSError as error:
            raise CannotRunError(
                f"No slave answers at {self._at} ({error}): start it, or leave slave={self._at} out."
            ) from error

    def configuration(self, master: Mapping[str, str]) -> Mapping[str, str]:
        """Its properties; CannotRunError when it is no slave, or that of another master than this one."""
        with self.open() as line:
            answer = _call(line, requests.configuration())
            read = parse(answer.body.decode("utf-8", "replace"))
        if read.get(ROLE) != SLAVE:
            raise CannotRunError(f"The broker at {self._at} is no slave ({ROLE}={read.get(ROLE)}): name one.")
        for name in _NAMES:
            if read.get(name) != master.get(name):
                raise CannotRunError(
                    f"The slave at {self._at} is that of another master ({name}={read.get(name)}, and the master's is "
                    f"{master.get(name)}): name the two of one pair."
                )
        return read

    def synchronise(self) -> None:
        """Wait until it has asked its master; AdapterError when it does not."""
        if not wait_until(lambda: self._stored() == self._set and self._set > self._seen, _ASKS, 0.05):
            raise AdapterError(
                f"The slave at {self._at} took no offsets of its master in {_ASKS:.0f} s: see its log for the reason "
                "(from 5.5.0 on it cannot read those of a master that has answered a pull)."
            )
        wait_until(lambda: self._groups(0) <= self._groups(1), _TAKES, 0.05)
        self._renew()

    def asked_meanwhile(self) -> bool:
        """Has it asked since it was looked at last?"""
        if self._stored() in {self._seen, None}:
            return False
        self._renew()
        return True

    def left(self) -> None:
        """Its master is never ended."""

    def online(self) -> bool:
        """Its master is never started."""
        return True

    def close(self) -> None:
        """Delete the mark, and hang up."""
        if self._lines is not None:
            for line in self._lines:
                with line:
                    line.call(*requests.delete_group(self._mark, "cleanOffset", "removeOffset"))
                    line.call(*requests.delete_topic(self._mark))
            self._lines = None

    def _renew(self) -> None:
        """Give the mark another offset at the master: the slave has it when it has asked again."""
        self._seen, self._set = self._set, self._set + 1
        _call(self._both()[0], requests.commit(self._mark, self._mark, 0, self._set))

    def _stored(self) -> int | None:
        """The offset of the mark that the slave has; None for none."""
        found = responses.number(self._both()[1].call(*requests.query(self._mark, self._mark, 0, set_zero=False)))
        return None if isinstance(found, Err) else found

    def _groups(self, of: int) -> frozenset[str]:
        """The groups of the kit's cases that the master or the slave has."""
        table = java_json.loads(_call(self._both()[of], requests.groups()).body.decode())["subscriptionGroupTable"]
        return frozenset(group for group in table if group.startswith("conf-"))

    def _both(self) -> tuple[Connection, Connection]:
        """Connections to the master and to the slave; the first ones make the mark."""
        if self._lines is None or not all(line.usable(0.0) for line in self._lines):
            fresh = self._lines is None
            self._lines = self._to_master(), self.open()
            if fresh:
                _call(self._lines[0], requests.create_topic(self._mark, Topic.of(1)))
                _call(self._lines[0], requests.create_group(self._mark))
                self._renew()
        return self._lines


def _call(line: Connection, asked: requests.Ask) -> Command:
    answer = line.call(*asked)
    refused = responses.refused(answer)
    if refused is not None:
        raise AdapterError(
            f"The broker at {line.address} refused request {asked.code}: {refused.code} {answer.remark}."
        )
    return answer
