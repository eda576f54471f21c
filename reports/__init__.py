"""What was seen: events in; console, JSON Lines and JUnit out. Knows nothing but events."""
