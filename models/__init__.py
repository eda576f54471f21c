"""What must be true: the rules of RocketMQ as pure functions over frozen state. Imports nothing else of the project."""
