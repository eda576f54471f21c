"""The rules of consumer clients: offsets, starts, pulls, consumption, rebalance (OFF-*, START-*, CONS-*, REB-* …)."""
