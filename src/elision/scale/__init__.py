"""More than one machine, and more than memory holds."""
