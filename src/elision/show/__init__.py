"""Scripts as pictures and in the formats of other programs."""
