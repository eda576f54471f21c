"""Adapters of everything the kit can judge: the bundled port, the real Java client, brokers, and their mutants."""
