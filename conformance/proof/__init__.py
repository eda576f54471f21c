"""The proof: the model against real RocketMQ, counted by rule and release."""
