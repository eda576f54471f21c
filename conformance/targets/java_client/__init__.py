"""The real Java client's own classes, many releases in one JVM: a module for every suite, and what they share."""
