"""The bundled Python port of a consumer client, and its deliberate faults."""
