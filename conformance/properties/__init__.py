"""Properties of brokers: their defaults by release, and which of them matter to what the kit judges."""
