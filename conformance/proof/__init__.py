"""Proofs: the models checked against real RocketMQ clients and brokers, counted by rule and release."""
