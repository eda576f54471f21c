"""Predictions as JSON documents; docs/guides/predict.md says what is in them."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.predict.facts import GroupFacts
from rocketmq_conformance.conformance.predict.remedies import every_remedy
from rocketmq_conformance.conformance.predict.start import QueueStart, StartPrediction
from rocketmq_conformance.models import rulebook

FORMAT = 1


def start_document(prediction: StartPrediction) -> dict[str, Any]:
    """Where a group starts."""
    consumer, facts = prediction.consumer, prediction.facts
    rules = dict.fromkeys(name for queue in prediction.queues for name in (queue.rule, queue.moved_by) if name)
    return {
        **head("start", facts),
        "consumer": {
            "client": str(consumer.client),
            "kind": consumer.kind,
            "model": consumer.model,
            "where": consumer.where,
            "timestamp": consumer.timestamp,
            "zone": consumer.zone,
        },
        "repeats": prediction.repeats,
        "skips": prediction.skips,
        "lag": prediction.lag,
        "queues": [_queue(queue) for queue in prediction.queues],
        "why": [
            {"rule": name, "sentence": rulebook.RULES[name].sentence, "source": rulebook.RULES[name].source}
            for name in rules
        ],
        "others": [
            {"topic": topic, "releases": [{"releases": releases, "start": where} for releases, where in ranges]}
            for topic, ranges in prediction.others
        ],
        "remedies": [
            {
                "topic": remedy.topic,
                "target": remedy.target,
                "commands": [{"command": command, "effect": effect} for command, effect in remedy.commands],
                "running": remedy.running,
            }
            for remedy in every_remedy(facts, consumer)
        ],
        "notes": list(prediction.notes),
    }


def head(kind: str, facts: GroupFacts) -> dict[str, Any]:
    """What every prediction of a group begins with."""
    return {
        "format": FORMAT,
        "prediction": kind,
        "group": facts.group,
        "read": facts.read,
        "brokers": [
            {"name": broker.name, "release": broker.release, "configuration": dict(broker.configuration)}
            for broker in facts.brokers
        ],
    }


def _queue(start: QueueStart) -> dict[str, Any]:
    facts = start.facts
    return {
        "topic": facts.topic,
        "broker": facts.broker,
        "queue": facts.queue,
        "stored": facts.stored,
        "min": facts.min,
        "max": facts.max,
        "answer": facts.answer,
        "start": start.start,
        "first": start.first,
        "source": start.source,
        "repeats": start.repeats,
        "skips": start.skips,
        "expired": start.expired,
        "beyond": start.beyond,
        "lag": start.lag,
        "since": start.since,
        "rule": start.rule,
        "moved_by": start.moved_by,
        "rules": list(start.rules),
        "unknown": start.unknown,
        "served": start.served,
    }
