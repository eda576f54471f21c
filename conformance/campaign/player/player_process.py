"""The player's process, in which implementations run: it may crash or hang without harm to the worker.

It reads commands from standard input and answers frames on standard output (see ``pipe``); what implementations
print goes to standard error. It ends when its worker does (see ``watcher``).
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.campaign.player.block_player import BlockPlayer
from rocketmq_conformance.conformance.campaign.player.pipe import BEATS, BEATS_AT, CASE, PLACE, receive, send
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.engine.gc_pause import rare_collections
from rocketmq_conformance.conformance.targets.address import AddressError

#: Kinds of failures, as frames name them.
USAGE, COULD_NOT_RUN, FAULT = "usage", "could not run", "fault"


def serve(commands: BinaryIO, frames: BinaryIO, place: mmap.mmap) -> None:
    """Answer commands until there are no more."""
    beats = 0

    def at(case: int, address: int) -> None:
        CASE.pack_into(place, 0, case, address)

    def beat() -> None:
        nonlocal beats
        beats += 1
        BEATS.pack_into(place, BEATS_AT, beats)

    def report_start(text: str, detail: str) -> None:
        send(frames, ("start", (text, detail)))

    players: BlockPlayer | None = None
    while True:
        try:
            command = receive(commands)
        except EOFError:
            break
        with _failures_as_frames(frames):
            if command["do"] == "open":
                players = BlockPlayer(
                    CampaignSpec.of(command["spec"]), at, beat, start=command["start"], on_start=report_start
                )
                send(frames, ("done", players.introduce()))
                continue
            assert players is not None, "opened first"
            answers: Iterator[Any] = _COMMANDS[command.pop("do")](players, **command)
            for answer in answers:
                send(frames, ("part", answer))
            send(frames, ("done", None))
    if players:
        players.close()


_COMMANDS: dict[str, Callable[..., Iterator[Any]]] = {
    "play": BlockPlayer.play,
    "control": BlockPlayer.control,
    "report": BlockPlayer.report,
}


@contextmanager
def _failures_as_frames(frames: BinaryIO) -> Iterator[None]:
    """Send failures as frames."""
    try:
        yield
    except AddressError as error:
        send(frames, ("failed", (USAGE, str(error))))
    except (AdapterError, CannotRunError) as error:
        send(frames, ("failed", (COULD_NOT_RUN, str(error))))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        send(frames, ("failed", (COULD_NOT_RUN, f"Playing failed ({error}).")))
    except Exception:
        send(frames, ("failed", (FAULT, traceback.format_exc())))


def main() -> None:
    """Serve standard input and output; the argument is the file of the shared memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker ends this process
    faulthandler.enable()
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with Path(sys.argv[1]).open("r+b") as file, mmap.mmap(file.fileno(), PLACE.size) as place, rare_collections():
        with suppress(BrokenPipeError):
            serve(sys.stdin.buffer, frames, place)
        sys.stderr.flush()
        os._exit(0)  # a Java machine's threads must not keep the process alive


if __name__ == "__main__":
    main()
