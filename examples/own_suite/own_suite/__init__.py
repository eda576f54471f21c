"""A suite of conformance tests in a package of its own, and an implementation that it judges."""
