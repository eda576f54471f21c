"""Campaigns on Spark: the session, its tasks, and the code that is shipped to workers."""
