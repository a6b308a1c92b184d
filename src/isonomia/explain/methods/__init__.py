"""One file per method of Shapley values; each adds its description to `EXPLAINERS`."""
