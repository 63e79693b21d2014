"""From sentences to event types."""
