"""The script explorer: a local page, and the small JSON API behind it."""
