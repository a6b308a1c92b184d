"""From the rules of a policy and what the checks measured to a verdict with its reasons."""
