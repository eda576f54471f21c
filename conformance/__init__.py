"""How to try it: generate a plan, run it on model and implementation, compare, shrink."""
