"""Opens the adapters of addresses."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import singledispatch
from importlib import import_module
from pathlib import Path

from rocketmq_conformance.conformance.adapter import FASTEST, REAL, VIRTUAL, Adapter, CannotRunError
from rocketmq_conformance.conformance.targets.address import (
    Address,
    AddressError,
    BrokerAddress,
    ClientAddress,
    ExecAddress,
    JavaClientAddress,
    MutantAddress,
    PythonAddress,
    parse_address,
)
from rocketmq_conformance.conformance.targets.near_name import did_you_mean, refuse_unknown

#: What a program may be asked for before anything is answered.
_ASKED = "tls", "credentials"


def open_address(address: Address | str) -> Adapter:
    """The adapter of an address. AddressError when it is invalid, CannotRunError when it cannot be judged here."""
    try:
        return _opened(parse_address(address) if isinstance(address, str) else address)
    except AddressError:
        raise
    except ValueError as error:
        raise AddressError(str(error)) from error


@singledispatch
def _opened(address: Address) -> Adapter:
    from rocketmq_conformance.conformance.targets.port.adapter import Port

    if address.name:
        raise AddressError(f"The address `port` takes no name, but {address.name!r} was given.")
    via, pace = _way("port", address.options)
    return Port(via=via, pace=pace)


@_opened.register
def _broker(address: BrokerAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.broker.address import open_broker

    return open_broker(address)


def is_program(address: Address) -> bool:
    """Does it name a program that starts a consumer? AddressError and CannotRunError as of opening it."""
    from rocketmq_conformance.conformance.targets.client_program.python_consumer import makes_consumer

    if isinstance(address, PythonAddress):
        return makes_consumer(_factory(address.name), address.options)
    return isinstance(address, ClientAddress)


@_opened.register
def _mutant(address: MutantAddress) -> Adapter:
    from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
    from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant
    from rocketmq_conformance.models.profile import Profile

    name = address.name
    if name not in MUTANTS:
        near = did_you_mean(name, MUTANTS)
        raise AddressError(f"No mutant is called {name!r}{near}; `list mutants` names them all.")
    mutant = MUTANTS[name]
    if isinstance(mutant, BrokerMutant):
        if address.options:
            raise AddressError(f"The mutant {name} is a broker and takes no options but set=NAME=VALUE.")
        release = Profile().broker
        properties = dict(mutant.configuration) | of_the_model(release, settable(release, address.properties))
        return open_mutant(replace(mutant, configuration=tuple(properties.items())), Profile())
    if address.properties:
        raise AddressError(f"The mutant {name} is a port, which has no properties to set.")
    return open_mutant(mutant, Profile(), *_way("mutant", address.options))


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


@_opened.register
def _python(address: PythonAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.client_program import python_consumer

    make = _factory(address.name)
    takes = python_consumer.named_parameters(make)
    consumer = python_consumer.makes_consumer(make, address.options)
    kits, forms = _program_settings() if consumer else ((), "")
    if takes is not None:
        own = takes[1:] if consumer else takes  # the settings come first
        written = ", ".join(filter(None, (*(f"{one}=…" for one in own), forms)))
        refuse_unknown(address.name, address.options, (*takes, *kits), written or "none")
    if consumer:
        words = shlex.join(python_consumer.command(address.name, make, address.options, kits))
        return _program(words, {key: value for key, value in address.options.items() if key in kits})
    try:
        adapter = make(**address.options)
    except Exception as error:
        raise CannotRunError(f"{address.name} raised {type(error).__name__}: {error}.") from error
    missing = [
        method for method in ("hello", "reset", "apply", "close") if not callable(getattr(adapter, method, None))
    ]
    if missing:
        hint = " A factory of consumers takes the settings as its first argument (docs/client.md)."
        raise CannotRunError(
            f"What {address.name} made is no adapter: it has no {', '.join(missing)}."
            + (hint if hasattr(adapter, "shutdown") else "")
        )
    return adapter


@_opened.register
def _client(address: ClientAddress) -> Adapter:
    known, forms = _program_settings()
    refuse_unknown("client", address.options, known, f"{forms}, before the colon")
    return _program(address.name, address.options)


def _program_settings() -> tuple[tuple[str, ...], str]:
    """The options of a program: their names, and how they are written."""
    from rocketmq_conformance.conformance.targets.client_program.timers import STANDARD

    forms = f"pace=N, lanes=N, through=BROKER, tls=on, credentials=on and the timers {', '.join(STANDARD)} in seconds"
    return ("pace", "lanes", "through", *_ASKED, *STANDARD), forms


def _program(command: str, options: Mapping[str, str]) -> Adapter:
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
    through = real_broker(options["through"]) if "through" in options else None
    timers = timers_of(options, pace)
    timing, overall = timing_of(timers, pace), overall_pace(timers, pace)
    try:
        return ClientProgram(command, overall, int(lanes), timing, through, GivenAccess(credentials, tls))
    except ValueError as error:
        raise AddressError(f"The command of {command!r} cannot be read ({error}).") from error


@_opened.register
def _exec(address: ExecAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.exec_client.adapter import ExecClient

    try:
        client = ExecClient(address.name)
    except ValueError as error:
        raise AddressError(f"The command {address.name!r} cannot be read as shell words: {error}.") from error
    if not client.words:
        raise AddressError("After exec: stands the command of a program, such as 'exec:python3 my_client.py'.")
    return client


@_opened.register
def _java(address: JavaClientAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
    from rocketmq_conformance.conformance.targets.java_client.release import built

    if not address.name:
        raise AddressError("Name a release of the Java client, such as java-client:5.5.0.")
    options = {**address.options}
    path = options.pop("classpath", None)
    via, pace = _way("java-client", options)
    if pace is not None and via == "tcp":
        raise AddressError("A java-client with a real clock is stepped by hand, without sockets: leave via=tcp away.")
    return JavaClient(address.name, via=via, pace=pace, before=() if path is None else built(path))


def _way(kind: str, options: Mapping[str, str]) -> tuple[str, float | None]:
    """How it is reached, and the pace of its real clock, None when the clock is virtual."""
    clock, via = options.get("clock", VIRTUAL), options.get("via", "call")
    if clock not in (VIRTUAL, REAL):
        raise AddressError(f"{kind} has no clock {clock!r}; write clock={VIRTUAL} or clock={REAL}.")
    if clock == VIRTUAL and "pace" in options:
        raise AddressError(f"A virtual clock has no pace; write clock={REAL}&pace={options['pace']}.")
    pace = None if clock == VIRTUAL else _number_of_pace(options.get("pace", "1"))
    refuse_unknown(kind, options, ("via", "clock", "pace"), "via=call or via=tcp, clock=real and pace=N")
    if via not in ("call", "tcp"):
        raise AddressError(f"{kind} cannot be reached via {via!r}; write via=call or via=tcp.")
    return via, pace


def _number_of_pace(text: str) -> float:
    try:
        pace = float(text)
    except ValueError:
        pace = 0
    if not 0 < pace <= FASTEST:
        raise AddressError(f"{text!r} is no pace; write a number above 0, up to {FASTEST:,}, such as pace=100.")
    return pace
