"""Parses addresses of implementations, ``kind:name[?key=value&…]``, and opens their adapters."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qsl

from rocketmq_conformance.conformance.adapter import FASTEST, REAL, VIRTUAL, Adapter, CannotRunError
from rocketmq_conformance.conformance.targets.near_name import did_you_mean, no_option

FORMS = (
    "port[?via=tcp][&clock=real&pace=N]",
    "mutant:NAME[?set=NAME=VALUE]",
    "python:package.module:factory[?pace=N][&TIMER=SECONDS][&lanes=N][&through=BROKER]",
    "exec:COMMAND",
    "java-client:VERSION[?via=tcp]",
    "java-client:VERSION?clock=real[&pace=N]",
    "java-client:VERSION?classpath=PATH",
    "java-client:VERSION-SNAPSHOT",
    "client[?pace=N][&TIMER=SECONDS][&lanes=N][&through=BROKER][&tls=on][&credentials=on]:COMMAND",
    "broker:VERSION[?via=jars][&set=NAME=VALUE]",
    "broker:VERSION?via=container[&image=NAME]",
    "broker:HOST:PORT",
    "broker:dir=PATH[?like=VERSION][&set=NAME=VALUE]",
    "broker[?like=VERSION]",
)


#: The address of a broker that a program's cases go through, whose colons do not begin the command.
THROUGH = r"broker:(?:\[[^\]]*\]|[^:&?\s]*)(?::[0-9]+(?=[:&]|$))?"
#: What a program may be asked for before anything is answered.
_ASKED = "tls", "credentials"
#: The address of a program: options stand before the colon, and everything after it is the command.
_PROGRAM = re.compile(rf"client(?:\?((?:through={THROUGH}|[^:])*))?:(.*)", re.DOTALL)


class AddressError(ValueError):
    """The text is not a valid address; the message is one sentence."""


def through(address: str, broker: str | None) -> str:
    """The address of a program whose cases go through a broker, None for one of its own; AddressError for anything but
    a program."""
    if broker is None:
        return address
    program = _PROGRAM.fullmatch(address)
    in_python = address.startswith("python:")
    if program is None and not in_python:
        raise AddressError(f"{address!r} is no client:COMMAND: only the cases of a program go through a real broker.")
    if not re.fullmatch(THROUGH, broker):
        raise AddressError(
            f"{broker!r} is no broker that cases can go through; write broker:VERSION or broker:HOST:PORT."
        )
    if program is None:
        return f"{address}{'&' if '?' in address else '?'}through={broker}"
    options = f"{program[1]}&" if program[1] else ""
    return f"client?{options}through={broker}:{program[2]}"


def open_address(text: str) -> Adapter:
    """The adapter of an address. AddressError when it is invalid, CannotRunError when it cannot be judged here."""
    program = _PROGRAM.fullmatch(text)
    if program:
        return _client(program[2], dict(parse_qsl(program[1] or "", keep_blank_values=True)))
    if text.startswith("exec:"):  # all that follows is the command
        return _exec(text.removeprefix("exec:"))
    place, _, query = text.partition("?")
    kind, _, name = place.partition(":")
    pairs = parse_qsl(query, keep_blank_values=True)
    opener = _KINDS.get(kind)
    try:
        if kind in ("broker", "mutant"):
            properties = [value for key, value in pairs if key == "set"]
            options = {key: value for key, value in pairs if key != "set"}
            return (_broker if kind == "broker" else _mutant)(place, options, properties)
        if opener is None:
            near = did_you_mean(kind, (*_KINDS, "broker", "mutant", "client", "exec"))
            raise AddressError(f"{text!r} is no address{near}; write one of {', '.join(FORMS)}.")
        return opener(name, dict(pairs))
    except AddressError:
        raise
    except ValueError as error:
        raise AddressError(str(error)) from error


def _port(name: str, options: dict[str, str]) -> Adapter:
    from rocketmq_conformance.conformance.targets.port.adapter import Port

    if name:
        raise AddressError(f"The address `port` takes no name, but {name!r} was given.")
    pace = _pace(options, "port")
    return Port(via=_via(options, "port", ("call", "tcp"), timed=True), pace=pace)


def _mutant(place: str, options: dict[str, str], pairs: Sequence[str]) -> Adapter:
    from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
    from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant
    from rocketmq_conformance.models.profile import Profile

    name = place.partition(":")[2]
    if name not in MUTANTS:
        near = did_you_mean(name, MUTANTS)
        raise AddressError(f"No mutant is called {name!r}{near}; `list mutants` names them all.")
    mutant = MUTANTS[name]
    if isinstance(mutant, BrokerMutant):
        if options:
            raise AddressError(f"The mutant {name} is a broker and takes no options but set=NAME=VALUE.")
        release = Profile().broker
        properties = dict(mutant.configuration) | of_the_model(release, settable(release, pairs))
        return open_mutant(replace(mutant, configuration=tuple(properties.items())), Profile())
    if pairs:
        raise AddressError(f"The mutant {name} is a port, which has no properties to set.")
    pace = _pace(options, "mutant")
    return open_mutant(mutant, Profile(), _via(options, "mutant", ("call", "tcp"), timed=True), pace)


def is_program(text: str) -> bool:
    """Does an address name a program that starts a consumer? AddressError and CannotRunError as of opening it."""
    if _PROGRAM.fullmatch(text):
        return True
    place, _, query = text.partition("?")
    if not place.startswith("python:"):
        return False
    return _is_consumer(_factory(place.removeprefix("python:")), dict(parse_qsl(query, keep_blank_values=True)))


def _factory(name: str) -> Callable[..., Adapter]:
    """The factory that ``module:factory`` names."""
    module, _, factory = name.partition(":")
    if not module or not factory:
        raise AddressError("A Python implementation is addressed as python:package.module:factory.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        make: Callable[..., Adapter] = getattr(import_module(module), factory)
    except ModuleNotFoundError as error:
        raise CannotRunError(f"The module {error.name} cannot be found: install it, or run where it is.") from error
    except AttributeError as error:
        raise CannotRunError(
            f"The module {module} has no {factory!r}: name a function that makes an adapter, or a consumer."
        ) from error
    except Exception as error:
        raise CannotRunError(f"Importing {module} failed: {type(error).__name__}: {error}.") from error
    return make


def _is_consumer(make: Callable[..., Adapter], options: dict[str, str]) -> bool:
    from rocketmq_conformance.conformance.targets.client_program.python_consumer import makes_consumer

    return makes_consumer(make, options)


def _python(name: str, options: dict[str, str]) -> Adapter:
    from rocketmq_conformance.conformance.targets.client_program.python_consumer import named_parameters

    make = _factory(name)
    takes = named_parameters(make)
    consumer = _is_consumer(make, options)
    if takes is not None:
        own = takes[1:] if consumer else takes  # the settings come first
        forms = [f"{one}=…" for one in own] + ([_settings_in_words()] if consumer else [])
        _refuse_unknown(name, options, (*takes, *(_program_settings() if consumer else ())), ", ".join(forms) or "none")
    if consumer:
        return _python_consumer(name, make, options)
    try:
        adapter = make(**options)
    except Exception as error:
        raise CannotRunError(f"{name} raised {type(error).__name__}: {error}.") from error
    missing = [
        method for method in ("hello", "reset", "apply", "close") if not callable(getattr(adapter, method, None))
    ]
    if missing:
        hint = " A factory of consumers takes the settings as its first argument (docs/client.md)."
        raise CannotRunError(
            f"What {name} made is no adapter: it has no {', '.join(missing)}."
            + (hint if hasattr(adapter, "shutdown") else "")
        )
    return adapter


def _python_consumer(name: str, make: Callable[..., Adapter], options: dict[str, str]) -> Adapter:
    import shlex

    from rocketmq_conformance.conformance.targets.client_program.python_consumer import command

    kits = _program_settings()
    words = shlex.join(command(name, make, options, kits))
    return _program(words, {key: value for key, value in options.items() if key in kits})


def _client(command: str, options: dict[str, str]) -> Adapter:
    _refuse_unknown("client", options, _program_settings(), f"{_settings_in_words()}, before the colon")
    return _program(command, options)


def _refuse_unknown(whose: str, given: Iterable[str], known: Iterable[str], forms: str) -> None:
    """AddressError for the first option that is not known."""
    if sentence := no_option(whose, given, known, forms):
        raise AddressError(sentence)


def _settings_in_words() -> str:
    """The options of a program, as they are written."""
    from rocketmq_conformance.conformance.targets.client_program.timers import STANDARD

    return f"pace=N, lanes=N, through=BROKER, tls=on, credentials=on and the timers {', '.join(STANDARD)} in seconds"


def _program_settings() -> tuple[str, ...]:
    from rocketmq_conformance.conformance.targets.client_program.timers import STANDARD

    return ("pace", "lanes", "through", *_ASKED, *STANDARD)


def _program(command: str, options: dict[str, str]) -> Adapter:
    from rocketmq_conformance.conformance.targets.client_program.adapter import LANES, ClientProgram
    from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
    from rocketmq_conformance.conformance.targets.client_program.real_broker import real_broker
    from rocketmq_conformance.conformance.targets.client_program.timers import overall_pace, timers_of, timing_of

    for name in _ASKED:
        if options.get(name, "off") not in ("on", "off"):
            raise AddressError(f"{name}={options[name]} is not known to client; write {name}=on, or leave it away.")
    tls, credentials = (options.get(name) == "on" for name in _ASKED)
    lanes = options.get("lanes", str(LANES))
    if not lanes.isdecimal() or not 0 < int(lanes) <= 64:
        raise AddressError(f"{lanes!r} is no number of lanes; write one from 1 to 64.")
    pace = _number_of_pace(options.get("pace", "1"))
    try:
        through = real_broker(options["through"]) if "through" in options else None
        timers = timers_of(options, pace)
    except ValueError as error:
        raise AddressError(str(error)) from error
    timing, overall = timing_of(timers, pace), overall_pace(timers, pace)
    try:
        return ClientProgram(command, overall, int(lanes), timing, through, GivenAccess(credentials, tls))
    except ValueError as error:
        raise AddressError(f"The command of {command!r} cannot be read ({error}).") from error


def _exec(command: str) -> Adapter:
    from rocketmq_conformance.conformance.targets.exec_client.adapter import ExecClient

    try:
        client = ExecClient(command)
    except ValueError as error:
        raise AddressError(f"The command {command!r} cannot be read as shell words: {error}.") from error
    if not client.words:
        raise AddressError("After exec: stands the command of a program, such as 'exec:python3 my_client.py'.")
    return client


def _java(name: str, options: dict[str, str]) -> Adapter:
    from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
    from rocketmq_conformance.conformance.targets.java_client.release import built

    if not name:
        raise AddressError("Name a release of the Java client, such as java-client:5.5.0.")
    path = options.pop("classpath", None)
    pace = _pace(options, "java-client")
    via = _via(options, "java-client", ("call", "tcp"), timed=True)
    if pace is not None and via == "tcp":
        raise AddressError("A java-client with a real clock is stepped by hand, without sockets: leave via=tcp away.")
    return JavaClient(name, via=via, pace=pace, before=() if path is None else built(path))


def _broker(place: str, options: dict[str, str], properties: Sequence[str]) -> Adapter:
    from rocketmq_conformance.conformance.targets.broker.address import open_broker, open_fake

    if place == "broker":
        return open_fake(options, properties)
    return open_broker(place.removeprefix("broker:"), options, properties)


def _via(options: dict[str, str], kind: str, allowed: tuple[str, ...], *, timed: bool = False) -> str:
    more = ", clock=real and pace=N" if timed else ""
    known = ("via", "clock", "pace") if timed else ("via",)
    _refuse_unknown(kind, options, known, f"via={' or via='.join(allowed)}{more}")
    via = options.get("via", allowed[0])
    if via not in allowed:
        raise AddressError(f"{kind} cannot be reached via {via!r}; write via={' or via='.join(allowed)}.")
    return via


def _pace(options: dict[str, str], kind: str) -> float | None:
    """The pace of a real clock; None when the clock is virtual."""
    clock = options.get("clock", VIRTUAL)
    if clock not in (VIRTUAL, REAL):
        raise AddressError(f"{kind} has no clock {clock!r}; write clock={VIRTUAL} or clock={REAL}.")
    if clock == VIRTUAL:
        if "pace" in options:
            raise AddressError(f"A virtual clock has no pace; write clock={REAL}&pace={options['pace']}.")
        return None
    return _number_of_pace(options.get("pace", "1"))


def _number_of_pace(text: str) -> float:
    try:
        pace = float(text)
    except ValueError:
        pace = 0
    if not 0 < pace <= FASTEST:
        raise AddressError(f"{text!r} is no pace; write a number above 0, up to {FASTEST:,}, such as pace=100.")
    return pace


_KINDS: dict[str, Callable[[str, dict[str, str]], Adapter]] = {
    "port": _port,
    "python": _python,
    "java-client": _java,
}
