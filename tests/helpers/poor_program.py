"""A program for ``exec:`` with one fault, named by its first argument; the second is a file for process numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

FAULT = sys.argv[1]
HELLO: dict[str, Any] = {"protocol": 1, "name": "poor", "version": "1", "suites": ["allocation"]}
SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def note(*pids: int) -> None:
    with open(sys.argv[2], "a") as file:
        file.writelines(f"{pid}\n" for pid in pids)


note(os.getpid())
match FAULT:
    case "exits":
        sys.exit("no such configuration")
    case "garbage":
        print("Starting up...", flush=True)
    case "flood":
        try:
            for _ in range(1024):
                os.write(1, b"x" * (1 << 20))
        except OSError:
            sys.exit(1)
    case "mute":
        time.sleep(600)
    case "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    case "forks":
        inside = subprocess.Popen([sys.executable, "-c", SLEEPER])
        outside = subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True)
        note(inside.pid, outside.pid)
    case "version":
        HELLO["protocol"] = 2
    case "crashes-whole":
        HELLO["whole_cases"] = True
    case "field":
        HELLO["colour"] = "red"

for line in sys.stdin:
    asked = json.loads(line)
    number = asked["id"]
    if "hello" in asked:
        say({"id": number, "hello": HELLO})
    elif "reset" in asked:
        say({"id": number, "ok": None})
    elif FAULT == "liar":
        say({"id": number + 1, "ok": []})
    elif FAULT == "hangs":
        time.sleep(600)
    elif FAULT == "crashes" or "case" in asked:
        sys.exit("out of luck")
    elif FAULT == "crashes-whole":
        me, members = asked["args"]["me"], asked["args"]["members"]
        say({"id": number, "ok": []} if me and members and me not in members else {"id": number, "unsupported": "no"})
    elif FAULT == "float":
        say({"id": number, "ok": 1.5})
    elif FAULT == "speechless":
        say({"id": number})
    else:
        say({"id": number, "unsupported": "it has nothing"})

if FAULT == "stubborn":
    time.sleep(600)
