"""What reaches the broker and shows in no response: how answers describe it."""

from __future__ import annotations

#: Marks a commit, or an unlocking, whose request was not one way.
AWAITED = "awaited"
#: A request to unlock that was not one way.
AWAITED_UNLOCK = ("unlock", AWAITED)
