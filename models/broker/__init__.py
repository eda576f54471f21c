"""What a broker answers about offsets (BQ-*)."""
