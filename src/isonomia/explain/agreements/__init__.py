"""Do explanations and fairness measures agree: scenarios, kappa and changes over models and fixes."""
