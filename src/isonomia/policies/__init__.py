"""What is required: policies with their rules, limits and sources."""

from isonomia.policies.policy import Policy, Rule, load_policy, policy_names

__all__ = ["Policy", "Rule", "load_policy", "policy_names"]
