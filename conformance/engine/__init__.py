"""Playing and judging: stage, judge, player, runner, shrinking, plans and the corpus."""
