"""Questions about tellings, answered by a telling model."""
