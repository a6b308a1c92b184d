"""Groups of people compared with each other."""
