"""Programs to start from, by language, of each kind: asked step by step, or started and judged by their traffic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
#: The end of a template's name: it is no code of the kit.
_TEMPLATE = ".txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """A program of one kind in one language."""

    kind: str
    language: str
    #: How it is built, "" when it is not; and the address that runs it. Both from its own folder.
    build: str = ""
    address: str

    def write(self, folder: Path) -> list[Path]:
        """Write its files into a folder, which is made; FileExistsError when one of them is there already."""
        sources = sorted((FOLDER / self.kind / self.language).glob(f"*{_TEMPLATE}"))
        made = [folder / source.name.removesuffix(_TEMPLATE) for source in sources]
        there = next((path for path in made if path.exists()), None)
        if there:
            raise FileExistsError(str(there))
        folder.mkdir(parents=True, exist_ok=True)
        for source, path in zip(sources, made, strict=True):
            path.write_text(source.read_text("utf-8"), "utf-8")
        return made


#: By kind and language.
SKELETONS = {
    (one.kind, one.language): one
    for one in (
        Skeleton(kind="stepped", language="go", build="go build -o adapter .", address="exec:./adapter"),
        Skeleton(kind="stepped", language="java", address="exec:java Adapter.java"),
        Skeleton(kind="stepped", language="python", address="exec:python3 adapter.py"),
        Skeleton(
            kind="consumer",
            language="go",
            # What go.mod leaves out is looked up, and written into it and go.sum.
            build="go build -mod=mod -o consumer .",
            address="client:./consumer",
        ),
        Skeleton(
            kind="consumer",
            language="java",
            build="mvn -q dependency:copy-dependencies -DoutputDirectory=lib && javac -cp 'lib/*' Consumer.java",
            # A small heap: up to 36 of these run at once.
            address="client:java -Xmx64m -cp .:lib/* Consumer",
        ),
        Skeleton(kind="consumer", language="python", address="python:consumer:make"),
    )
}
#: What is tried first, and then, by kind: a command of the kit, and what stands behind the address.
TRIES = {
    "stepped": (("run", ""),),
    "consumer": (("smoke", ""), ("run", " -k whole-push --cases 12")),
}
