"""A campaign on disk: its folder, the schemas of its tables, their blocks, and reading them."""
