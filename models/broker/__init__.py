"""The rules of brokers about offsets: what is stored, answered, reset, locked and assigned (BQ-*, RUN-*, WIRE-*)."""
