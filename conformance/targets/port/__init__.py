"""The bundled Python port of a consumer client: one module per suite that it plays, and its mutants."""
