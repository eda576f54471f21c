"""What runs for the length of a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Scoped(ABC):
    """Started when the block begins, and closed when it ends, or when the start fails."""

    @abstractmethod
    def start(self) -> None:
        """Start it, and wait until it is ready."""

    @abstractmethod
    def close(self) -> None:
        """End what runs, and remove what is left; also after a part of the start."""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # Ctrl-C too: nothing may go on running
            self.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
