"""What a first user meets: the wheel in fresh installs, away from the checkout, walked door by door (`make doors`)."""
