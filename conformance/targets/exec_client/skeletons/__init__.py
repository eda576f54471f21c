"""Programs to start from, by language: each answers the suite ``allocation`` by two strategies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
#: The end of a template's name: it is no code of the kit.
_TEMPLATE = ".txt"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A program in one language."""

    language: str
    #: How it is built, "" when it is not; and the address that runs it. Both from its own folder.
    build: str
    address: str

    def write(self, folder: Path) -> list[Path]:
        """Write its files into a folder, which is made; FileExistsError when one of them is there already."""
        sources = sorted((FOLDER / self.language).glob(f"*{_TEMPLATE}"))
        made = [folder / source.name.removesuffix(_TEMPLATE) for source in sources]
        there = next((path for path in made if path.exists()), None)
        if there:
            raise FileExistsError(str(there))
        folder.mkdir(parents=True, exist_ok=True)
        for source, path in zip(sources, made, strict=True):
            path.write_text(source.read_text("utf-8"), "utf-8")
        return made


SKELETONS = {
    one.language: one
    for one in (
        Skeleton("go", "go build -o adapter .", "exec:./adapter"),
        Skeleton("java", "", "exec:java Adapter.java"),
        Skeleton("python", "", "exec:python3 adapter.py"),
    )
}
