"""The handshake: asks an adapter what it drives, and decides which releases judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import FASTEST, REAL, VIRTUAL, AdapterError, Hello, RefusesSuites
from rocketmq_conformance.conformance.engine.limits import START_TIMEOUT
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.properties.found import MODELLED
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import NEWEST, Release, newer_than_known
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite

#: The release that hints name as an example.
ANOTHER = "4.9.8"
#: Why a release judges that nobody chose.
NO_OTHER = "nothing says otherwise"


def introduce(stage: Stage, releases: Mapping[str, str]) -> tuple[Hello, Profile]:
    """Ask an adapter who it is, and let the releases judge that it says, or these; errors as of ``hello_of``."""
    hello = hello_of(stage)
    profile = profile_of(hello, releases)
    stage.use(profile)
    return hello, profile


def hello_of(stage: Stage) -> Hello:
    """Call the adapter's ``hello`` and check the answer; AdapterError when it is not a valid Hello.

    It is part of the start, which may take longer than an operation; CannotRunError when it takes too long.
    """
    with starting(START_TIMEOUT), stage.guarded("hello()", limited=False):
        hello = stage.adapter.hello()
    if not isinstance(hello, Hello):
        raise AdapterError(f"The adapter's hello() answered {hello!r}: it must return a Hello.")
    if hello.clock not in (VIRTUAL, REAL):
        raise AdapterError(
            f"The adapter's hello() says that its clock is {hello.clock!r}: say {VIRTUAL!r} or {REAL!r}."
        )
    pace: object = hello.pace
    if isinstance(pace, bool) or not isinstance(pace, (int, float)) or not 0 < pace <= FASTEST:
        raise AdapterError(
            f"The adapter's hello() says that its pace is {pace!r}: say a number above 0, up to {FASTEST:,}, such as "
            "100 for timers that are a hundred times faster than standard."
        )
    stage.patience = max(stage.patience, hello.patience)
    if hello.clock == REAL:
        stage.keep_time(pace)
    elif pace != 1:
        raise AdapterError(
            f"The adapter's hello() says that its pace is {pace!r}, but a virtual clock has none: "
            f"say clock={REAL!r} too."
        )
    return hello


def offering(stage: Stage, hello: Hello, suites: Sequence[Suite]) -> Hello:
    """The Hello with the suites of these that the adapter finds refused when it tries; CannotRunError as of the
    adapter."""
    if not isinstance(stage.adapter, RefusesSuites):
        return hello
    refused: dict[str, str] = {}
    for suite in suites:
        if not hello.refuses(suite):
            with stage.guarded(f"refuses_suite({suite.name})", limited=False):
                reason = stage.adapter.refuses_suite(suite)
            refused.update({suite.name: reason} if reason else {})
    return replace(hello, unsupported={**hello.unsupported, **refused})


def left_out_notes(hello: Hello, suites: Sequence[Suite]) -> list[str]:
    """A sentence for every reason why suites of these are left out that the implementation could offer."""
    names: dict[str, list[str]] = {}
    for suite in suites:
        if suite.name in hello.unsupported:
            names.setdefault(hello.unsupported[suite.name], []).append(suite.name)
    return [f"{', '.join(refused)} left out: {reason}" for reason, refused in names.items()]


def clock_notes(hello: Hello, max_wait: float) -> list[str]:
    """A sentence on what a real clock costs."""
    if hello.clock != REAL:
        return []
    if hello.sides == ("whole",):
        return [
            "the program goes by a real clock: cases wait for its timers, several side by side; --max-time and --tier "
            "keep a run short"
        ]
    return [
        f"it goes by a real clock: 20 s of a plan take {20 / hello.pace:g} s, and no more than {max_wait:g} s are "
        "waited at once (--max-wait); --cases and --max-time keep a run short"
    ]


def own_notes(hello: Hello) -> list[str]:
    """What the implementation says of itself, and a sentence on a configuration that could not be read."""
    if not hello.configuration_unread:
        return [*hello.notes]
    return [
        *hello.notes,
        f"{hello.configuration_unread}: it is judged by the defaults of its release, and a difference decides nothing; "
        "let this machine ask for GET_BROKER_CONFIG",
    ]


def profile_of(hello: Hello, overrides: Mapping[str, str]) -> Profile:
    """The releases that judge: the user's choice, else those of the Hello, else the newest (of Java 17).

    A program that is judged as a release has a broker of that release, unless another one is asked for. The
    configuration is that of the Hello, as far as it switches rules.
    """
    newest = str(NEWEST)
    profile = Profile.of(
        overrides.get("client") or hello.client or newest,
        overrides.get("broker") or hello.broker or _broker_beside(hello, overrides) or newest,
        int(overrides.get("java") or hello.java or 17),
    )
    if hello.upgraded_from:
        profile = replace(profile, upgraded_from=Release.parse(hello.upgraded_from))
    return profile.configured({one.name: one.value for one in hello.properties if one.kind == MODELLED})


def _is_program(hello: Hello) -> bool:
    """Is it a consumer that is judged by the traffic at a broker of the kit's?"""
    return hello.sides == (Side.WHOLE.value,)


def _broker_beside(hello: Hello, overrides: Mapping[str, str]) -> str | None:
    """The release of the broker that goes with the client that was asked for, if one does."""
    return overrides.get("client") if _is_program(hello) else None


def release_choice(hello: Hello, overrides: Mapping[str, str], profile: Profile) -> str:
    """Which release judges each side that the implementation has, and why; what was a guess names the option for it."""
    has = {"client" if side in ("pure", "whole") else side for side in hello.sides}
    if _is_program(hello):
        has.add("broker")
    asked = {"broker": _broker_beside(hello, overrides) or "", **overrides}
    sides = [
        ("client", profile.client, hello.client, "--like"),
        ("broker", profile.broker, hello.broker, "--with broker="),
    ]
    reasons: dict[str, list[str]] = {}
    guessed = []
    for side, release, own, option in sides:
        if side not in has:
            continue
        said = own and not overrides.get(side)
        reason = "the implementation says so" if said else "it was asked for" if asked.get(side) else NO_OTHER
        reasons.setdefault(reason, []).append(f"{side} {release}")
        if reason == NO_OTHER:
            guessed.append(f"{option}{'' if option.endswith('=') else ' '}{ANOTHER}")
    chosen = ", and ".join(f"{' and '.join(names)}, because {reason}" for reason, names in reasons.items())
    hint = f"; {' or '.join(guessed)} judges by another release" if guessed else ""
    return f"judged as {chosen}{hint}"


def newer_releases(profile: Profile, does: str = "judged by") -> list[str]:
    """A sentence for every release that the rules do not know, with what is done with it."""
    return [*newer_than_known("client", profile.client, does), *newer_than_known("broker", profile.broker, does)]
