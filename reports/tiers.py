"""The tiers of a run, in the order in which it plays them."""

#: Plans of the model that reach everything in few steps; plans that once showed a divergence; cases from the seed;
#: cases that Hypothesis draws.
COVER, CORPUS, SEEDED, HYPOTHESIS = TIERS = ("cover", "corpus", "seeded", "hypothesis")
