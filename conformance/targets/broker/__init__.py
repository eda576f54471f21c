"""The target of brokers: starts or reaches them, and sends them requests; one module per suite."""
