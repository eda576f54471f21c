"""The kit as it is shipped to workers: all of it, always the same, and found by workers and their children."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path

import pytest
from places import ROOT

from rocketmq_conformance.conformance.campaign.player import shipped_kit
from rocketmq_conformance.conformance.campaign.spark import shipping

SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shipping.pack(tmp_path_factory.mktemp("kit"))


def python(code: str, archive: Path, **environment: str) -> str:
    """What a Python says that has the zip first on its path, as a worker has it."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=archive.parent,
        env={**os.environ, "PYTHONPATH": str(archive), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- packing ----------------------------------------------------------------------------------------------------


def test_all_modules_and_data_of_every_package_are_shipped(archive: Path) -> None:
    with zipfile.ZipFile(archive) as kit:
        names = kit.namelist()
        left = {name for name in names if name.endswith(".py")}
        for folder, _, files in os.walk(ROOT / "src" / "rocketmq_conformance", followlinks=True):
            place = Path(folder)
            package = place.relative_to(ROOT / "src").as_posix().replace("/", ".")
            if "__init__.py" not in files:
                continue
            data = [*SETUP["package-data"]["*"], *SETUP["package-data"].get(package, [])]
            sources = [source for kind in ("*.py", *data) for source in place.glob(kind)]
            assert sources
            for source in sources:
                entry = f"{package.replace('.', '/')}/{source.relative_to(place).as_posix()}"
                assert kit.read(entry) == source.read_bytes()
                left.discard(entry)
        assert not left
        assert not [name for name in names if "__pycache__" in name]
        assert {name[:-1] for name in names if name.endswith(".pyc")} <= {*names}


def test_equal_kits_make_equal_zips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = shipping.bytecode(shipping.contents())
    # another process may keep more of it meanwhile
    monkeypatch.setattr(shipping, "bytecode", lambda _: code)
    one = shipping.pack(tmp_path)
    data = one.read_bytes()
    one.unlink()
    again = shipping.pack(tmp_path)
    assert again == one
    assert again.read_bytes() == data


def test_another_kit_has_another_name(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = shipping.contents()
    name = next(iter(kit))
    monkeypatch.setattr(shipping, "contents", lambda: {**kit, name: kit[name] + b"\n"})
    assert shipping.pack(tmp_path).name != archive.name


def test_a_kit_that_was_shipped_can_be_shipped_on(archive: Path) -> None:
    code = (
        "from pathlib import Path; from rocketmq_conformance.conformance.campaign.spark import shipping;"
        "(place := Path('again')).mkdir(exist_ok=True); print(shipping.pack(place).name)"
    )
    assert python(code, archive) == archive.name


def test_bytecode_is_shipped_as_long_as_it_is_that_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / shipping.PACKAGE
    package.mkdir()
    by_time, by_hash = py_compile.PycInvalidationMode.TIMESTAMP, py_compile.PycInvalidationMode.CHECKED_HASH
    for name, mode in {
        "__init__": None,
        "not_compiled": None,
        "same": by_time,
        "same_hash": by_hash,
        "changed": by_time,
        "changed_hash": by_hash,
        "other_python": by_time,
    }.items():
        module = package / f"{name}.py"
        module.write_text("number = 1\n")
        if mode:
            py_compile.compile(str(module), invalidation_mode=mode)
        if name.startswith("changed"):
            module.write_text("number = 10\n")
    other = Path(cache_from_source(package / "other_python.py"))
    other.write_bytes(b"old\n" + other.read_bytes()[4:])
    monkeypatch.setattr(shipping, "files", lambda package: tmp_path / package)
    kit = shipping.contents()
    found = shipping.bytecode(kit)
    assert {Path(name).name for name in found} == {"same.pyc", "same_hash.pyc"}

    # whoever finds it takes it, without a look at the source
    same = f"{shipping.PACKAGE}/same.py"
    monkeypatch.setattr(shipping, "contents", lambda: {**kit, same: b"number = 2\n"})
    monkeypatch.setattr(shipping, "bytecode", lambda kit: found)
    code = f"from {shipping.PACKAGE} import changed, same; print(same.number, changed.number)"
    assert python(code, shipping.pack(tmp_path)) == "1 10"


def test_every_room_is_imported_from_the_zip(archive: Path) -> None:
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        "from pkgutil import walk_packages\n"
        "import rocketmq_conformance.conformance.cli.main\n"
        "for room in ('models', 'suites', 'reports'):\n"
        "    package = import_module('rocketmq_conformance.' + room)\n"
        "    for found in walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if '.test_' not in found.name: import_module(found.name)\n"
        "kit = [module for name, module in sys.modules.items() if name.startswith('rocketmq_conformance')]\n"
        f"assert all(module.__file__.startswith({str(archive)!r}) for module in kit)\n"
        "print(len(kit))\n"
    )
    assert int(python(code, archive)) > 60


# --- on a worker ------------------------------------------------------------------------------------------------


@pytest.fixture
def small_kit(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A kit of some files, which is unpacked in no time."""
    kit = dict(islice(shipping.contents().items(), 40))
    monkeypatch.setattr(shipping, "contents", lambda: kit)
    return kit


@pytest.fixture
def worker(small_kit: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process as if it had the zip of a small kit from Spark; the answer is where the zip is."""
    (tmp_path / "files").mkdir()
    place = shipping.pack(tmp_path / "files")
    monkeypatch.setattr(shipped_kit, "_PLACE", place)
    monkeypatch.setattr(sys, "path", ["", str(place), *sys.path])
    return place


def test_many_that_unpack_at_once_get_one_whole_kit(worker: Path, small_kit: dict[str, bytes]) -> None:
    with ThreadPoolExecutor(8) as pool:
        places = list(pool.map(lambda _: shipped_kit.unpacked(), range(8)))
    assert set(places) == {worker.with_suffix("")}
    found = {
        str(file.relative_to(places[0])): file.read_bytes()
        for file in Path(places[0]).rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert found == small_kit
    assert {entry.name for entry in worker.parent.iterdir()} == {worker.name, worker.with_suffix("").name}


def test_a_kit_that_is_unpacked_is_not_unpacked_again(worker: Path) -> None:
    first = shipped_kit.unpacked()
    assert first is not None
    before = first.stat().st_ino
    assert shipped_kit.unpacked() == first
    assert first.stat().st_ino == before


def test_a_folder_that_cannot_be_written_is_reported(worker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        shipped_kit.unpacked()
    assert [entry.name for entry in worker.parent.iterdir()] == [worker.name]


def test_children_import_the_shipped_kit_then_shipped_files_then_the_users_places(
    worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = worker.parent / "port.zip"
    monkeypatch.setattr(sys, "path", ["", str(worker), str(worker.parent), str(shipped), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "given"), str(shipped)]))
    there = tmp_path / "there"
    there.mkdir()
    path = shipped_kit.child_environment([str(there), str(tmp_path / "nowhere")])["PYTHONPATH"].split(os.pathsep)
    assert path == [str(shipped_kit.unpacked()), str(worker.parent), str(shipped), str(there), str(tmp_path / "given")]


def test_children_of_a_kit_that_was_not_shipped_keep_their_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "given")
    monkeypatch.setenv("SOMETHING", "else")
    environment = shipped_kit.child_environment([str(tmp_path)])
    assert shipped_kit.unpacked() is None
    assert environment["PYTHONPATH"] == os.pathsep.join([str(tmp_path), "given"])
    assert environment["SOMETHING"] == "else"


def test_a_child_of_a_worker_plays_with_the_shipped_kit(archive: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "from rocketmq_conformance.conformance.campaign.player.shipped_kit import child_environment\n"
        "run = [sys.executable, '-m', 'rocketmq_conformance', 'run', 'port', '-k', 'remote-store', '--cases', '2']\n"
        "where = [sys.executable, '-c', 'import rocketmq_conformance.models as m; print(m.__file__)']\n"
        "for command in (where, run):\n"
        "    done = subprocess.run(command, env=child_environment(['.']), capture_output=True, text=True)\n"
        "    print(done.returncode, done.stdout)\n"
    )
    printed = python(code, archive, NO_COLOR="1")
    assert printed.startswith(f"0 {archive.with_suffix('')}/rocketmq_conformance/models/__init__.py")
    assert "remote-store" in printed
    assert printed.count("\n0 ") == 1


def test_a_worker_names_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "NEEDED", ("json", "no_such_module", "nor_this"))
    printed = shipping.check_worker()
    assert "has no no_such_module, nor_this: install it there with `pip install" in printed
    assert sys.executable in printed
    assert "\n" not in printed


def test_a_worker_that_has_everything_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "NEEDED", ("json", "click"))
    assert shipping.check_worker() == ""


def test_what_workers_need_is_what_the_kit_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installed = " ".join([*project["dependencies"], *project["optional-dependencies"]["spark"]])
    assert all(name in installed for name in shipping.NEEDED)


def test_a_worker_can_ask_before_it_has_anything(archive: Path) -> None:
    code = (
        "import sys\n"
        "from rocketmq_conformance.conformance.campaign.spark import shipping\n"
        "print([name for name in shipping.NEEDED if name in sys.modules])"
    )
    assert python(code, archive) == "[]"


def test_the_zip_of_a_process_that_was_killed_is_removed_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = "from rocketmq_conformance.conformance.campaign.spark import shipping; shipping._packed(); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        [folder] = tmp_path.iterdir()
        os.utime(folder, (0, 0))
        shipping.remove_left()
        assert folder.exists(), "its process lives"
        child.kill()
        child.wait()
        shipping.remove_left()
    assert list(tmp_path.iterdir()) == []
