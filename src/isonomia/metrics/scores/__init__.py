"""What scores mean: calibration in bins, its error and slope, and what a score lets expect of people."""
