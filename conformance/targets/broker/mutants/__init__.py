"""Mutants of the fake broker: one module per suite that kills them, each exporting its own as ``MUTANTS``."""
