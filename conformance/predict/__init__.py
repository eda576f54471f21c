"""Predictions for a group on a real cluster: where it starts, who gets what, what resets and upgrades change."""
