"""What stored campaigns show: clusters, coverage, discovery and differences."""
