"""Event logs in which steps were done and not recorded: what is missing, put back."""
