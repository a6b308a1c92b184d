"""Whether the population has changed."""
