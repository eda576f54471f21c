"""The embedded broker with one deliberate fault each."""
