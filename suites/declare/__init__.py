"""How suites are declared: operations, value domains, samplers and Hypothesis machines. Imports models."""
