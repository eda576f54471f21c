"""The port with one deliberate fault each, a file per suite."""
