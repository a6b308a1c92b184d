"""What did we find: specs, checks, policies, verdicts."""
