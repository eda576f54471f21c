"""What suites declare to reach is what fires in them, on old, border and new releases."""

from __future__ import annotations

from rocketmq_conformance.models.profile import Profile

#: The oldest and the newest release, and one on each side of most switches.
CLIENTS = [
    *(Profile.of(client) for client in ("4.0.0", "4.1.0", "4.6.0", "4.7.1", "4.9.0", "4.9.8", "5.0.0-PREVIEW")),
    *(Profile.of(client) for client in ("5.0.0-ALPHA", "5.0.0", "5.1.4", "5.2.0", "5.3.1", "5.4.0", "5.5.0")),
    Profile.of("5.0.0", "4.9.8"),
    Profile.of("5.5.0", "4.0.0"),
]
BROKERS = [
    *(Profile.of(broker=broker) for broker in ("4.0.0", "4.9.0", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.4")),
    *(Profile.of(broker=broker) for broker in ("5.2.0", "5.3.1", "5.5.0")),
    Profile.of(broker="5.1.0", java=8),
    Profile.of(broker="5.5.0", java=13),
]
#: Rules that fire in fewer than one case of twenty, by suite: too rare for the few cases of this test.
RARE = {
    "pull": {"OFF-FRZ-1"},
    "rebalance": {"REB-CLU-ROUTE"},
}
