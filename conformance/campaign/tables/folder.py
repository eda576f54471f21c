"""A campaign's folder: created once, resumed with the same specification, and locked while a campaign plays in it."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables.reading import (
    DIGEST,
    FILE,
    Campaign,
    CampaignError,
    DamagedError,
    digest_of,
    open_campaign,
    set_aside_damaged,
)
from rocketmq_conformance.conformance.campaign.tables.schema import RUNS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.reports.given_file import opened

#: The file whose presence ends a campaign; its text says why.
STOP = "stop"
#: The file that names the playing session; without it, or with another session in it, workers finish no block.
PLAYING = "playing"
#: Fields that may change when a campaign is resumed: they do not affect the result of a case.
FREE = ("patience", "start_timeout", "memory")


#: A place with a scheme, of which a path has lost a slash.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def require_folder(folder: Path) -> None:
    """Raise CampaignError for a place with a scheme, such as ``hdfs://…``, which a path would take for a folder."""
    found = _SCHEME.match(str(folder))
    if found:
        raise CampaignError(
            f"A campaign plays in a folder, and only `campaign diff` reads {found[1]}://…: name a folder without a "
            "scheme, and copy it there or from there."
        )


def require_unused(folder: Path) -> None:
    """Raise CampaignError when no campaign can start in the folder."""
    if (folder / FILE).exists():
        raise CampaignError(f"{folder} holds a campaign already: go on with --resume, or name another folder.")
    if folder.exists() and not folder.is_dir():
        raise CampaignError(f"{folder} is a file: name a folder with --out.")
    if folder.is_dir() and any(folder.iterdir()):
        raise CampaignError(f"{folder} is not empty, and it holds no campaign: name another folder with --out.")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder's campaign; CampaignError while another process plays it.

    The lock is released when the process ends, in any way.
    """
    try:
        file = opened(folder / FILE)
    except OSError:  # no campaign: reading it says so
        yield
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CampaignError(
                f"The campaign in {folder} is being played by another process: wait for its end, or end it with "
                "Ctrl-C, and go on with --resume."
            ) from error
        except OSError:
            pass  # a file system without locks: the workers still follow the newest session only
        yield


def create(folder: Path, spec: CampaignSpec) -> None:
    """Create a campaign; CampaignError when the folder holds one, OSError when it cannot be written."""
    require_unused(folder)
    folder.mkdir(parents=True, exist_ok=True)
    content = {"version": VERSION, "kit": __version__, "rulebook": rulebook.digest(), "configuration": spec.json()}
    hidden = folder / f".{FILE}"
    hidden.write_text(json.dumps({**content, DIGEST: digest_of(content)}, indent=2) + "\n", "utf-8")
    hidden.replace(folder / FILE)


def resume(folder: Path, wanted: dict[str, Any]) -> CampaignSpec:
    """The specification of the campaign in a folder.

    Blocks that were damaged are set aside, so that they are played again.

    ``wanted`` are the fields of ``CampaignSpec`` that the user gives now; CampaignError when the campaign has other
    ones, was judged by other rules, or does not exist; DamagedError when it cannot be read.
    """
    stored = open_campaign(folder, RUNS.empty_table)  # those of its sessions may be damaged
    try:
        spec = CampaignSpec.of(stored.configuration)
    except (KeyError, ValueError) as error:
        what = "lacks" if isinstance(error, KeyError) else "has a wrong"
        raise DamagedError(
            f"{folder / FILE} is damaged (the configuration {what} {error.args[0]!r}): start again in another folder."
        ) from error
    for item in fields(CampaignSpec):
        now, then = wanted.get(item.name), getattr(spec, item.name)
        if item.name in wanted and item.name not in FREE and now != then:
            raise CampaignError(
                f"{folder} was started with {item.name} {_text(then)}, not {_text(now)}: leave it out to resume that "
                "campaign, or start another one in another folder."
            )
    if stored.rulebook != rulebook.digest():
        raise CampaignError(
            f"{folder} was judged by the rule book {stored.rulebook} of kit {stored.kit}, and this kit has "
            f"{rulebook.digest()}: resume it with that kit, or start again in another folder."
        )
    set_aside_damaged(folder)
    (folder / STOP).unlink(missing_ok=True)
    return spec


def note_of_kit(campaign: Campaign) -> str:
    """What is to be said of a campaign that another release of the kit with the same rules began; "" of any other."""
    if campaign.kit == __version__:
        return ""
    return (
        f"kit {campaign.kit} began this campaign, and kit {__version__} goes on: it has the same rules, and may draw "
        "other cases from the seed, so that those of before may not be played again"
    )


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return json.dumps(value)
