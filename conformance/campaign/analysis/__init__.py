"""The analysis of stored campaigns: clusters, coverage, discovery, separating features and differences."""
