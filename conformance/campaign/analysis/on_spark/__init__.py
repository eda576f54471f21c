"""The analysis of stored campaigns as DataFrame work: the results of the modules above, for any number of cases."""
