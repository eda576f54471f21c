"""Opens the adapters of addresses."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
from importlib import import_module
from pathlib import Path

from rocketmq_conformance.conformance.adapter import Adapter, CannotRunError
from rocketmq_conformance.conformance.targets.address import (
    PROGRAM_FORMS,
    PROGRAM_OPTIONS,
    AddressError,
    parse_address,
    program_settings,
)
from rocketmq_conformance.conformance.targets.address_kinds import (
    Address,
    BrokerAddress,
    ClientAddress,
    ExecAddress,
    JavaClientAddress,
    MutantAddress,
    PortAddress,
    ProgramSettings,
    PythonAddress,
)
from rocketmq_conformance.conformance.targets.near_name import did_you_mean, refuse_unknown


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
    raise AssertionError(f"{address} is of no kind")


@_opened.register
def _port(address: PortAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.port.adapter import Port

    return Port(via=address.via, pace=address.pace)


@_opened.register
def _broker(address: BrokerAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.broker.address import open_broker

    return open_broker(address)


def is_program(address: Address) -> bool:
    """Does it name a program that starts a consumer? AddressError and CannotRunError as of opening it."""
    from rocketmq_conformance.conformance.targets.client_program.python_consumer import makes_consumer

    if isinstance(address, PythonAddress):
        return makes_consumer(_factory(address.name), dict(address.given))
    return isinstance(address, ClientAddress)


@_opened.register
def _mutant(address: MutantAddress) -> Adapter:
    from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
    from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, profile_of
    from rocketmq_conformance.models.profile import Profile

    name = address.name
    if name not in MUTANTS:
        near = did_you_mean(name, MUTANTS)
        raise AddressError(f"No mutant is called {name!r}{near}; `list mutants` names them all.")
    mutant = MUTANTS[name]
    if isinstance(mutant, BrokerMutant):
        if address != MutantAddress(name, properties=address.properties):
            raise AddressError(f"The mutant {name} is a broker and takes no options but set=NAME=VALUE.")
        release = profile_of(mutant, Profile()).broker
        properties = dict(mutant.configuration) | of_the_model(release, settable(release, address.properties))
        return open_mutant(replace(mutant, configuration=tuple(properties.items())), Profile())
    if address.properties:
        raise AddressError(f"The mutant {name} is a port, which has no properties to set.")
    return open_mutant(mutant, Profile(), address.via, address.pace)


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

    make, options = _factory(address.name), dict(address.given)
    takes = python_consumer.named_parameters(make)
    consumer = python_consumer.makes_consumer(make, options)
    kits, forms = (PROGRAM_OPTIONS, PROGRAM_FORMS) if consumer else ((), "")
    if takes is not None:
        own = takes[1:] if consumer else takes  # the settings come first
        written = ", ".join(filter(None, (*(f"{one}=…" for one in own), forms)))
        refuse_unknown(address.name, options, (*takes, *kits), written or "none")
    if consumer:
        words = shlex.join(python_consumer.command(address.name, make, options, kits))
        return _program(words, program_settings({key: text for key, text in options.items() if key in kits}))
    try:
        adapter = make(**options)
    except Exception as error:
        raise CannotRunError(f"{address.name} raised {type(error).__name__}: {error}.") from error
    missing = [
        method for method in ("hello", "reset", "apply", "close") if not callable(getattr(adapter, method, None))
    ]
    if missing:
        hint = " A factory of consumers takes the settings as its first argument (docs/reference/client.md)."
        raise CannotRunError(
            f"What {address.name} made is no adapter: it has no {', '.join(missing)}."
            + (hint if hasattr(adapter, "shutdown") else "")
        )
    return adapter


@_opened.register
def _client(address: ClientAddress) -> Adapter:
    return _program(address.command, address.settings)


def _program(command: str, settings: ProgramSettings) -> Adapter:
    from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
    from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
    from rocketmq_conformance.conformance.targets.client_program.real_broker import real_broker
    from rocketmq_conformance.conformance.targets.client_program.timers import overall_pace, timers_of, timing_of

    if settings.protocol == "grpc":
        return _grpc_program(command, settings)
    pace = settings.pace
    timers = timers_of(dict(settings.timers), pace)
    timing, overall = timing_of(timers, pace), overall_pace(timers, pace)
    through = real_broker(settings.through) if settings.through else None
    access = GivenAccess(settings.credentials, settings.tls)
    try:
        return ClientProgram(command, overall, settings.lanes, timing, through, access)
    except ValueError as error:
        raise AddressError(f"The command of {command!r} cannot be read ({error}).") from error


def _grpc_program(command: str, settings: ProgramSettings) -> Adapter:
    try:
        from rocketmq_conformance.conformance.targets.grpc_program.adapter import GrpcProgram
    except ModuleNotFoundError as error:
        raise CannotRunError(
            f"Clients of the gRPC protocol need {error.name}: install it with "
            "`pip install 'rocketmq-conformance[grpc]'`."
        ) from error
    try:
        return GrpcProgram(command, settings.lanes)
    except ValueError as error:
        raise AddressError(f"The command of {command!r} cannot be read ({error}).") from error


@_opened.register
def _exec(address: ExecAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.exec_client.adapter import ExecClient

    try:
        client = ExecClient(address.command)
    except ValueError as error:
        raise AddressError(f"The command {address.command!r} cannot be read as shell words: {error}.") from error
    if not client.words:
        raise AddressError("After exec: stands the command of a program, such as 'exec:python3 my_client.py'.")
    return client


@_opened.register
def _java(address: JavaClientAddress) -> Adapter:
    from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
    from rocketmq_conformance.conformance.targets.java_client.release import built

    before = () if address.classpath is None else built(address.classpath)
    return JavaClient(address.version, via=address.via, pace=address.pace, before=before)
