"""What is judged: the bundled port, the real Java client, brokers, and mutants of them."""
