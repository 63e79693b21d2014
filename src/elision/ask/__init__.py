"""Questions to a script."""
