"""Learning scripts from narratives."""
