"""What must be true: pure functions over frozen state. Imports nothing else of the project."""
