"""Corpora that do not fit in memory, and work that one machine is too small for."""
