"""``python -m elision``: the command line."""

from elision.cli import main

main()
