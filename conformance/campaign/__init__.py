"""Campaigns: many seeded cases, spread by Spark, kept as tables, and compared."""
