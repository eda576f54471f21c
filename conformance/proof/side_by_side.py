"""Proves units side by side in processes of their own, and begins no other one when the time is up."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import active_children, get_context
from multiprocessing.util import Finalize
from tempfile import TemporaryDirectory
from threading import local

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine.memory_folder import PARENT, temporary_folder
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.conformance.startup import allow, allowed
from rocketmq_conformance.conformance.targets.java_client import jvm

Prove = Callable[[Unit], ProofResult]
#: May another unit begin?
More = Callable[[], bool]


def in_processes(prove: Prove, units: Sequence[Unit], workers: int, more: More, each: int) -> Generator[ProofResult]:
    """Prove units in so many processes; yields each result as soon as it is known.

    ``prove`` can be pickled. A process that has proven ``each`` units makes room for a new one. With one worker and
    no more units than that, it is this process. All processes are killed when the caller stops early.
    """
    if workers <= 1 and len(units) <= each:
        yield from one_by_one(prove, units, more)
        return
    with TemporaryDirectory(prefix="rocketmq-conformance-proof-") as folder, ExitStack() as resources:
        memory = temporary_folder()
        resources.callback(shutil.rmtree, memory, ignore_errors=True)
        processes = _Processes(prove, (folder, str(memory)), each)
        # each thread waits for a process of its own
        with ThreadPoolExecutor(workers) as threads:
            try:
                yield from prove_side_by_side(threads.submit, processes.prove, units, workers, more)
            except BaseException:
                processes.kill()
                raise
            finally:
                processes.close()


def one_by_one(prove: Prove, units: Iterable[Unit], more: More) -> Iterator[ProofResult]:
    """Prove units one after the other."""
    for unit in units:
        if not more():
            return
        yield proven(prove, unit)


def proven(prove: Prove, unit: Unit) -> ProofResult:
    """Prove a unit; it is not judged when what is asked cannot run, or breaks meanwhile."""
    try:
        return prove(unit)
    except (CannotRunError, AdapterError) as error:
        return ProofResult.missing(unit, error)


def prove_side_by_side(
    submit: Callable[[Prove, Unit], Future[ProofResult]],
    prove: Prove,
    units: Iterable[Unit],
    workers: int,
    more: More,
) -> Iterator[ProofResult]:
    """Prove units, at most ``workers`` of them at a time; the next one begins when one has ended."""
    left = iter(units)
    running: set[Future[ProofResult]] = set()
    while True:
        while len(running) < workers and more() and (unit := next(left, None)) is not None:
            running.add(submit(prove, unit))
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


class _Processes:
    """One process for each thread that asks for it."""

    def __init__(self, prove: Prove, folders: tuple[str, str], each: int) -> None:
        self._prove, self._folders, self._each = prove, folders, each
        self._mine = local()
        self._pools: list[ProcessPoolExecutor] = []
        self._killed = False

    def prove(self, unit: Unit) -> ProofResult:
        """Prove a unit in the process of this thread, and once more when that dies; not judged when it dies again."""
        for _ in range(2):
            try:
                return self._proven(unit)
            except BrokenProcessPool:
                if self._killed:
                    raise
                self._leave(self._mine.pool)
        return ProofResult.missing(unit, CannotRunError("its process died, twice"))

    def _proven(self, unit: Unit) -> ProofResult:
        pool: ProcessPoolExecutor | None = getattr(self._mine, "pool", None)
        if pool is not None and self._mine.left == 0:
            self._leave(pool)
            pool = None
        if pool is None:
            # a process with a JVM cannot be forked
            pool = ProcessPoolExecutor(1, get_context("spawn"), _begin, (*self._folders, allowed()))
            self._pools.append(pool)
            self._mine.pool, self._mine.left = pool, self._each
        self._mine.left -= 1
        return pool.submit(proven, self._prove, unit).result()

    def _leave(self, pool: ProcessPoolExecutor) -> None:
        pool.shutdown()
        self._pools.remove(pool)
        self._mine.pool = None

    def kill(self) -> None:
        """Kill the processes, and begin no other one."""
        self._killed = True
        for process in active_children():
            process.kill()

    def close(self) -> None:
        """End the processes."""
        for pool in list(self._pools):
            pool.shutdown(cancel_futures=True)


def _begin(folder: str, memory: str, start_limit: float | None) -> None:
    """Begin a process of its own: it leaves files only in those folders, one on disk and one in memory, is stopped by
    the first process alone, does not wait for threads of clients in the end, and allows a start as many seconds."""
    allow(start_limit)
    tempfile.tempdir = folder
    os.environ[PARENT] = memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Finalize(None, jvm.end, (0,), exitpriority=0)
