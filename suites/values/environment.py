"""Operations of the environment of a client case, which the fake broker plays: other members, routes, lists, locks.

The base classes of events around an implementation, by which the engine knows how to play them
(``conformance/engine/environment.py``). A suite derives its own operation from one, with the values that it wants.
"""

from __future__ import annotations

from rocketmq_conformance.suites.declare.operation import Operation


class CommitElsewhere(Operation):
    """Another member of the group commits: ``queue``, ``offset``."""


class Shape(Operation):
    """The log of a queue becomes another one: ``queue``, ``shape``."""


class ListMembers(Operation):
    """The broker lists other members: ``members``."""


class Route(Operation):
    """The name server has another route of a topic: ``topic``, ``queues``."""


class Assign(Operation):
    """The broker assigns queues: ``topic``, ``pull``, ``pop``, ``oddity``."""


class ForgetLocks(Operation):
    """The broker forgets its locks."""


class LockElsewhere(Operation):
    """A client that is no member asks for a lock: ``queue``, ``restarted``."""
