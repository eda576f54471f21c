"""Several implementations under the same plans: what each does, where they part, and since which release."""
