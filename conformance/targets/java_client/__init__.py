"""The real Java client's own classes, many releases in one JVM."""
