"""The tables of a campaign: schemas, columns, and blocks on disk."""
