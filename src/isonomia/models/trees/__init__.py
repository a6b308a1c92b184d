"""Any tree ensemble as plain arrays."""
