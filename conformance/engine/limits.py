"""How long an implementation may take, in seconds, unless the user says otherwise."""

from __future__ import annotations

#: One operation, before the adapter counts as hanging.
PATIENCE = 60.0
#: The longest wait for one step of an implementation with a real clock.
LONGEST_WAIT = 2.0
