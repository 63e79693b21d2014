"""Measuring accuracy: the paper's task and how its results are reported."""
