"""Processes in which a campaign plays its cases."""
