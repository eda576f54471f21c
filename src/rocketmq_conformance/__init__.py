"""A conformance test kit for the consumer side of Apache RocketMQ.

The four rooms of the house are subpackages: ``models`` (what must be true), ``suites`` (what to try),
``conformance`` (how to try it) and ``reports`` (what was seen).
"""

__version__ = "0.1.0"
