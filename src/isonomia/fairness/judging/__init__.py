"""The one judge: what a rule compares, how sure that is, and whether the limit is kept."""
