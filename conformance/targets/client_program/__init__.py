"""Ordinary consumer programs in any language: started, ended and judged by their traffic alone."""
