"""Campaigns on Spark: the session, its tasks, and what is shipped to workers."""
