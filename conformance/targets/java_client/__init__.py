"""The target of real Java clients: their own classes, many releases in one JVM, with one module per suite."""
