"""An implementation behind a program in any language: it is asked by JSON Lines over standard input and output."""
