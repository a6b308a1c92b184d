"""A release, prepared and checked on this machine; nothing leaves it (`make release REPOSITORY=https://...`)."""
