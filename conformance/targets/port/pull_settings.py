"""Settings of the port's pull loops: subscriptions, pauses, the pull interval, and the broker's known nodes."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.outcome import Err, Result

MASTER = 0


class RefusedError(Exception):
    """An expression is invalid."""


class Subscription(NamedTuple):
    """The subscription to a topic."""

    text: str = "*"
    kind: str = "TAG"
    tags: frozenset[str] = frozenset()


class PullSettings:
    """The settings of one consumer."""

    def clear_settings(self) -> None:
        """The settings of a new consumer."""
        self.running, self.paused, self.posts, self.interval = True, False, False, 0
        self.nodes: tuple[int, ...] = (MASTER,)
        self.old = False
        self.subscriptions = {"T": Subscription(), "U": Subscription()}

    def subscribe(self, topic: str, expression: str) -> Result:
        """Subscribe by tags."""
        try:
            self.subscriptions[topic] = self.parse(expression)
        except RefusedError:
            return Err("CLIENT")
        return None

    def parse(self, expression: str) -> Subscription:
        """A tag expression; RefusedError."""
        if expression in ("", "*"):
            return Subscription()
        if not expression.replace("||", ""):
            raise RefusedError
        return Subscription(expression, "TAG", self.named(expression.split("||")))

    def named(self, parts: list[str]) -> frozenset[str]:
        """The tags of an expression."""
        return frozenset(part.strip() for part in parts if part.strip())

    def select(self, topic: str, expression: str) -> Result:
        """Subscribe by an SQL92 expression."""
        if not expression:
            return Err("CLIENT")
        self.subscriptions[topic] = Subscription(expression, "SQL92")
        return None

    def unsubscribe(self, topic: str) -> Result:
        """Unsubscribe from a topic."""
        self.subscriptions.pop(topic, None)
        return None

    def run(self, running: bool) -> Result:
        """The consumer is running, or not yet."""
        self.running = running
        return None

    def pause(self, paused: bool) -> Result:
        """The consumer is paused, or goes on."""
        self.paused = paused
        return None

    def space(self, interval: int) -> Result:
        """Set the pull interval (ms)."""
        self.interval = interval
        return None

    def post(self, posts: bool) -> Result:
        """Send the expression with every pull, or not."""
        self.posts = posts
        return None

    def learn(self, nodes: tuple[int, ...], old: bool) -> Result:
        """Know these nodes of the broker."""
        self.nodes, self.old = nodes, old
        return None
