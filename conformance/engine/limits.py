"""How long an implementation may take, in seconds, and how many cases measure power, unless the user says otherwise."""

from __future__ import annotations

#: One operation, before the adapter counts as hanging.
PATIENCE = 60.0
#: The longest wait for one step of an implementation with a real clock.
LONGEST_WAIT = 2.0
#: All of the start: a first download over a slow line, and a broker on a busy machine.
START_TIMEOUT = 300.0
#: Cases per suite that a mutant is given.
MUTANT_CASES = 2000
#: Cases per suite in which answers are corrupted, at most.
CORRUPTED_CASES = 40
