"""The engine plays cases and judges them: stage, judge, player, runner, shrinking, plans and the corpus."""
