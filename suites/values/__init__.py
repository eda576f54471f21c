"""Values that several suites draw from."""
