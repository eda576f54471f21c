"""The command line. Exit codes: 0 conforms, 1 diverges, 2 usage, 3 undecided, 4 could not run, 5 fault of the kit."""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from types import FrameType

import click

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, FAULT, KIT_FAULT, UNDECIDED, finish
from rocketmq_conformance.conformance.cli.lazy_group import Lazy, LazyGroup
from rocketmq_conformance.conformance.cli.output import say, say_text, show_error

#: Containers that are made, less those that are gone, between two collections: most of what imports make stays.
_RARELY = 50_000
_HERE = "rocketmq_conformance.conformance.cli"
#: The commands by name: a module each.
COMMANDS = {
    "bisect": Lazy(
        f"{_HERE}.bisect:bisect",
        "Find the release at which the answers to a plan changed.",
        "bisect found.plan.jsonl --broker 4.7.1..5.5.0",
    ),
    "campaign": Lazy(f"{_HERE}.campaign:campaign", "Play very many seeded cases with Spark, and keep them as tables."),
    "diff": Lazy(
        f"{_HERE}.diff:diff",
        "Compare what several addresses answer to the same plans.",
        "diff broker:5.4.0 broker:5.5.0 -k broker-offsets",
    ),
    "enumerate": Lazy(
        f"{_HERE}.enumerate:enumerate_",
        "List every plan of a suite up to a bound, and play them.",
        "enumerate start-push --steps 2 --values 2",
    ),
    "expect": Lazy(f"{_HERE}.expect:expect", "Keep a file of expected divergences: add, verify, prune."),
    "explain": Lazy(
        f"{_HERE}.explain:explain",
        "Show what a rule requires, of which releases, by which source.",
        "explain BQ-QUERY-G3",
    ),
    "fetch": Lazy(
        f"{_HERE}.fetch:fetch", "Download the jars of real clients and brokers.", "fetch broker:5.5.0 java-client:5.5.0"
    ),
    "list": Lazy(f"{_HERE}.list:list_", "Name the suites, rules, operations or mutants.", "list suites"),
    "matrix": Lazy(
        f"{_HERE}.matrix:matrix",
        "Show rule by rule what each of many releases does.",
        "matrix --brokers 4.9.7..5.5.0 -k broker-offsets",
    ),
    "new-adapter": Lazy(
        f"{_HERE}.new_adapter:new_adapter",
        "Write a program to start from, in Go, Java or Python.",
        "new-adapter --language go my-adapter",
    ),
    "power": Lazy(
        f"{_HERE}.power:power", "Run the mutants and print which were noticed, and how soon.", "power first-takes-all"
    ),
    "predict": Lazy(f"{_HERE}.predict:predict", "Predict what a group of a real cluster will do."),
    "prove": Lazy(f"{_HERE}.prove:prove", "Check the model itself against real RocketMQ."),
    "provenance": Lazy(
        f"{_HERE}.provenance:provenance",
        "Compare the Java methods that rules name across releases.",
        "provenance 5.4.0 5.5.0",
    ),
    "regenerate": Lazy(
        f"{_HERE}.regenerate:regenerate",
        "Rewrite the files that are made from the code.",
        "regenerate --check",
        hidden=True,
    ),
    "replay": Lazy(
        f"{_HERE}.replay:replay", "Run the cases of a plan file again.", "replay found.plan.jsonl java-client:5.5.0"
    ),
    "report": Lazy(
        f"{_HERE}.report:report", "Make one HTML page of a stored run or campaign.", "report conformance-out"
    ),
    "run": Lazy(
        f"{_HERE}.run:run",
        "Judge an address: generate plans, run them, and compare.",
        "run broker:5.5.0 -k broker-offsets --seed 5",
    ),
    "scenario": Lazy(
        f"{_HERE}.scenario:scenario", "Play a story step by step, and show each answer.", "scenario new-group port"
    ),
    "serve": Lazy(
        f"{_HERE}.serve:serve",
        "Run a fake name server and broker, answered by the model.",
        "serve --topic orders=4 --with broker=5.5.0",
    ),
    "shrink": Lazy(
        f"{_HERE}.shrink:shrink", "Find the shortest plan that shows a divergence.", "shrink found.plan.jsonl port"
    ),
    "smoke": Lazy(
        f"{_HERE}.smoke:smoke",
        "Check with a few short cases that an adapter is wired up.",
        "smoke client:./my-consumer",
    ),
    "switches": Lazy(
        f"{_HERE}.switches:switches", "Show what changes from one release to another.", "switches 5.3.3..5.5.0"
    ),
}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="rocketmq-conformance")
def cli() -> None:
    """Judge a RocketMQ client or broker by an executable reference model.

    \b
    ADDRESS names what is judged:
      port                           the bundled Python port (the default)
      python:package.module:factory  any Python implementation, stepped or a consumer
      client:COMMAND                 a program that starts a consumer, by its traffic
      exec:COMMAND                   a program in any language, by JSON Lines
      java-client:VERSION            the real Java client's own classes
      broker                         the fake broker, which needs nothing
      broker:VERSION                 a real broker, started from jars
      broker:dir=PATH                the broker of an unpacked distribution
      broker:HOST:PORT               a broker that is already running
      mutant:NAME                    the port, or a broker, with one deliberate fault

    broker:VERSION?via=container starts the broker in a container, and
    broker:VERSION?set=NAME=VALUE with that property.

    client?through=broker:VERSION:COMMAND (or --through broker:VERSION) gives the program that real broker instead of
    the fake one.

    client?tls=on&credentials=on:COMMAND has its broker ask for TLS and for signed requests.

    With ?clock=real&pace=N behind it a port, a mutant of one or a java-client has a real clock, N times faster.
    """


def main() -> None:
    """The console script."""
    gc.set_threshold(_RARELY)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt):  # the latter by Ctrl-C once more, while the first is seen to
        _end_interrupted()
    except click.ClickException as error:
        show_error(error)
        finish(error.exit_code)
    except click.exceptions.Exit as end:
        finish(end.exit_code)
    except Exception as error:
        _end_by(error)
    finally:  # the code is decided: Ctrl-C changes it no more
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # imports use exec(): after Ctrl-C in one of them Python would end by the signal, unless another exec() follows
        exec("")


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End as by Ctrl-C, also where that is ignored: what was started is stopped, and what ran is kept."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _end_interrupted() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say("interrupted", err=True)
    finish(UNDECIDED)


def _end_by(error: Exception) -> None:
    """End the process after an exception that no command expects."""
    if isinstance(error.__cause__, KeyboardInterrupt):  # Python 3.11 makes a RuntimeError of one in __set_name__
        _end_interrupted()
    from rocketmq_conformance.suites.declare.discovery import DiscoveryError  # imports every model

    if isinstance(error, DiscoveryError):
        say(f"Error: {error}", err=True)
        finish(COULD_NOT_RUN)
    say_text("".join(traceback.format_exception(error)), err=True)
    say(KIT_FAULT, err=True)
    finish(FAULT)
