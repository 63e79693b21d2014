"""Readers, files and the command line under bad input: targets, ways to spoil, and one trial."""

from fuzzing import commandline, files, frames
from fuzzing.targets import TARGETS

__all__ = ["TARGETS", "commandline", "files", "frames"]
