"""What a telling model answers: the questions about tellings, by whole tellings compared."""
