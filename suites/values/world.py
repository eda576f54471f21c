"""What happens in the world of a client case: operations that the scripted broker plays, whatever suite has them.

A suite derives its own operation from one of these, with the values that it wants; by the class the engine knows what
to do (``conformance/engine/environment.py``).
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
