"""Mutants of the port: one module per suite that kills them, each exporting its own as ``MUTANTS``."""
