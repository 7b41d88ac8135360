"""Notes into a garden: what links where, and the networks of concepts."""
