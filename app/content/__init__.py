"""Files into notes and concepts."""
