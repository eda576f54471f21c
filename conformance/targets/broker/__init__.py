"""Brokers that are judged: a module for every suite, and how brokers are found, started and asked over the wire."""
