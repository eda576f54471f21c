"""Fake brokers and name servers, answered by the models."""
