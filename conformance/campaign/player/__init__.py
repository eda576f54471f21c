"""The process that plays blocks of cases, its supervisor, and the pipe between them."""
