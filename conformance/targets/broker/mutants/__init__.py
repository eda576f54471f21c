"""The fake broker with one deliberate fault each: every module lists its own as ``MUTANTS``."""
