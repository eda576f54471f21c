"""Suites: operations with their value domains, bound to the models that give the expected answers."""
