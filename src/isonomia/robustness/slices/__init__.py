"""Where the model is worse: slices, single rows, subgroups."""
