"""What happens when the inputs change: noise, errors, an adversary."""
