"""Real brokers: resolving jars, starting local processes, asking them over the wire."""
