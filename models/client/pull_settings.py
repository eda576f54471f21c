"""Changes to a pull loop from outside: settings, subscriptions, the broker's nodes, routes (PULL-PRE-1, PULL-SUB-*)."""

from __future__ import annotations

from rocketmq_conformance.models.client.pull_request import LEARNED_REASONS, ROUTED_REASONS
from rocketmq_conformance.models.client.pull_state import PullState
from rocketmq_conformance.models.client.subscription import SELECT_REASONS, SUBSCRIBE_REASONS, by_sql, by_tags
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, reasons_by_kind

_SET = reasons_by_kind(("PULL-PRE-1",), "running", "paused", "interval")
_POSTS = Reason(("PULL-SUB-3",), "set")


def subscribe(state: PullState, topic: str, expression: str) -> Answer[PullState]:
    """PULL-SUB-1."""
    subscription = by_tags(expression)
    if subscription is None:
        return state, Err("CLIENT"), SUBSCRIBE_REASONS["refused"]
    blank = subscription.text == expression and not subscription.tags and expression != "*"
    why = SUBSCRIBE_REASONS["tags" if subscription.tags else "blank parts" if blank else "everything"]
    return state._replace(subscriptions={**state.subscriptions, topic: subscription}), None, why


def select(state: PullState, topic: str, expression: str) -> Answer[PullState]:
    """PULL-SUB-2."""
    subscription = by_sql(expression)
    if subscription is None:
        return state, Err("CLIENT"), SELECT_REASONS["refused"]
    return state._replace(subscriptions={**state.subscriptions, topic: subscription}), None, SELECT_REASONS["selected"]


def unsubscribe(state: PullState, topic: str) -> Answer[PullState]:
    """PULL-SUB-1."""
    if topic not in state.subscriptions:
        return state, None, SUBSCRIBE_REASONS["not subscribed"]
    left = {other: kept for other, kept in state.subscriptions.items() if other != topic}
    return state._replace(subscriptions=left), None, SUBSCRIBE_REASONS["unsubscribed"]


def run(state: PullState, running: bool) -> Answer[PullState]:
    """The consumer runs, or does not run yet."""
    return state._replace(settings=state.settings._replace(running=running)), None, _SET["running"]


def pause(state: PullState, paused: bool) -> Answer[PullState]:
    """The consumer is paused, or goes on."""
    return state._replace(settings=state.settings._replace(paused=paused)), None, _SET["paused"]


def space(state: PullState, interval: int) -> Answer[PullState]:
    """The pull interval, in ms."""
    return state._replace(settings=state.settings._replace(interval=interval)), None, _SET["interval"]


def post(state: PullState, posts: bool) -> Answer[PullState]:
    """Is the expression sent with each pull?"""
    return state._replace(settings=state.settings._replace(posts=posts)), None, _POSTS


def learn(state: PullState, nodes: tuple[int, ...], old: bool) -> Answer[PullState]:
    """The client learns the broker's nodes."""
    broker = state.broker._replace(nodes=nodes, old=old)
    return state._replace(broker=broker), None, LEARNED_REASONS["nodes" if nodes else "no node"]


def route(state: PullState, topic: str, queues: int) -> Answer[PullState]:
    """The name server has a route of a topic with so many queues, or (-1) none."""
    lost = state.broker.lost | {topic} if queues < 0 else state.broker.lost - {topic}
    return (
        state._replace(broker=state.broker._replace(lost=lost)),
        None,
        ROUTED_REASONS["route lost" if queues < 0 else "route"],
    )
